package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes: large blocks there and back, then one is killed. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ProcessesIT {
    private static final long SOON_NS = 5_000_000_000L;
    private static final int ROUNDS = 20;
    private static final int POLLS = 50;
    private static final long OTHER_ID = 3;
    private static final int BLOCK_BYTES = 1 << 14;
    private static final int FIRST_AND_LAST = PacketHeader.FIRST | PacketHeader.LAST;

    private Process process;

    private BufferedReader start(Class<?> program, String provider, String session, boolean isRegistered)
            throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName(),
                        provider,
                        session,
                        Boolean.toString(isRegistered))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private void connectToProcess(Side side, String address) throws IOException {
        assertNotNull(address, "the other process has ended");
        process.getOutputStream().write((side.adapter.address() + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        var connecting = side.connect(new ProcessIdentity(EchoProgram.ID, 0), address, "echo", true);
        while (!connecting.isDone()) {
            side.poll();
        }
        side.use(connecting.join());
    }

    @AfterEach
    void end() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    private static List<Path> sharedFiles(long pid) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("madeleine-via-"))
                    .filter(file -> file.getFileName().toString().contains("-" + pid + "-"))
                    .toList();
        }
    }

    /** Each provider, and each module over two of them; all pairs with -Pthorough. */
    static List<Arguments> providersAndModules() {
        List<Arguments> some = List.of(
                Arguments.of("shm", false),
                Arguments.of("shm", true),
                Arguments.of("tcp;ofi_rxm", true),
                Arguments.of("net", false));
        List<Arguments> others = List.of(Arguments.of("tcp;ofi_rxm", false), Arguments.of("net", true));
        return Boolean.getBoolean("thorough")
                ? Stream.concat(some.stream(), others.stream()).toList()
                : some;
    }

    @ParameterizedTest
    @MethodSource("providersAndModules")
    @Tag("measures")
    void shouldExchangeBlocksWithAProcessAndHearOfItsDeath(String provider, boolean isRegistered) throws Exception {
        String session = "processes-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver(provider, isRegistered);
        BufferedReader said = start(EchoProgram.class, provider, session, isRegistered);
        try (Side side = new Side(driver, session, EchoProgram.PEER_ID)) {
            connectToProcess(side, said.readLine());
            assertEquals("ready", said.readLine());
            exchange(side);
            assertEquals(provider.equals("shm"), !sharedFiles(process.pid()).isEmpty());
            process.destroyForcibly().waitFor();
            long startNs = System.nanoTime();
            while (side.loss.isEmpty()) {
                side.poll();
                assertTrue(System.nanoTime() - startNs < SOON_NS, "the death was not noticed");
            }
            assertTrue(side.loss.contains("has ended"), side.loss);
            assertEquals(LossKind.PEER, side.lossKind);
            driver.removeLeftovers();
            assertEquals(List.of(), sharedFiles(process.pid()));
        }
    }

    /**
     * It has been sent a block that it never took. Over shm libfabric 1.17 completes nothing behind that block by
     * itself; the connections with others live all the same.
     */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    @Tag("measures")
    void shouldTakeMemoryBackFromAKilledProcess(String provider) throws Exception {
        String session = "memory-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver(provider, true);
        BufferedReader said = start(EchoProgram.class, provider, session, true);
        try (Side side = new Side(driver, session, EchoProgram.PEER_ID);
                Side other = new Side(driver, session, OTHER_ID)) {
            connectToProcess(side, said.readLine());
            assertEquals("ready", said.readLine());
            Loss loss = new Loss();
            ProtocolConnection beside = connectBeside(side, other, loss);
            MemorySegment block = side.arenas.lasting().allocate(BLOCK_BYTES, 8);
            sendAndKill(side, other, block);
            var late = side.connect(other.identity, other.adapter.address(), "late", true);
            var answered = other.connect(side.identity, side.adapter.address(), "late", false);
            driveUntil(side, other, () -> late.isDone() && answered.isDone());
            late.join();
            answered.join();
            sendBeside(side, beside, other, block);
            assertEquals("", loss.reason);
        }
    }

    /** The memory of its own endpoint cannot be opened any more, as if its layout were unknown. */
    @Test
    @Tag("measures")
    void shouldGiveUpItsEndpointIfItCannotFailWhatAKilledProcessHasNotTaken() throws Exception {
        String session = "stuck-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver("shm", true);
        BufferedReader said = start(EchoProgram.class, "shm", session, true);
        try (Side side = new Side(driver, session, EchoProgram.PEER_ID);
                Side other = new Side(driver, session, OTHER_ID)) {
            connectToProcess(side, said.readLine());
            assertEquals("ready", said.readLine());
            Loss loss = new Loss();
            ProtocolConnection _ = connectBeside(side, other, loss);
            Files.delete(ShmFiles.of(((ViaAdapter) side.adapter).port().name()));
            sendAndKill(side, other, side.arenas.lasting().allocate(BLOCK_BYTES, 8));
            driveUntil(side, other, () -> !loss.reason.isEmpty());
            assertTrue(loss.reason.contains("waits for a process that has ended (" + process.pid() + ")"), loss.reason);
            var late = side.connect(other.identity, other.adapter.address(), "late", true);
            driveUntil(side, other, late::isDone);
            assertThrows(CompletionException.class, late::join);
            assertEquals(0, ((ViaAdapter) side.adapter).port().outstanding().count(), "it is polled for nothing");
        }
    }

    /** The process stops before it takes the block, and is killed; the block's memory comes back all the same. */
    private void sendAndKill(Side side, Side other, MemorySegment block) throws Exception {
        new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid()))
                .start()
                .waitFor();
        TransmissionLink link = side.connection().links().getLast();
        EchoProgram.send(side, link, PacketHeader.of(BLOCK_BYTES, 0, 0, FIRST_AND_LAST), block);
        boolean isShared = ((ViaAdapter) side.adapter).address().contains("shm");
        assertTrue(((PostingLink) link).holdsMemory() || !isShared, "nobody has taken the block");
        process.destroyForcibly().waitFor();
        driveUntil(side, other, () -> !side.loss.isEmpty() && !((PostingLink) link).holdsMemory());
    }

    /** As it does while it polls; whoever sends to it spins within libfabric then. */
    @Test
    @Tag("measures")
    void shouldGoOnWhenAProcessIsKilledThatHoldsTheLockOfItsMemory() throws Exception {
        String session = "locks-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver("shm", true);
        BufferedReader said = start(EchoProgram.class, "shm", session, true);
        try (Side side = new Side(driver, session, EchoProgram.PEER_ID);
                FileChannel file = connectAndOpenMemory(side, said)) {
            new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid()))
                    .start()
                    .waitFor();
            try {
                setLock(file, 0);
                CompletableFuture<Void> sender = CompletableFuture.runAsync(() -> {
                    TransmissionLink link = side.connection().links().getLast();
                    long header = PacketHeader.of(BLOCK_BYTES, 0, 0, FIRST_AND_LAST);
                    EchoProgram.send(side, link, header, side.arenas.lasting().allocate(BLOCK_BYTES, 8));
                    while (side.loss.isEmpty()) {
                        side.poll();
                    }
                });
                assertThrows(
                        TimeoutException.class,
                        () -> sender.get(500, TimeUnit.MILLISECONDS),
                        "nobody waits for the lock");
                process.destroyForcibly().waitFor();
                sender.get(SOON_NS, TimeUnit.NANOSECONDS);
                assertTrue(side.loss.contains("has ended"), side.loss);
            } finally {
                setLock(file, 1); // a thread that spins could not be ended otherwise
            }
        }
    }

    private FileChannel connectAndOpenMemory(Side side, BufferedReader said) throws IOException {
        connectToProcess(side, said.readLine());
        assertEquals("ready", said.readLine());
        return FileChannel.open(sharedFiles(process.pid()).getFirst(), StandardOpenOption.WRITE);
    }

    /** Sets the lock at its place in the memory of libfabric 1.17: 0 if it is held. */
    private static void setLock(FileChannel file, int value) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        file.write(bytes.putInt(0, value), 24);
    }

    private static void driveUntil(Side left, Side right, BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < SOON_NS, "not within " + SOON_NS + " ns");
            left.poll();
            right.poll();
        }
    }

    private static ProtocolConnection connectBeside(Side side, Side other, Loss loss) {
        var ofSide = side.connect(other.identity, other.adapter.address(), "beside", true);
        var ofOther = other.connect(side.identity, side.adapter.address(), "beside", false);
        driveUntil(side, other, () -> ofSide.isDone() && ofOther.isDone());
        ofSide.join().start(loss);
        other.use(ofOther.join());
        return ofSide.join();
    }

    private static void sendBeside(Side side, ProtocolConnection beside, Side other, MemorySegment block) {
        for (int i = 0; i + Integer.BYTES <= BLOCK_BYTES; i += Integer.BYTES) {
            block.set(ValueLayout.JAVA_INT, i, i * 31);
        }
        MemorySegment target = other.arenas.lasting().allocate(BLOCK_BYTES, 8);
        BufferGroup sent = new BufferGroup();
        sent.add(block, 0, BLOCK_BYTES);
        BufferGroup received = new BufferGroup();
        received.add(target, 0, BLOCK_BYTES);
        DynamicLink out = (DynamicLink) beside.links().getLast();
        TransmissionLink in = other.connection().links().getLast();
        boolean[] hasLeft = {false};
        driveUntil(side, other, () -> {
            if (!hasLeft[0]) {
                long header = PacketHeader.of(BLOCK_BYTES, 0, 0, FIRST_AND_LAST);
                hasLeft[0] = out.send(header, sent, 0) == LinkStatus.COMPLETE;
            }
            if (in.front() > 0 && !received.isEmpty()) {
                in.receive(received, received.remainingBytes());
            }
            return hasLeft[0] && received.isEmpty();
        });
        in.release();
        assertEquals(-1, block.asSlice(0, BLOCK_BYTES).mismatch(target));
    }

    /** Hears of the end of a connection. */
    private static final class Loss implements ConnectionListener {
        private String reason = "";

        @Override
        public int onReadable() {
            return 0;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String why) {
            reason = why;
        }
    }

    /** The provider shm of libfabric 1.17 ends a process that finds no memory of the peer that has called it. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldSurviveACallerThatHasClosedMeanwhile(String provider) throws Exception {
        String session = "callers-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver(provider, "");
        BufferedReader said = start(LateProgram.class, provider, session, false);
        String address = said.readLine();
        assertNotNull(address, "the other process has ended");
        try (Side side = new Side(driver, session, EchoProgram.PEER_ID)) {
            var connecting = side.connect(new ProcessIdentity(EchoProgram.ID, 0), address, "late", true);
            for (int i = 0; i < POLLS; i++) {
                side.poll();
            }
            assertFalse(connecting.isDone());
        }
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        assertEquals("alive", said.readLine());
        assertEquals(0, process.waitFor());
    }

    private static void exchange(Side side) {
        TransmissionLink link = side.connection().links().getLast();
        MemorySegment source = side.arenas.lasting().allocate(EchoProgram.MAX_BYTES, 8);
        MemorySegment target = side.arenas.lasting().allocate(EchoProgram.MAX_BYTES, 8);
        for (int round = 0; round < ROUNDS; round++) {
            int bytes = 1 + (int) (EchoProgram.MAX_BYTES * (long) round * round / ROUNDS / ROUNDS);
            int[] words = new int[bytes / Integer.BYTES];
            for (int i = 0; i < words.length; i++) {
                words[i] = i * 31 + round;
            }
            source.asSlice(0, Integer.BYTES * (long) words.length).copyFrom(MemorySegment.ofArray(words));
            long header = PacketHeader.of(bytes, round, 0, FIRST_AND_LAST);
            EchoProgram.send(side, link, header, source);
            while (link.front() == 0) {
                side.poll();
            }
            assertEquals(header, link.front());
            EchoProgram.receive(side, link, header, target);
            assertEquals(-1, source.asSlice(0, bytes).mismatch(target.asSlice(0, bytes)), "round " + round);
        }
    }
}
