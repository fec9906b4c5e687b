package io.madeleine.bench.measure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A line between two hosts that this machine plays: two network namespaces of Linux with a pair of virtual Ethernet
 * devices, each behind a token bucket (tbf) with a short queue. It needs root, and the commands ip and tc.
 *
 * <p>Threading: confined to caller, but for {@link #close}, which any thread may call.
 */
public final class Line implements AutoCloseable {
    /** How many bits pass in a second each way, with the headers of the frames. */
    public static final long BITS_PER_S = 1_000_000_000;

    /** How many bytes wait at most; what comes then is lost. */
    public static final int QUEUE_BYTES = 100_000;

    private static final String PREFIX = "mad-perf-";
    private static final String SUBNET = "10.213.90.";
    private static final String RATE = "root tbf rate " + BITS_PER_S + "bit burst 64kb limit " + QUEUE_BYTES;
    private static final int COMMAND_S = 10;
    private static final int NUMERALS = 36;
    private static final AtomicInteger MADE = new AtomicInteger();

    private final String[] namespaces;

    /**
     * Makes the line.
     *
     * @throws MeasuringException if that fails; it says which command did
     */
    public Line() {
        String id = Long.toString(ProcessHandle.current().pid(), NUMERALS) + "-" + MADE.getAndIncrement();
        namespaces = new String[] {PREFIX + id + "-0", PREFIX + id + "-1"};
        String[] devices = {"mp" + id + "a", "mp" + id + "b"};
        sweep();
        try {
            ip("netns add " + namespaces[0]);
            ip("netns add " + namespaces[1]);
            ip("link add " + devices[0] + " netns " + namespaces[0] + " type veth peer name " + devices[1] + " netns "
                    + namespaces[1]);
            for (int end = 0; end < 2; end++) {
                String in = "-n " + namespaces[end] + " ";
                ip(in + "addr add " + address(end) + "/24 dev " + devices[end]);
                ip(in + "link set " + devices[end] + " up");
                ip(in + "link set lo up");
                run("tc " + in + "qdisc add dev " + devices[end] + " " + RATE);
            }
        } catch (MeasuringException e) {
            close();
            throw e;
        }
    }

    /** Why there can be no such line here, and what to do about it; empty if there can. */
    public static Optional<String> absence() {
        try (Line _ = new Line()) {
            return Optional.empty();
        } catch (MeasuringException e) {
            return Optional.of(
                    "a line between network namespaces cannot be made here: it needs root, Linux with veth and"
                            + " tbf, and the package iproute2 (" + e.getMessage() + ")");
        }
    }

    /** The address of an end, 0 or 1. */
    public String address(int end) {
        return SUBNET + (end + 1);
    }

    /** The command that runs a command at an end. */
    public List<String> at(int end, List<String> command) {
        return Stream.concat(Stream.of("ip", "netns", "exec", namespaces[end]), command.stream())
                .toList();
    }

    /** Deletes what processes have left that were killed. */
    private static void sweep() {
        for (String line : run("ip netns list").lines().toList()) {
            String name = line.split(" ", 2)[0];
            if (name.startsWith(PREFIX) && isLeftover(name)) {
                ip("netns delete " + name);
            }
        }
    }

    private static boolean isLeftover(String name) {
        String[] words = name.substring(PREFIX.length()).split("-", 2);
        try {
            return ProcessHandle.of(Long.parseLong(words[0], NUMERALS)).isEmpty();
        } catch (NumberFormatException _) {
            return false; // not of ours
        }
    }

    private static void ip(String words) {
        run("ip " + words);
    }

    private static String run(String command) {
        try {
            Process process = new ProcessBuilder(command.split(" "))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!process.waitFor(COMMAND_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new MeasuringException("'" + command + "' failed: " + said);
            }
            return said;
        } catch (IOException e) {
            throw new MeasuringException("'" + command + "' cannot be run: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted while '" + command + "' ran", e);
        }
    }

    /** Deletes the line. Idempotent. */
    @Override
    public void close() {
        for (String namespace : namespaces) {
            try {
                ip("netns delete " + namespace);
            } catch (MeasuringException _) {
                // it was not made, or is deleted already
            }
        }
    }
}
