package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Who has no key can neither read nor change what two ends say to each other. */
class ProtectionTest {
    private static final Arena ARENA = Arena.ofAuto();
    private static final RingPool POOL = new RingPool(() -> 0);
    private static final EndpointSettings SETTINGS =
            new EndpointSettings(16_384, 65_536, 1_200, 0, 1_000_000_000L, 1_000_000_000L, true);
    private static final byte[] TEXT = "a text that nobody else should read".getBytes();
    private static final int UPDATE_AFTER = 4;

    private final Datagram datagram = new Datagram(ARENA);
    private final byte[] left = secret(1);
    private final byte[] right = secret(2);

    private static byte[] secret(long seed) {
        byte[] secret = new byte[Protection.SECRET_BYTES];
        new Random(seed).nextBytes(secret);
        return secret;
    }

    private static Endpoint end(long ownId, long remoteId, Protection protection) {
        GrantScheduler grants = new GrantScheduler(SETTINGS, 1 << 20, GrantScheduler.Order.FAIR);
        return Endpoint.sealed(SETTINGS, POOL, grants, ownId, remoteId, protection, 0);
    }

    /** What an end sends next. */
    private byte[] sent(Endpoint from, long nowNs) {
        int length = from.produce(nowNs, datagram, false);
        assertTrue(length > 0, "nothing to send");
        byte[] bytes = new byte[length];
        datagram.bytes().get(0, bytes);
        return bytes;
    }

    private boolean isTaken(Endpoint to, byte[] bytes, long nowNs) {
        datagram.clear();
        datagram.bytes().put(bytes);
        datagram.arrived();
        return datagram.isIntact() && to.receive(nowNs, datagram);
    }

    private static void say(Endpoint by) {
        by.out(DatagramLayout.CONTROL_STREAM).append(MemorySegment.ofArray(TEXT), 0, TEXT.length);
    }

    @Test
    void shouldTakeADatagramOnceAndNoneInWhichAnyBitWasChanged() {
        Endpoint from = end(7, 8, new Protection(left, right));
        Endpoint to = end(8, 7, new Protection(right, left));
        say(from);
        byte[] bytes = sent(from, 1);
        String all = HexFormat.of().formatHex(bytes);
        assertFalse(all.contains(HexFormat.of().formatHex(TEXT)), "the text travels unencrypted");
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            byte[] changed = bytes.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            assertFalse(isTaken(to, changed, 1), "bit " + bit);
        }
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(bytes, length);
            if (length >= DatagramLayout.HEADER_BYTES) {
                cut[DatagramLayout.LENGTH_OFFSET] = (byte) length;
                cut[DatagramLayout.LENGTH_OFFSET + 1] = (byte) (length >> 8);
            }
            assertFalse(isTaken(to, cut, 1), "cut to " + length);
        }
        assertTrue(isTaken(to, bytes, 1), "as it was sent");
        byte[] found = new byte[TEXT.length];
        to.in(DatagramLayout.CONTROL_STREAM).take(MemorySegment.ofArray(found), 0, found.length);
        assertEquals(new String(TEXT), new String(found));
        assertFalse(isTaken(to, bytes, 1), "the same again");
    }

    @Test
    void shouldNotTakeWhatItSentItselfOrWhatIsNotSealed() {
        Endpoint from = end(7, 8, new Protection(left, right));
        Endpoint mirror = end(8, 7, new Protection(left, right));
        say(from);
        assertFalse(isTaken(mirror, sent(from, 1), 1), "its own datagram came back");
        Endpoint to = end(8, 7, new Protection(right, left));
        datagram.begin(DatagramLayout.DATA, 8, 5, 0);
        datagram.bytes().putInt(DatagramLayout.PING);
        byte[] bytes = new byte[datagram.seal()];
        datagram.bytes().get(0, bytes);
        assertFalse(isTaken(to, bytes, 1), "it is not sealed");
        to.onUnknown();
        assertEquals(Endpoint.State.ESTABLISHED, to.state());
    }

    /** Before there are keys, only the TLS handshake counts. */
    @Test
    void shouldTakeOnlyTheControlStreamBeforeThereAreKeys() {
        GrantScheduler grants = new GrantScheduler(SETTINGS, 1 << 20, GrantScheduler.Order.FAIR);
        for (int type : new int[] {DatagramLayout.CREDIT, DatagramLayout.WANT, DatagramLayout.STREAM}) {
            for (int stream = 0; stream < DatagramLayout.STREAM_COUNT; stream++) {
                if (type == DatagramLayout.WANT && stream != DatagramLayout.LONG_STREAM) {
                    continue;
                }
                Endpoint to = Endpoint.acceptor(SETTINGS, POOL, grants, 8, 7, 0);
                datagram.begin(DatagramLayout.DATA, 8, 0, 0);
                datagram.bytes().put((byte) type).put((byte) stream);
                if (type == DatagramLayout.STREAM) {
                    datagram.bytes().putShort((short) 1).putLong(0).put((byte) 1);
                } else {
                    datagram.bytes().putShort((short) 0).putLong(100);
                }
                datagram.seal();
                assertEquals(
                        stream == DatagramLayout.CONTROL_STREAM,
                        to.receive(1, datagram),
                        "frame " + type + " of stream " + stream);
            }
        }
    }

    @Test
    void shouldChangeKeysAndTakeLateDatagramsOfTheFormerOneOnly() {
        Protection sealing = new Protection(left, right, UPDATE_AFTER);
        Protection opening = new Protection(right, left, UPDATE_AFTER);
        List<byte[]> all = new ArrayList<>();
        for (int number = 0; number < 3 * UPDATE_AFTER; number++) {
            datagram.begin(DatagramLayout.SEALED, 8, number, 0);
            datagram.bytes().putInt(DatagramLayout.PING);
            byte[] bytes = new byte[datagram.seal(sealing, number - 1)];
            datagram.bytes().get(0, bytes);
            assertEquals(number / UPDATE_AFTER, datagram.bytes().getInt(DatagramLayout.KEY_OFFSET));
            all.add(bytes);
        }
        assertFalse(opens(opening, all.get(2 * UPDATE_AFTER)), "a key was left out");
        assertTrue(opens(opening, all.get(0)));
        assertTrue(opens(opening, all.get(UPDATE_AFTER)));
        assertTrue(opens(opening, all.get(1)), "late, with the former key");
        assertTrue(opens(opening, all.get(2 * UPDATE_AFTER)));
        assertTrue(opens(opening, all.get(UPDATE_AFTER + 1)), "late, with the former key");
        assertFalse(opens(opening, all.get(2)), "with a key that was given up");
        assertEquals(4, sealing.updateCount() + opening.updateCount());
    }

    @Test
    void shouldKeepAKeyWhosePeerHasNotAcknowledgedIt() {
        Protection sealing = new Protection(left, right, UPDATE_AFTER);
        for (int number = 0; number < 3 * UPDATE_AFTER; number++) {
            datagram.begin(DatagramLayout.SEALED, 8, number, 0);
            datagram.seal(sealing, number < UPDATE_AFTER ? -1 : 0); // one of the first key, none of the second one
        }
        assertEquals(1, sealing.updateCount());
    }

    @Test
    void shouldNotTakeTheFormerKeyForADatagramThatWasSentAfterTheChange() {
        Protection sealing = new Protection(left, right, UPDATE_AFTER);
        Protection stuck = new Protection(left, right, Integer.MAX_VALUE);
        Protection opening = new Protection(right, left, UPDATE_AFTER);
        for (int number = 0; number <= UPDATE_AFTER; number++) {
            assertTrue(opens(opening, pingBy(sealing, number)));
        }
        assertFalse(opens(opening, pingBy(stuck, UPDATE_AFTER + 1)));
    }

    private byte[] pingBy(Protection sealing, int number) {
        datagram.begin(DatagramLayout.SEALED, 8, number, 0);
        datagram.bytes().putInt(DatagramLayout.PING);
        byte[] bytes = new byte[datagram.seal(sealing, number - 1)];
        datagram.bytes().get(0, bytes);
        return bytes;
    }

    private boolean opens(Protection opening, byte[] bytes) {
        datagram.clear();
        datagram.bytes().put(bytes);
        datagram.arrived();
        return datagram.isIntact() && opening.open(datagram);
    }
}
