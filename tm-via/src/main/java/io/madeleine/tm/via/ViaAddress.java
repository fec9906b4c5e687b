package io.madeleine.tm.via;

import io.madeleine.pmm.spi.InternetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The address of an adapter, as text on the process's card: the provider, the process, and the name of the endpoint.
 *
 * <p>Threading: immutable.
 *
 * @param provider the provider
 * @param host the host's boot id; empty if the system does not tell it
 * @param pidNamespace the namespace of the pid; empty if the system does not tell it
 * @param pid the process
 * @param startTicks when the process started, in ticks since boot; 0 if the system does not tell it
 * @param nameText the name of the endpoint in hexadecimal digits
 */
record ViaAddress(String provider, String host, String pidNamespace, long pid, long startTicks, String nameText) {
    private static final String FORMAT = "via3";
    private static final int PARTS = 7;

    /** Linux: the families of {@code sockaddr_in} and {@code sockaddr_in6}, and their sizes. */
    private static final int AF_INET = 2;

    private static final int AF_INET6 = 10;
    private static final int SOCKET_ADDRESS_BYTES = 16;
    private static final int SOCKET_ADDRESS_6_BYTES = 28;

    /** The address of this process's endpoint. */
    static ViaAddress own(String provider, byte[] name) {
        long pid = ProcessHandle.current().pid();
        return new ViaAddress(
                provider,
                bootId(),
                ownNamespace(),
                pid,
                ProcessStart.of(pid),
                HexFormat.of().formatHex(name));
    }

    private static String bootId() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    private static String ownNamespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
        } catch (IOException _) {
            return "";
        }
    }

    /** Reads an address, which is not trusted; empty if it is not one. */
    static Optional<ViaAddress> read(String text) {
        String[] parts = text.split(",", -1);
        if (parts.length != PARTS || !parts[0].equals(FORMAT)) {
            return Optional.empty();
        }
        try {
            boolean _ = HexFormat.of().parseHex(parts[6]).length > 0;
            return Optional.of(new ViaAddress(
                    parts[1], parts[2], parts[3], Long.parseLong(parts[4]), Long.parseLong(parts[5]), parts[6]));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /** The address of another process on this host, without an endpoint. */
    ViaAddress ofProcess(long otherPid, long otherStartTicks) {
        return new ViaAddress(provider, host, pidNamespace, otherPid, otherStartTicks, "");
    }

    /** The address of an endpoint of the same process. */
    ViaAddress ofEndpoint(byte[] name) {
        return new ViaAddress(
                provider, host, pidNamespace, pid, startTicks, HexFormat.of().formatHex(name));
    }

    /** The name of the endpoint. */
    byte[] name() {
        return HexFormat.of().parseHex(nameText);
    }

    /** Whether both processes run on the same host, as far as this can be told. */
    boolean isOnHostOf(ViaAddress other) {
        return !host.isEmpty() && host.equals(other.host);
    }

    /** Whether the processes certainly run on different hosts. */
    private boolean isElsewhere(ViaAddress other) {
        return !host.isEmpty() && !other.host.isEmpty() && !host.equals(other.host);
    }

    /** The loopback address that the endpoint is bound to; empty if it has another address, or none of the internet. */
    Optional<String> loopback() {
        byte[] name = name();
        if (!Providers.hasInternetAddresses(provider) || name.length < SOCKET_ADDRESS_BYTES) {
            return Optional.empty();
        }
        int family = ByteBuffer.wrap(name).order(ByteOrder.nativeOrder()).getShort(0);
        try {
            if (family == AF_INET) {
                return loopback(Arrays.copyOfRange(name, 4, 8));
            }
            return family == AF_INET6 && name.length >= SOCKET_ADDRESS_6_BYTES
                    ? loopback(Arrays.copyOfRange(name, 8, 24))
                    : Optional.empty();
        } catch (UnknownHostException _) {
            return Optional.empty();
        }
    }

    private static Optional<String> loopback(byte[] bytes) throws UnknownHostException {
        return Optional.of(InetAddress.getByAddress(bytes))
                .filter(InetAddress::isLoopbackAddress)
                .map(InetAddress::getHostAddress);
    }

    /**
     * Why the process with that address does not reach this one's host; empty if the addresses show no obstacle.
     *
     * @param key the key that sets the address of this one's endpoint
     */
    Optional<String> unreachableFrom(ViaAddress other, String key) {
        return loopback()
                .filter(_ -> isElsewhere(other))
                .map(address -> "the peer is on another host, and its address " + address
                        + " is a loopback address; set " + key + " there to an address of that host");
    }

    /** What an error text says while the process has not answered; the key sets the address of its endpoint. */
    String silence(String key) {
        return "the peer has not answered"
                + loopback()
                        .map(address -> InternetAddress.loopbackHint(address, key))
                        .orElse("");
    }

    private boolean isComparable(ViaAddress own) {
        return isOnHostOf(own) && !pidNamespace.isEmpty() && pidNamespace.equals(own.pidNamespace);
    }

    /** Whether the process, seen from this one, has certainly ended. */
    boolean isDead(ViaAddress own) {
        if (!isComparable(own)) {
            return false;
        }
        long now = ProcessStart.of(pid);
        return now == ProcessStart.ENDED
                || now != ProcessStart.UNKNOWN && startTicks != ProcessStart.UNKNOWN && now != startTicks;
    }

    @Override
    public String toString() {
        return String.join(
                ",", FORMAT, provider, host, pidNamespace, Long.toString(pid), Long.toString(startTicks), nameText);
    }
}
