package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** More connections than an endpoint of shm posts receives for: it takes 1024. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ManyConnectionsTest {
    private static final int CONNECTIONS = 60;
    private static final int MESSAGES = 24; // as many as the buffers of a connection
    private static final long HEADER = PacketHeader.of(8, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);

    private static OneStepLink pool(ProtocolConnection connection) {
        return (OneStepLink) connection.links().getFirst();
    }

    private static List<ProtocolConnection> join(List<CompletableFuture<ProtocolConnection>> made, Side side) {
        List<ProtocolConnection> joined =
                made.stream().map(CompletableFuture::join).toList();
        joined.forEach(each -> each.start(side));
        return joined;
    }

    @Test
    void shouldTakeMoreConnectionsThanAnEndpointPostsReceivesFor() {
        String session = "many-" + System.nanoTime();
        try (Side left = new Side(Fabrics.driver("shm", ""), session, 1);
                Side right = new Side(Fabrics.driver("shm", ""), session, 2)) {
            List<CompletableFuture<ProtocolConnection>> ofLeft = new ArrayList<>();
            List<CompletableFuture<ProtocolConnection>> ofRight = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                ofLeft.add(left.connect(right.identity, right.adapter.address(), "channel " + i, true));
                ofRight.add(right.connect(left.identity, left.adapter.address(), "channel " + i, false));
            }
            Side.drive(
                    left,
                    right,
                    () -> ofLeft.stream().allMatch(CompletableFuture::isDone)
                            && ofRight.stream().allMatch(CompletableFuture::isDone));
            List<ProtocolConnection> senders = join(ofLeft, left);
            List<ProtocolConnection> receivers = join(ofRight, right);
            for (int round = 0; round < 3; round++) {
                exchange(left, right, senders, receivers);
                exchange(right, left, receivers, senders);
            }
            assertEquals("", left.loss + right.loss);
        }
    }

    /** Over all connections at once, before anything is received. */
    private static void exchange(
            Side from, Side to, List<ProtocolConnection> senders, List<ProtocolConnection> receivers) {
        MemorySegment block = MemorySegment.ofArray(new byte[8]);
        for (int message = 0; message < MESSAGES; message++) {
            block.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, message);
            for (ProtocolConnection each : senders) {
                Side.drive(from, to, () -> pool(each).sendPacket(HEADER, block, 0));
            }
        }
        for (ProtocolConnection each : receivers) {
            for (int message = 0; message < MESSAGES; message++) {
                Side.drive(from, to, () -> pool(each).receivePacket(HEADER, block, 0));
                assertEquals(message, block.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
            }
        }
        assertTrue(senders.size() > 1024 / 46, "few connections prove nothing");
    }
}
