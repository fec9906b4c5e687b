package io.madeleine.integration;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces that stand for two hosts, with a link between them. A test that makes them is skipped where
 * that is not allowed.
 */
final class TwoHosts implements AutoCloseable {
    private static final String SUBNET = "10.213.77.";

    private static final String SECOND_SUBNET = "10.213.78.";

    private final String[] names;
    private final String[] interfaces;
    private final String[] secondInterfaces;

    /** Names begin with a word of the test's. */
    TwoHosts(String word) throws InterruptedException {
        String id = Long.toString(ProcessHandle.current().pid() % 100_000, 36);
        names = new String[] {word + id + "a", word + id + "b"};
        interfaces = new String[] {"v" + id + "a", "v" + id + "b"};
        secondInterfaces = new String[] {"w" + id + "a", "w" + id + "b"};
        boolean made = false;
        try {
            made = ip("netns add " + names[0]) && ip("netns add " + names[1]) && link(SUBNET, interfaces);
        } catch (IOException _) {
            // no ip command
        }
        if (!made) {
            close();
        }
        assumeTrue(made, "network namespaces cannot be made here: that needs root, and the ip command of iproute2");
    }

    private boolean link(String subnet, String[] ends) throws IOException, InterruptedException {
        boolean made = ip("link add " + ends[0] + " netns " + names[0] + " type veth peer name " + ends[1] + " netns "
                + names[1]);
        for (int i = 0; i < 2 && made; i++) {
            String in = "-n " + names[i] + " ";
            made = ip(in + "addr add " + subnet + (i + 1) + "/24 dev " + ends[i])
                    && ip(in + "link set " + ends[i] + " up")
                    && ip(in + "link set lo up");
        }
        return made;
    }

    /** Makes a second link between them; returns the addresses of its ends. */
    List<String> addLink() throws IOException, InterruptedException {
        assumeTrue(link(SECOND_SUBNET, secondInterfaces), "a second link cannot be made here");
        return List.of(SECOND_SUBNET + 1, SECOND_SUBNET + 2);
    }

    /** Takes the second link down. */
    boolean cutSecond() throws IOException, InterruptedException {
        return ip("-n " + names[0] + " link set " + secondInterfaces[0] + " down");
    }

    private static boolean run(String words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words.split(" "))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    private static boolean ip(String words) throws IOException, InterruptedException {
        return run("ip " + words);
    }

    /** What {@code session.hosts} has to be. */
    List<String> addresses(int port) {
        return List.of(SUBNET + "1:" + port, SUBNET + "2");
    }

    /** What has to stand before a command that is to run on one of them. */
    List<String> prefix(int host) {
        return List.of("ip", "netns", "exec", names[host]);
    }

    /** The address of a host's end of the link. */
    String address(int host) {
        return SUBNET + (host + 1);
    }

    /** Takes the link down. */
    boolean cut() throws IOException, InterruptedException {
        return ip("-n " + names[0] + " link set " + interfaces[0] + " down");
    }

    /**
     * Lets so much pass each way, frames with their headers, and frames be so long; skipped where the kernel cannot.
     */
    void limit(int megabitsPerSecond, int mtuBytes) throws IOException, InterruptedException {
        limit(megabitsPerSecond, mtuBytes, "burst 1mb latency 50ms");
    }

    /** As {@link #limit(int, int)}, on Ethernet, with a queue of so many bytes that drops what it has no room for. */
    void limitWithShortQueue(int megabitsPerSecond, int queueBytes) throws IOException, InterruptedException {
        limit(megabitsPerSecond, 1_500, "burst 64kb limit " + queueBytes);
    }

    /** Has TCP take losses for congestion, as it does by default on most hosts; BBR leaves others little. */
    void useLossBasedTcp() throws IOException, InterruptedException {
        for (String name : names) {
            String command = "ip netns exec " + name + " sysctl -qw net.ipv4.tcp_congestion_control=";
            assumeTrue(run(command + "cubic") || run(command + "reno"), "TCP has neither cubic nor reno here");
        }
    }

    private void limit(int megabitsPerSecond, int mtuBytes, String queue) throws IOException, InterruptedException {
        boolean limited = true;
        for (int i = 0; i < 2 && limited; i++) {
            limited = ip("-n " + names[i] + " link set " + interfaces[i] + " mtu " + mtuBytes)
                    && run("tc -n " + names[i] + " qdisc add dev " + interfaces[i] + " root tbf rate "
                            + megabitsPerSecond + "mbit " + queue);
        }
        assumeTrue(limited, "the rate cannot be limited here: that needs the tc command and the tbf of the kernel");
    }

    @Override
    public void close() {
        for (String name : names) {
            try {
                ip("netns delete " + name);
            } catch (IOException | InterruptedException _) {
                // no ip command, or nobody who waits for it
            }
        }
    }
}
