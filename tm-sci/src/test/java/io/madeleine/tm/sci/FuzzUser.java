package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Uses one end of a connection whose memory somebody else writes to: sends on all links, takes what comes. */
final class FuzzUser implements ConnectionListener {
    private static final long[] NOTABLE = {
        0,
        1,
        2,
        3,
        4,
        -1,
        -2,
        7,
        8,
        9,
        255,
        256,
        257,
        2047,
        2048,
        4095,
        4096,
        4097,
        8191,
        8193,
        1L << 20,
        1L << 26,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        1L << 40,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MAX_VALUE - 7
    };

    private static final int MOST_PACKETS = 24;
    private static final int MOST_BYTES = 20_000;
    private static final int MOST_TAKEN_BYTES = 1 << 20; // the layer above knows how much it wants, too
    private static final MemorySegment SOURCE = Arena.global().allocate(MOST_BYTES);
    private static final MemorySegment TARGET = Arena.global().allocate(MOST_TAKEN_BYTES);

    private final List<TransmissionLink> links;
    private final List<Stream> streams = new ArrayList<>();
    private final SplittableRandom random;
    private int lostCount;
    private String lost = "";

    FuzzUser(ProtocolConnection connection, SplittableRandom random) {
        this.links = connection.links();
        this.random = random;
        for (TransmissionLink link : links) {
            if (link instanceof DynamicLink large) {
                streams.add(new Stream(large));
            }
        }
        connection.start(this);
    }

    /** Anything, and more often what is near a bound, or a header. */
    static long anyValue(SplittableRandom random) {
        long notable = NOTABLE[random.nextInt(NOTABLE.length)];
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt(10_000);
            case 2 -> PacketHeader.of((int) notable, random.nextInt(8), random.nextInt(3), random.nextInt(16));
            default -> notable;
        };
    }

    /** What is being sent on a link. */
    private final class Stream {
        private final DynamicLink link;
        private final BufferGroup group = new BufferGroup();
        private long header;

        Stream(DynamicLink link) {
            this.link = link;
        }

        void send() {
            int status = LinkStatus.COMPLETE;
            for (int i = 0; i < 3 && status == LinkStatus.COMPLETE; i++) {
                if (header == 0) {
                    int bytes = random.nextInt(MOST_BYTES);
                    group.add(SOURCE, 0, bytes);
                    header = PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST);
                }
                status = link.send(header, group, 0);
                header = status == LinkStatus.COMPLETE ? 0 : header;
            }
        }
    }

    void send() {
        StaticLink small = (StaticLink) links.getFirst();
        long offset = small.claim();
        if (offset >= 0) {
            small.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, random.nextLong());
            small.commit(PacketHeader.of(random.nextInt(257), 0, 0, PacketHeader.FIRST));
            VarHandle.fullFence();
            small.announce();
        }
        streams.forEach(Stream::send);
    }

    @Override
    public int onReadable() {
        int work = 0;
        for (TransmissionLink link : links) {
            for (int packets = 0; packets < MOST_PACKETS && link.front() > 0; packets++) {
                work += take(link, PacketHeader.payloadBytes(link.front()));
            }
        }
        return work;
    }

    /** Takes a packet, in parts or whole; what one call leaves is lost, as with a user who wants something else. */
    private int take(TransmissionLink link, int bytes) {
        int left = Math.min(bytes, MOST_TAKEN_BYTES);
        boolean heap = random.nextInt(4) == 0;
        BufferGroup into = Side.group(heap ? MemorySegment.ofArray(new byte[left]) : TARGET.asSlice(0, left));
        while (!into.isEmpty()) {
            if (random.nextBoolean()
                    && into.remainingBytes() == bytes
                    && link instanceof StaticLink
                    && link.receiveWhole(TARGET, 0, bytes)) {
                break;
            }
            if (link.receive(into, random.nextBoolean() ? into.remainingBytes() : 1 + random.nextInt(300)) == 0) {
                return 0;
            }
        }
        if (left == bytes) {
            link.release();
        }
        return 1;
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        lost = orderly + " " + reason.replaceAll("0x[0-9a-f]+", "0x...");
        lostCount++;
    }

    /** How the connection ended; empty while it has not. */
    String lost() {
        assertTrue(lostCount <= 1, "told more than once: " + lost);
        return lost;
    }
}
