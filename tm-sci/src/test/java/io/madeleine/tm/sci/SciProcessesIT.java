package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.BufferedReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes: this one, and one that echoes until it is told to go or is killed. */
@Timeout(60)
class SciProcessesIT {
    private static final int WHOLE = PacketHeader.FIRST | PacketHeader.LAST;
    private static final String MAIN = "main";
    private static final int LARGE_BYTES = 1_000_003;
    private static final int ECHOES = 100;

    @TempDir
    Path directory;

    /** What both processes are configured with. */
    String settings() {
        return "";
    }

    /** What the other process is started with. */
    List<String> flags() {
        return List.of();
    }

    /** What starts the other process, before its java. */
    List<String> prefix() {
        return List.of();
    }

    /** Where the other process's errors go. */
    ProcessBuilder.Redirect errors() {
        return ProcessBuilder.Redirect.INHERIT;
    }

    /** Channels that are opened besides the one that is used. */
    List<String> otherChannels() {
        return List.of();
    }

    /**
     * The other process: {@code DIRECTORY ADDRESS SETTINGS CHANNEL...}. Sends what comes on either link back, sleeping
     * between.
     */
    static final class Echo implements ConnectionListener {
        private final Side side;
        private final ProtocolConnection connection;
        private boolean lost;

        Echo(Side side, ProtocolConnection connection) {
            this.side = side;
            this.connection = connection;
        }

        static void main(String[] arguments) {
            try (Side side = Side.open(Path.of(arguments[0]), 2, arguments[2])) {
                System.out.println(side.adapter.address());
                ProcessIdentity peer = new ProcessIdentity(1, 0);
                for (int i = 3; i < arguments.length; i++) {
                    await(side, connect(side, peer, arguments[1], false, arguments[i]));
                }
                CompletableFuture<ProtocolConnection> future = connect(side, peer, arguments[1], false, MAIN);
                await(side, future);
                new Echo(side, future.join()).run();
            }
        }

        private void run() {
            connection.start(this);
            while (!lost) {
                if (side.round() == 0 && !lost) {
                    assertFalse(side.sleepIsLost());
                }
            }
            connection.close();
        }

        @Override
        public int onReadable() {
            int work = 0;
            for (TransmissionLink link : connection.links()) {
                long header = link.front();
                if (header > 0) {
                    MemorySegment content = receive(link);
                    if (PacketHeader.payloadBytes(header) == Integer.BYTES) {
                        throw new IllegalStateException("told to fail");
                    }
                    send(side, link, content);
                    work++;
                }
            }
            return work;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            lost = true;
        }
    }

    private static CompletableFuture<ProtocolConnection> connect(
            Side side, ProcessIdentity peer, String address, boolean initiator, String channel) {
        return side.adapter
                .openChannel(channel)
                .connect(new ConnectionRequest(
                        peer,
                        address,
                        initiator,
                        side.pmm.transmissionModules(),
                        Side.DIGEST,
                        System.nanoTime() + TimeUnit.SECONDS.toNanos(20)));
    }

    private static void await(Side side, CompletableFuture<ProtocolConnection> future) {
        while (!future.isDone()) {
            side.round();
        }
    }

    private static void send(Side side, TransmissionLink link, MemorySegment content) {
        int bytes = (int) content.byteSize();
        long header = PacketHeader.of(bytes, 0, 0, WHOLE);
        switch (link) {
            case StaticLink small -> {
                long offset = small.claim();
                MemorySegment.copy(content, 0, small.memory(), offset, bytes);
                small.commit(header);
                VarHandle.fullFence();
                small.announce();
            }
            case DynamicLink large -> {
                BufferGroup group = Side.group(content);
                while (large.send(header, group, 0) == LinkStatus.PENDING) {
                    side.sleepIsLost();
                    side.adapter.progress().poll(System.nanoTime());
                }
            }
        }
    }

    private static MemorySegment receive(TransmissionLink link) {
        MemorySegment content = Arena.ofAuto().allocate(PacketHeader.payloadBytes(link.front()));
        BufferGroup group = Side.group(content);
        while (!group.isEmpty()) {
            if (link.receive(group, group.remainingBytes()) == 0) {
                Thread.onSpinWait();
            }
        }
        link.release();
        return content;
    }

    private Process start(String address) throws Exception {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "--illegal-native-access=deny",
                "--sun-misc-unsafe-memory-access=deny"));
        command.addAll(flags());
        command.addAll(List.of(Echo.class.getName(), directory.toString(), address, settings()));
        command.addAll(otherChannels());
        return new ProcessBuilder(command).redirectError(errors()).start();
    }

    interface Trial {
        void run(Side side, ProtocolConnection connection, Side.Listener listener, Process peer) throws Exception;
    }

    void with(Trial trial) throws Exception {
        Process peer = null;
        try (Side side = Side.open(directory, 1, settings())) {
            peer = start(side.adapter.address());
            BufferedReader output = peer.inputReader();
            String address = output.readLine();
            for (String channel : otherChannels()) {
                await(side, connect(side, new ProcessIdentity(2, 0), address, true, channel));
            }
            var future = connect(side, new ProcessIdentity(2, 0), address, true, MAIN);
            await(side, future);
            Side.Listener listener = new Side.Listener();
            future.join().start(listener);
            trial.run(side, future.join(), listener, peer);
        } finally {
            if (peer != null) {
                peer.destroyForcibly().waitFor();
            }
        }
    }

    private static MemorySegment awaitPacket(Side side, TransmissionLink link) {
        while (link.front() == 0) {
            if (side.round() == 0) {
                side.sleepIsLost();
            }
        }
        return receive(link);
    }

    static MemorySegment pattern(int bytes, int round) {
        byte[] content = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            content[i] = (byte) (i * 7 + round);
        }
        return Arena.ofAuto().allocate(bytes).copyFrom(MemorySegment.ofArray(content));
    }

    @Test
    void shouldEchoBetweenProcessesThatSleep() throws Exception {
        with((side, connection, listener, peer) -> {
            for (int round = 0; round < ECHOES; round++) {
                TransmissionLink link =
                        connection.links().get(round % connection.links().size());
                MemorySegment sent = pattern(link instanceof StaticLink ? 1000 + round : LARGE_BYTES, round);
                send(side, link, sent);
                assertEquals(-1, sent.mismatch(awaitPacket(side, link)), "round " + round);
            }
            connection.finish();
            connection.close();
            assertTrue(peer.waitFor(10, TimeUnit.SECONDS), "the peer did not see the end");
            assertEquals(0, peer.exitValue());
        });
        assertEmpty();
    }

    @Test
    @Tag("measures")
    void shouldLearnOfAKilledPeerSoonWhileSleeping() throws Exception {
        with((side, connection, listener, peer) -> {
            peer.destroyForcibly();
            long beganNs = System.nanoTime();
            while (listener.lost == null) {
                if (side.round() == 0) {
                    side.sleepIsLost();
                }
            }
            assertTrue(System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(5));
            assertEquals("false its process ended", listener.lost);
            for (TransmissionLink link : connection.links()) {
                assertEquals(LinkStatus.CLOSED, link.front());
            }
            assertEquals(LinkStatus.CLOSED, ((StaticLink) connection.links().getFirst()).claim());
        });
        assertEmpty();
    }

    @Test
    void shouldReleaseASenderWhoseReceiverIsStoppedAndKilled() throws Exception {
        with((side, connection, listener, peer) -> {
            new ProcessBuilder("kill", "-STOP", Long.toString(peer.pid()))
                    .start()
                    .waitFor();
            DynamicLink link = (DynamicLink) connection.links().getLast();
            BufferGroup group = Side.group(MemorySegment.ofArray(new byte[LARGE_BYTES]));
            long header = PacketHeader.of(LARGE_BYTES, 0, 0, WHOLE);
            assertEquals(LinkStatus.PENDING, link.send(header, group, 0));
            peer.destroyForcibly();
            while (link.send(header, group, 0) == LinkStatus.PENDING) {
                assertFalse(side.sleepIsLost());
                side.round();
            }
            assertEquals(LinkStatus.CLOSED, link.send(header, group, 0));
            assertEquals("false its process ended", listener.lost);
            peer.waitFor(); // its sockets close before it has ended, and its files are removed only then
        });
        assertEmpty();
    }

    @Test
    void shouldRefuseToConnectToAProcessThatEnded() throws Exception {
        with((side, connection, listener, peer) -> {
            String address = side.adapter.address().replaceFirst("1\\.0-[0-9a-f]+", "2.0-12345678");
            var future = connect(side, new ProcessIdentity(2, 0), address, true, MAIN);
            try {
                future.join();
                fail("connected to nobody");
            } catch (java.util.concurrent.CompletionException e) {
                assertTrue(
                        e.getCause().getMessage().contains("has it ended?"),
                        e.getCause().getMessage());
            }
        });
    }

    void assertEmpty() throws Exception {
        try (var left = Files.list(directory)) {
            assertEquals(List.of(), left.toList(), "the last one out removes what the dead have left");
        }
    }
}
