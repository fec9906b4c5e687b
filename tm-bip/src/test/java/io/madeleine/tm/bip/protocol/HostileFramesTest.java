package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frames of a peer that keeps the format and means harm. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileFramesTest {
    private static final int ID = 8;

    private final Datagram datagram = new Datagram(Arena.ofAuto());
    private final Endpoint end;

    HostileFramesTest() {
        EndpointSettings settings =
                new EndpointSettings(16_384, 65_536, 1_200, 0, 1_000_000_000L, 1_000_000_000L, false);
        end = Endpoint.acceptor(
                settings,
                new RingPool(() -> 0),
                new GrantScheduler(settings, 1 << 20, GrantScheduler.Order.FAIR),
                ID,
                7,
                0);
        end.out(DatagramLayout.CONTROL_STREAM).append(MemorySegment.ofArray(new byte[1]), 0, 1);
        int sent = 0;
        Datagram out = new Datagram(Arena.ofAuto());
        while (end.produce(1, out, true) > 0) {
            sent++;
        }
        assertTrue(sent > 0);
    }

    private boolean isTaken(long number, Consumer<Datagram> frames) {
        datagram.begin(DatagramLayout.DATA, ID, number, 0);
        frames.accept(datagram);
        datagram.seal();
        assertTrue(datagram.isIntact());
        return end.receive(1, datagram);
    }

    private static void ping(Datagram in) {
        in.bytes().putInt(DatagramLayout.PING);
    }

    /** An acknowledgement of one range. */
    private static Consumer<Datagram> ack(long largest, int gap, int count) {
        return in -> in.bytes()
                .put((byte) DatagramLayout.ACK)
                .put((byte) 1)
                .putShort((short) 0)
                .putInt(0)
                .putLong(largest)
                .putInt(gap)
                .putInt(count);
    }

    /** With the first of these the end counted through all numbers there are. */
    @ParameterizedTest
    @CsvSource({
        "-9223372036854775808, 1, 2162688",
        "-9223372036854775808, 2, 1",
        "-9223372036854775807, 2, 1",
        "-1, 0, 1",
        "-1, 0, -1",
        "9223372036854775807, 0, 1",
        "9223372036854775806, 0, 1",
        "0, 1, 1",
        "0, 0, 2",
        "0, -1, 1",
        "0, 0, 0"
    })
    void shouldDropAnAcknowledgementOfNumbersThatAreNone(long largest, int gap, int count) {
        assertFalse(isTaken(0, ack(largest, gap, count)));
        assertTrue(isTaken(0, ack(0, 0, 1)), "the right one is taken");
    }

    @Test
    void shouldDropADatagramAfterWhichNoneCouldCome() {
        for (int i = 0; i < 2; i++) {
            assertFalse(isTaken(Long.MAX_VALUE, HostileFramesTest::ping));
        }
        assertTrue(isTaken(Long.MAX_VALUE - 1, HostileFramesTest::ping));
        assertFalse(isTaken(Long.MAX_VALUE - 1, HostileFramesTest::ping), "it came already");
        assertFalse(isTaken(-1, HostileFramesTest::ping));
    }

    /** As a fuzzer has found it. */
    @Test
    void shouldReadTheDatagramThatMadeAnEndCountForEver() {
        DatagramFuzz.fuzzerTestOneInput(Base64.getDecoder().decode("AAECAAAAAQIAAAAAAAAAAIABAAAAACGAAAAqBAAAAAAh"));
    }
}
