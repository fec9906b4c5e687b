package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;

/**
 * Measures many senders to one receiver, for {@code docs/performance/tm-bip.md}: in each round the receiver tells all
 * senders to send one block, and takes them. The same over TCP sockets with a thread for each.
 *
 * <pre>
 * Incast receive bip|tcp OWN-HOST SENDER-HOST COUNT BYTES ROUNDS SETTINGS
 * Incast send bip|tcp OWN-HOST RECEIVER-HOST FIRST COUNT BYTES ROUNDS SETTINGS
 * </pre>
 */
final class Incast {
    private static final int PORT = 7000;
    private static final int RATE_PERCENT_OF = 1_000; // Mbit/s
    private static final long PATIENCE_NS = 10_000_000_000L;
    private static final MemorySegment GO = MemorySegment.ofArray(new byte[8]);
    private static final long GO_HEADER = PacketHeader.of(8, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);

    private Incast() {}

    public static void main(String[] arguments) throws Exception {
        boolean receives = arguments[0].equals("receive");
        int first = receives ? 0 : Integer.parseInt(arguments[4]);
        int at = receives ? 4 : 5;
        int count = Integer.parseInt(arguments[at]);
        int bytes = Integer.parseInt(arguments[at + 1]);
        int rounds = Integer.parseInt(arguments[at + 2]);
        String settings = arguments[at + 3];
        if (arguments[1].equals("tcp")) {
            if (receives) {
                receiveTcp(arguments[2], count, bytes, rounds);
            } else {
                sendTcp(arguments[3], count, bytes, rounds);
            }
        } else if (receives) {
            receiveBip(arguments[2], arguments[3], count, bytes, rounds, settings);
        } else {
            sendBip(arguments[2], arguments[3], first, count, bytes, rounds, settings);
        }
        System.exit(0);
    }

    // ---- bip

    private static Pair.Side side(int number, String host, String settings) {
        return new Pair.Side(
                1 + number,
                "madeleine.tm.bip.adapters.default { bind = \"" + host + "\", port = " + (PORT + number) + " }\n"
                        + settings);
    }

    private static CompletableFuture<ProtocolConnection> connect(
            Pair.Side side, int channel, int peer, String host, boolean initiator) {
        return side.adapter
                .openChannel("c" + channel)
                .connect(new ConnectionRequest(
                        new ProcessIdentity(1 + peer, 0),
                        "host@" + host + ":" + (PORT + peer),
                        initiator,
                        side.driver.transmissionModules(),
                        42,
                        System.nanoTime() + PATIENCE_NS));
    }

    private static List<Pair.End> ends(List<Pair.Side> sides, List<CompletableFuture<ProtocolConnection>> made) {
        while (!made.stream().allMatch(CompletableFuture::isDone)) {
            sides.forEach(Pair.Side::poll);
        }
        return made.stream().map(each -> new Pair.End(each.join())).toList();
    }

    private static void receiveBip(String host, String peers, int count, int bytes, int rounds, String settings) {
        Pair.Side side = side(0, host, settings);
        List<CompletableFuture<ProtocolConnection>> made = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            made.add(connect(side, i, i, peers, false));
        }
        List<Pair.End> ends = ends(List.of(side), made);
        MemorySegment memory = Arena.global().allocate((long) bytes * count, 64);
        BufferGroup[] groups = new BufferGroup[count];
        Meter meter = new Meter((long) bytes * count);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < count; i++) {
                groups[i] = new BufferGroup();
                groups[i].add(memory, (long) i * bytes, bytes);
            }
            meter.begin();
            for (Pair.End each : ends) {
                check(each.small().sendPacket(GO_HEADER, GO, 0), "no room for a signal");
                each.small().announce();
            }
            for (int left = count; left > 0; ) {
                side.poll();
                for (int i = 0; i < count; i++) {
                    BipLongLink link = ends.get(i).large();
                    if (!groups[i].isEmpty() && link.front() > 0) {
                        long moved = link.receive(groups[i], groups[i].remainingBytes());
                        meter.moved(moved);
                        if (groups[i].isEmpty()) {
                            link.release();
                            left--;
                        }
                    }
                    check(groups[i].isEmpty() || ends.get(i).losses == 0, ends.get(i).reason);
                }
                meter.look();
            }
            meter.end();
        }
        meter.print("bip");
        side.close();
    }

    private static void sendBip(
            String host, String receiver, int first, int count, int bytes, int rounds, String settings) {
        List<Pair.Side> sides = new ArrayList<>();
        List<CompletableFuture<ProtocolConnection>> made = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            Pair.Side side = side(i, host, settings);
            sides.add(side);
            made.add(connect(side, i, 0, receiver, true));
        }
        List<Pair.End> ends = ends(sides, made);
        MemorySegment block = Arena.global().allocate(bytes, 64);
        MemorySegment go = MemorySegment.ofArray(new byte[8]);
        BufferGroup[] sending = new BufferGroup[count];
        int[] sent = new int[count];
        while (Arrays.stream(sent).anyMatch(each -> each < rounds)) {
            for (int i = 0; i < count; i++) {
                sides.get(i).poll();
                if (sending[i] == null && ends.get(i).small().receivePacket(GO_HEADER, go, 0)) {
                    sending[i] = new BufferGroup();
                    sending[i].add(block, 0, bytes);
                }
                long header = PacketHeader.of(bytes, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
                if (sending[i] != null && ends.get(i).large().send(header, sending[i], 0) == LinkStatus.COMPLETE) {
                    sending[i] = null;
                    sent[i]++;
                }
                check(ends.get(i).losses == 0 || sent[i] == rounds, ends.get(i).reason);
            }
        }
        sides.forEach(Pair.Side::close);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    // ---- tcp

    private static void receiveTcp(String host, int count, int bytes, int rounds) throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(host, PORT), count);
            for (int i = 0; i < count; i++) {
                Socket made = server.accept();
                made.setTcpNoDelay(true);
                sockets.add(made);
            }
        }
        Meter meter = new Meter((long) bytes * count);
        CyclicBarrier begun = new CyclicBarrier(count + 1);
        CyclicBarrier ended = new CyclicBarrier(count + 1);
        for (Socket each : sockets) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    DataInputStream in = new DataInputStream(each.getInputStream());
                    byte[] block = new byte[bytes];
                    for (int round = 0; round < rounds; round++) {
                        begun.await();
                        each.getOutputStream().write(1);
                        for (int done = 0; done < bytes; ) {
                            int here = in.read(block, done, bytes - done);
                            check(here > 0, "the sender has ended");
                            done += here;
                            meter.moved(here);
                        }
                        ended.await();
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (int round = 0; round < rounds; round++) {
            meter.begin();
            begun.await();
            ended.await();
            meter.end();
        }
        meter.print("tcp");
    }

    private static void sendTcp(String receiver, int count, int bytes, int rounds) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try (Socket socket = new Socket(receiver, PORT)) {
                    socket.setTcpNoDelay(true);
                    OutputStream out = socket.getOutputStream();
                    byte[] block = new byte[bytes];
                    for (int round = 0; round < rounds; round++) {
                        check(socket.getInputStream().read() == 1, "the receiver has ended");
                        out.write(block);
                    }
                    int _ = socket.getInputStream().read();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
    }

    /** The rates of rounds, and the longest time in which nothing came. */
    private static final class Meter {
        private final long roundBytes;
        private final List<Double> rates = new ArrayList<>();
        private final List<Double> stalls = new ArrayList<>();
        private long beganNs;
        private long movedNs;
        private long stallNs;

        Meter(long roundBytes) {
            this.roundBytes = roundBytes;
        }

        synchronized void begin() {
            beganNs = System.nanoTime();
            movedNs = beganNs;
            stallNs = 0;
        }

        synchronized void moved(long bytes) {
            if (bytes > 0) {
                look();
                movedNs = System.nanoTime();
            }
        }

        synchronized void look() {
            stallNs = Math.max(stallNs, System.nanoTime() - movedNs);
        }

        synchronized void end() {
            rates.add(8e3 * roundBytes / (System.nanoTime() - beganNs));
            stalls.add(stallNs / 1e6);
        }

        void print(String what) {
            int warm = rates.size() / 4;
            List<Double> rate =
                    rates.subList(warm, rates.size()).stream().sorted().toList();
            List<Double> stall =
                    stalls.subList(warm, rates.size()).stream().sorted().toList();
            System.out.printf(
                    Locale.ROOT,
                    "%s: Mbit/s of payload: median %.0f, least %.0f (%.0f %% of %d); longest time without a byte: median"
                            + " %.1f ms, most %.1f ms; first round %.0f Mbit/s, %.1f ms%n",
                    what,
                    rate.get(rate.size() / 2),
                    rate.getFirst(),
                    rate.get(rate.size() / 2) * 100 / RATE_PERCENT_OF,
                    RATE_PERCENT_OF,
                    stall.get(stall.size() / 2),
                    stall.getLast(),
                    rates.getFirst(),
                    stalls.getFirst());
        }
    }
}
