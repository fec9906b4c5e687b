package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory that two processes work on, one of which may be killed. */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
class RemoteMemoryIT {
    private static final long DRAIN_NS = 500_000_000;

    @TempDir
    Path directory;

    private Side side;
    private RemoteMemory remote;
    private Process process;
    private BufferedReader output;
    private PrintStream input;
    private final Listener listener = new Listener();

    private static final class Listener implements ConnectionListener, RemoteCompletion {
        private volatile boolean lost;
        private @Nullable RemoteMemoryException failure;
        private long count;

        @Override
        public int onReadable() {
            return 0;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            lost = true;
        }

        @Override
        public void completed(long before) {
            count++;
        }

        @Override
        public void failed(RemoteMemoryException why) {
            failure = why;
        }
    }

    @BeforeEach
    void open() {
        side = Side.open(directory, 1);
        side.arenas.drainBy((_, _) -> {}, DRAIN_NS);
        remote = side.adapter.remoteMemory().orElseThrow();
    }

    private void start(RemoteProcess.Role role) throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        RemoteProcess.class.getName(),
                        directory.toString(),
                        "2",
                        "1",
                        side.adapter.address(),
                        role.name()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        output = process.inputReader();
        input = new PrintStream(process.getOutputStream(), true);
        String address = output.readLine();
        CompletableFuture<ProtocolConnection> made =
                side.adapter.openChannel(RemoteProcess.CHANNEL).connect(side.request(2, address, true));
        drive(made::isDone);
        made.join().start(listener);
    }

    private void drive(BooleanSupplier met) {
        long deadlineNs = System.nanoTime() + 6 * Side.PATIENCE_NS;
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "nothing moves any more");
            side.round();
        }
    }

    @AfterEach
    void close() throws Exception {
        process.destroyForcibly().waitFor();
        side.close();
        try (Stream<Path> files = Files.walk(directory)) {
            assertEquals(List.of(), files.filter(Files::isRegularFile).toList(), "files are left");
        }
    }

    private MemorySegment export(Arena arena) {
        MemorySegment memory = side.arenas.own(arena).allocateShared(RemoteProcess.BYTES);
        input.println(HexFormat.of()
                .formatHex(remote.export(memory, RemoteMemory.Access.READ_WRITE).descriptor()));
        return memory;
    }

    @Test
    void shouldBeWorkedOnByTwoProcessesAtOnce() throws Exception {
        start(RemoteProcess.Role.COUNTS);
        try (Arena arena = side.arenas.newArena()) {
            VarHandle word = ValueLayout.JAVA_LONG.varHandle();
            MemorySegment memory = side.arenas.own(arena).allocateShared(RemoteProcess.BYTES);
            memory.set(ValueLayout.JAVA_LONG, 16, 42);
            memory.set(ValueLayout.JAVA_INT, 24, 5);
            input.println(HexFormat.of()
                    .formatHex(remote.export(memory, RemoteMemory.Access.READ_WRITE)
                            .descriptor()));
            assertEquals("attached", output.readLine());
            for (int n = 0; n < RemoteProcess.COUNT; n++) {
                long _ = (long) word.getAndAdd(memory, 0L, 1L);
            }
            assertEquals("done", output.readLine());
            assertEquals(2 * RemoteProcess.COUNT, (long) word.getVolatile(memory, 0L));
            assertEquals(42, memory.get(ValueLayout.JAVA_LONG, 8));
            assertEquals(5, memory.get(ValueLayout.JAVA_INT, 24));
        }
    }

    @Test
    void shouldFailWhenTheOwnerIsKilled() throws Exception {
        start(RemoteProcess.Role.OWNS);
        byte[] descriptor = HexFormat.of().parseHex(output.readLine());
        MemorySegment own = Arena.ofAuto().allocate(RemoteProcess.BYTES);
        try (AttachedMemory attached = remote.attach(descriptor)) {
            own.set(ValueLayout.JAVA_LONG, 0, 77);
            attached.put(own, 0, 0, RemoteProcess.BYTES, listener);
            input.println();
            assertEquals("77", output.readLine());
            process.destroyForcibly();
            drive(() -> {
                attached.put(own, 0, 0, RemoteProcess.BYTES, listener);
                attached.get(0, own, 0, RemoteProcess.BYTES, listener);
                attached.fetchAdd(0, 8, 1, listener);
                return listener.failure != null;
            });
            assertEquals(Kind.LOST, listener.failure.kind());
            assertTrue(listener.count > 0);
        }
        drive(() -> listener.lost);
    }

    @Test
    void shouldNotWaitForLongForAPeerThatWasKilledInItsMidst() throws Exception {
        start(RemoteProcess.Role.PUTS);
        Arena arena = side.arenas.newArena();
        MemorySegment memory = export(arena);
        assertEquals("attached", output.readLine());
        VarHandle last = ValueLayout.JAVA_LONG.varHandle();
        drive(() -> (long) last.getOpaque(memory, RemoteProcess.BYTES - 8L) != 0);
        process.destroyForcibly().waitFor();
        long startNs = System.nanoTime();
        arena.close();
        long tookNs = System.nanoTime() - startNs;
        assertTrue(tookNs < DRAIN_NS + 2 * Side.PATIENCE_NS, "the close took " + tookNs + " ns");
        assertFalse(memory.scope().isAlive());
        try (Arena next = side.arenas.newArena()) {
            side.arenas.own(next).allocateShared(RemoteProcess.BYTES).fill((byte) 1);
        }
    }

    @Test
    void shouldNotHarmAPeerThatIsAtItWhenTheArenaIsClosed() throws Exception {
        start(RemoteProcess.Role.PUTS);
        process.getErrorStream().close();
        Arena arena = side.arenas.newArena();
        export(arena);
        assertEquals("attached", output.readLine());
        arena.close();
        assertEquals(1, process.waitFor(), "it ends by an exception of ours, not by a signal");
    }
}
