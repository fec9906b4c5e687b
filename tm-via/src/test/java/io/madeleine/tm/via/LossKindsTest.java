package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.via.link.ViaConnection;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kind of a loss agrees with its text, whoever finds the connection lost first. */
class LossKindsTest {
    private static final String DEAD = "its process (7) has ended";
    private static final String BROKEN = "fi_cq_read failed";

    private static void inPair(boolean isRegistered, BiConsumer<Side, Side> test) {
        String session = "kinds-" + System.nanoTime();
        ViaPmm driver = Fabrics.driver("shm", isRegistered);
        try (Side left = new Side(driver, session, 1);
                Side right = new Side(driver, session, 2)) {
            Side.connect(left, right);
            test.accept(left, right);
        }
    }

    private static long send(TransmissionLink link) {
        return link instanceof StaticLink small
                ? small.claim()
                : ((DynamicLink) link)
                        .send(PacketHeader.of(0, 0, 0, PacketHeader.FIRST | PacketHeader.LAST), new BufferGroup(), 0);
    }

    private static void shouldTellBeforeLinksLookClosed(boolean isRegistered, Consumer<Side> end, LossKind kind) {
        inPair(isRegistered, (left, right) -> {
            end.accept(left);
            for (TransmissionLink link : left.connection().links()) {
                assertNotEquals(LinkStatus.CLOSED, send(link), "nobody has heard what is lost");
                assertEquals(0, link.front(), "nobody has heard what is lost");
            }
            left.poll();
            assertEquals(kind, left.lossKind, left.loss);
            for (TransmissionLink link : left.connection().links()) {
                assertEquals(LinkStatus.CLOSED, send(link));
                assertEquals(LinkStatus.CLOSED, link.front());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellThatTheProcessHasEndedBeforeALinkLooksClosed(boolean isRegistered) {
        shouldTellBeforeLinksLookClosed(
                isRegistered, side -> ((ViaConnection) side.connection()).peerDied(DEAD), LossKind.PEER);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellThatTheAdapterIsBrokenBeforeALinkLooksClosed(boolean isRegistered) {
        shouldTellBeforeLinksLookClosed(
                isRegistered, side -> ((ViaAdapter) side.adapter).onBroken(BROKEN), LossKind.ADAPTER);
    }
}
