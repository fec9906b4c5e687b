package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a fuzzer calls with bytes of its own as datagrams: to an end without keys, to one with keys from somebody who
 * has none, and as frames that the peer has sealed. The first byte says which.
 */
public final class DatagramFuzz {
    private static final Arena ARENA = Arena.global();
    private static final RingPool POOL = new RingPool(() -> 0);
    private static final Datagram DATAGRAM = new Datagram(ARENA);
    private static final Datagram ANSWER = new Datagram(ARENA);
    private static final byte[] SECRET = new byte[Protection.SECRET_BYTES];
    private static final byte[] OTHER = {
        1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final int ID = 8;
    private static final int MOST_ANSWERS = 1000;

    private DatagramFuzz() {}

    /** Datagrams of each kind that are in order. */
    public static byte[][] seeds() {
        byte[] frames = ByteBuffer.allocate(60)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) DatagramLayout.CREDIT)
                .put((byte) 1)
                .putShort((short) 0)
                .putLong(5000)
                .put((byte) DatagramLayout.STREAM)
                .put((byte) 0)
                .putShort((short) 4)
                .putLong(0)
                .putInt(42)
                .putInt(DatagramLayout.PING)
                .array();
        byte[][] seeds = new byte[4][];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] =
                    ByteBuffer.allocate(1 + 32).put((byte) i).put(frames, 0, 32).array();
        }
        return seeds;
    }

    private static EndpointSettings settings(boolean encrypts) {
        return new EndpointSettings(16_384, 65_536, 1_200, 0, 1_000_000_000L, 1_000_000_000L, encrypts);
    }

    private static GrantScheduler grants(EndpointSettings settings) {
        return new GrantScheduler(settings, 1 << 20, GrantScheduler.Order.FAIR);
    }

    /** One attempt. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0 || input.length > 4000) {
            return;
        }
        int how = input[0] & 3;
        EndpointSettings settings = settings(how != 0);
        Endpoint end = how < 2
                ? Endpoint.acceptor(settings, POOL, grants(settings), ID, 7, 0)
                : Endpoint.sealed(settings, POOL, grants(settings), ID, 7, new Protection(OTHER, SECRET), 0);
        end.out(DatagramLayout.CONTROL_STREAM).append(MemorySegment.ofArray(input), 0, 1);
        answer(end, 1);
        boolean taken = switch (how) {
            case 2 -> isRawTaken(end, input);
            case 3 -> isTaken(end, input, new Protection(SECRET, OTHER));
            default -> isTaken(end, input, null);
        };
        if (taken && how == 2) {
            throw new AssertionError("a datagram without the key was taken");
        }
        for (int i = 1; i < DatagramLayout.STREAM_COUNT && how == 1; i++) {
            if (end.in(i).readableBytes() > 0) {
                throw new AssertionError("bytes that are no part of the TLS handshake were taken without keys");
            }
        }
        answer(end, 2);
        end.giveUp();
        answer(end, 3);
    }

    /** The bytes are all of a datagram but for its first fields. */
    private static boolean isRawTaken(Endpoint end, byte[] input) {
        DATAGRAM.begin(DatagramLayout.SEALED, ID, 0, 0);
        DATAGRAM.bytes().position(DatagramLayout.NUMBER_OFFSET).put(input, 1, input.length - 1);
        DATAGRAM.seal();
        DATAGRAM.bytes().putInt(DatagramLayout.KEY_OFFSET, input[input.length - 1] & 1);
        return DATAGRAM.isIntact() && end.receive(1, DATAGRAM);
    }

    /** The bytes are frames, which are well sealed, or have a right checksum. */
    private static boolean isTaken(Endpoint end, byte[] input, @org.jspecify.annotations.Nullable Protection sealing) {
        DATAGRAM.begin(sealing == null ? DatagramLayout.DATA : DatagramLayout.SEALED, ID, 0, 0);
        DATAGRAM.bytes().put(input, 1, input.length - 1);
        if (sealing == null) {
            DATAGRAM.seal();
        } else {
            DATAGRAM.seal(sealing, -1);
        }
        return DATAGRAM.isIntact() && end.receive(1, DATAGRAM);
    }

    private static void answer(Endpoint end, long nowNs) {
        for (int i = 0; end.produce(nowNs, ANSWER, true) > 0; i++) {
            if (i > MOST_ANSWERS) {
                throw new AssertionError("answers without end");
            }
        }
    }
}
