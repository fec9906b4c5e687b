package io.madeleine.bench.peer;

import io.madeleine.bench.measure.MeasuringException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * libfabric as a peer: which of its providers this machine has.
 *
 * <p>Threading: stateless.
 */
final class Fabric {
    /** The name of the peer, to which a provider may be added: {@code fabric:shm}. */
    static final String NAME = "fabric";

    /** Our program in C over a provider. */
    static final CProgram PROGRAM = new CProgram("gcc", NAME, List.of(NAME));

    /** The packages that have to be installed. */
    static final String PACKAGES = "gcc, libc6-dev and libfabric-dev";

    /** The providers that may be added to the name. */
    static final List<String> PROVIDERS = List.of(
            "shm",
            "tcp;ofi_rxm",
            "net",
            "net;ofi_rxm",
            "sockets",
            "udp;ofi_rxd",
            "verbs;ofi_rxm",
            "efa",
            "psm2",
            "psm3",
            "opx",
            "cxi");

    /** A provider with this suffix may stop for good on a busy machine, also in fi_pingpong (libfabric 1.17). */
    private static final String HANGS = ";ofi_rxd";

    private Fabric() {}

    /** Why a provider cannot be measured; empty if it can. The program can be compiled. */
    static Optional<String> absence(String provider) {
        if (run("check", provider).code() == 0) {
            return Optional.empty();
        }
        List<String> here = here();
        return Optional.of("libfabric has no provider " + provider + " with messages, remote writes and immediate data"
                + " here, but " + String.join(", ", here) + "; fi_info -p " + provider + " tells why");
    }

    /** The names of all peers of the providers that are here, without those that may hang; one if there is none. */
    static List<String> all() {
        try {
            List<String> peers = here().stream()
                    .filter(provider -> !provider.endsWith(HANGS))
                    .map(provider -> NAME + ":" + provider)
                    .toList();
            return peers.isEmpty() ? List.of(NAME + ":shm") : peers;
        } catch (MeasuringException _) {
            return List.of(NAME + ":shm"); // which then says what is missing
        }
    }

    private static List<String> here() {
        return run("list").text().lines().filter(PROVIDERS::contains).distinct().toList();
    }

    private record Ended(int code, String text) {}

    private static Ended run(String... arguments) {
        List<String> command = new ArrayList<>(List.of(PROGRAM.build().toString()));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Ended(process.waitFor(), text);
        } catch (IOException e) {
            throw new MeasuringException(command.getFirst() + " cannot be started: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted", e);
        }
    }
}
