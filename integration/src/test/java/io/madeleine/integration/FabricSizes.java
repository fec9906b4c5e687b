package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;

/** Messages of many sizes between two ranks. */
final class FabricSizes {
    private FabricSizes() {}

    /** Sends so many messages of 1 byte and more to the other rank, which returns each; returns how many. */
    static int exchange(Session session, int count, int mostBytes) {
        Channel channel = session.channel();
        int peer = 1 - session.rank();
        MemorySegment block = session.allocate(mostBytes);
        int exchanged = 0;
        for (int number = 0; number < count; number++) {
            MemorySegment part = block.asSlice(0, 1 + (long) (mostBytes - 1) * number / count * number / count);
            if (session.rank() == 0) {
                Contents.fill(part, number);
                channel.beginPacking(peer).packInt(number).pack(part).endPacking();
                part.fill((byte) 0);
            }
            IncomingMessage in = channel.beginUnpacking(30, SECONDS).within(30, SECONDS);
            int told = in.unpackInt();
            in.unpack(part);
            in.endUnpacking();
            if (told != number) {
                throw new AssertionError("message " + told + " for " + number);
            }
            Contents.check(part, number, "message " + number);
            if (session.rank() == 1) {
                channel.beginPacking(peer).packInt(number).pack(part).endPacking();
            }
            exchanged++;
        }
        return exchanged;
    }
}
