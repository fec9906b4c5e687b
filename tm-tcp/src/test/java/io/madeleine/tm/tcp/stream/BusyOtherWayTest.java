package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.Pair;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A connection within a host whose receive window has become small. Where the window is smaller than a segment, Linux
 * sends nothing until its persist timer ends, and each segment from the peer starts that timer anew.
 */
@Timeout(60)
class BusyOtherWayTest {
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** One way of the connection. */
    private static final class Way {
        private final DynamicLink out;
        private final DynamicLink in;
        private int sent;
        private int received;
        private int skipped;
        private long header;
        private BufferGroup rest = new BufferGroup();

        Way(DynamicLink out, DynamicLink in) {
            this.out = out;
            this.in = in;
        }

        /** Begins a packet that takes this much of the stream, or goes on with the last one. */
        boolean send(int bytes) {
            if (header == 0) {
                int payload = bytes - Long.BYTES;
                header = PacketHeader.of(payload, sent & 0xFFF, 0, FLAGS);
                rest = new BufferGroup();
                rest.add(MemorySegment.ofArray(new byte[payload]), 0, payload);
            }
            if (out.send(header, rest, 0) != LinkStatus.COMPLETE) {
                return false;
            }
            header = 0;
            sent++;
            return true;
        }

        void receive() {
            for (long front = in.front(); front > 0; front = in.front()) {
                int left = PacketHeader.payloadBytes(front) - skipped;
                skipped += (int) in.skip(left);
                if (skipped < PacketHeader.payloadBytes(front)) {
                    return;
                }
                in.release();
                skipped = 0;
                received++;
            }
        }
    }

    @Test
    void shouldDeliverAllThoughTheWindowIsSmallAndTheOtherWayIsBusy() throws Exception {
        try (Pair pair = new Pair("madeleine.tm.tcp.coalesce-time = 0s")) {
            Pair.Ends ends = pair.connect();
            Way tested = new Way(ends.left().link, ends.right().link);
            Way other = new Way(ends.right().link, ends.left().link);
            makeTheWindowSmall(tested, other);
            fill(tested);

            long startNs = System.nanoTime();
            while (tested.received < tested.sent && System.nanoTime() - startNs < PATIENCE.toNanos()) {
                boolean _ = tested.header != 0 && tested.send(0);
                for (int i = 0; i < 1_000 && other.send(900); i++) {
                    // as much as the system takes
                }
                other.receive();
                tested.receive();
                pair.poll();
            }
            assertEquals(tested.sent, tested.received);
        }
    }

    /**
     * After a large segment the system permits a large window. After two segments of one size that are not tiny, and a
     * little larger one, it takes them for usual and makes the window small. The rest uses up what had been permitted.
     */
    private static void makeTheWindowSmall(Way tested, Way other) throws InterruptedException {
        for (int bytes : new int[] {64_000, 560, 560, 600}) {
            while (!tested.send(bytes)) {
                Thread.sleep(1);
            }
            Thread.sleep(2);
            tested.receive();
        }
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 8; i++) {
                while (!tested.send(260)) {
                    tested.receive();
                }
                pause();
            }
            while (!other.send(20)) {
                other.receive();
            }
            Thread.sleep(1);
            tested.receive();
            other.receive();
        }
    }

    /** So that the system does not put two packets into one segment. */
    private static void pause() {
        long untilNs = System.nanoTime() + 20_000;
        while (System.nanoTime() < untilNs) {
            Thread.onSpinWait();
        }
    }

    /** Sends until the system takes no more. */
    private static void fill(Way tested) throws InterruptedException {
        for (int refused = 0; refused < 3; ) {
            if (tested.send(128)) {
                refused = 0;
            } else {
                refused++;
                Thread.sleep(1);
            }
        }
    }
}
