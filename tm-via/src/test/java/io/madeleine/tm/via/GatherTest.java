package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.via.port.Outstanding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code via/registered} gathers several blocks in one message, and scatters it over the expected ones. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class GatherTest {
    private static final int[] LENGTHS = {4000, 5000, 6000};
    private static final int BYTES = 15_000;
    private static final int GAP = 8192;

    /** Blocks in one region, apart from each other; or in arrays. */
    private static MemorySegment memory(Side side, boolean isSessions) {
        long bytes = (long) LENGTHS.length * GAP;
        return isSessions
                ? side.arenas.lasting().allocate(bytes, 8)
                : MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    }

    private static BufferGroup blocks(MemorySegment memory) {
        BufferGroup group = new BufferGroup();
        for (int i = 0; i < LENGTHS.length; i++) {
            group.add(memory, (long) i * GAP, LENGTHS[i]);
        }
        return group;
    }

    private static boolean areEqual(MemorySegment one, MemorySegment other) {
        boolean all = true;
        for (int i = 0; i < LENGTHS.length; i++) {
            long at = (long) i * GAP;
            all &= one.asSlice(at, LENGTHS[i]).mismatch(other.asSlice(at, LENGTHS[i])) < 0;
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({
        "shm, true, true",
        "shm, true, false",
        "shm, false, true",
        "tcp;ofi_rxm, true, true",
        "tcp;ofi_rxm, true, false",
        "tcp;ofi_rxm, false, true",
        "net, true, true",
        "net, true, false",
        "net, false, true"
    })
    void shouldMoveThreeBlocksInOneMessage(String provider, boolean fromSessions, boolean toSessions) {
        String session = "gather-" + System.nanoTime();
        try (Side left = new Side(Fabrics.driver(provider, Fabrics.REGISTERED_LAST), session, 1);
                Side right = new Side(Fabrics.driver(provider, Fabrics.REGISTERED_LAST), session, 2)) {
            Side.connect(left, right);
            DynamicLink sending = (DynamicLink) left.connection().links().getLast();
            TransmissionLink receiving = right.connection().links().getLast();
            MemorySegment source = memory(left, fromSessions);
            MemorySegment target = memory(right, toSessions);
            Random random = new Random(5);
            for (int number = 0; number < 20; number++) {
                for (long i = 0; i < source.byteSize(); i++) {
                    source.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
                }
                ((PostingLink) receiving).expect(blocks(target));
                BufferGroup out = blocks(source);
                BufferGroup in = blocks(target);
                long header = PacketHeader.of(BYTES, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
                Outstanding operations = ((ViaAdapter) left.adapter).port().outstanding();
                int before = operations.count();
                assertEquals(LinkStatus.COMPLETE, sending.send(header, out, 0));
                assertTrue(operations.count() - before <= 2, "more than an announcement and a message");
                boolean[] there = {false};
                Side.drive(left, right, () -> {
                    there[0] |= !in.isEmpty() && in.remainingBytes() == BYTES && areEqual(source, target);
                    if (receiving.front() == header && (there[0] || !toSessions)) {
                        long _ = receiving.receive(in, in.remainingBytes());
                    }
                    return in.isEmpty();
                });
                receiving.release();
                assertTrue(areEqual(source, target));
                assertEquals(toSessions, there[0], "whether the blocks were filled where they lie");
                Side.drive(left, right, () -> !((PostingLink) sending).holdsMemory());
            }
        }
    }
}
