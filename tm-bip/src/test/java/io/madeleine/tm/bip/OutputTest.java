package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Demand;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.EndpointSettings;
import io.madeleine.tm.bip.protocol.GrantScheduler;
import io.madeleine.tm.bip.protocol.RingPool;
import io.madeleine.tm.bip.protocol.SendStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the system does not take is kept until it does. */
class OutputTest {
    private static final int WINDOW_BYTES = 65_536;
    private static final int BLOCK_BYTES = 20_000;

    private final EndpointSettings settings =
            new EndpointSettings(16_384, WINDOW_BYTES, 65_464, 0, 1_000_000_000L, 1_000_000_000L, false);
    private final RingPool pool = new RingPool(() -> 0);
    private final Arena arena = Arena.ofAuto();
    private final Endpoint here = end(8, 9);
    private final Endpoint there = end(9, 8);
    private final Port port = new Port();
    private final Output output = new Output(port, arena);
    private final BipConnection connection = connection();
    private final byte[] block = new byte[BLOCK_BYTES];
    private long nowNs;

    OutputTest() {
        new Random(5).nextBytes(block);
    }

    private Endpoint end(long ownId, long remoteId) {
        GrantScheduler grants = new GrantScheduler(settings, 1 << 20, GrantScheduler.Order.FAIR);
        return Endpoint.acceptor(settings, pool, grants, ownId, remoteId, 0);
    }

    @SuppressWarnings("NullAway") // no connection is opened here: the adapter is not used
    private BipConnection connection() {
        GrantScheduler grants = new GrantScheduler(settings, 1 << 20, GrantScheduler.Order.FAIR);
        BipProgress progress = new BipProgress(null, port, new Timers(Demand.noop()), grants, arena, 0, false);
        return new BipConnection(progress, here, List.of(new InetSocketAddress("127.0.0.1", 9)), null);
    }

    /** Hands datagrams to the other end, or takes none. */
    private final class Port implements DatagramPort {
        private final List<Datagram> arrived = new ArrayList<>();
        private boolean isFull;
        private @Nullable MemorySegment watched;

        @Override
        public int send(Datagram datagram, InetSocketAddress to) {
            if (isFull) {
                return FULL;
            }
            Datagram copy = new Datagram(arena);
            copy.clear();
            copy.bytes().put(datagram.toSend().duplicate());
            copy.arrived();
            MemorySegment memory = watched;
            if (memory != null) {
                assertEquals(-1, memory.mismatch(arena.allocate(memory.byteSize())), "another's ring was written");
            }
            datagram.restoreRing();
            arrived.add(copy);
            return SENT;
        }

        @Override
        public @Nullable InetSocketAddress receive(Datagram into) {
            return null;
        }

        @Override
        public InetSocketAddress address() {
            return new InetSocketAddress("127.0.0.1", 8);
        }

        @Override
        public SelectableChannel channel() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int receiveBufferBytes() {
            return 1 << 20;
        }

        @Override
        public int sendBufferBytes() {
            return 1 << 20;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private boolean flush() {
        return output.flush(here, connection, nowNs, false);
    }

    private void deliver() {
        for (Datagram each : port.arrived) {
            assertTrue(each.isIntact());
            there.receive(nowNs, each);
        }
        port.arrived.clear();
    }

    /** The ends exchange what they have; the path is known to carry large datagrams then. */
    private void talk() {
        Datagram datagram = new Datagram(arena);
        for (int i = 0; i < 50; i++) {
            nowNs += 1_000_000;
            flush();
            deliver();
            nowNs += 1_000_000; // the way back takes time, else no round trip is measured
            while (there.produce(nowNs, datagram, false) > 0) {
                here.receive(nowNs, datagram);
            }
        }
        assertTrue(here.datagramBytes() > BLOCK_BYTES);
    }

    private SendStream payload() {
        return here.out(DatagramLayout.LONG_STREAM);
    }

    @Test
    void shouldSendWhatTheSystemDidNotTake() {
        talk();
        payload().append(MemorySegment.ofArray(block), 0, BLOCK_BYTES);
        port.isFull = true;
        assertFalse(flush());
        assertFalse(flush());
        port.isFull = false;
        talk();
        byte[] read = new byte[there.in(DatagramLayout.LONG_STREAM).readableBytes()];
        there.in(DatagramLayout.LONG_STREAM).take(MemorySegment.ofArray(read), 0, read.length);
        assertArrayEquals(block, read);
    }

    @Test
    void shouldNotUseTheMemoryOfAConnectionThatHasGoneForADatagramOfIt() {
        talk();
        payload().append(MemorySegment.ofArray(block), 0, BLOCK_BYTES);
        talk();
        payload().append(MemorySegment.ofArray(block), 0, BLOCK_BYTES); // not at the ring's start: a head fits in front
        MemorySegment ring = payload().memory();
        port.isFull = true;
        assertFalse(flush());
        here.giveUp(); // its ring is for others now
        Endpoint other = end(10, 11);
        MemorySegment reused = other.out(DatagramLayout.LONG_STREAM).memory();
        assertEquals(ring.address(), reused.address());
        reused.fill((byte) 0);
        port.watched = reused;
        port.isFull = false;
        flush();
        assertFalse(port.arrived.isEmpty());
    }
}
