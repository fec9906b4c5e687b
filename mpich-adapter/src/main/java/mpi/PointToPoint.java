package mpi;

import io.madeleine.api.MadeleineException;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.datatypes.Buffers;
import io.madeleine.mpi.datatypes.Length;
import io.madeleine.mpi.datatypes.SegmentCache;
import io.madeleine.mpi.datatypes.Type;
import io.madeleine.mpi.device.Arrived;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Envelope;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.SendMode;
import io.madeleine.mpi.device.SendOperation;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages between two processes of a communicator, with the buffers of the program. Errors are {@link MpiFault}s.
 *
 * <p>Threading: thread-safe.
 */
final class PointToPoint {
    private final Comm comm;
    private final Communicator communicator;
    private final Device device;
    private final SegmentCache segments;

    /**
     * The arguments of a send or receive: a buffer, the offset of the first item in elements, the number of items, and
     * their type.
     */
    record Data(@Nullable Object buffer, int offset, int count, Datatype type) {
        /** The same for later calls, between which the program may free the datatype. */
        Data lasting() {
            return new Data(buffer, offset, count, Datatype.lasting(type));
        }
    }

    PointToPoint(Comm comm, Communicator communicator) {
        this.comm = comm;
        this.communicator = communicator;
        this.device = communicator.device();
        this.segments = comm.environment().segments();
    }

    // ---- checks

    private int sessionRank(int rank, String role) {
        if (rank < 0 || rank >= communicator.size()) {
            throw new MpiFault(
                    ErrorClass.RANK,
                    "the " + role + " is rank " + rank + ": expected 0 to " + (communicator.size() - 1)
                            + (role.equals("source") ? ", MPI.ANY_SOURCE" : "") + " or MPI.PROC_NULL");
        }
        return communicator.group().sessionRank(rank);
    }

    private int source(int rank) {
        return rank == MPI.ANY_SOURCE ? Device.ANY_SOURCE : sessionRank(rank, "source");
    }

    private static int sendTag(int tag) {
        if (tag < 0) {
            throw new MpiFault(ErrorClass.TAG, "the tag of a send is " + tag + ": expected 0 or more");
        }
        return tag;
    }

    private static int receiveTag(int tag) {
        if (tag < 0 && tag != MPI.ANY_TAG) {
            throw new MpiFault(
                    ErrorClass.TAG, "the tag of a receive is " + tag + ": expected 0 or more, or MPI.ANY_TAG");
        }
        return tag;
    }

    // ---- sending

    void send(SendMode mode, Data data, int dest, int tag) {
        if (dest == MPI.PROC_NULL) {
            return;
        }
        SendOperation send = newSend(mode, data, sessionRank(dest, "destination"), sendTag(tag));
        device.send(send);
        comm.await(send);
        if (send.fault() != null) {
            throw send.fault();
        }
    }

    /**
     * Sends an eager message of a plain buffer without any object; false if that is not possible, and nothing was sent.
     * Throws {@link MpiFault} if it fails.
     */
    boolean sendNow(@Nullable Object buffer, int offset, int count, Datatype type, int dest, int tag) {
        if (dest < 0 || tag < 0 || buffer == null || !isPlain(buffer, type)) {
            return false;
        }
        int target = sessionRank(dest, "destination");
        MemorySegment memory = segments.memory(buffer);
        long start = start(buffer, offset, count, type, memory);
        try {
            return device.sendNow(memory, start, count * type.type().size(), target, communicator.context(), tag);
        } finally {
            Reference.reachabilityFence(buffer); // the memory does not keep it
        }
    }

    /** Whether the items are one range of memory that can be moved where it is. */
    static boolean isPlain(Object buffer, Datatype type) {
        return Datatype.check(type).type().isDense()
                && !(buffer instanceof boolean[] || buffer instanceof Object[] || buffer instanceof mpjbuf.Buffer);
    }

    /** The items of a plain buffer; the caller keeps the buffer reachable. */
    Area area(Object buffer, int offset, int count, Datatype type) {
        MemorySegment memory = segments.memory(buffer);
        long start = start(buffer, offset, count, type, memory);
        return new Area(memory, start, count * type.type().size());
    }

    /** As {@link #area}, for what will be written. */
    Area resultArea(Object buffer, int offset, int count, Datatype type) {
        Buffers.checkWritable(buffer);
        return area(buffer, offset, count, type);
    }

    /** Where the items of a plain buffer begin, in bytes; throws if they do not lie within it. */
    private static long start(Object buffer, int offset, int count, Datatype datatype, MemorySegment memory) {
        Type type = datatype.type();
        Buffers.checkKind(buffer, type);
        if (count < 0) {
            throw new MpiFault(ErrorClass.COUNT, "the count of a message is " + count + ": expected 0 or more");
        }
        long bytes = Length.MESSAGE.times(count, type.size());
        if (bytes == 0 && offset >= 0) {
            return 0; // accesses no memory, wherever its items would begin
        }
        long start = (long) offset * Buffers.elementBytes(buffer) + type.lb();
        if (offset < 0 || start < 0 || bytes > memory.byteSize() - start) {
            throw Buffers.outside(memory, start, bytes);
        }
        return start;
    }

    private SendOperation newSend(SendMode mode, Data data, int target, int tag) {
        SendOperation send = device.newSend().prepare(mode, target, communicator.context(), tag);
        load(send, data);
        send.keep(data.buffer());
        return send;
    }

    private static void load(SendOperation send, Data data) {
        if (Datatype.isObject(data.type())) {
            byte[] bytes = ObjectMessages.write(objects(data), data.offset(), data.count());
            send.payload().set(MemorySegment.ofArray(bytes), 0, bytes.length);
        } else {
            Operand.of(data.buffer(), data.offset(), data.type()).set(send.payload(), count(data));
        }
    }

    private static Object[] objects(Data data) {
        if (!(data.buffer() instanceof Object[] objects)) {
            throw ObjectMessages.noObjects("a message", data.buffer());
        }
        return objects;
    }

    /** A buffer of MPJ Express knows how much it holds. */
    private static int count(Data data) {
        return data.buffer() instanceof mpjbuf.Buffer packed ? packed.getSize() : data.count();
    }

    Request isend(SendMode mode, Data data, int dest, int tag) {
        if (dest == MPI.PROC_NULL) {
            return Request.of(comm, new Status());
        }
        SendOperation send = newSend(mode, data, sessionRank(dest, "destination"), sendTag(tag));
        device.send(send);
        return Request.of(comm, send, null);
    }

    void bsend(Data data, int dest, int tag) {
        if (dest == MPI.PROC_NULL) {
            return;
        }
        int target = sessionRank(dest, "destination");
        SendOperation loaded = newSend(SendMode.STANDARD, data, target, sendTag(tag));
        try {
            comm.environment().buffered().send(loaded.payload(), target, communicator.context(), tag);
        } finally {
            Reference.reachabilityFence(data); // whose memory it copies
        }
    }

    Request ibsend(Data data, int dest, int tag) {
        bsend(data, dest, tag);
        return Request.of(comm, new Status());
    }

    Prequest sendInit(SendMode mode, boolean isBuffered, Data data, int dest, int tag) {
        Prequest request = new Prequest(comm);
        if (dest == MPI.PROC_NULL) {
            return request.startedBy(() -> request.begin(new Status()));
        }
        int target = sessionRank(dest, "destination");
        sendTag(tag);
        Data lasting = data.lasting();
        if (isBuffered) {
            return request.startedBy(() -> {
                bsend(lasting, dest, tag);
                request.begin(new Status());
            });
        }
        SendOperation send = newSend(mode, data, target, tag);
        boolean isFixed = !Datatype.isObject(data.type()) && !(data.buffer() instanceof boolean[]);
        return request.startedBy(() -> {
            if (!isFixed) {
                load(send, lasting); // the content of the array now
            }
            request.begin(send, null);
            device.send(send);
        });
    }

    // ---- receiving

    /** A receive with what its thread does at the end. */
    private record Receiving(ReceiveOperation operation, Request.@Nullable Finisher finisher) {}

    private Receiving newReceive(Data data, int source, int tag) {
        ReceiveOperation receive =
                device.newReceive().prepare(source, communicator.context(), receiveTag(tag), communicator.group());
        if (Datatype.isObject(data.type())) {
            Object[] objects = objects(data);
            receive.takeAnyLength();
            return new Receiving(receive, status -> {
                byte[] bytes = new byte[Math.toIntExact(receive.bytes())];
                receive.payload().copyTo(MemorySegment.ofArray(bytes), 0, bytes.length);
                status.withObjects(ObjectMessages.read(bytes, objects, data.offset(), data.count()));
            });
        }
        receive.keep(data.buffer());
        Operand operand = Operand.ofResult(data.buffer(), data.offset(), data.type());
        if (data.buffer() instanceof mpjbuf.Buffer packed) {
            operand.set(receive.payload(), packed.getCapacity());
            return new Receiving(receive, status -> packed.setSize(Math.toIntExact(status.bytes())));
        }
        operand.set(receive.payload(), data.count());
        return new Receiving(receive, operand.isCopy() ? _ -> operand.giveBack() : null);
    }

    Status receive(Data data, int source, int tag) {
        if (source == MPI.PROC_NULL) {
            return Status.ofNoProcess();
        }
        Receiving receiving = newReceive(data, source(source), tag);
        device.receive(receiving.operation());
        return end(receiving);
    }

    /** Receives into a plain buffer with no object but the status; null if the buffer is not plain. */
    @Nullable
    Status receiveNow(@Nullable Object buffer, int offset, int count, Datatype type, int source, int tag) {
        if (source == MPI.PROC_NULL || buffer == null || !isPlain(buffer, type)) {
            return null;
        }
        int from = source(source);
        receiveTag(tag);
        Buffers.checkWritable(buffer);
        MemorySegment memory = segments.memory(buffer);
        long start = start(buffer, offset, count, type, memory);
        ReceiveOperation receive = device.takeReceive();
        receive.prepare(from, communicator.context(), tag, communicator.group());
        receive.payload().set(memory, start, count * type.type().size());
        receive.keep(buffer);
        device.receive(receive);
        comm.await(receive);
        if (receive.fault() != null) {
            throw receive.fault();
        }
        Status status = comm.statusOf(receive, MPI.SUCCESS);
        device.give(receive);
        return status;
    }

    /** Starts a send of a plain buffer with no object but the request; null if the buffer is not plain. */
    @Nullable
    Request isendNow(@Nullable Object buffer, int offset, int count, Datatype type, int dest, int tag) {
        if (dest < 0 || tag < 0 || buffer == null || !isPlain(buffer, type)) {
            return null;
        }
        int target = sessionRank(dest, "destination");
        MemorySegment memory = segments.memory(buffer);
        long start = start(buffer, offset, count, type, memory);
        long bytes = count * type.type().size();
        try {
            if (device.trySend(memory, start, bytes, target, communicator.context(), tag)) {
                return Request.ofSent(comm);
            }
        } finally {
            Reference.reachabilityFence(buffer); // the memory does not keep it
        }
        SendOperation send = device.takeSend().prepare(SendMode.STANDARD, target, communicator.context(), tag);
        send.payload().set(memory, start, bytes);
        send.keep(buffer);
        device.send(send);
        return Request.ofPooled(comm, send);
    }

    /** As {@link #isendNow}, for a receive. */
    @Nullable
    Request ireceiveNow(@Nullable Object buffer, int offset, int count, Datatype type, int source, int tag) {
        if (source == MPI.PROC_NULL || buffer == null || !isPlain(buffer, type)) {
            return null;
        }
        int from = source(source);
        receiveTag(tag);
        Buffers.checkWritable(buffer);
        MemorySegment memory = segments.memory(buffer);
        long start = start(buffer, offset, count, type, memory);
        ReceiveOperation receive = device.takeReceive();
        receive.prepare(from, communicator.context(), tag, communicator.group());
        receive.payload().set(memory, start, count * type.type().size());
        receive.keep(buffer);
        device.receive(receive);
        return Request.ofPooled(comm, receive);
    }

    private Status end(Receiving receiving) {
        ReceiveOperation receive = receiving.operation();
        comm.await(receive);
        if (receive.fault() != null) {
            throw receive.fault();
        }
        Status status = comm.statusOf(receive, MPI.SUCCESS);
        if (receiving.finisher() != null) {
            receiving.finisher().finish(status);
        }
        return status;
    }

    Request ireceive(Data data, int source, int tag) {
        if (source == MPI.PROC_NULL) {
            return Request.of(comm, Status.ofNoProcess());
        }
        Receiving receiving = newReceive(data, source(source), tag);
        device.receive(receiving.operation());
        return Request.of(comm, receiving.operation(), receiving.finisher());
    }

    Prequest receiveInit(Data data, int source, int tag) {
        Prequest request = new Prequest(comm);
        if (source == MPI.PROC_NULL) {
            return request.startedBy(() -> request.begin(Status.ofNoProcess()));
        }
        Receiving receiving = newReceive(data, source(source), tag);
        return request.startedBy(() -> {
            request.begin(receiving.operation(), receiving.finisher());
            device.receive(receiving.operation());
        });
    }

    /** The message leaves from a copy, so that the buffer is free for the message that arrives. */
    Status sendReceiveReplace(Data data, int dest, int sendTag, int source, int receiveTag) {
        Receiving receiving = source == MPI.PROC_NULL ? null : newReceive(data, source(source), receiveTag);
        Request send = sendCopy(data, dest, sendTag); // not before: with wrong arguments nothing is sent
        Status status = Status.ofNoProcess();
        if (receiving != null) {
            device.receive(receiving.operation());
            status = end(receiving);
        }
        send.awaitEnd();
        send.waitFor();
        return status;
    }

    private Request sendCopy(Data data, int dest, int tag) {
        if (dest == MPI.PROC_NULL) {
            return Request.of(comm, new Status());
        }
        SendOperation send = newSend(SendMode.STANDARD, data, sessionRank(dest, "destination"), sendTag(tag));
        long bytes = send.payload().bytes();
        MemorySegment copy = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        send.payload().copyTo(copy, 0, bytes);
        send.payload().set(copy, 0, bytes);
        device.send(send);
        return Request.of(comm, send, null);
    }

    // ---- probing

    Status statusOf(Envelope envelope) {
        return new Status(
                communicator.group().rankOf(envelope.source()), envelope.tag(), envelope.bytes(), false, MPI.SUCCESS);
    }

    Status probe(int source, int tag) {
        if (source == MPI.PROC_NULL) {
            return Status.ofNoProcess();
        }
        int from = source(source);
        int wanted = receiveTag(tag);
        return statusOf(unlessGivenUp(
                "probe", () -> device.awaitPeek(from, communicator.context(), wanted, communicator.group())));
    }

    private <T> T unlessGivenUp(String name, Supplier<T> wait) {
        try {
            return wait.get();
        } catch (MadeleineException e) { // interrupted, or the session was closed
            throw new MpiFault(
                    ErrorClass.OTHER, "rank " + device.rank() + " gave up a " + name + ": " + e.getMessage(), e);
        }
    }

    @Nullable
    Status iprobe(int source, int tag) {
        if (source == MPI.PROC_NULL) {
            return Status.ofNoProcess();
        }
        int from = source(source);
        Envelope envelope = device.peek(from, communicator.context(), receiveTag(tag));
        if (envelope == null) {
            device.progress();
            envelope = device.peek(from, communicator.context(), tag);
        }
        if (envelope == null) {
            device.checkLost(from, communicator.group());
        }
        return envelope == null ? null : statusOf(envelope);
    }

    /** Takes the message of a matched probe. */
    Arrived take(int source, int tag) {
        int from = source(source);
        int wanted = receiveTag(tag);
        return unlessGivenUp(
                "matched probe", () -> device.awaitTake(from, communicator.context(), wanted, communicator.group()));
    }

    /** As {@link #take}, without waiting; null if there is none yet. */
    @Nullable
    Arrived takeNow(int source, int tag) {
        int from = source(source);
        Arrived arrived = device.take(from, communicator.context(), receiveTag(tag));
        if (arrived == null) {
            device.progress();
            arrived = device.take(from, communicator.context(), tag);
        }
        if (arrived == null) {
            device.checkLost(from, communicator.group());
        }
        return arrived;
    }

    Request receiveTaken(Arrived arrived, Data data) {
        Receiving receiving = newReceive(data, arrived.envelope().source(), MPI.ANY_TAG);
        device.receiveProbed(arrived, receiving.operation());
        return Request.of(comm, receiving.operation(), receiving.finisher());
    }
}
