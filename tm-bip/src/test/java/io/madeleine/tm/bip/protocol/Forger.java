package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import java.util.Random;

/** Makes datagrams with a valid checksum that break one rule each: none of them may change anything. */
final class Forger {
    private static final long UNUSED_NUMBER = 1L << 40;
    private static final int UNUSED_SMALL_NUMBER = 1 << 29;
    private static final byte[] ADDRESS = {10, 0, 0, 9, 4, 2};

    private final Random random;
    private final Cookies cookies;
    private final boolean isActive;

    Forger(Random random, Cookies cookies) {
        this.random = random;
        this.cookies = cookies;
        this.isActive = random.nextInt(4) == 0;
    }

    /** Sometimes shows a forged datagram to an end; returns whether it was taken. */
    boolean isBelieved(Endpoint end, Datagram scratch, long nowNs, boolean isSealed) {
        if (!isActive || random.nextInt(20) != 0) {
            return false;
        }
        if (random.nextInt(10) == 0) {
            byte[] cookie = cookies.make(ADDRESS, 7, nowNs);
            cookie[random.nextInt(cookie.length)] ^= (byte) 1;
            return cookies.isValid(cookie, ADDRESS, 7, nowNs)
                    || cookies.isValid(cookies.make(ADDRESS, 7, nowNs), ADDRESS, 8, nowNs)
                    || cookies.isValid(cookies.make(ADDRESS, 7, nowNs), ADDRESS, 7, nowNs + Cookies.LIFETIME_NS + 1);
        }
        if (isSealed) {
            return isBelievedWithoutKey(end, scratch, nowNs);
        }
        if (random.nextInt(10) == 0) { // its floor lies below 0
            scratch.begin(DatagramLayout.DATA, end.ownId(), UNUSED_SMALL_NUMBER, 2 * UNUSED_SMALL_NUMBER);
            scratch.bytes().putInt(DatagramLayout.PING);
        } else {
            scratch.begin(DatagramLayout.DATA, end.ownId(), UNUSED_NUMBER + random.nextInt(1000), 0);
            writeRuleBreaking(scratch.bytes(), end);
        }
        scratch.seal();
        return scratch.isIntact() && end.receive(nowNs, scratch);
    }

    /** A datagram that would be right if it were not for the key, with numbers that an observer can know. */
    private boolean isBelievedWithoutKey(Endpoint end, Datagram scratch, long nowNs) {
        boolean claims = random.nextBoolean();
        scratch.begin(
                claims ? DatagramLayout.SEALED : DatagramLayout.DATA,
                end.ownId(),
                UNUSED_NUMBER + random.nextInt(9),
                0);
        scratch.bytes().putInt(random.nextBoolean() ? DatagramLayout.PING : DatagramLayout.RESET);
        if (claims) {
            byte[] tag = new byte[DatagramLayout.TAG_BYTES + random.nextInt(9)];
            random.nextBytes(tag);
            scratch.bytes().put(tag);
        }
        scratch.seal();
        if (claims) {
            scratch.bytes().putInt(DatagramLayout.KEY_OFFSET, random.nextInt(3));
        }
        end.onUnknown();
        return scratch.isIntact() && end.receive(nowNs, scratch);
    }

    private void writeRuleBreaking(ByteBuffer out, Endpoint end) {
        int stream = random.nextInt(DatagramLayout.STREAM_COUNT);
        switch (random.nextInt(9)) {
            case 0 -> stream(out, stream, 5, end.in(stream).takenBytes() + (1 << 24), 5); // beyond the credit
            case 1 -> stream(out, DatagramLayout.STREAM_COUNT + 5, 5, 0, 5);
            case 2 -> stream(out, stream, 100, 0, 5); // cut off
            case 3 -> stream(out, stream, 5, -1, 5);
            case 4 -> ack(out, 1L << 41, 0, 1); // was never sent
            case 5 -> ack(out, 2, 100, 1); // below 0
            case 6 -> ack(out, 2, 0, 0); // an empty range
            case 7 -> out.putInt(99);
            default ->
                out.put((byte) DatagramLayout.END)
                        .put((byte) 4)
                        .putShort((short) 0)
                        .put(new byte[32]);
        }
    }

    private static void stream(ByteBuffer out, int stream, int length, long offset, int bytes) {
        out.put((byte) DatagramLayout.STREAM)
                .put((byte) stream)
                .putShort((short) length)
                .putLong(offset)
                .put(new byte[bytes]);
    }

    private static void ack(ByteBuffer out, long largest, int gap, int count) {
        out.put((byte) DatagramLayout.ACK)
                .put((byte) 1)
                .putShort((short) 0)
                .putInt(0)
                .putLong(largest);
        out.putInt(gap).putInt(count);
    }
}
