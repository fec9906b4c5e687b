package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Remote memory of whole sessions over {@code via}: beside messages, and while the other process is stopped. */
@Execution(ExecutionMode.CONCURRENT)
class FabricMemoryIT {
    private static final int BYTES = 1 << 20;
    private static final long WORD_AT = BYTES;
    private static final String SHM = "shm";
    private static final String RXM = "tcp;ofi_rxm";

    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM})
    void shouldPutGetAndCountBesideMessages(String provider) throws Exception {
        try (Processes processes =
                Fabric.over(provider, 2, Beside.class).optimizing().start()) {
            processes.assertSuccess();
            assertEquals(
                    processes.out(1).linesAfter("counted "), processes.out(0).linesAfter("counted "));
            assertTrue(Long.parseLong(processes.out(1).linesAfter("echoes ").getFirst()) > 0, processes::toString);
        }
    }

    /** Operations on memory of a process that is stopped end after 10 s without progress; to attach ends after 5 s. */
    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM})
    @Tag("waits")
    void shouldEndOperationsOnMemoryOfAStoppedProcess(String provider) throws Exception {
        try (Processes processes = Fabric.over(provider, 2, StoppedOwner.class)
                .with("peer-timeout=60s")
                .start()) {
            processes.awaitLine(1, "putting");
            processes.signal(0, "STOP");
            try {
                long putMs = millis(processes.awaitLine(1, "a put has ended with LOST after "));
                assertTrue(putMs >= 9_000 && putMs < 13_000, processes::toString);
                long attachMs = millis(processes.awaitLine(1, "to attach has ended with LOST after "));
                assertTrue(attachMs >= 4_900 && attachMs < 7_000, processes::toString);
            } finally {
                processes.signal(0, "CONT");
            }
            processes.assertSuccess();
        }
    }

    /**
     * A holder that is stopped does not answer: the owner is told so in time, and the memory is out of reach
     * afterwards.
     */
    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM})
    @Tag("waits")
    void shouldTellThatAStoppedProcessHasNotAnsweredARevocation(String provider) throws Exception {
        try (Processes processes = Fabric.over(provider, 2, StoppedHolder.class)
                .with("peer-timeout=60s")
                .start()) {
            processes.awaitLine(1, "attached");
            processes.signal(1, "STOP");
            try {
                awaitStopped(processes.pid(1));
                awaitStopped(processes.pid(0)); // it stops itself
                processes.signal(0, "CONT");
                long revokedMs = millis(processes.awaitLine(0, "revoked false after "));
                assertTrue(revokedMs >= 1_900 && revokedMs < 4_000, processes::toString);
            } finally {
                processes.signal(1, "CONT");
            }
            processes.assertSuccess();
            String end = processes.out(1).linesAfter("a put has ended with ").getFirst();
            assertTrue(end.startsWith("REVOKED"), processes::toString);
        }
    }

    private static void awaitStopped(long pid) throws Exception {
        long deadlineNs = System.nanoTime() + SECONDS.toNanos(20);
        while (!Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") T ")) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "process " + pid + " has not stopped");
            Thread.sleep(10);
        }
    }

    private static long millis(String text) {
        return Long.parseLong(text.strip());
    }

    // ---- what the programs share

    private static long run(Consumer<RemoteCompletion> operation) throws Exception {
        CompletableFuture<Long> done = new CompletableFuture<>();
        operation.accept(new RemoteCompletion() {
            @Override
            public void completed(long before) {
                boolean _ = done.complete(before);
            }

            @Override
            public void failed(RemoteMemoryException why) {
                boolean _ = done.completeExceptionally(why);
            }
        });
        return done.get(30, SECONDS);
    }

    private static void sendDescriptor(Channel channel, byte[] descriptor) {
        channel.beginPacking(1)
                .packInt(descriptor.length)
                .pack(MemorySegment.ofArray(descriptor))
                .endPacking();
    }

    private static byte[] receiveDescriptor(Channel channel) {
        IncomingMessage in = channel.beginUnpacking(30, SECONDS).within(30, SECONDS);
        byte[] descriptor = new byte[in.unpackInt()];
        in.unpack(MemorySegment.ofArray(descriptor));
        in.endUnpacking();
        return descriptor;
    }

    private static void sendInt(Channel channel, int to, int value) {
        channel.beginPacking(to).packInt(value).endPacking();
    }

    private static int receiveInt(Channel channel) {
        IncomingMessage in = channel.beginUnpacking(60, SECONDS).within(60, SECONDS);
        int value = in.unpackInt();
        in.endUnpacking();
        return value;
    }

    /** Puts until one fails; prints how, and how long that one took. */
    private static void putUntilFailure(AttachedMemory attached, MemorySegment source) throws Exception {
        while (true) {
            long startNs = System.nanoTime();
            try {
                long _ = run(done -> attached.put(source, 0, 0, 64, done));
            } catch (ExecutionException e) {
                printFailure("a put has ended with ", e.getCause(), startNs);
                return;
            }
        }
    }

    private static void printFailure(String what, Throwable why, long startNs) {
        System.out.println(
                what + ((RemoteMemoryException) why).kind() + " after " + (System.nanoTime() - startNs) / 1_000_000);
    }

    /** Rank 0 owns memory and echoes messages; rank 1 puts, gets and counts, while another thread sends messages. */
    static final class Beside {
        private static final int ROUNDS = 150;
        private static final int MESSAGE_BYTES = 50_000;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open(args)) {
                both(session);
            }
        }

        static void both(Session session) throws Exception {
            if (session.rank() == 0) {
                own(session);
            } else {
                use(session);
            }
        }

        private static void own(Session session) throws Exception {
            Channel channel = session.channel();
            MemorySegment memory = session.allocateShared(BYTES + 64, session.newArena());
            ExportedMemory export = Fabric.remoteMemory().export(memory, RemoteMemory.Access.READ_WRITE);
            sendDescriptor(channel, export.descriptor());
            MemorySegment block = session.allocate(MESSAGE_BYTES);
            for (int number = 0; number >= 0; ) {
                IncomingMessage in = channel.beginUnpacking(30, SECONDS).within(30, SECONDS);
                number = in.unpackInt();
                if (number >= 0) {
                    in.unpack(block);
                }
                in.endUnpacking();
                if (number >= 0) {
                    channel.beginPacking(1).packInt(number).pack(block).endPacking();
                }
            }
            long seed = memory.get(ValueLayout.JAVA_LONG, WORD_AT + 8);
            Contents.check(memory.asSlice(0, BYTES), seed, "the memory in the end");
            System.out.println("counted " + memory.get(ValueLayout.JAVA_LONG, WORD_AT));
            if (!export.revoke(5_000_000_000L)) {
                throw new AssertionError("the holder has not answered");
            }
            sendInt(channel, 1, 0);
        }

        private static void use(Session session) throws Exception {
            Channel channel = session.channel();
            AttachedMemory attached = Fabric.remoteMemory().attach(receiveDescriptor(channel));
            AtomicBoolean ended = new AtomicBoolean();
            CompletableFuture<Integer> echoes = CompletableFuture.supplyAsync(() -> echo(session, ended));
            MemorySegment source = session.allocate(BYTES);
            MemorySegment back = Arena.ofAuto().allocate(BYTES, 8);
            MemorySegment word = Arena.ofAuto().allocate(8, 8);
            long sum = 0;
            for (int round = 0; round < ROUNDS && !echoes.isDone(); round++) {
                Contents.fill(source, round);
                long _ = run(done -> attached.put(source, 0, 0, BYTES, done));
                long before = sum;
                long addend = round + 1;
                long found = run(done -> attached.fetchAdd(WORD_AT, 8, addend, done));
                if (found != before) {
                    throw new AssertionError("the word was " + found + ", expected " + before);
                }
                sum += addend;
                long _ = run(done -> attached.get(0, back, 0, BYTES, done));
                Contents.check(back, round, "what came back");
                word.set(ValueLayout.JAVA_LONG, 0, round);
                long _ = run(done -> attached.put(word, 0, WORD_AT + 8, 8, done));
            }
            ended.set(true);
            System.out.println("echoes " + echoes.get(30, SECONDS));
            System.out.println("counted " + sum);
            sendInt(channel, 0, -1);
            int _ = receiveInt(channel); // the owner has revoked
            try {
                long _ = run(done -> attached.put(source, 0, 0, 8, done));
                throw new AssertionError("a put after the revocation has completed");
            } catch (ExecutionException e) {
                if (((RemoteMemoryException) e.getCause()).kind() != RemoteMemoryException.Kind.REVOKED) {
                    throw e;
                }
            }
        }

        private static int echo(Session session, AtomicBoolean ended) {
            Channel channel = session.channel();
            MemorySegment block = session.allocate(MESSAGE_BYTES);
            MemorySegment answer = session.allocate(MESSAGE_BYTES);
            int number = 0;
            for (; !ended.get(); number++) {
                Contents.fill(block, number);
                channel.beginPacking(0).packInt(number).pack(block).endPacking();
                IncomingMessage in = channel.beginUnpacking(30, SECONDS).within(30, SECONDS);
                int told = in.unpackInt();
                in.unpack(answer);
                in.endUnpacking();
                if (told != number) {
                    throw new AssertionError("message " + told + " for " + number);
                }
                Contents.check(answer, number, "the echo");
            }
            return number;
        }
    }

    /** Rank 0 owns memory and is stopped; rank 1 puts, and attaches a second export meanwhile. */
    static final class StoppedOwner {
        public static void main(String[] args) throws Exception {
            try (Session session = Session.open(args)) {
                Channel channel = session.channel();
                if (session.rank() == 0) {
                    RemoteMemory remote = Fabric.remoteMemory();
                    for (int i = 0; i < 2; i++) {
                        MemorySegment memory = session.allocateShared(4096, session.newArena());
                        sendDescriptor(
                                channel,
                                remote.export(memory, RemoteMemory.Access.READ_WRITE)
                                        .descriptor());
                    }
                    int _ = receiveInt(channel);
                    return;
                }
                RemoteMemory remote = Fabric.remoteMemory();
                AttachedMemory attached = remote.attach(receiveDescriptor(channel));
                byte[] second = receiveDescriptor(channel);
                System.out.println("putting");
                putUntilFailure(attached, session.allocate(64));
                long startNs = System.nanoTime();
                try {
                    AttachedMemory _ = remote.attach(second);
                    throw new AssertionError("a stopped process has answered");
                } catch (RemoteMemoryException e) {
                    printFailure("to attach has ended with ", e, startNs);
                }
                sendInt(channel, 0, 0);
            }
        }
    }

    /** Rank 1 attaches memory of rank 0 and is stopped; rank 0 revokes it. */
    static final class StoppedHolder {
        private static final long TIMEOUT_NS = 2_000_000_000L;
        private static final byte LATER = 0x5A;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open(args)) {
                Channel channel = session.channel();
                if (session.rank() == 0) {
                    own(session, channel);
                } else {
                    AttachedMemory attached = Fabric.remoteMemory().attach(receiveDescriptor(channel));
                    sendInt(channel, 0, 1);
                    System.out.println("attached");
                    int _ = receiveInt(channel); // arrives once the owner has revoked
                    putUntilFailure(attached, session.allocate(64));
                    sendInt(channel, 0, 2);
                }
            }
        }

        private static void own(Session session, Channel channel) throws Exception {
            MemorySegment memory = session.allocateShared(4096, session.newArena());
            ExportedMemory export = Fabric.remoteMemory().export(memory, RemoteMemory.Access.READ_WRITE);
            sendDescriptor(channel, export.descriptor());
            int _ = receiveInt(channel);
            stopMyself(); // the test stops the holder, then lets this process go on
            long startNs = System.nanoTime();
            boolean quiet = export.revoke(TIMEOUT_NS);
            System.out.println("revoked " + quiet + " after " + (System.nanoTime() - startNs) / 1_000_000);
            memory.fill(LATER);
            sendInt(channel, 1, 0);
            int _ = receiveInt(channel);
            for (long at = 0; at < memory.byteSize(); at++) {
                if (memory.get(ValueLayout.JAVA_BYTE, at) != LATER) {
                    throw new AssertionError("a put after the revocation has written at " + at);
                }
            }
        }

        private static void stopMyself() throws Exception {
            String own = Long.toString(ProcessHandle.current().pid());
            int _ = new ProcessBuilder("kill", "-STOP", own).start().waitFor();
        }
    }
}
