package mpi;

import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.device.Payload;
import io.madeleine.mpi.device.SendMode;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages between two processes. Lower-case members are those of Open MPI, whose non-blocking ones take direct
 * buffers;
 * capitalised members are those of mpiJava, whose offsets count elements of the array.
 *
 * <p>A call that receives into a read-only buffer throws an {@link MPIException} of class {@link MPI#ERR_BUFFER};
 * nothing is sent or received then.
 *
 * <p>Ownership: a buffer belongs to the operation until it is complete.
 *
 * <p>Threading: thread-safe.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public abstract class PointToPointCalls {
    PointToPointCalls() {}

    abstract PointToPoint messages();

    abstract Communicator handle();

    abstract MPIException raise(MpiFault fault);

    private <T> T call(Supplier<T> operation) {
        try {
            return operation.get();
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    private void send(SendMode mode, PointToPoint.Data data, int dest, int tag) {
        try {
            messages().send(mode, data, dest, tag);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    static Buffer direct(@Nullable Buffer buffer) {
        if (buffer == null || !buffer.isDirect()) {
            throw new IllegalArgumentException("the buffer of a non-blocking operation is "
                    + (buffer == null ? "null" : "not direct") + ": expected one of MPI.newByteBuffer and its like");
        }
        return buffer;
    }

    private static PointToPoint.Data data(@Nullable Object buffer, int offset, int count, Datatype type) {
        return new PointToPoint.Data(buffer, offset, count, type);
    }

    // ---- blocking

    /** Sends; returns when the buffer may be reused. */
    public final void send(@Nullable Object buf, int count, Datatype type, int dest, int tag) {
        Send(buf, 0, count, type, dest, tag);
    }

    /** As {@link #send}. */
    public void Send(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        try {
            if (!messages().sendNow(buf, offset, count, type, dest, tag)) {
                messages().send(SendMode.STANDARD, data(buf, offset, count, type), dest, tag);
            }
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** Sends; returns when the message has been matched. */
    public final void sSend(@Nullable Object buf, int count, Datatype type, int dest, int tag) {
        send(SendMode.SYNCHRONOUS, data(buf, 0, count, type), dest, tag);
    }

    /** As {@link #sSend}. */
    public void Ssend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        send(SendMode.SYNCHRONOUS, data(buf, offset, count, type), dest, tag);
    }

    /** Sends to a receive that is posted already. */
    public final void rSend(@Nullable Object buf, int count, Datatype type, int dest, int tag) {
        send(SendMode.STANDARD, data(buf, 0, count, type), dest, tag);
    }

    /** As {@link #rSend}. */
    public void Rsend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        send(SendMode.STANDARD, data(buf, offset, count, type), dest, tag);
    }

    /** Sends a copy; the attached buffer bounds how much may wait. */
    public final void bSend(@Nullable Object buf, int count, Datatype type, int dest, int tag) {
        Bsend(buf, 0, count, type, dest, tag);
    }

    /** As {@link #bSend}. */
    public void Bsend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        try {
            messages().bsend(data(buf, offset, count, type), dest, tag);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** Receives. */
    public final Status recv(@Nullable Object buf, int count, Datatype type, int source, int tag) {
        return Recv(buf, 0, count, type, source, tag);
    }

    /** As {@link #recv}. */
    public Status Recv(@Nullable Object buf, int offset, int count, Datatype type, int source, int tag) {
        try {
            Status status = messages().receiveNow(buf, offset, count, type, source, tag);
            return status == null ? messages().receive(data(buf, offset, count, type), source, tag) : status;
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** Sends and receives at the same time. */
    public final Status sendRecv(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            int dest,
            int sendtag,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype,
            int source,
            int recvtag) {
        return Sendrecv(
                sendbuf, 0, sendcount, sendtype, dest, sendtag, recvbuf, 0, recvcount, recvtype, source, recvtag);
    }

    /** As {@link #sendRecv}. */
    public Status Sendrecv(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            int dest,
            int sendtag,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype,
            int source,
            int recvtag) {
        Request receive = Irecv(recvbuf, recvoffset, recvcount, recvtype, source, recvtag);
        try {
            Send(sendbuf, sendoffset, sendcount, sendtype, dest, sendtag);
        } catch (RuntimeException e) {
            receive.withdraw(); // else it would take another message, into a buffer that the caller has back
            throw e;
        }
        return receive.endBlocking();
    }

    /** Sends the content of a buffer, and receives into it. */
    public final Status sendRecvReplace(
            @Nullable Object buf, int count, Datatype type, int dest, int sendtag, int source, int recvtag) {
        return Sendrecv_replace(buf, 0, count, type, dest, sendtag, source, recvtag);
    }

    /** As {@link #sendRecvReplace}. */
    public Status Sendrecv_replace(
            @Nullable Object buf,
            int offset,
            int count,
            Datatype type,
            int dest,
            int sendtag,
            int source,
            int recvtag) {
        return call(
                () -> messages().sendReceiveReplace(data(buf, offset, count, type), dest, sendtag, source, recvtag));
    }

    // ---- non-blocking

    /** Starts a send. */
    public final Request iSend(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Isend(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #iSend}. */
    public Request Isend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        try {
            Request request = messages().isendNow(buf, offset, count, type, dest, tag);
            return request == null
                    ? messages().isend(SendMode.STANDARD, data(buf, offset, count, type), dest, tag)
                    : request;
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** Starts a send that is complete when the message has been matched. */
    public final Request isSend(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Issend(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #isSend}. */
    public Request Issend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return call(() -> messages().isend(SendMode.SYNCHRONOUS, data(buf, offset, count, type), dest, tag));
    }

    /** Starts a send to a receive that is posted already. */
    public final Request irSend(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Isend(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #irSend}. */
    public Request Irsend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return Isend(buf, offset, count, type, dest, tag);
    }

    /** Starts a send of a copy. */
    public final Request ibSend(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Ibsend(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #ibSend}. */
    public Request Ibsend(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return call(() -> messages().ibsend(data(buf, offset, count, type), dest, tag));
    }

    /** Starts a receive. */
    public final Request iRecv(Buffer buf, int count, Datatype type, int source, int tag) {
        return Irecv(direct(buf), 0, count, type, source, tag);
    }

    /** As {@link #iRecv}. */
    public Request Irecv(@Nullable Object buf, int offset, int count, Datatype type, int source, int tag) {
        try {
            Request request = messages().ireceiveNow(buf, offset, count, type, source, tag);
            return request == null ? messages().ireceive(data(buf, offset, count, type), source, tag) : request;
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    // ---- persistent

    private Prequest init(SendMode mode, boolean isBuffered, PointToPoint.Data data, int dest, int tag) {
        return call(() -> messages().sendInit(mode, isBuffered, data, dest, tag));
    }

    /** A persistent send. */
    public final Prequest sendInit(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Send_init(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #sendInit}. */
    public Prequest Send_init(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return init(SendMode.STANDARD, false, data(buf, offset, count, type), dest, tag);
    }

    /** A persistent send of copies. */
    public final Prequest bSendInit(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Bsend_init(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #bSendInit}. */
    public Prequest Bsend_init(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return init(SendMode.STANDARD, true, data(buf, offset, count, type), dest, tag);
    }

    /** A persistent synchronous send. */
    public final Prequest sSendInit(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Ssend_init(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #sSendInit}. */
    public Prequest Ssend_init(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return init(SendMode.SYNCHRONOUS, false, data(buf, offset, count, type), dest, tag);
    }

    /** A persistent send to receives that are posted already. */
    public final Prequest rSendInit(Buffer buf, int count, Datatype type, int dest, int tag) {
        return Rsend_init(direct(buf), 0, count, type, dest, tag);
    }

    /** As {@link #rSendInit}. */
    public Prequest Rsend_init(@Nullable Object buf, int offset, int count, Datatype type, int dest, int tag) {
        return init(SendMode.STANDARD, false, data(buf, offset, count, type), dest, tag);
    }

    /** A persistent receive. */
    public final Prequest recvInit(Buffer buf, int count, Datatype type, int source, int tag) {
        return Recv_init(direct(buf), 0, count, type, source, tag);
    }

    /** As {@link #recvInit}. */
    public Prequest Recv_init(@Nullable Object buf, int offset, int count, Datatype type, int source, int tag) {
        return call(() -> messages().receiveInit(data(buf, offset, count, type), source, tag));
    }

    // ---- probing

    /** Waits until a message can be received; does not receive it. */
    public final Status probe(int source, int tag) {
        return call(() -> messages().probe(source, tag));
    }

    /** As {@link #probe}. */
    public Status Probe(int source, int tag) {
        return probe(source, tag);
    }

    /** The status of a message that can be received; null if there is none. */
    public final @Nullable Status iProbe(int source, int tag) {
        try {
            return messages().iprobe(source, tag);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** As {@link #iProbe}. */
    public @Nullable Status Iprobe(int source, int tag) {
        return iProbe(source, tag);
    }

    // ---- packing

    /** Appends items to packed data at a position in bytes; returns the new position. */
    public final int pack(@Nullable Object inbuf, int count, Datatype type, byte[] outbuf, int position) {
        return Pack(inbuf, 0, count, type, outbuf, position);
    }

    /** As {@link #pack}. */
    public int Pack(@Nullable Object inbuf, int offset, int count, Datatype type, byte[] outbuf, int position) {
        return call(() -> {
            Payload items = Operand.of(inbuf, offset, type).payload(0, count);
            checkRoom(packed(outbuf).length, position, items.bytes());
            items.copyTo(MemorySegment.ofArray(outbuf), position, items.bytes());
            return position + (int) items.bytes();
        });
    }

    /** As {@link #pack}, into a growing buffer; returns its size. */
    public int Pack(@Nullable Object inbuf, int offset, int count, Datatype type, mpjbuf.Buffer outbuf, int position) {
        call(() -> packed(outbuf)).room(position + packSize(count, type));
        int end = Pack(inbuf, offset, count, type, outbuf.array(), position);
        outbuf.setSize(end);
        return end;
    }

    private static <T> T packed(@Nullable T buffer) {
        return Arguments.present(
                buffer,
                io.madeleine.mpi.ErrorClass.BUFFER,
                "the buffer of packed data",
                "an array of byte or an mpjbuf.Buffer");
    }

    private static void checkRoom(int length, int position, long bytes) {
        if (position < 0 || bytes > length - (long) position) {
            throw new MpiFault(
                    io.madeleine.mpi.ErrorClass.BUFFER,
                    "packed data of " + bytes + " bytes at position " + position + " exceeds an array of " + length
                            + " bytes: expected it to lie within the array");
        }
    }

    /** Takes items out of packed data at a position in bytes; returns the new position. */
    public final int unpack(byte[] inbuf, int position, @Nullable Object outbuf, int count, Datatype type) {
        return Unpack(inbuf, position, outbuf, 0, count, type);
    }

    /** As {@link #unpack}. */
    public int Unpack(byte[] inbuf, int position, @Nullable Object outbuf, int offset, int count, Datatype type) {
        return call(() -> {
            Operand operand = Operand.ofResult(outbuf, offset, type);
            Payload items = operand.payload(0, count);
            checkRoom(packed(inbuf).length, position, items.bytes());
            items.copyFrom(MemorySegment.ofArray(inbuf), position, items.bytes());
            operand.giveBack();
            return position + (int) items.bytes();
        });
    }

    /** As {@link #unpack}, out of a growing buffer. */
    public int Unpack(
            mpjbuf.Buffer inbuf, int position, @Nullable Object outbuf, int offset, int count, Datatype type) {
        return Unpack(call(() -> packed(inbuf)).array(), position, outbuf, offset, count, type);
    }

    /** How many bytes some items are when they are packed; UNDEFINED if an int cannot hold it. */
    public final int packSize(int count, Datatype type) {
        long room = count == 0 ? Long.MAX_VALUE : Integer.MAX_VALUE / Math.abs((long) count);
        long bytes = call(() -> Datatype.check(type).type()).size();
        return bytes > room ? MPI.UNDEFINED : (int) (count * bytes);
    }

    /** As {@link #packSize}. */
    public int Pack_size(int count, Datatype type) {
        return packSize(count, type);
    }
}
