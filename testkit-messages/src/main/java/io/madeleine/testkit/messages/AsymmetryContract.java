package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The contract of the mirror: an unpack that differs from the pack is an error in time, and does no damage. */
public interface AsymmetryContract extends MessageFixture {
    int SMALL = 40;
    int MIDDLE = 6000;
    int LARGE = 3 << 20;

    private static ModedBlock cheaper(int bytes) {
        return new ModedBlock(bytes, CHEAPER);
    }

    private static ModedBlock express(int bytes) {
        return new ModedBlock(bytes, EXPRESS);
    }

    private static ModedBlock[] items(ModedBlock... items) {
        return items;
    }

    /** Unpacks other blocks than were packed: the receiver gets an error, and both ends continue. */
    private void expectError(ModedBlock[] packed, ModedBlock[] unpacked) {
        open(2);
        for (int repeated = 0; repeated < 2; repeated++) {
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            for (ModedBlock item : packed) {
                                out.pack(block(1, item.bytes()), SendMode.CHEAPER, item.mode());
                            }
                            out.endPacking();
                        }
                    },
                    () -> {
                        AsymmetricMessageException thrown =
                                assertThrows(AsymmetricMessageException.class, () -> unpackItems(unpacked));
                        assertSays("from rank 0 to rank 1 on channel default", thrown);
                        assertSays(setup().selfDescribed() ? "" : "madeleine.debug.self-described = true", thrown);
                    });
        }
        checkUsable(0, 1);
        close();
    }

    private void unpackItems(ModedBlock[] unpacked) {
        try (IncomingMessage in = channel(1).beginUnpacking()) {
            for (ModedBlock item : unpacked) {
                in.unpack(block(item.bytes()), SendMode.CHEAPER, item.mode());
            }
            in.endUnpacking();
        }
    }

    @Test
    default void shouldNoticeThatLessWasPacked() {
        for (int bytes : new int[] {SMALL, MIDDLE, LARGE}) {
            expectError(items(cheaper(bytes)), items(cheaper(bytes), cheaper(SMALL)));
            expectError(items(cheaper(SMALL), cheaper(bytes)), items(cheaper(SMALL), cheaper(bytes), cheaper(LARGE)));
            expectError(items(), items(cheaper(bytes)));
            expectError(items(cheaper(bytes)), items(cheaper(bytes + 1)));
        }
    }

    @Test
    default void shouldNoticeThatLessWasPackedWhileItWaitsForAnExpressBlock() {
        for (int bytes : new int[] {SMALL, MIDDLE, LARGE}) {
            expectError(items(cheaper(bytes)), items(cheaper(bytes), express(SMALL)));
            expectError(items(cheaper(bytes)), items(cheaper(bytes), express(LARGE)));
            expectError(items(), items(express(bytes)));
            expectError(items(express(bytes)), items(express(bytes + 1)));
        }
    }

    @Test
    default void shouldNoticeThatMoreWasPacked() {
        for (int bytes : new int[] {SMALL, MIDDLE, LARGE}) {
            expectError(items(cheaper(bytes), cheaper(SMALL)), items(cheaper(bytes)));
            expectError(items(cheaper(SMALL), cheaper(bytes)), items(cheaper(SMALL)));
            expectError(items(cheaper(bytes)), items());
            expectError(items(cheaper(bytes)), items(cheaper(bytes - 1)));
            expectError(items(express(SMALL), cheaper(bytes), express(bytes)), items(express(SMALL), cheaper(bytes)));
        }
    }

    @Test
    default void shouldNoticeAnotherOrder() {
        expectError(items(cheaper(SMALL), cheaper(LARGE)), items(cheaper(LARGE), cheaper(SMALL), cheaper(1)));
        expectError(items(express(SMALL), cheaper(LARGE), cheaper(5)), items(cheaper(LARGE), express(SMALL + 6)));
        expectError(
                items(cheaper(LARGE), express(SMALL), cheaper(MIDDLE)),
                items(express(SMALL), cheaper(LARGE), cheaper(MIDDLE + 1)));
    }

    @Test
    default void shouldNoticeOtherSizes() {
        expectError(items(cheaper(LARGE)), items(cheaper(SMALL)));
        expectError(items(cheaper(SMALL)), items(cheaper(LARGE)));
        expectError(items(cheaper(LARGE)), items(express(SMALL)));
        expectError(items(cheaper(SMALL)), items(express(LARGE)));
        expectError(items(cheaper(MIDDLE), cheaper(LARGE)), items(cheaper(MIDDLE), express(MIDDLE)));
        expectError(
                items(express(4), cheaper(LARGE), cheaper(LARGE)), items(express(4), cheaper(SMALL), cheaper(LARGE)));
    }

    @Test
    default void shouldNameTheBlockWhenBlocksDescribeThemselves() {
        if (!setup().selfDescribed()) {
            return;
        }
        open(2);
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packInt(3);
                        out.pack(block(1, 50), SendMode.CHEAPER, CHEAPER);
                        out.pack(block(1, 60), SendMode.CHEAPER, CHEAPER);
                        out.endPacking();
                    }
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        in.unpackInt();
                        in.unpack(block(50), SendMode.CHEAPER, CHEAPER);
                        AsymmetricMessageException thrown = assertThrows(
                                AsymmetricMessageException.class, () -> in.unpack(block(60), SendMode.SAFER, CHEAPER));
                        assertSays("block 2 of 60 bytes, SAFER/CHEAPER", thrown);
                        assertSays("block 2 of 60 bytes, CHEAPER/CHEAPER", thrown);
                        assertThrows(AsymmetricMessageException.class, in::endUnpacking);
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldNameAMissingOrSurplusBlockWhenBlocksDescribeThemselves() {
        assumeTrue(setup().selfDescribed(), "without descriptors an error does not name blocks");
        open(2);
        for (int bytes : new int[] {0, SMALL, MIDDLE, LARGE}) {
            for (boolean asynchronously : new boolean[] {false, true}) {
                ModedBlock[] one = items(cheaper(SMALL));
                ModedBlock[] two = items(cheaper(SMALL), cheaper(bytes));
                AsymmetricMessageException surplus = exchangeInVain(two, one, asynchronously);
                assertSays("block 1 of " + bytes + " bytes, CHEAPER/CHEAPER", surplus);
                assertSays("which the receiver did not unpack", surplus);
                AsymmetricMessageException missing = exchangeInVain(one, two, asynchronously);
                assertSays("block 1 of " + bytes + " bytes, CHEAPER/CHEAPER", missing);
                assertSays("packed only the 1 blocks before it", missing);
            }
        }
        checkUsable(0, 1);
    }

    private AsymmetricMessageException exchangeInVain(
            ModedBlock[] packed, ModedBlock[] unpacked, boolean asynchronously) {
        AtomicReference<AsymmetricMessageException> seen = new AtomicReference<>();
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        for (ModedBlock item : packed) {
                            out.pack(block(1, item.bytes()), SendMode.CHEAPER, item.mode());
                        }
                        out.endPacking();
                    }
                },
                () -> seen.set(assertThrows(AsymmetricMessageException.class, () -> {
                    if (asynchronously) {
                        unpackItemsAsynchronously(unpacked);
                    } else {
                        unpackItems(unpacked);
                    }
                })));
        return Objects.requireNonNull(seen.get());
    }

    private void unpackItemsAsynchronously(ModedBlock[] unpacked) {
        try (IncomingMessage in = channel(1).beginUnpacking()) {
            for (ModedBlock item : unpacked) {
                in.unpack(block(item.bytes()), SendMode.CHEAPER, item.mode());
            }
            in.endUnpackingAsync().await();
        }
    }

    @Test
    default void shouldTellAThreadThatLeavesTheLeadToAnother() {
        for (ModedBlock awaited : items(express(SMALL), express(MIDDLE))) {
            open(setup().sessions(2).channel("default", "network").channel("other", "network"));
            CompletableFuture<Void> leader =
                    start(() -> receive(sessions().session(1).channel("other"), 1, SMALL));
            pause(5); // the leader leads
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(1);
                            out.pack(block(1, LARGE), SendMode.CHEAPER, CHEAPER);
                            pause(5); // the receiver waits
                            out.endPacking();
                        }
                    },
                    () -> assertThrows(
                            AsymmetricMessageException.class, () -> unpackItems(items(express(4), awaited))));
            send(sessions().session(0).channel("other"), 1, 1, SMALL);
            join(leader);
            close();
        }
    }

    @Test
    default void shouldFailTheSameWayAgainUntilItIsClosed() {
        open(2);
        together(() -> send(channel(0), 1, 1, SMALL), () -> {
            try (IncomingMessage in = channel(1).beginUnpacking()) {
                assertThrows(
                        AsymmetricMessageException.class, () -> in.unpack(block(LARGE), SendMode.CHEAPER, EXPRESS));
                assertThrows(AsymmetricMessageException.class, in::unpackInt);
                assertThrows(AsymmetricMessageException.class, in::endUnpacking);
                assertThrows(AsymmetricMessageException.class, in::endUnpacking);
            }
        });
        checkUsable(0, 1);
    }
}
