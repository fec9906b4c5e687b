package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The shared memory of this host, as one session uses it: its directory, the channels, and the connections that are
 * being made, in use, or to be freed.
 *
 * <p>Threading: all of it is control path and guarded by one lock, under which no stranger is called; connections are
 * freed by the thread that polls, since it looks into them without their locks.
 */
final class SciAdapter implements Adapter, SciProgress.ControlWork {
    private static final List<String> MODULES = List.of(SciShortLink.ID, SciCellLink.REGULAR, SciCellLink.DMA);

    private final String name;
    private final SciConfig config;
    private final ProcessContext context;
    private final SessionDirectory directory;
    private final Inbox inbox;
    private final SciProgress progress;
    private final SciPeers peers;
    private final SciRemoteMemory remoteMemory;
    private final SharedBlocks blocks;
    private final SingleCopy singleCopy;
    private final long proof;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<SciChannel> channels = new CopyOnWriteArrayList<>();
    private final List<Handshake> handshakes = new ArrayList<>();
    private final List<SciConnection> graves = new ArrayList<>();
    private final BitSet slots = new BitSet();
    private volatile boolean pending;
    private boolean peerGone;
    private final Reservations reservations = new Reservations();
    private boolean closed;

    private SciAdapter(
            String name, SciConfig config, ProcessContext context, SessionDirectory directory, int idleLooks) {
        this.name = name;
        this.config = config;
        this.context = context;
        this.directory = directory;
        this.proof = Digests.proof(context.sessionId(), context.secret());
        this.inbox = createInbox();
        this.blocks = new SharedBlocks(directory, context.memory(), SingleCopy.sharesFromBytes(config));
        this.singleCopy = SingleCopy.of(config, directory, blocks, context.logger());
        this.progress = new SciProgress(inbox, context.reactor(), this, idleLooks);
        this.peers = openPeers();
        this.remoteMemory = new SciRemoteMemory(context, directory, blocks, peers);
        slots.set(InboxLayout.CONTROL_SLOT);
    }

    static SciAdapter open(String name, SciConfig config, ProcessContext context) {
        return open(name, config, context, SciProgress.IDLE_LOOKS);
    }

    static SciAdapter open(String name, SciConfig config, ProcessContext context, int idleLooks) {
        SessionDirectory directory =
                SessionDirectory.join(config.memoryDirectory(), context.sessionId(), context.self());
        try {
            return new SciAdapter(name, config, context, directory, idleLooks);
        } catch (MadeleineException e) {
            directory.close();
            throw e;
        }
    }

    private Inbox createInbox() {
        try {
            return Inbox.create(directory.file(SessionDirectory.INBOX));
        } catch (IOException e) {
            throw new SessionException(
                    "cannot reserve " + InboxLayout.BYTES + " bytes of shared memory in " + directory.path() + ": "
                            + e.getMessage() + "; " + directory.room(e, InboxLayout.BYTES)
                            + "; make room (conf/many-processes.conf has connections take little), or give another place with "
                            + SciConfig.ROOT + ".directory",
                    e);
        }
    }

    private SciPeers openPeers() {
        try {
            return new SciPeers(directory, context, proof, progress, this::peerGone);
        } catch (MadeleineException e) {
            blocks.close();
            singleCopy.close();
            inbox.close();
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String address() {
        return peers.address().toString();
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        return peers.unreachable(peerAddress);
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        SciChannel channel = new SciChannel(this, channelName, Digests.hash(channelName), proof);
        channels.add(channel);
        return channel;
    }

    @Override
    public Optional<MemorySource> memorySource() {
        return Optional.of(blocks);
    }

    @Override
    public ProgressSource progress() {
        return progress;
    }

    @Override
    public Optional<RemoteMemory> remoteMemory() {
        return Optional.of(remoteMemory);
    }

    SciConfig config() {
        return config;
    }

    SessionDirectory directory() {
        return directory;
    }

    SingleCopy singleCopy() {
        return singleCopy;
    }

    SciPeers peers() {
        return peers;
    }

    ProcessIdentity self() {
        return context.self();
    }

    // ---- connecting

    CompletableFuture<ProtocolConnection> connect(SciChannel channel, ConnectionRequest request) {
        lock.lock();
        try {
            Handshake reserved = reservations.take(channel, request.peer());
            Handshake handshake = reserved == null ? begin(channel, request) : reserved;
            reservations.sayIfScarce();
            handshakes.add(handshake);
            pending = true;
            return handshake.future();
        } catch (MadeleineException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            lock.unlock();
        }
    }

    /** As {@link ProtocolChannel#reserve} says; what else is wrong is found again by {@link #connect}. */
    Optional<String> reserve(SciChannel channel, ConnectionRequest request) {
        lock.lock();
        try {
            reservations.put(begin(channel, request));
            return Optional.empty();
        } catch (NoRoomException e) {
            reservations.setRefused();
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (MadeleineException _) {
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    private Handshake begin(SciChannel channel, ConnectionRequest request) {
        if (closed) {
            throw new SessionException("the adapter " + name + " of sci is closed");
        }
        checkModules(request.modules());
        SciPeer peer = peers.find(request);
        int slot = slots.nextClearBit(0);
        if (slot >= InboxLayout.SLOTS) {
            throw new NoRoomException("sci serves at most " + (InboxLayout.SLOTS - 1)
                    + " connections of a process, and all are in use; use fewer channels, or tcp for some");
        }
        Handshake handshake = request.initiator()
                ? new Offer(this, channel, request, peer, slot)
                : new Acceptance(this, channel, request, peer, slot);
        slots.set(slot);
        return handshake;
    }

    private static void checkModules(List<TransmissionCapabilities> modules) {
        for (TransmissionCapabilities module : modules) {
            if (!MODULES.contains(module.id())) {
                throw new SessionException(
                        "sci has no transmission module " + module.id() + "; it has " + String.join(", ", MODULES));
            }
            if (module.bufferBytes() > PairSizes.MAX_BUFFER_BYTES) {
                throw new SessionException(
                        module.id() + ": a buffer of " + module.bufferBytes() + " bytes was agreed on, at"
                                + " most " + PairSizes.MAX_BUFFER_BYTES + " are possible; see " + SciConfig.ROOT
                                + ".short.buffer");
            }
        }
    }

    /** Notes that a connection is smaller than configured, which is said once. Under the lock. */
    void noteThatMemoryIsScarce(PairSizes configured, PairSizes fitting) {
        reservations.setScarce(() -> context.logger()
                .log(
                        Level.WARNING,
                        "sci: shared memory is scarce in {0} ({1}): a connection gets {2} in place of {3}, and so may"
                                + " others; that is slower. Make room, give another place with {4}.directory, or"
                                + " smaller sizes with {4}.short.ring, .regular.cell and .regular.cells, as"
                                + " conf/many-processes.conf does",
                        directory.path(),
                        directory.room(),
                        fitting,
                        configured,
                        SciConfig.ROOT));
    }

    /** A handshake has succeeded. */
    SciConnection connected(Handshake handshake, PairSegment segment) {
        SciConnection connection = new SciConnection(segment, handshake, progress, this::bury);
        handshake.peer.connections().add(connection);
        handshake.channel.add(connection);
        progress.put(connection);
        return connection;
    }

    void close(SciChannel channel) {
        channels.remove(channel);
        lock.lock();
        try {
            for (Handshake reserved : reservations.takeAll(channel)) {
                reserved.cancel("its channel was closed");
                slots.clear(reserved.slot);
            }
        } finally {
            lock.unlock();
        }
        endHandshakes(handshake -> {
            if (handshake.channel == channel) {
                handshake.cancel("its channel was closed");
                return true;
            }
            return false;
        });
    }

    /** Takes out the handshakes that the condition ends, and tells who asked for them. */
    private int endHandshakes(Predicate<Handshake> ends) {
        List<Handshake> ended = new ArrayList<>();
        boolean failed = false;
        lock.lock();
        try {
            for (Handshake handshake : List.copyOf(handshakes)) {
                if (ends.test(handshake)) {
                    handshakes.remove(handshake);
                    ended.add(handshake);
                    if (handshake.hasFailed()) {
                        slots.clear(handshake.slot);
                        failed = true;
                    }
                }
            }
            if (failed) {
                forgetGone();
            }
            pending = !handshakes.isEmpty() || !graves.isEmpty() || peerGone;
        } finally {
            lock.unlock();
        }
        ended.forEach(Handshake::complete);
        return ended.size();
    }

    /** A process has ended: it is forgotten once nothing is left to it, which may be so already. */
    private void peerGone() {
        lock.lock();
        try {
            peerGone = true;
            pending = true;
        } finally {
            lock.unlock();
        }
    }

    private void forgetGone() {
        peers.forgetGone(
                peer -> reservations.uses(peer) || handshakes.stream().anyMatch(handshake -> handshake.peer == peer));
    }

    // ---- what the progress source drives beside the connections

    @Override
    public boolean isPending() {
        return pending;
    }

    @Override
    public int step(long nowNs, boolean urgent) {
        lock.lock();
        try {
            for (SciConnection connection : graves) {
                free(connection);
            }
            if (!graves.isEmpty() || peerGone) {
                graves.clear();
                peerGone = false;
                forgetGone();
            }
        } finally {
            lock.unlock();
        }
        return endHandshakes(handshake -> handshake.step(nowNs, urgent));
    }

    @Override
    public boolean giveUpCutMemory() {
        boolean cut = peers.lookAtInboxes();
        return endHandshakes(handshake -> handshake.isCutOff()) > 0 || cut;
    }

    private void bury(SciConnection connection) {
        lock.lock();
        try {
            graves.add(connection);
            pending = true;
        } finally {
            lock.unlock();
        }
    }

    private void free(SciConnection connection) {
        progress.forget(connection);
        slots.clear(connection.slot());
        connection.free();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        channels.forEach(SciChannel::close);
        int _ = step(System.nanoTime(), true);
        peers.close();
        inbox.close();
        remoteMemory.close();
        blocks.close();
        singleCopy.close();
        directory.close();
    }
}
