package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/**
 * Measures the raw link, alone and as one of 256 of which the others are idle, beside plain non-blocking sockets,
 * interleaved, with two spinning threads. Arguments: settings of the configuration, such as {@code
 * madeleine.tm.tcp.stream.in-place-from=16KiB}.
 */
final class LinkPingPong {
    private static final int BATCHES = 12;
    private static final int CROWD = 256;

    private interface Player {
        void send() throws IOException;

        void receive() throws IOException;
    }

    private static final class LinkPlayer implements Player {
        private final Pair.Side side;
        private final DynamicLink link;
        private final MemorySegment block;
        private final BufferGroup out = new BufferGroup();
        private final BufferGroup in = new BufferGroup();
        private final long header;
        private boolean received;

        LinkPlayer(Pair.Side side, Pair.End end, int bytes) {
            this.side = side;
            this.link = end.link;
            this.block = Arena.ofShared().allocate(bytes, 64);
            this.header = PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST | PacketHeader.LAST);
            end.whenReadable(this::onReadable);
        }

        private boolean onReadable() {
            if (link.front() <= 0) {
                return false;
            }
            if (in.isEmpty()) {
                in.add(block, 0, block.byteSize());
            }
            long moved = link.receive(in, block.byteSize());
            if (in.isEmpty()) {
                link.release();
                received = true;
            }
            return moved > 0;
        }

        @Override
        public void send() {
            out.add(block, 0, block.byteSize());
            while (link.send(header, out, 0) != LinkStatus.COMPLETE) {
                poll();
            }
        }

        @Override
        public void receive() {
            while (!received) {
                poll();
            }
            received = false;
        }

        private long nowNs;
        private int polls;

        private void poll() {
            if (++polls % 16 == 0) {
                nowNs = System.nanoTime(); // as the engine does
            }
            side.progress.poll(nowNs);
            Thread.onSpinWait();
        }
    }

    private record RawPlayer(SocketChannel channel, ByteBuffer block) implements Player {
        @Override
        public void send() throws IOException {
            block.clear();
            while (block.hasRemaining()) {
                if (channel.write(block) == 0) {
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public void receive() throws IOException {
            block.clear();
            while (block.hasRemaining()) {
                if (channel.read(block) == 0) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static SocketChannel[] rawPair() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel one = SocketChannel.open(server.getLocalAddress());
            SocketChannel two = server.accept();
            for (SocketChannel channel : new SocketChannel[] {one, two}) {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            return new SocketChannel[] {one, two};
        }
    }

    /** Half round trips in microseconds, sorted. */
    private static double[] batch(Player ping, Player pong, int count) throws Exception {
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < count; i++) {
                    pong.receive();
                    pong.send();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        double[] halves = new double[count];
        for (int i = 0; i < count; i++) {
            long startNs = System.nanoTime();
            ping.send();
            ping.receive();
            halves[i] = (System.nanoTime() - startNs) / 2000.0;
        }
        other.join();
        Arrays.sort(halves);
        return halves;
    }

    private static String show(double[][] batches) {
        double[] medians = Arrays.stream(batches)
                .mapToDouble(b -> b[b.length / 2])
                .sorted()
                .toArray();
        double min = Arrays.stream(batches).mapToDouble(b -> b[0]).min().orElseThrow();
        double[] tails = Arrays.stream(batches)
                .mapToDouble(b -> b[b.length * 99 / 100])
                .sorted()
                .toArray();
        return "%9.2f %9.2f %9.2f".formatted(min, medians[medians.length / 2], tails[tails.length / 2]);
    }

    public static void main(String... settings) throws Exception {
        System.out.printf(
                "%-10s %31s %31s %31s%n",
                "bytes",
                "raw NIO: min median p99 [us]",
                "link: min median p99 [us]",
                "1 of " + CROWD + ": min median p99 [us]");
        for (int bytes : new int[] {8, 1024, 16384, 65536, 1 << 20}) {
            SocketChannel[] raw = rawPair();
            try (Pair pair = new Pair(settings);
                    Pair crowded = new Pair(settings)) {
                Pair.Ends ends = pair.connect();
                Pair.Ends oneOfMany = crowded.connect();
                for (int i = 1; i < CROWD; i++) {
                    crowded.connect("idle" + i);
                }
                Player rawPing = new RawPlayer(raw[0], ByteBuffer.allocateDirect(bytes));
                Player rawPong = new RawPlayer(raw[1], ByteBuffer.allocateDirect(bytes));
                Player ping = new LinkPlayer(pair.left, ends.left(), bytes);
                Player pong = new LinkPlayer(pair.right, ends.right(), bytes);
                Player crowdedPing = new LinkPlayer(crowded.left, oneOfMany.left(), bytes);
                Player crowdedPong = new LinkPlayer(crowded.right, oneOfMany.right(), bytes);
                int count = bytes > 100_000 ? 150 : 1500;
                double[][] ofRaw = new double[BATCHES][];
                double[][] ofLink = new double[BATCHES][];
                double[][] ofCrowded = new double[BATCHES][];
                for (int i = -BATCHES / 2; i < BATCHES; i++) {
                    ofRaw[Math.max(i, 0)] = batch(rawPing, rawPong, count);
                    ofLink[Math.max(i, 0)] = batch(ping, pong, count);
                    ofCrowded[Math.max(i, 0)] = batch(crowdedPing, crowdedPong, count);
                }
                System.out.printf("%-10d %31s %31s %31s%n", bytes, show(ofRaw), show(ofLink), show(ofCrowded));
            }
            raw[0].close();
            raw[1].close();
        }
    }
}
