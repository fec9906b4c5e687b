package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of another process, without a connection to it; then that process is killed during a stream of puts. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RemoteMemoryIT {
    private static final long SOON_NS = 5_000_000_000L;
    private static final long STREAM_NS = 300_000_000L;
    private static final int UNDER_WAY = 4;

    private Process process;

    /** The outcome of one operation at a time. */
    private static final class Outcome implements RemoteCompletion {
        private volatile boolean done;
        private volatile long value;
        private volatile @Nullable RemoteMemoryException failure;

        @Override
        public void completed(long before) {
            value = before;
            done = true;
        }

        @Override
        public void failed(RemoteMemoryException why) {
            failure = why;
            done = true;
        }
    }

    private BufferedReader start(String provider, String session) throws Exception {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TargetProgram.class.getName(),
                        provider,
                        session)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    @AfterEach
    void end() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    private static long run(Side side, Consumer<RemoteCompletion> operation) {
        Outcome outcome = new Outcome();
        operation.accept(outcome);
        long startNs = System.nanoTime();
        while (!outcome.done) {
            side.poll();
            assertTrue(System.nanoTime() - startNs < SOON_NS, "the operation does not end");
        }
        RemoteMemoryException failure = outcome.failure;
        if (failure != null) {
            throw failure;
        }
        return outcome.value;
    }

    private long told(BufferedReader said) throws Exception {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return Long.parseLong(said.readLine());
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    @Tag("measures")
    void shouldAccessMemoryOfAProcessAndHearOfItsDeath(String provider) throws Exception {
        String session = "remote-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver(provider, "");
        BufferedReader said = start(provider, session);
        String descriptor = said.readLine();
        assertNotNull(descriptor, "the other process has ended");
        try (Side side = new Side(driver, session, 1)) {
            RemoteMemory remote = side.adapter.remoteMemory().orElseThrow();
            AttachedMemory attached = remote.attach(HexFormat.of().parseHex(descriptor));
            assertEquals(TargetProgram.BYTES, attached.bytes());
            MemorySegment source = side.arenas.lasting().allocate(TargetProgram.BYTES, 8);
            MemorySegment back = Arena.ofAuto().allocate(TargetProgram.BYTES, 8);
            for (long at = 0; at < TargetProgram.BYTES; at += Long.BYTES) {
                source.set(ValueLayout.JAVA_LONG, at, at * 31 + 7);
            }
            run(side, done -> attached.put(source, 0, 0, TargetProgram.BYTES, done));
            assertEquals(TargetProgram.sum(source), told(said), "a completed put is not visible to the owner");
            run(side, done -> attached.get(0, back, 0, TargetProgram.BYTES, done));
            assertEquals(-1, source.mismatch(back));
            if (remote.capabilities().atomics()) {
                assertEquals(8 * 31 + 7, run(side, done -> attached.fetchAdd(8, 8, 5, done)));
                assertEquals(TargetProgram.sum(source) + 5, told(said));
            }
            stream(side, attached, source);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldHearOfTheDeathOfAProcessThatHeldItsLock(boolean isAttached) throws Exception {
        String session = "remote-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver("shm", "");
        BufferedReader said = start("shm", session);
        byte[] descriptor = HexFormat.of().parseHex(said.readLine());
        try (Side side = new Side(driver, session, 1)) {
            RemoteMemory remote = side.adapter.remoteMemory().orElseThrow();
            AttachedMemory attached = isAttached ? remote.attach(descriptor) : null;
            MemorySegment source = side.arenas.lasting().allocate(8, 8);
            MemorySegment head = headOfItsMemory(side);
            process.destroyForcibly().waitFor();
            head.set(ValueLayout.JAVA_INT, ShmMemory.LOCK, 0); // as if it had been killed while it polled
            AtomicBoolean isBack = new AtomicBoolean();
            freeLater(isBack, head);
            RemoteMemoryException failure = assertThrows(RemoteMemoryException.class, () -> {
                if (attached == null) {
                    remote.attach(descriptor);
                } else {
                    run(side, done -> attached.put(source, 0, 0, 8, done));
                }
            });
            assertFalse(isBack.getAndSet(true), "a thread waited for the lock of a process that has ended");
            assertEquals(Kind.LOST, failure.kind());
        }
    }

    private MemorySegment headOfItsMemory(Side side) throws Exception {
        String pattern = "madeleine-via-*-" + process.pid() + "-*";
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/dev/shm"), pattern)) {
            byte[] endpoint = ("fi_shm://" + files.iterator().next().getFileName()).getBytes(StandardCharsets.UTF_8);
            ViaAddress own = ViaAddress.read(side.adapter.address()).orElseThrow();
            MemorySegment head =
                    ShmMemory.headOf(ShmFiles.address(endpoint, own).orElseThrow());
            assumeTrue(head != null, "not the layout of libfabric 1.17");
            return head;
        }
    }

    /** Frees the lock after a while if the thread is not back, so that the test ends, too, if the adapter does not. */
    private static void freeLater(AtomicBoolean isBack, MemorySegment head) {
        Thread.ofPlatform().daemon().start(() -> {
            LockSupport.parkNanos(3 * SOON_NS);
            if (isBack.compareAndSet(false, true)) {
                head.set(ValueLayout.JAVA_INT, ShmMemory.LOCK, 1);
            }
        });
    }

    /** Puts until the process is dead, several at a time, and expects that all of them end soon afterwards. */
    private void stream(Side side, AttachedMemory attached, MemorySegment source) {
        Outcome[] outcomes = new Outcome[UNDER_WAY];
        long killNs = System.nanoTime() + STREAM_NS;
        long killedNs = 0;
        int puts = 0;
        RemoteMemoryException failure = null;
        while (failure == null) {
            for (int i = 0; i < UNDER_WAY && failure == null; i++) {
                if (outcomes[i] == null || outcomes[i].done) {
                    failure = outcomes[i] == null ? null : outcomes[i].failure;
                    outcomes[i] = new Outcome();
                    attached.put(source, 0, 0, TargetProgram.BYTES, outcomes[i]);
                    puts++;
                }
            }
            side.poll();
            long nowNs = System.nanoTime();
            if (killedNs == 0 && nowNs - killNs > 0 && puts > UNDER_WAY) {
                process.destroyForcibly();
                killedNs = nowNs;
            }
            assertTrue(killedNs != 0 || nowNs - killNs < SOON_NS, "no put has completed");
            assertTrue(killedNs == 0 || nowNs - killedNs < SOON_NS, "the death was not noticed");
        }
        assertTrue(killedNs != 0, String.valueOf(failure));
        assertEquals(Kind.LOST, failure.kind());
        for (Outcome each : outcomes) {
            while (!each.done) {
                side.poll();
                assertTrue(System.nanoTime() - killedNs < 2 * SOON_NS, "a put never ends");
            }
        }
        RemoteMemoryException later =
                assertThrows(RemoteMemoryException.class, () -> run(side, done -> attached.put(source, 0, 0, 8, done)));
        assertEquals(Kind.LOST, later.kind());
    }
}
