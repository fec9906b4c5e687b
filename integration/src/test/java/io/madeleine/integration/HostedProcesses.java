package io.madeleine.integration;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Processes that find each other through {@code madeleine.session.hosts}, each started by itself.
 *
 * <p>Threading: confined to the test.
 */
final class HostedProcesses extends Processes {
    /** The system property with the process's number, for programs that open their sessions themselves. */
    static final String NUMBER = "integration.rank";

    private static final String LOOPBACK = "127.0.0.1";

    /** A setting that goes by the environment: on a command line it would be refused. */
    private static final String SECRET = "session.secret=";

    private final List<Process> processes = new ArrayList<>();

    private HostedProcesses(Ranks ranks) {
        super(ranks);
    }

    static HostedProcesses start(Ranks ranks) {
        HostedProcesses started = new HostedProcesses(ranks);
        List<String> hosts = ranks.hosts().isEmpty() ? localHosts(ranks.count()) : ranks.hosts();
        for (int rank = 0; rank < ranks.count(); rank++) {
            started.start(rank, hosts);
        }
        return started;
    }

    private static List<String> localHosts(int count) {
        List<String> hosts = new ArrayList<>(List.of(LOOPBACK + ":" + freePort()));
        while (hosts.size() < count) {
            hosts.add(LOOPBACK);
        }
        return hosts;
    }

    /** A port that nobody listens at, below those that systems give to outgoing connections. */
    static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException _) {
                // taken
            }
        }
    }

    private void start(int rank, List<String> hosts) {
        List<String> properties = new ArrayList<>(List.of("-D" + NUMBER + "=" + rank));
        if (!hosts.equals(List.of("none"))) {
            properties.add("-Dmadeleine.session.hosts=" + String.join(",", hosts));
            properties.add("-Dmadeleine.session.rank=" + rank);
        }
        for (String setting : settings()) {
            if (!setting.startsWith(SECRET)) {
                properties.add("-Dmadeleine." + setting);
            }
        }
        List<String> command = new ArrayList<>(ranks.prefix().apply(rank));
        command.add(Ranks.javaExecutable());
        command.addAll(ranks.javaArguments(properties));
        try {
            ProcessBuilder builder = new ProcessBuilder(command);
            settings().stream()
                    .filter(setting -> setting.startsWith(SECRET))
                    .forEach(setting ->
                            builder.environment().put("MADELEINE_SECRET", setting.substring(SECRET.length())));
            Process process = builder.start();
            process.getOutputStream().close();
            processes.add(process);
            add(new Member(
                    process.toHandle(), Output.of(process.getInputStream()), Output.of(process.getErrorStream())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int exitCode(int rank) throws InterruptedException {
        return processes.get(rank).waitFor();
    }

    @Override
    int exitCode() throws InterruptedException {
        int code = 0;
        for (int rank = 0; rank < processes.size(); rank++) {
            code = code == 0 ? exitCode(rank) : code;
        }
        return code;
    }
}
