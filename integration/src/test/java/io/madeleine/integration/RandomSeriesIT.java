package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random messages in all directions at once, by several threads of several processes on several channels; some are
 * given up by their sender in the middle, some by their receiver. A failure names the seed: give it again with {@code
 * -Dintegration.seed=N}.
 */
class RandomSeriesIT {
    @ParameterizedTest
    @MethodSource("sessions")
    void shouldDeliverRandomMessages(
            int count, String network, String channels, int threads, String kind, String wait, boolean selfDescribed)
            throws Exception {
        long seed = Long.getLong("integration.seed", System.nanoTime());
        Ranks ranks = Ranks.of(count, Program.class)
                .over(network)
                .with("wait.mode=" + wait, "debug.self-described=" + selfDescribed)
                .optimizing()
                .arguments(seed, threads, kind);
        for (String channel : channels.split("\\+")) {
            if (!channel.equals("default")) {
                ranks = ranks.with(
                        "channels." + channel + ".network=" + (channel.equals("other") ? otherThan(network) : channel));
            }
        }
        try (Processes processes = ranks.start()) {
            processes.assertSuccess();
        }
    }

    /** Always each network, each way to wait and each kind of thread, with one and with two channels. */
    private static Stream<Arguments> sessions() {
        return Stream.concat(
                Cases.always(
                        "2, sci, default,       2, platform, spin,     false",
                        "3, tcp, default+other, 2, platform, block,    false",
                        "2, sci, default+tcp,   3, virtual,  adaptive, true",
                        "3, dma, default+other, 1, platform, block,    true"),
                Cases.thoroughly(
                        "2, tcp, default,       1, platform, adaptive, false",
                        "3, sci, default+other, 2, platform, block,    true",
                        "4, auto, default,      1, platform, adaptive, false",
                        "2, dma, default,       2, platform, adaptive, false"));
    }

    private static String otherThan(String network) {
        return network.equals("tcp") ? "sci" : "tcp";
    }

    /**
     * Each thread sends so many messages to each peer on each channel, and as many threads receive from anyone. What
     * was not given up has to come once, in order, unchanged.
     */
    static final class Program {
        private static final int MESSAGES = 400;
        private static final long PATIENCE_S = 30;

        private final Session session;
        private final long seed;
        private final int threads;
        private final ThreadFactory factory;
        private final int messagesPerPeer;
        private final AtomicInteger failures = new AtomicInteger();

        Program(Session session, String[] args) {
            this.session = session;
            this.seed = Long.parseLong(args[0]);
            this.threads = Integer.parseInt(args[1]);
            this.factory = args[2].equals("virtual")
                    ? Thread.ofVirtual().name("v", 0).factory()
                    : Thread.ofPlatform().name("p", 0).factory();
            this.messagesPerPeer = MESSAGES
                    / (session.size() - 1)
                    / threads
                    / session.channelNames().size();
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Program program = new Program(session, args);
                program.run();
                if (program.failures.get() > 0) {
                    System.exit(1);
                }
            }
        }

        private void run() throws InterruptedException {
            List<Thread> running = new ArrayList<>();
            for (String name : session.channelNames()) {
                Channel channel = session.channel(name);
                Reception reception = new Reception(channel);
                for (int thread = 0; thread < threads; thread++) {
                    int number = thread;
                    running.add(start(() -> sendAll(channel, number)));
                    running.add(start(reception::receiveAll));
                }
            }
            for (Thread thread : running) {
                thread.join();
            }
        }

        private Thread start(Runnable work) {
            Thread thread = factory.newThread(() -> {
                try {
                    work.run();
                } catch (Throwable e) {
                    failures.incrementAndGet();
                    System.err.println("rank " + session.rank() + ", seed " + seed + ": " + e);
                    e.printStackTrace();
                    System.exit(1); // the others hear of it
                }
            });
            thread.start();
            return thread;
        }

        private static long mix(long... parts) {
            long mixed = 0;
            for (long part : parts) {
                mixed = new SplittableRandom(mixed ^ part).nextLong();
            }
            return mixed;
        }

        /** A thread's memory, which serves each of its messages anew. */
        private static final class Memory {
            private static final int BYTES = MessagePlan.MAX_BYTES;

            private final MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
            private final MemorySegment outside;
            private long used;

            Memory(Session session) {
                outside = session.allocate(BYTES);
            }

            void reset() {
                used = 0;
            }

            MemorySegment take(boolean isNative, int bytes) {
                MemorySegment taken = (isNative ? outside : heap).asSlice(used, bytes);
                used += bytes;
                return taken;
            }
        }

        // ---- sending

        private void sendAll(Channel channel, int thread) {
            Memory memory = new Memory(session);
            for (int number = 0; number < messagesPerPeer; number++) {
                for (int i = 1; i < session.size(); i++) {
                    int peer = (session.rank() + i) % session.size();
                    send(channel, peer, thread, number, memory);
                }
            }
        }

        private void send(Channel channel, int peer, int thread, int number, Memory memory) {
            memory.reset();
            MessagePlan plan =
                    MessagePlan.of(mix(seed, channel.name().hashCode(), session.rank(), peer, thread, number));
            OutgoingMessage out =
                    channel.beginPacking(peer, PATIENCE_S, SECONDS).within(PATIENCE_S, SECONDS);
            List<MemorySegment> blocks = new ArrayList<>();
            out.packLong(plan.seed()).packLong(thread).packLong(number);
            for (MessagePlan.Block block : plan.blocks()) {
                if (plan.ending() == MessagePlan.Ending.ABORTED && blocks.size() == plan.endingAfter()) {
                    break;
                }
                MemorySegment bytes = memory.take(block.isNative(true), block.bytes());
                if (block.send() != SendMode.LATER) {
                    Contents.fill(bytes, block.seed());
                }
                out.pack(bytes, block.send(), block.receive());
                if (block.send() == SendMode.SAFER) {
                    bytes.fill((byte) 0xEE);
                }
                blocks.add(bytes);
            }
            if (plan.ending() == MessagePlan.Ending.ABORTED) {
                out.close();
                return;
            }
            for (int i = 0; i < blocks.size(); i++) {
                if (plan.blocks().get(i).send() == SendMode.LATER) {
                    Contents.fill(blocks.get(i), plan.blocks().get(i).seed());
                }
            }
            if (plan.asynchronousSend()) {
                await(out.endPackingAsync(), plan);
            } else {
                out.endPacking();
            }
        }

        private static void await(Completion completion, MessagePlan plan) {
            if (!completion.await(PATIENCE_S, SECONDS)) {
                throw new AssertionError("no end of " + plan);
            }
        }

        // ---- receiving

        private final class Reception {
            private final Channel channel;
            private final AtomicInteger left;
            private final Map<String, AtomicLong> lastNumbers = new ConcurrentHashMap<>();

            Reception(Channel channel) {
                this.channel = channel;
                this.left = new AtomicInteger((session.size() - 1) * threads * messagesPerPeer);
            }

            private void receiveAll() {
                Memory memory = new Memory(session);
                while (left.getAndDecrement() > 0) {
                    memory.reset();
                    receive(channel.beginUnpacking(PATIENCE_S, SECONDS).within(PATIENCE_S, SECONDS), memory);
                }
            }

            private void receive(IncomingMessage in, Memory memory) {
                MessagePlan plan = null;
                try {
                    plan = MessagePlan.of(in.unpackLong());
                    long thread = in.unpackLong();
                    checkOrder(in.remote() + "." + thread, in.unpackLong());
                    receive(in, plan, memory);
                    if (plan.ending() == MessagePlan.Ending.ABORTED) {
                        throw new AssertionError("an aborted message came to a good end: " + plan);
                    }
                } catch (MessageAbortedException e) {
                    if (plan != null && plan.ending() != MessagePlan.Ending.ABORTED) {
                        throw e;
                    }
                }
            }

            /** Within a thread's messages on one connection, numbers grow; those of aborted ones may be missing. */
            private void checkOrder(String sender, long number) {
                long before = lastNumbers
                        .computeIfAbsent(sender, _ -> new AtomicLong(-1))
                        .getAndSet(number);
                if (number <= before) {
                    throw new AssertionError("message " + number + " of " + sender + " came after " + before);
                }
            }

            private void receive(IncomingMessage in, MessagePlan plan, Memory memory) {
                List<MemorySegment> blocks = new ArrayList<>();
                for (MessagePlan.Block block : plan.blocks()) {
                    if (plan.ending() == MessagePlan.Ending.DISCARDED && blocks.size() == plan.endingAfter()) {
                        break;
                    }
                    MemorySegment bytes = memory.take(block.isNative(false), block.bytes());
                    in.unpack(bytes, block.send(), block.receive());
                    if (block.receive() == ReceiveMode.EXPRESS) {
                        Contents.check(bytes, block.seed(), block);
                    }
                    blocks.add(bytes);
                }
                if (plan.ending() == MessagePlan.Ending.DISCARDED) {
                    in.discard();
                    return;
                }
                if (plan.asynchronousReceive()) {
                    await(in.endUnpackingAsync(), plan);
                } else {
                    in.endUnpacking();
                }
                for (int i = 0; i < blocks.size(); i++) {
                    Contents.check(
                            blocks.get(i),
                            plan.blocks().get(i).seed(),
                            plan.blocks().get(i));
                }
            }
        }
    }
}
