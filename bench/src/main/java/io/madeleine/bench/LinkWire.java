package io.madeleine.bench;

import io.madeleine.api.LossKind;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.switching.SelectionTable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;

/**
 * The links of one connection, driven by the measuring thread: no session, no engine, no switch, one packet per message
 * (or one per static buffer). The difference to {@link ChannelWire} is the cost of these layers. It always polls; with
 * a wait mode other than spin it yields after a while.
 *
 * <p>Threading: confined to caller.
 */
final class LinkWire implements Wire {
    /** After this many looks at a link the adapter is polled. */
    private static final int LOOKS = 8;

    private static final int TURNS_BEFORE_YIELD = 10_000;
    private static final int TURNS_PER_CLOCK = 1 << 16;

    private final WaitMode wait;
    private final BareAdapter bare;
    private final SelectionTable table;
    private final BufferGroup sending = new BufferGroup();
    private final BufferGroup receiving = new BufferGroup();
    private final End end = new End();
    private final ProtocolConnection connection;
    private final TransmissionLink[] links;
    private int sequence;
    private long sinceNs;

    /** Notes the end of the connection. */
    private static final class End implements ConnectionListener {
        private volatile String reason = "";

        @Override
        public int onReadable() {
            return 0; // the measuring thread checks by itself
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String why) {
            reason = why;
        }
    }

    private LinkWire(BareNetwork network, int rank, WaitMode wait, ControlLine line) throws IOException {
        this.wait = wait;
        this.table = SelectionTable.of(network.module().transmissionModules());
        this.bare = new BareAdapter(network, rank, line.token());
        Adapter adapter = bare.adapter();
        String own = Base64.getEncoder().encodeToString(adapter.address().getBytes(StandardCharsets.UTF_8));
        String peer = new String(Base64.getDecoder().decode(line.exchangeContacts(own)), StandardCharsets.UTF_8);
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        CompletableFuture<ProtocolConnection> made = adapter.openChannel(PerfProcess.CHANNEL)
                .connect(new ConnectionRequest(
                        BareAdapter.identity(1 - rank), peer, rank == 0, table.modules(), table.digest(), deadlineNs));
        while (!made.isDone() && deadlineNs - System.nanoTime() > 0) {
            bare.poll();
            Thread.yield();
        }
        if (!made.isDone()) {
            throw new MeasuringException("the two processes do not connect");
        }
        this.connection = made.join();
        connection.start(end);
        this.links = connection.links().toArray(TransmissionLink[]::new);
    }

    static LinkWire open(BareNetwork network, int rank, WaitMode wait, ControlLine line) throws IOException {
        return new LinkWire(network, rank, wait, line);
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return bare.arenas().lasting().allocate(bytes);
    }

    private TransmissionLink linkFor(long bytes) {
        return links[table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER)];
    }

    @Override
    public void send(Block block, long bytes) {
        switch (linkFor(bytes)) {
            case StaticLink link -> sendCopied(link, block, bytes);
            case DynamicLink link -> sendLent(link, block, bytes);
        }
    }

    private void sendCopied(StaticLink link, Block block, long bytes) {
        long most = link.capabilities().bufferBytes();
        for (long at = 0; at < bytes; ) {
            long count = Math.min(most, bytes - at);
            long offset = link.claim();
            for (int turn = 0; offset < 0; offset = link.claim()) {
                idle((int) offset, turn++);
            }
            Blocks.copy(block.memory(), at, link.memory(), offset, count);
            link.commit(header(count));
            link.announce();
            at += count;
        }
    }

    private void sendLent(DynamicLink link, Block block, long bytes) {
        sending.clear();
        sending.add(block.memory(), 0, bytes);
        long header = header(bytes);
        int turn = 0;
        for (int status = link.send(header, sending, 0);
                status != LinkStatus.COMPLETE;
                status = link.send(header, sending, 0)) {
            idle(status, turn++);
        }
    }

    private long header(long bytes) {
        return PacketHeader.of((int) bytes, sequence++, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    @Override
    public void receive(Block block, long bytes) {
        TransmissionLink link = linkFor(bytes);
        for (long at = 0; at < bytes; ) {
            long header = link.front();
            for (int turn = 0; header == 0 || header == LinkStatus.CLOSED; header = link.front()) {
                idle((int) header, turn++);
            }
            long count = PacketHeader.payloadBytes(header);
            receiving.clear();
            receiving.add(block.memory(), at, count);
            for (int turn = 0; !receiving.isEmpty(); ) {
                if (link.receive(receiving, receiving.remainingBytes()) == 0) {
                    idle(LinkStatus.PENDING, turn++);
                } else {
                    turn = 0;
                }
            }
            link.release();
            at += count;
        }
    }

    private void idle(int status, int turn) {
        if (status == LinkStatus.CLOSED) {
            throw new MeasuringException("the connection was lost: " + end.reason);
        }
        if (turn % LOOKS == LOOKS - 1) {
            bare.poll();
        }
        if (wait != WaitMode.SPIN && turn > TURNS_BEFORE_YIELD) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
        if (turn % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1) {
            long nowNs = System.nanoTime();
            sinceNs = turn < TURNS_PER_CLOCK ? nowNs : sinceNs;
            if (nowNs - sinceNs > PATIENCE_NS) {
                throw new MeasuringException("nothing from the other process");
            }
        }
    }

    @Override
    public void close() {
        connection.close();
        bare.close();
    }
}
