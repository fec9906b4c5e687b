package io.madeleine.tm.via.remote;

import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.RemoteDescriptor;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryCapabilities;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Registration;
import io.madeleine.tm.via.port.MessageFlyweight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory by one-sided operations of the provider. To attach and to revoke are handshakes of the two adapters;
 * between them the owner takes no part, unless its provider needs polls for that. A descriptor's body has the export's
 * key, the length of the owner's short name, and the short name.
 *
 * <p>Threading: thread-safe; the completions of operations come from the thread that polls.
 */
public final class ViaRemoteMemory implements RemoteMemory, MemorySource, RegionListener {
    private static final String FAMILY = "via";
    private static final int PAGE_BYTES = 4096;
    private static final int NAME_AT = Long.BYTES + 1;
    private static final int MAX_NAME_BYTES = RemoteDescriptor.BODY_BYTES - NAME_AT;
    private static final int RECEIVES = 16;
    private static final long ANSWER_NS = 5_000_000_000L;
    private static final long CLOSING_NS = 1_000_000_000L;
    private static final long LOOK_NS = 500_000_000L;
    private static final long PAUSE_NS = 20_000;
    private static final int SPINS = 500;

    private final RemoteHome home;
    private final RemoteMemoryCapabilities capabilities;
    private final ProcessContext context;
    private final RemoteDescriptor descriptors;
    private final RemoteSender sender;
    private final Transfers transfers;
    private final SecureRandom random = new SecureRandom();
    private final Map<Long, ViaExport> exports = new ConcurrentHashMap<>();
    private final Map<Long, ViaExport> ending = new ConcurrentHashMap<>();

    /** Exports whose registration has ended though holders have not answered. */
    private final Map<Long, ViaExport> ended = new ConcurrentHashMap<>();

    private final Map<Long, Asked> asked = new ConcurrentHashMap<>();

    /** Requests to attach whose owner has not answered in time; its peer stays in use until it does. */
    private final Map<Long, Asked> unheard = new ConcurrentHashMap<>();

    private final Map<Long, ViaAttachment> attachments = new ConcurrentHashMap<>();
    private final Map<Long, ViaAttachment> leaving = new ConcurrentHashMap<>();

    /** Attachments that are lost, with operations that may still be under way. */
    private final Map<Long, ViaAttachment> lost = new ConcurrentHashMap<>();

    private final MessageProofs proofs;
    private final Queue<RemoteMessage> arrived = new ConcurrentLinkedQueue<>();

    /** Held while an attachment goes from one map to another. */
    private final Object moving = new Object();

    /** Held while messages are handled. */
    private final ReentrantLock handling = new ReentrantLock();

    private volatile long nextLookNs = System.nanoTime();
    private volatile boolean reserved;
    private volatile boolean closed;

    /** A request to attach that waits for its answer. */
    private static final class Asked {
        final long key;
        final long peer;
        volatile @Nullable ViaAttachment answer;
        volatile @Nullable RemoteMemoryException failure;

        Asked(long key, long peer) {
            this.key = key;
            this.peer = peer;
        }

        boolean isDone() {
            return answer != null || failure != null;
        }
    }

    /** The remote memory of an adapter; listens to the session's memory. */
    public ViaRemoteMemory(RemoteHome home, ProcessContext context) {
        this.home = home;
        this.capabilities =
                new RemoteMemoryCapabilities(false, false, home.port().hasAtomics(), false, Long.MAX_VALUE);
        this.context = context;
        this.descriptors = new RemoteDescriptor(FAMILY, context);
        this.proofs = new MessageProofs(context);
        this.sender = new RemoteSender(home, proofs, this::onFailed);
        this.transfers = new Transfers(home.port(), home.regions());
        context.memory().listen(this);
    }

    // ---- memory

    @Override
    public Optional<MemorySegment> allocate(long bytes, Arena arena) {
        return Optional.empty();
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena arena) {
        return arena.allocate(bytes, PAGE_BYTES);
    }

    @Override
    public boolean takesAnyMemory() {
        return true;
    }

    @Override
    public void added(Region region) {
        // an export registers it
    }

    @Override
    public void removed(Region region, long deadlineNs) {
        for (ViaExport export : exports.values()) {
            if (export.region == region.number()) {
                end(export, ANSWER_NS);
            }
        }
        for (ViaExport export : ending.values()) {
            if (export.region == region.number()) {
                boolean _ = await(export::isQuiet, deadlineNs);
                export.closeRegistration();
            }
        }
    }

    // ---- exports

    @Override
    public RemoteMemoryCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public ExportedMemory export(MemorySegment memory, Access access) {
        RemoteArguments.checkExport(memory, access);
        throwIfClosed();
        Region region = memory.isNative() ? context.memory().find(memory.address()) : null;
        if (region == null
                || region.kind() != Region.Kind.SHARED
                || !region.contains(memory.address(), memory.byteSize())) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE,
                    memory + " is not memory that peers may access: expected memory of Session.allocateShared"
                            + (region == null || region.remark().isEmpty() ? "" : "; " + region.remark()));
        }
        byte[] name = home.shortName();
        if (name.length > MAX_NAME_BYTES) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE,
                    "the provider names this endpoint with " + name.length + " bytes, and a descriptor has room for "
                            + MAX_NAME_BYTES + ": name another provider in madeleine.tm.via.adapters");
        }
        reserve();
        boolean writable = access == Access.READ_WRITE;
        Registration made;
        try {
            made = home.port().export(memory.address(), memory.byteSize(), writable);
        } catch (FabricException e) {
            throw new RemoteMemoryException(Kind.EXHAUSTED, "memory cannot be exported: " + e.getMessage());
        }
        long key = random.nextLong();
        byte[] body = new byte[RemoteDescriptor.BODY_BYTES];
        ByteBuffer.wrap(body).putLong(key).put((byte) name.length).put(name);
        RemoteMessage.Place place = new RemoteMessage.Place(
                home.port().targetAddress(memory.address(), memory.address()),
                made.key(),
                memory.byteSize(),
                (memory.address() % Long.BYTES) * 2 + (writable ? 1 : 0));
        ViaExport export = new ViaExport(this, key, region.number(), made, place, descriptors.seal(body));
        exports.put(key, export);
        if (context.memory().find(memory.address()) != region) {
            export.close();
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE, memory + " is being freed: expected memory of an open arena");
        }
        home.port().outstanding().need();
        home.wake();
        return export;
    }

    /** Takes memory for messages of other processes, and for the answers, if there is none yet. */
    private synchronized void reserve() {
        if (reserved) {
            return;
        }
        try {
            sender.open();
            home.port().receives().reserve(RECEIVES);
        } catch (FabricException e) {
            throw new RemoteMemoryException(
                    Kind.EXHAUSTED, "there is no memory for messages about remote memory: " + e.getMessage());
        }
        reserved = true;
    }

    private void end(ViaExport export, long timeoutNs) {
        ending.put(export.key, export);
        exports.remove(export.key);
        for (ViaExport.Holder holder : export.end(System.nanoTime(), timeoutNs)) {
            sender.send(
                    holder.peer(),
                    new RemoteMessage(
                            MessageFlyweight.WITHDRAW,
                            export.key,
                            holder.number(),
                            closed ? RemoteMessage.Place.CLOSING : RemoteMessage.Place.NONE,
                            home.address()));
        }
        if (export.isQuiet()) {
            ending.remove(export.key);
        }
    }

    /**
     * If a holder has not answered in time, the registration stays for a while ({@link ViaExport#endLate}): to end it
     * under an operation stalls the peer over some providers and breaks the connection over others.
     */
    boolean revoke(ViaExport export, long timeoutNs) {
        end(export, Math.max(timeoutNs, ANSWER_NS));
        return await(export::isQuiet, System.nanoTime() + timeoutNs);
    }

    // ---- attachments

    @Override
    public AttachedMemory attach(byte[] descriptor) {
        RemoteArguments.checkAttach(descriptor);
        throwIfClosed();
        ByteBuffer body = descriptors.open(descriptor);
        long key = body.getLong();
        byte[] name = new byte[Math.clamp(body.get(), 0, MAX_NAME_BYTES)];
        body.get(name);
        reserve();
        long number = random.nextLong();
        long peer;
        try {
            peer = home.usePeer(home.nameOf(name));
        } catch (FabricException e) {
            throw new RemoteMemoryException(Kind.LOST, "the owner cannot be reached: " + e.getMessage());
        }
        Asked request = new Asked(key, peer);
        asked.put(number, request);
        try {
            send(peer, MessageFlyweight.ATTACH, key, number);
        } catch (FabricException e) {
            request.failure = new RemoteMemoryException(Kind.LOST, "the owner cannot be asked: " + e.getMessage());
        }
        boolean _ = await(request::isDone, System.nanoTime() + ANSWER_NS);
        return answerTo(number, request);
    }

    private ViaAttachment answerTo(long number, Asked request) {
        handling.lock();
        try {
            asked.remove(number);
            ViaAttachment answer = request.answer;
            if (answer != null) {
                return answer;
            }
            RemoteMemoryException failure = request.failure;
            if (failure != null) {
                home.releasePeer(request.peer);
                throw failure;
            }
            unheard.put(number, request);
        } finally {
            handling.unlock();
        }
        throw new RemoteMemoryException(
                Kind.LOST, "the owner has not answered within " + ANSWER_NS / 1_000_000_000 + " s");
    }

    /** Ends the use of an attachment; its holder says so to the owner when no operation is under way. */
    void leave(ViaAttachment attachment, RemoteMemoryException why) {
        transfers.refuse(attachment.target, why);
        if (move(attachment, leaving)) {
            detachDrained();
            home.port().outstanding().need();
            home.wake();
        }
    }

    /** Moves an attachment from where it is, unless it has ended. */
    private boolean move(ViaAttachment attachment, Map<Long, ViaAttachment> to) {
        long number = attachment.owner.number();
        synchronized (moving) {
            boolean moved = attachments.remove(number) != null || to == lost && leaving.remove(number) != null;
            if (moved) {
                to.put(number, attachment);
            }
            return moved;
        }
    }

    /** Whether there is an attachment with this number, ended or not, of which operations may be under way. */
    private boolean isKnown(long number) {
        synchronized (moving) {
            return attachments.containsKey(number) || leaving.containsKey(number) || lost.containsKey(number);
        }
    }

    private void detachDrained() {
        for (ViaAttachment each : List.copyOf(leaving.values())) {
            if (transfers.isDrained(each.target) && leaving.remove(each.owner.number(), each)) {
                send(each.target.peer, MessageFlyweight.DETACH, each.owner.key(), each.owner.number());
                home.releasePeer(each.target.peer);
            }
        }
    }

    private void lose(ViaAttachment attachment, String why) {
        boolean _ = move(attachment, lost);
        transfers.lose(attachment.target, new RemoteMemoryException(Kind.LOST, "the owner of the memory: " + why));
    }

    /** The provider may use the memory of operations on lost attachments until it has completed them. */
    private void releaseLost() {
        for (ViaAttachment each : List.copyOf(lost.values())) {
            if (transfers.isDrained(each.target) && lost.remove(each.owner.number(), each)) {
                home.releasePeer(each.target.peer);
            }
        }
    }

    // ---- messages

    private void send(long peer, int kind, long key, long number) {
        sender.send(peer, new RemoteMessage(kind, key, number, RemoteMessage.Place.NONE, home.address()));
    }

    /** Whether a message without a connection is one of remote memory. */
    public static boolean isKind(int kind) {
        return kind >= MessageFlyweight.ATTACH && kind <= MessageFlyweight.WITHDRAW;
    }

    /** Takes a message of remote memory; the caller posts its slot afterwards. */
    public void onMessage(MemorySegment memory, long at, int bytes) {
        int payload = bytes - MessageFlyweight.BYTES;
        byte[] copy = new byte[payload];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at + MessageFlyweight.BYTES, copy, 0, payload);
        RemoteMessage.read(
                        proofs,
                        MessageFlyweight.kind(memory, at),
                        MessageFlyweight.token(memory, at),
                        MessageFlyweight.word(memory, at),
                        copy)
                .ifPresent(message -> {
                    markRevoked(message);
                    arrived.add(message);
                    home.wake();
                });
    }

    /**
     * Lets no operation begin after the owner's revocation has arrived. What arrives behind it may be the owner's
     * message that the memory has another use now, and another thread may handle that at once.
     */
    private void markRevoked(RemoteMessage message) {
        ViaAttachment attachment =
                message.kind() == MessageFlyweight.WITHDRAW ? attachments.get(message.number()) : null;
        if (attachment != null && attachment.owner.key() == message.key()) {
            attachment.target.revoked = true;
        }
    }

    private int handleArrived() {
        int work = 0;
        if (arrived.isEmpty() || !handling.tryLock()) {
            return 0;
        }
        try {
            for (RemoteMessage next = arrived.poll(); next != null; next = arrived.poll()) {
                handle(next);
                work++;
            }
        } finally {
            handling.unlock();
        }
        return work;
    }

    private void handle(RemoteMessage message) {
        switch (message.kind()) {
            case MessageFlyweight.ATTACH -> onAttach(message);
            case MessageFlyweight.ATTACHED -> onAttached(message);
            case MessageFlyweight.REFUSED -> {
                Asked request = asked.get(message.number());
                if (request != null && request.key == message.key()) {
                    request.failure = revoked();
                }
                heardLate(message.number());
            }
            case MessageFlyweight.DETACH -> {
                for (Map<Long, ViaExport> each : List.of(exports, ending, ended)) {
                    ViaExport export = each.get(message.key());
                    if (export != null) {
                        remove(export, message.number());
                    }
                }
            }
            default -> onWithdraw(message);
        }
    }

    private void remove(ViaExport export, long holder) {
        export.remove(holder).ifPresent(removed -> home.releasePeer(removed.peer()));
    }

    private void heardLate(long number) {
        Asked request = unheard.remove(number);
        if (request != null) {
            home.releasePeer(request.peer);
        }
    }

    static RemoteMemoryException revoked() {
        return new RemoteMemoryException(Kind.REVOKED, "the owner has revoked this export, or freed the memory");
    }

    private void onAttach(RemoteMessage message) {
        byte[] name = home.nameIn(message.address());
        if (name.length == 0) {
            return;
        }
        ViaExport export = closed ? null : exports.get(message.key());
        if (export != null && export.isHeldBy(message.number())) {
            return; // the answer is on its way
        }
        long peer;
        try {
            peer = home.usePeer(name);
        } catch (FabricException e) {
            warn(e);
            return;
        }
        boolean holds = false;
        try {
            sender.open(); // first: an export must have no holder that hears nothing
            Optional<RemoteMessage.Place> place = export == null
                    ? Optional.empty()
                    : export.attach(new ViaExport.Holder(peer, message.number(), message.address()));
            holds = place.isPresent();
            sender.send(
                    peer,
                    new RemoteMessage(
                            place.isPresent() ? MessageFlyweight.ATTACHED : MessageFlyweight.REFUSED,
                            message.key(),
                            message.number(),
                            place.orElse(RemoteMessage.Place.NONE),
                            home.address()));
        } catch (FabricException e) {
            warn(e);
        }
        if (!holds) {
            home.releasePeer(peer);
        }
    }

    private void warn(FabricException e) {
        context.logger().log(System.Logger.Level.WARNING, "via: a peer cannot attach memory: {0}", e.getMessage());
    }

    private void onAttached(RemoteMessage message) {
        Asked request = asked.remove(message.number());
        if (request != null && request.key == message.key()) {
            Target target = new Target(
                    request.peer, message.place().base(), message.place().rights());
            ViaAttachment made = new ViaAttachment(this, transfers, target, message);
            attachments.put(message.number(), made);
            request.answer = made;
        } else if (!isKnown(message.number())) {
            heardLate(message.number());
            detachUnknown(message);
        }
    }

    /** Answers an owner who counts this process as a holder, though it is none. */
    private void detachUnknown(RemoteMessage message) {
        byte[] name = home.nameIn(message.address());
        if (name.length > 0) {
            try {
                long peer = home.usePeer(name);
                send(peer, MessageFlyweight.DETACH, message.key(), message.number());
                home.releasePeer(peer);
            } catch (FabricException e) {
                warn(e);
            }
        }
    }

    private void onWithdraw(RemoteMessage message) {
        ViaAttachment attachment = attachments.get(message.number());
        Asked request = asked.remove(message.number());
        if (attachment != null && attachment.owner.key() == message.key()) {
            if (message.place().equals(RemoteMessage.Place.CLOSING)) {
                attachment.ownerEndsNs = System.nanoTime() + CLOSING_NS | 1;
            }
            leave(attachment, revoked());
        } else if (request != null && request.key == message.key()) {
            request.failure = revoked();
            detachUnknown(message);
        } else if (!isKnown(message.number())) {
            heardLate(message.number());
            detachUnknown(message);
        }
    }

    /** A message could not be sent. */
    private void onFailed(RemoteMessage message, String why) {
        Asked request = asked.get(message.number());
        if (message.kind() == MessageFlyweight.ATTACH && request != null) {
            request.failure = new RemoteMemoryException(Kind.LOST, "the owner cannot be reached: " + why);
        } else if (message.kind() == MessageFlyweight.WITHDRAW) {
            ViaExport export = ending.get(message.key());
            if (export != null) {
                remove(export, message.number());
            }
        }
    }

    // ---- polling

    /** Handles messages, and lets operations go on; returns how much was done. */
    public int poll(long nowNs) {
        int work = handleArrived();
        transfers.poll();
        sender.flush();
        if (!leaving.isEmpty()) {
            detachDrained();
        }
        if (nowNs - nextLookNs >= 0) {
            nextLookNs = nowNs + LOOK_NS;
            look(nowNs);
        }
        return work;
    }

    private void look(long nowNs) {
        for (Map<Long, ViaAttachment> each : List.of(attachments, leaving)) {
            for (ViaAttachment attachment : each.values()) {
                if (home.isDead(attachment.owner.address())) {
                    attachment.target.ownerIsDead = true;
                    lose(attachment, "its process has ended");
                } else if (attachment.ownerEndsNs != 0 && nowNs - attachment.ownerEndsNs >= 0) {
                    lose(attachment, "it has closed its adapter");
                } else if (transfers.isStalled(attachment.target, nowNs)) {
                    lose(attachment, "its operations have not got on for a long time");
                }
            }
        }
        releaseLost();
        for (Map<Long, ViaExport> each : List.of(exports, ending, ended)) {
            for (ViaExport export : each.values()) {
                for (ViaExport.Holder holder : export.holders()) {
                    if (home.isDead(holder.address())) {
                        remove(export, holder.number());
                    }
                }
            }
        }
        for (ViaExport export : List.copyOf(ending.values())) {
            if (export.endLate(nowNs)) {
                ended.put(export.key, export);
                ending.remove(export.key);
            }
        }
        ended.values().removeIf(ViaExport::isQuiet);
    }

    /** Whether the adapter has to be polled although no thread waits. */
    public boolean needsPolls() {
        return !exports.isEmpty()
                || !ending.isEmpty()
                || !leaving.isEmpty()
                || !asked.isEmpty()
                || transfers.isBusy()
                || sender.isBehind();
    }

    /** Whether something is to be done at once. */
    public boolean hasWork() {
        return !arrived.isEmpty();
    }

    /** Whether an owner has been called and has not answered. */
    public boolean hasUnheard() {
        return !unheard.isEmpty();
    }

    /** Waits, and polls meanwhile; returns whether the condition was met in time. */
    private boolean await(BooleanSupplier met, long deadlineNs) {
        for (int spins = 0; !met.getAsBoolean(); spins++) {
            long nowNs = System.nanoTime();
            if (nowNs - deadlineNs >= 0) {
                return false;
            }
            int _ = home.port().poll();
            int work = poll(nowNs);
            if (work == 0 && spins > SPINS) {
                LockSupport.parkNanos(this, PAUSE_NS);
            } else {
                Thread.onSpinWait();
            }
        }
        return true;
    }

    private void throwIfClosed() {
        if (closed) {
            throw new RemoteMemoryException(Kind.CLOSED, "the adapter is closed");
        }
    }

    // ---- closing

    /** Revokes all exports and ends all attachments; waits a while for the peers' answers. */
    public void close() {
        closed = true;
        context.memory().forget(this);
        exports.values().forEach(export -> end(export, CLOSING_NS));
        for (ViaAttachment attachment : attachments.values()) {
            leave(attachment, new RemoteMemoryException(Kind.CLOSED, "the adapter is closed"));
        }
        long deadlineNs = System.nanoTime() + CLOSING_NS;
        boolean _ = await(
                () -> leaving.isEmpty()
                        && sender.isIdle()
                        && ending.values().stream().allMatch(ViaExport::isQuiet),
                deadlineNs);
        leaving.values().forEach(each -> lose(each, "the adapter is closed"));
        ending.values().forEach(ViaExport::closeRegistration);
    }

    /** Frees the memory; the endpoint is closed. */
    public void free() {
        transfers.close();
        sender.close();
    }
}
