package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiAvAttr;
import io.madeleine.tm.via.ffi.Offsets.FiCqAttr;
import io.madeleine.tm.via.ffi.Offsets.FiOpsCm;
import io.madeleine.tm.via.ffi.Offsets.FiOpsDomain;
import io.madeleine.tm.via.ffi.Offsets.FiOpsFabric;
import io.madeleine.tm.via.ffi.Offsets.FiOpsMr;
import io.madeleine.tm.via.ffi.Offsets.FidDomain;
import io.madeleine.tm.via.ffi.Offsets.FidEp;
import io.madeleine.tm.via.ffi.Offsets.FidFabric;
import io.madeleine.tm.via.ffi.Offsets.FidMr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * An enabled endpoint of a provider, with its fabric, domain, address vector, and one completion queue for everything.
 *
 * <p>Threading: {@link #register} and {@link AddressVector} are thread-safe if the provider is; the rest is said there.
 */
public final class Fabric implements AutoCloseable {
    private static final int MAX_NAME_BYTES = 512;

    private final FabricLibrary library;
    private final Arena arena = Arena.ofShared();
    private final Deque<Handle> open = new ArrayDeque<>();
    private final Handle fabric;
    private final Handle domain;
    private final Handle endpoint;
    private final MemorySegment register;
    private final long registrar;
    private final boolean bindsRegions;
    private final AddressVector addresses;
    private final CompletionQueue completions;
    private final Operations operations;
    private final Optional<Atomics> atomics;
    private final Optional<TaggedMessages> tagged;
    private final byte[] name;

    /**
     * Opens everything, and enables the endpoint.
     *
     * @param info the offer to use
     * @param completionCount the size of the completion queue
     * @param waits whether the completion queue shall have a file descriptor to wait on, if the provider can
     */
    public Fabric(FabricInfo info, int completionCount, boolean waits) {
        this.library = info.library();
        this.bindsRegions = info.hasRegistration(Flags.FI_MR_ENDPOINT);
        try {
            fabric = own("fabric", library.openFabric(info.fabricAttributes()));
            long fabricOps = Raw.pointer(fabric.fid() + FidFabric.OPS);
            domain = open("fi_domain", Raw.function(fabricOps, FiOpsFabric.DOMAIN), fabric.fid(), info.address());
            long domainOps = Raw.pointer(domain.fid() + FidDomain.OPS);
            Handle vector =
                    open("fi_av_open", Raw.function(domainOps, FiOpsDomain.AV_OPEN), domain.fid(), vectorAttributes());
            addresses = new AddressVector(library, vector.fid());
            completions = openQueue(domainOps, fabricOps, completionCount, waits);
            endpoint = open("fi_endpoint", Raw.function(domainOps, FiOpsDomain.ENDPOINT), domain.fid(), info.address());
            library.check("fi_ep_bind of the address vector", endpoint.bind(vector.fid(), 0));
            library.check(
                    "fi_ep_bind of the completion queue",
                    endpoint.bind(completions.fid(), Flags.FI_TRANSMIT | Flags.FI_RECV));
            Libc.keepingSignalHandlers(() -> library.check("fi_enable", endpoint.control(Flags.FI_ENABLE, 0)));
            registrar = domain.fid();
            register = Raw.function(Raw.pointer(domain.fid() + FidDomain.MR), FiOpsMr.REG);
            operations = new Operations(endpoint.fid());
            atomics = info.hasAtomics() && Atomics.has(endpoint.fid())
                    ? Optional.of(Atomics.of(endpoint.fid()))
                    : Optional.empty();
            tagged = info.tagBits() > 0 ? Optional.of(new TaggedMessages(endpoint.fid())) : Optional.empty();
            name = readName();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private Handle own(String kind, long fid) {
        Handle handle = new Handle(kind, fid);
        open.push(handle);
        return handle;
    }

    /**
     * Calls a function of the form (parent, attributes, &result, context). The provider shm takes signals in one of
     * them: 1.17 in fi_endpoint.
     */
    private Handle open(String call, MemorySegment function, long parent, long attributes) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment result = scratch.allocate(Long.BYTES, Long.BYTES);
            Libc.keepingSignalHandlers(() -> check(call, function, parent, attributes, result));
            return own(call, Raw.pointer(result.address()));
        }
    }

    private void check(String call, MemorySegment function, long parent, long attributes, MemorySegment result) {
        library.check(call, Downcalls.intOf4(function, parent, attributes, result.address(), 0));
    }

    private long vectorAttributes() {
        long attributes = arena.allocate(64, 8).address();
        Raw.putNumber(attributes + FiAvAttr.TYPE, Flags.FI_AV_TABLE);
        Raw.putPointer(attributes + FiAvAttr.COUNT, 64);
        return attributes;
    }

    private CompletionQueue openQueue(long domainOps, long fabricOps, int count, boolean waits) {
        long attributes = arena.allocate(64, 8).address();
        Raw.putPointer(attributes + FiCqAttr.SIZE, count);
        Raw.putNumber(attributes + FiCqAttr.FORMAT, Flags.FI_CQ_FORMAT_DATA);
        MemorySegment function = Raw.function(domainOps, FiOpsDomain.CQ_OPEN);
        MemorySegment trywait = Raw.function(fabricOps, FiOpsFabric.TRYWAIT);
        if (waits) {
            Raw.putNumber(attributes + FiCqAttr.WAIT_OBJ, Flags.FI_WAIT_FD);
            try {
                Handle queue = open("fi_cq_open", function, domain.fid(), attributes);
                int descriptor = descriptor(queue);
                if (descriptor >= 0) {
                    return new CompletionQueue(library, queue.fid(), arena, fabric.fid(), trywait, descriptor);
                }
                open.remove(queue);
                queue.close();
            } catch (FabricException _) {
                // this provider has no descriptor to wait on: its queue is polled
            }
        }
        Raw.putNumber(attributes + FiCqAttr.WAIT_OBJ, Flags.FI_WAIT_NONE);
        Handle queue = open("fi_cq_open", function, domain.fid(), attributes);
        return new CompletionQueue(library, queue.fid(), arena, fabric.fid(), trywait, -1);
    }

    private static int descriptor(Handle queue) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment result = scratch.allocate(Long.BYTES, Long.BYTES);
            return queue.control(Flags.FI_GETWAIT, result.address()) == 0 ? Raw.number(result.address()) : -1;
        }
    }

    private byte[] readName() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment text = scratch.allocate(MAX_NAME_BYTES);
            MemorySegment length = scratch.allocate(Long.BYTES, Long.BYTES);
            Raw.putPointer(length.address(), MAX_NAME_BYTES);
            MemorySegment function = Raw.function(Raw.pointer(endpoint.fid() + FidEp.CM), FiOpsCm.GETNAME);
            library.check("fi_getname", Downcalls.intOf3(function, endpoint.fid(), text.address(), length.address()));
            return Raw.bytes(text.address(), (int) Raw.pointer(length.address()));
        }
    }

    /** The endpoint's address, for peers. */
    public byte[] name() {
        return name.clone();
    }

    /** The addresses of peers. */
    public AddressVector addresses() {
        return addresses;
    }

    /** The queue of all completions. */
    public CompletionQueue completions() {
        return completions;
    }

    /** The operations of the endpoint. */
    public Operations operations() {
        return operations;
    }

    /** The atomic operations of the endpoint; empty if the provider has not all of them. */
    public Optional<Atomics> atomics() {
        return atomics;
    }

    /** The tagged messages of the endpoint; empty if nobody has asked for them. */
    public Optional<TaggedMessages> tagged() {
        return tagged;
    }

    /** libfabric's text for a negative result. */
    public String errorText(long result) {
        return library.errorText((int) -result);
    }

    /**
     * Registers memory.
     *
     * <p>Ownership: the memory stays with the caller, who keeps it until the registration is closed.
     *
     * @param access of {@link Flags#FI_SEND} and others
     * @param wantedKey the key, for a provider that lets the caller choose it
     * @throws FabricException with {@link Flags#FI_ENOKEY} if the key is in use
     */
    public Registration register(long address, long bytes, long access, long wantedKey) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment result = scratch.allocate(Long.BYTES, Long.BYTES);
            int status =
                    Downcalls.intOf9(register, registrar, address, bytes, access, 0, wantedKey, 0, result.address(), 0);
            if (status < 0) {
                throw failedRegistration(library.failure("fi_mr_reg of " + bytes + " bytes", status));
            }
            Handle region = new Handle("fi_mr_reg", Raw.pointer(result.address()));
            if (bindsRegions) {
                bind(region);
            }
            return new Registration(
                    region, Raw.pointer(region.fid() + FidMr.MEM_DESC), Raw.pointer(region.fid() + FidMr.KEY));
        }
    }

    /** The failure of a registration; if it is for want of memory, the message says what the limit is. */
    private static FabricException failedRegistration(FabricException failure) {
        return failure.code() == Flags.FI_ENOMEM ? LockLimit.exceeded(String.valueOf(failure.getMessage())) : failure;
    }

    private void bind(Handle region) {
        try {
            library.check("fi_mr_bind", region.bind(endpoint.fid(), 0));
            library.check("fi_mr_enable", region.control(Flags.FI_ENABLE, 0));
        } catch (FabricException e) {
            region.close();
            throw e;
        }
    }

    /** Closes the endpoint: no operation uses memory any more. Registrations are closed next. */
    public void closeEndpoint() {
        if (open.remove(endpoint)) {
            endpoint.close();
        }
    }

    /** Closes everything in reverse order. Idempotent. No thread makes a call meanwhile or afterwards. */
    @Override
    public void close() {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
