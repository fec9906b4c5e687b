package io.madeleine.testkit;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One end of a wire.
 *
 * <p>Threading: as {@link ProtocolConnection}; it checks this.
 */
final class LoopConnection implements ProtocolConnection {
    private final LoopAdapter adapter;
    private final ConnectionRequest request;
    private final LoopWire.End here;
    private final LoopWire.End there;
    private final LoopPipe[] incoming;
    private final List<TransmissionLink> links = new ArrayList<>();
    private final LoopPipe[] outgoing;
    private final OneAtATime sending;
    private final OneAtATime receiving;
    private volatile @Nullable ConnectionListener listener;
    private boolean toldLoss;

    LoopConnection(LoopAdapter adapter, ConnectionRequest request, LoopWire wire) {
        this.adapter = adapter;
        this.request = request;
        this.here = wire.endOf(adapter);
        this.there = wire.otherEnd(adapter);
        this.incoming = wire.incoming(adapter);
        this.sending = new OneAtATime(adapter.fabric(), "sending by " + this);
        this.receiving = new OneAtATime(adapter.fabric(), "receiving by " + this);
        this.outgoing = wire.outgoing(adapter);
        for (int i = 0; i < outgoing.length; i++) {
            links.add(link(request.modules().get(i), outgoing[i], incoming[i]));
        }
    }

    private TransmissionLink link(TransmissionCapabilities capabilities, LoopPipe out, LoopPipe in) {
        return switch (out) {
            case LoopSlots slots -> new LoopStaticLink(this, capabilities, slots, in);
            case LoopPosts posts ->
                new LoopPostingLink(
                        this,
                        capabilities,
                        posts,
                        (LoopPosts) in,
                        adapter.tm(capabilities.id()).acceptBytes());
            case LoopStream stream ->
                new LoopDynamicLink(
                        this,
                        capabilities,
                        stream,
                        in,
                        adapter.tm(capabilities.id()).acceptBytes());
        };
    }

    // ---- the layer above

    @Override
    public ProcessIdentity peer() {
        return request.peer();
    }

    @Override
    public boolean bidirectional() {
        return true;
    }

    @Override
    public List<TransmissionLink> links() {
        return links;
    }

    @Override
    public void start(ConnectionListener wanted) {
        if (listener != null) {
            throw violation("start was called twice");
        }
        listener = wanted;
        adapter.ring();
    }

    @Override
    public void receiveInterest(boolean wanted) {
        here.interested = wanted;
    }

    @Override
    public boolean hasArrivals() {
        return !here.closed && incoming[0].hasWork();
    }

    @Override
    public boolean showsArrivals() {
        return true;
    }

    @Override
    public String seenOfLoss() {
        return there.givenUp ? "it has given this end up" : there.closed ? "its end was closed" : "";
    }

    @Override
    public void finish() {
        here.finished = true;
        there.adapter.ring();
    }

    @Override
    public void giveUp() {
        here.givenUp = true;
        releaseMemorySoon();
        there.adapter.ring();
    }

    private void releaseMemorySoon() {
        if (!adapter.fabric().keepsMemory()) {
            releaseMemory();
        }
    }

    private void releaseMemory() {
        for (LoopPipe pipe : outgoing) {
            pipe.giveMemoryBack(true);
        }
        for (LoopPipe pipe : incoming) {
            pipe.giveMemoryBack(false);
        }
    }

    @Override
    public void close() {
        if (!here.closed) {
            here.closed = true;
            releaseMemory();
            there.adapter.ring();
            adapter.forget(this);
        }
    }

    // ---- the links

    OneAtATime sending() {
        return sending;
    }

    OneAtATime receiving() {
        return receiving;
    }

    boolean isClosed() {
        return here.closed || here.givenUp;
    }

    boolean isOverForSender() {
        return isClosed() || there.closed || there.givenUp;
    }

    boolean isOverForReceiver() {
        return there.closed || there.finished || there.givenUp;
    }

    void checkHeader(LoopReceiver link, long header) {
        if (!PacketHeader.isValid(header)) {
            throw link.violation("an invalid packet header: " + Long.toHexString(header));
        }
        if (here.finished) {
            throw link.violation("sending after finish(): " + PacketHeader.describe(header));
        }
    }

    /**
     * Bytes have been taken out of a pipe. Wakes the sender no more often than necessary, so that a layer that forgets
     * to look is detected.
     */
    void roomMade(LoopPipe pipe) {
        if (pipe.starving) {
            there.adapter.ring();
        }
    }

    /** Bytes have been put into a pipe. */
    void sent() {
        if (isUnderWay()) {
            adapter.posted();
        }
        if (there.interested) {
            there.adapter.ring();
        }
    }

    ContractViolation violation(String what) {
        return adapter.fabric().violation(this + ": " + what);
    }

    // ---- the leader

    int poll(boolean isDue) {
        for (LoopPipe pipe : incoming) {
            pipe.pass();
        }
        int work = 0;
        for (LoopPipe pipe : outgoing) {
            work += pipe.passToSender(isDue) ? 1 : 0;
            if ((there.interested && pipe.hasWork()) || pipe.calls()) {
                there.adapter.ring();
            }
        }
        if (isOverForSender()) {
            releaseMemorySoon();
        }
        ConnectionListener told = listener;
        if (told == null || here.closed) {
            return work;
        }
        boolean over = isOverForReceiver();
        if (here.interested && hasReadable()) {
            work += told.onReadable();
        }
        if (over && !toldLoss && !hidesSomething()) {
            toldLoss = true;
            boolean orderly = there.finished && !there.givenUp;
            told.onLost(LossKind.CONNECTION, orderly, orderly ? "it has finished" : "its end was closed");
            work++;
        }
        return work;
    }

    private boolean hasReadable() {
        for (LoopPipe pipe : incoming) {
            if (pipe.hasWork()) {
                return true;
            }
        }
        return false;
    }

    /** Whether sent data moves only if this end is polled. */
    boolean isUnderWay() {
        if (here.closed) {
            return false;
        }
        for (LoopPipe pipe : outgoing) {
            if (pipe.isUnderWay()) {
                return true;
            }
        }
        return false;
    }

    private boolean hidesSomething() {
        for (LoopPipe pipe : incoming) {
            if (pipe.hidesSomething()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the leader, or a thread that waits for room, has something to do. */
    boolean hasWork() {
        if (listener == null || here.closed) {
            return false;
        }
        if ((isOverForReceiver() && !toldLoss) || (here.interested && hasReadable())) {
            return true;
        }
        for (LoopPipe pipe : incoming) {
            if (pipe.showsByPolling() || pipe.calls()) {
                return true;
            }
        }
        for (LoopPipe pipe : outgoing) {
            if (pipe.producerCouldGoOn()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return "loop connection " + request.peer() + " of " + adapter;
    }
}
