package io.madeleine.bench.peer;

import io.aeron.Aeron;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.ControlledFragmentHandler;
import io.aeron.logbuffer.ControlledFragmentHandler.Action;
import io.aeron.logbuffer.Header;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Aeron with exclusive publications and drivers that the measuring threads turn themselves (invoker mode): no message
 * changes threads and nobody competes for the two processors. Between processes of a host one driver, in rank 0, is all
 * there is; over UDP each process has one of its own.
 *
 * <p>Fragments are copied from the log into the block; what a poll finds beyond the block is kept for the next one, so
 * that small messages come many at a poll.
 *
 * <p>Threading: confined to caller.
 */
final class AeronWire implements Wire, ControlledFragmentHandler {
    private static final int TERM_BYTES = 64 << 20;

    /** The longest fragment there can be: the largest datagram, in multiples of 32. */
    private static final int IPC_MTU_BYTES = 65_504;

    private static final int UDP_MTU_BYTES = 60_000;
    private static final int SOCKET_BYTES = 4 << 20;
    private static final int WINDOW_BYTES = 2 << 20;
    private static final int PIECE_BYTES = 4 << 20;
    private static final int STREAM_ID = 7;
    private static final int FRAGMENTS = 64;

    /** A fragment of at least this many bytes is not worth keeping for later. */
    private static final int LARGE_BYTES = 2 << 10;

    private static final int KEPT_BYTES = FRAGMENTS * LARGE_BYTES + (64 << 10);

    /** After this many polls without a message the media driver gets a turn. */
    private static final int DRIVER_TURNS = 64;

    /** Between two measurements no thread runs the driver, so silence means nothing. */
    private static final long SILENCE_NS = TimeUnit.HOURS.toNanos(4);

    private static final long NAP_NS = 1_000;

    private final boolean overUdp;
    private final @Nullable MediaDriver driver;
    private final @Nullable AgentInvoker driverInvoker;
    private final Aeron aeron;
    private final AgentInvoker clientInvoker;
    private final UnsafeBuffer sent = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer received = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer kept = new UnsafeBuffer(new byte[KEPT_BYTES]);
    private final Idling idling;
    private @Nullable ExclusivePublication publication;
    private @Nullable Image image;
    private int keptFrom;
    private int keptTo;
    private int at;
    private int wanted;

    private AeronWire(WaitMode wait, boolean overUdp, @Nullable MediaDriver driver, String directory) {
        this.idling = new Idling(wait);
        this.overUdp = overUdp;
        this.driver = driver;
        this.driverInvoker = driver == null ? null : driver.sharedAgentInvoker();
        this.aeron = Aeron.connect(new Aeron.Context()
                .aeronDirectoryName(directory)
                .useConductorAgentInvoker(true)
                .driverAgentInvoker(driverInvoker)
                .driverTimeoutMs(TimeUnit.NANOSECONDS.toMillis(SILENCE_NS))
                .keepAliveIntervalNs(TimeUnit.MILLISECONDS.toNanos(100)));
        this.clientInvoker = aeron.conductorAgentInvoker();
    }

    static AeronWire ipc(int rank, WaitMode wait, String folder, ControlLine line) throws IOException {
        Optional<MediaDriver> driver = rank == 0 ? Optional.of(MediaDriver.launch(context(folder))) : Optional.empty();
        AeronWire wire;
        if (driver.isPresent()) {
            wire = new AeronWire(wait, false, driver.get(), driver.get().aeronDirectoryName());
            line.exchangeContacts(driver.get().aeronDirectoryName());
        } else {
            wire = new AeronWire(wait, false, null, line.exchangeContacts("-"));
        }
        String channel = CommonContext.IPC_CHANNEL + "?term-length=" + TERM_BYTES + "|mtu=" + IPC_MTU_BYTES;
        Subscription subscription = wire.aeron.addSubscription(channel, STREAM_ID + rank);
        wire.connect(subscription, wire.aeron.addExclusivePublication(channel, STREAM_ID + 1 - rank));
        return wire;
    }

    static AeronWire udp(WaitMode wait, String folder, ControlLine line) throws IOException {
        MediaDriver driver = MediaDriver.launch(context(folder));
        AeronWire wire = new AeronWire(wait, true, driver, driver.aeronDirectoryName());
        Subscription subscription = wire.aeron.addSubscription("aeron:udp?endpoint=127.0.0.1:0", STREAM_ID);
        wire.turnUntil(() -> subscription.tryResolveChannelEndpointPort() != null);
        String other = line.exchangeContacts(String.valueOf(subscription.tryResolveChannelEndpointPort()));
        String endpoint = other.substring(other.indexOf("endpoint=") + "endpoint=".length());
        ExclusivePublication publication = wire.aeron.addExclusivePublication(
                "aeron:udp?endpoint=" + endpoint + "|term-length=" + TERM_BYTES + "|mtu=" + UDP_MTU_BYTES, STREAM_ID);
        wire.connect(subscription, publication);
        return wire;
    }

    private static MediaDriver.Context context(String folder) {
        return new MediaDriver.Context()
                .aeronDirectoryName(folder)
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.INVOKER)
                .spiesSimulateConnection(false)
                .termBufferSparseFile(false)
                .publicationTermBufferLength(TERM_BYTES)
                .ipcTermBufferLength(TERM_BYTES)
                .ipcMtuLength(IPC_MTU_BYTES)
                .mtuLength(UDP_MTU_BYTES)
                .socketSndbufLength(socketBytes("wmem_max"))
                .socketRcvbufLength(socketBytes("rmem_max"))
                .initialWindowLength(Math.min(WINDOW_BYTES, socketBytes("rmem_max")))
                .clientLivenessTimeoutNs(SILENCE_NS)
                .publicationUnblockTimeoutNs(SILENCE_NS + TimeUnit.HOURS.toNanos(1))
                .publicationConnectionTimeoutNs(SILENCE_NS)
                .imageLivenessTimeoutNs(SILENCE_NS)
                .publicationLingerTimeoutNs(TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** As many as the system allows. */
    private static int socketBytes(String limit) {
        try (BufferedReader reader = Files.newBufferedReader(Path.of("/proc/sys/net/core", limit))) {
            return (int) Math.min(SOCKET_BYTES, Long.parseLong(reader.readLine().strip()));
        } catch (IOException _) {
            return 1 << 17;
        }
    }

    private void connect(Subscription subscription, ExclusivePublication connecting) {
        turnUntil(() -> connecting.isConnected() && subscription.imageCount() > 0);
        publication = connecting;
        image = subscription.imageAtIndex(0);
        for (int i = 0; i < 1_000; i++) {
            turnDriver(); // the other end may still need it
            LockSupport.parkNanos(NAP_NS);
        }
    }

    private void turnUntil(BooleanSupplier done) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!done.getAsBoolean()) {
            turnDriver();
            clientInvoker.invoke();
            LockSupport.parkNanos(NAP_NS);
            if (deadlineNs - System.nanoTime() < 0) {
                throw new MeasuringException("Aeron does not connect");
            }
        }
    }

    private void turnDriver() {
        if (driverInvoker != null) {
            driverInvoker.invoke();
        }
    }

    @Override
    public void send(Block block, long bytes) {
        stream(block, bytes);
        if (overUdp) {
            turnDriver();
        }
    }

    @Override
    public void stream(Block block, long bytes) {
        ExclusivePublication to = java.util.Objects.requireNonNull(publication);
        sent.wrap(block.buffer(), 0, (int) bytes);
        for (int from = 0; from < bytes; ) {
            int count = Math.min(PIECE_BYTES, (int) bytes - from);
            int turn = 0;
            for (long position = to.offer(sent, from, count); position < 0; position = to.offer(sent, from, count)) {
                if (position != Publication.BACK_PRESSURED && position != Publication.ADMIN_ACTION) {
                    throw new MeasuringException("Aeron's publication says " + Publication.errorString(position));
                }
                turnDriver();
                idle(turn++);
            }
            from += count;
        }
    }

    @Override
    public void flush() {
        if (overUdp) {
            turnDriver();
        }
    }

    @Override
    public void receive(Block block, long bytes) {
        Image from = java.util.Objects.requireNonNull(image);
        received.wrap(block.buffer(), 0, (int) bytes);
        wanted = (int) bytes;
        at = Math.min(wanted, keptTo - keptFrom);
        received.putBytes(0, kept, keptFrom, at);
        keptFrom += at;
        if (keptFrom == keptTo) {
            keptFrom = 0;
            keptTo = 0;
        }
        for (int turn = 0; at < wanted; ) {
            if (overUdp) {
                turnDriver();
            }
            if (from.controlledPoll(this, FRAGMENTS) > 0) {
                turn = 0;
            } else {
                if (turn % DRIVER_TURNS == DRIVER_TURNS - 1) {
                    if (from.isClosed()) {
                        throw new MeasuringException("the other process has left Aeron");
                    }
                    turnDriver();
                }
                idle(turn++);
            }
        }
    }

    @Override
    public Action onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        int count = Math.min(length, wanted - at);
        received.putBytes(at, buffer, offset, count);
        at += count;
        if (count < length) {
            kept.putBytes(keptTo, buffer, offset + count, length - count);
            keptTo += length - count;
        }
        return at == wanted && length >= LARGE_BYTES ? Action.BREAK : Action.CONTINUE;
    }

    private void idle(int turn) {
        switch (idling.next(turn)) {
            case POLL -> {}
            case YIELD -> Thread.yield();
            case SLEEP -> LockSupport.parkNanos(NAP_NS);
        }
    }

    @Override
    public void close() {
        aeron.close();
        if (driver != null) {
            driver.close();
        }
    }
}
