package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.together;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.switching.SelectionTable;
import io.madeleine.testkit.ContractViolation;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The contract of the mirror, tested with random series: an unpack that differs from the pack is detected from the
 * message itself, or cannot be distinguished from a correct one; and the next message is correct.
 */
public interface MirrorContract extends MessageFixture {
    int SERIES = 300;
    int CHECK_BYTES = 777;

    /** Bounds a test that would otherwise hang; nothing is judged by it. */
    long HANGS_AFTER_SECONDS = 20;

    private static List<MirroredBlock> series(Random random) {
        List<MirroredBlock> items = new ArrayList<>();
        for (int count = random.nextInt(6); count > 0; count--) {
            items.add(MirroredBlock.random(random));
        }
        return items;
    }

    /** A series with one small change, or none. */
    private static List<MirroredBlock> mirror(List<MirroredBlock> packed, Random random) {
        List<MirroredBlock> items = new ArrayList<>(packed);
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            change(items, random);
        }
        return items;
    }

    private static void change(List<MirroredBlock> items, Random random) {
        int at = random.nextInt(items.size() + 1);
        if (at == items.size()) {
            items.add(MirroredBlock.random(random));
            return;
        }
        MirroredBlock item = items.get(at);
        switch (random.nextInt(7)) {
            case 0 -> items.remove(at);
            case 1 -> items.add(at, MirroredBlock.random(random));
            case 2 -> items.set(at, new MirroredBlock(item.bytes() + 1, item.send(), item.receive()));
            case 3 -> items.set(at, new MirroredBlock(Math.max(0, item.bytes() - 1), item.send(), item.receive()));
            case 4 ->
                items.set(at, new MirroredBlock(MirroredBlock.random(random).bytes(), item.send(), item.receive()));
            case 5 ->
                items.set(
                        at,
                        new MirroredBlock(
                                item.bytes(),
                                MirroredBlock.random(random).send(),
                                MirroredBlock.random(random).receive()));
            default -> items.add(items.remove(random.nextInt(items.size()))); // changes the order
        }
    }

    /** How many bytes each module carries; a difference here is detected without descriptors, too. */
    private static long[] bytesByModule(List<MirroredBlock> items, SelectionTable table) {
        long[] bytes = new long[table.modules().size()];
        for (MirroredBlock item : items) {
            bytes[table.select(item.bytes(), item.send(), item.receive())] += item.bytes();
        }
        return bytes;
    }

    private static void pack(OutgoingMessage out, List<MirroredBlock> items) {
        for (int i = 0; i < items.size(); i++) {
            out.pack(
                    block(i, items.get(i).bytes()),
                    items.get(i).send(),
                    items.get(i).receive());
        }
        out.endPacking();
    }

    /** Unpacks a series; returns whether it was accepted as a correct mirror. */
    private static boolean unpack(IncomingMessage in, List<MirroredBlock> items, boolean isRight, boolean async)
            throws InterruptedException {
        List<MemorySegment> blocks = new ArrayList<>();
        try {
            for (MirroredBlock item : items) {
                blocks.add(block(item.bytes()));
                in.unpack(blocks.getLast(), item.send(), item.receive());
            }
            if (!async) {
                in.endUnpacking();
            } else if (!in.endUnpackingAsync().await(HANGS_AFTER_SECONDS, TimeUnit.SECONDS)) {
                throw new DeadlineExceededException("endUnpackingAsync");
            }
        } catch (AsymmetricMessageException thrown) {
            assertSays("from rank 0 to rank 1 on channel default", thrown);
            return false;
        }
        for (int i = 0; isRight && i < items.size(); i++) {
            Pattern.check(i, blocks.get(i));
        }
        return true;
    }

    private void judge(List<MirroredBlock> packed, List<MirroredBlock> unpacked, boolean accepted) {
        SelectionTable table = sessions().table("network", 0, 1);
        boolean expected = packed.equals(unpacked);
        boolean certain = setup().selfDescribed()
                || expected
                || !Arrays.equals(bytesByModule(packed, table), bytesByModule(unpacked, table));
        if (certain && accepted != expected) {
            throw new ContractViolation("a mirror was " + (accepted ? "accepted" : "refused") + " by mistake: unpacked "
                    + unpacked + ", packed " + packed);
        }
    }

    @Test
    default void shouldNeverHangOverAMirrorThatDiffers() {
        open(2);
        long seed = System.nanoTime();
        CyclicBarrier judged = new CyclicBarrier(2); // meanwhile nothing arrives that could wake the receiver
        together(
                () -> {
                    Random random = new Random(seed);
                    for (int i = 0; i < SERIES; i++) {
                        List<MirroredBlock> packed = series(random);
                        mirror(packed, random);
                        boolean waits = random.nextBoolean();
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            pack(out, packed);
                        }
                        if (waits) {
                            judged.await();
                        }
                        send(channel(0), 1, i, CHECK_BYTES);
                    }
                },
                () -> {
                    Random random = new Random(seed);
                    for (int i = 0; i < SERIES; i++) {
                        List<MirroredBlock> packed = series(random);
                        List<MirroredBlock> unpacked = mirror(packed, random);
                        boolean waits = random.nextBoolean();
                        String what =
                                "series " + i + " of seed " + seed + ": packed " + packed + ", unpacked " + unpacked;
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            in.within(HANGS_AFTER_SECONDS, TimeUnit.SECONDS);
                            judge(packed, unpacked, unpack(in, unpacked, packed.equals(unpacked), i % 3 == 0));
                        } catch (DeadlineExceededException | ContractViolation e) {
                            throw new ContractViolation(what + ": " + e.getMessage());
                        }
                        if (waits) {
                            judged.await();
                        }
                        receive(channel(1), i, CHECK_BYTES);
                    }
                });
        checkUsable(0, 1);
    }
}
