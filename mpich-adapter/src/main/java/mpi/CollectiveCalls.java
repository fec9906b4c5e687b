package mpi;

import static mpi.PointToPointCalls.direct;

import java.nio.Buffer;
import java.util.function.Supplier;
import mpi.CollectiveReductions.Values;
import mpi.Collectives.Side;
import mpi.Collectives.Sides;
import mpi.Collectives.TypedSides;
import org.jspecify.annotations.Nullable;

/**
 * Collective operations, Open MPI style. The shorter forms work in place. Those that begin with {@code i} return a
 * request, progress while the program computes, and take direct buffers. All members must call an operation, with
 * matching arguments.
 *
 * <p>An operation that would receive into a read-only buffer throws an {@link MPIException} of class {@link
 * MPI#ERR_BUFFER} at that member; nothing is sent or received then, and the call does not count.
 *
 * <p>Ownership: a buffer belongs to the operation until it is complete.
 *
 * <p>Threading: one thread at a time per communicator.
 */
@SuppressWarnings("DoNotCallSuggester") // members of a later version
public abstract class CollectiveCalls extends PointToPointCalls {
    CollectiveCalls() {}

    abstract void run(Supplier<Plan> plan);

    abstract Request start(Supplier<Plan> plan);

    abstract void runBarrier();

    abstract void runAllreduce(
            @Nullable Object send,
            int sendOffset,
            @Nullable Object receive,
            int receiveOffset,
            int count,
            Datatype type,
            Op op);

    static @Nullable Buffer directOrNull(@Nullable Buffer buffer) {
        return buffer == null ? null : direct(buffer);
    }

    private static Side side(@Nullable Object buffer, int count, Datatype type) {
        return new Side(buffer, 0, count, type);
    }

    private static Side inPlace(int count, Datatype type) {
        return new Side(Collectives.IN_PLACE, 0, count, type);
    }

    private static Sides sides(@Nullable Object buffer, int[] counts, int[] displs, Datatype type) {
        return new Sides(buffer, 0, counts, displs, type);
    }

    private static Values values(@Nullable Object send, @Nullable Object receive, Datatype type, Op op) {
        return new Values(send, 0, receive, 0, type, op);
    }

    // ---- synchronisation and broadcast

    /** Returns when all members have called it. */
    public final void barrier() {
        runBarrier();
    }

    /** As {@link #barrier()}, non-blocking. */
    public final Request iBarrier() {
        return start(() -> Collectives.barrier(handle()));
    }

    /** Copies the buffer of the root to all members. */
    public final void bcast(@Nullable Object buf, int count, Datatype type, int root) {
        run(() -> Collectives.bcast(handle(), buf, 0, count, type, root));
    }

    /** As {@link #bcast(Object, int, Datatype, int)}, non-blocking. */
    public final Request iBcast(@Nullable Buffer buf, int count, Datatype type, int root) {
        Buffer _ = directOrNull(buf);
        return start(() -> Collectives.bcast(handle(), buf, 0, count, type, root));
    }

    // ---- gather and scatter

    /** Gathers blocks of equal size at the root. */
    public final void gather(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        run(() -> Collectives.gather(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype), root));
    }

    /** As {@link #gather(Object, int, Datatype, Object, int, Datatype, int)}, non-blocking. */
    public final Request iGather(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.gather(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype), root));
    }

    /**
     * As the longer form, in place: at the root the buffer holds all blocks, its own already at its place; elsewhere it
     * is the block to send.
     */
    public final void gather(@Nullable Object buf, int count, Datatype type, int root) {
        run(() -> gatherInPlace(buf, count, type, root));
    }

    /** As {@link #gather(Object, int, Datatype, int)}, non-blocking. */
    public final Request iGather(@Nullable Buffer buf, int count, Datatype type, int root) {
        Buffer _ = directOrNull(buf);
        return start(() -> gatherInPlace(buf, count, type, root));
    }

    /** Gathers blocks of different sizes at the root; displacements count extents of the type. */
    public final void gatherv(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype,
            int root) {
        run(() -> Collectives.gatherv(
                handle(),
                side(sendbuf, sendcount, sendtype),
                atRoot(recvbuf, recvcounts, displs, recvtype, root),
                root));
    }

    /** As {@link #gatherv(Object, int, Datatype, Object, int[], int[], Datatype, int)}, non-blocking. */
    public final Request iGatherv(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype,
            int root) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.gatherv(
                handle(),
                side(sendbuf, sendcount, sendtype),
                atRoot(recvbuf, recvcounts, displs, recvtype, root),
                root));
    }

    /** As the longer form, in place: the root's call. */
    public final void gatherv(@Nullable Object recvbuf, int[] recvcounts, int[] displs, Datatype recvtype, int root) {
        run(() -> Collectives.gatherv(
                handle(), inPlace(0, recvtype), sides(recvbuf, recvcounts, displs, recvtype), root));
    }

    /** As {@link #gatherv(Object, int[], int[], Datatype, int)}, non-blocking. */
    public final Request iGatherv(
            @Nullable Buffer recvbuf, int[] recvcounts, int[] displs, Datatype recvtype, int root) {
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.gatherv(
                handle(), inPlace(0, recvtype), sides(recvbuf, recvcounts, displs, recvtype), root));
    }

    /** As the longer form, in place: the call of the other members. */
    public final void gatherv(@Nullable Object sendbuf, int sendcount, Datatype sendtype, int root) {
        run(() -> Collectives.gatherv(handle(), side(sendbuf, sendcount, sendtype), null, root));
    }

    /** As {@link #gatherv(Object, int, Datatype, int)}, non-blocking. */
    public final Request iGatherv(@Nullable Buffer sendbuf, int sendcount, Datatype sendtype, int root) {
        Buffer _ = directOrNull(sendbuf);
        return start(() -> Collectives.gatherv(handle(), side(sendbuf, sendcount, sendtype), null, root));
    }

    /** Scatters blocks of equal size from the root. */
    public final void scatter(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        run(() -> Collectives.scatter(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype), root));
    }

    /** As {@link #scatter(Object, int, Datatype, Object, int, Datatype, int)}, non-blocking. */
    public final Request iScatter(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.scatter(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype), root));
    }

    /** As the longer form, in place: the root keeps its block where it is; the others receive into the buffer. */
    public final void scatter(@Nullable Object buf, int count, Datatype type, int root) {
        run(() -> scatterInPlace(buf, count, type, root));
    }

    /** As {@link #scatter(Object, int, Datatype, int)}, non-blocking. */
    public final Request iScatter(@Nullable Buffer buf, int count, Datatype type, int root) {
        Buffer _ = directOrNull(buf);
        return start(() -> scatterInPlace(buf, count, type, root));
    }

    /** Scatters blocks of different sizes from the root; displacements count extents of the type. */
    public final void scatterv(
            @Nullable Object sendbuf,
            int[] sendcounts,
            int[] displs,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        run(() -> Collectives.scatterv(
                handle(),
                atRoot(sendbuf, sendcounts, displs, sendtype, root),
                side(recvbuf, recvcount, recvtype),
                root));
    }

    /** As {@link #scatterv(Object, int[], int[], Datatype, Object, int, Datatype, int)}, non-blocking. */
    public final Request iScatterv(
            @Nullable Buffer sendbuf,
            int[] sendcounts,
            int[] displs,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int recvcount,
            Datatype recvtype,
            int root) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.scatterv(
                handle(),
                atRoot(sendbuf, sendcounts, displs, sendtype, root),
                side(recvbuf, recvcount, recvtype),
                root));
    }

    /** As the longer form, in place: the root's call. */
    public final void scatterv(@Nullable Object sendbuf, int[] sendcounts, int[] displs, Datatype sendtype, int root) {
        run(() -> Collectives.scatterv(
                handle(), sides(sendbuf, sendcounts, displs, sendtype), inPlace(0, sendtype), root));
    }

    /** As {@link #scatterv(Object, int[], int[], Datatype, int)}, non-blocking. */
    public final Request iScatterv(
            @Nullable Buffer sendbuf, int[] sendcounts, int[] displs, Datatype sendtype, int root) {
        Buffer _ = directOrNull(sendbuf);
        return start(() -> Collectives.scatterv(
                handle(), sides(sendbuf, sendcounts, displs, sendtype), inPlace(0, sendtype), root));
    }

    /** As the longer form, in place: the call of the other members. */
    public final void scatterv(@Nullable Object recvbuf, int recvcount, Datatype recvtype, int root) {
        run(() -> Collectives.scatterv(handle(), null, side(recvbuf, recvcount, recvtype), root));
    }

    /** As {@link #scatterv(Object, int, Datatype, int)}, non-blocking. */
    public final Request iScatterv(@Nullable Buffer recvbuf, int recvcount, Datatype recvtype, int root) {
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.scatterv(handle(), null, side(recvbuf, recvcount, recvtype), root));
    }

    // ---- allgather and alltoall

    /** Gathers blocks of equal size at all members. */
    public final void allGather(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype) {
        run(() -> Collectives.allgather(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype)));
    }

    /** As {@link #allGather(Object, int, Datatype, Object, int, Datatype)}, non-blocking. */
    public final Request iAllGather(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int recvcount,
            Datatype recvtype) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.allgather(
                handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype)));
    }

    /** As the longer form; each member's block is at its place already. */
    public final void allGather(@Nullable Object buf, int count, Datatype type) {
        run(() -> Collectives.allgather(handle(), inPlace(count, type), side(buf, count, type)));
    }

    /** As {@link #allGather(Object, int, Datatype)}, non-blocking. */
    public final Request iAllGather(@Nullable Buffer buf, int count, Datatype type) {
        Buffer _ = directOrNull(buf);
        return start(() -> Collectives.allgather(handle(), inPlace(count, type), side(buf, count, type)));
    }

    /** Gathers blocks of different sizes at all members; displacements count extents of the type. */
    public final void allGatherv(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype) {
        run(() -> Collectives.allgatherv(
                handle(), side(sendbuf, sendcount, sendtype), sides(recvbuf, recvcounts, displs, recvtype)));
    }

    /** As {@link #allGatherv(Object, int, Datatype, Object, int[], int[], Datatype)}, non-blocking. */
    public final Request iAllGatherv(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.allgatherv(
                handle(), side(sendbuf, sendcount, sendtype), sides(recvbuf, recvcounts, displs, recvtype)));
    }

    /** As the longer form; each member's block is at its place already. */
    public final void allGatherv(@Nullable Object recvbuf, int[] recvcounts, int[] displs, Datatype recvtype) {
        run(() -> Collectives.allgatherv(handle(), inPlace(0, recvtype), sides(recvbuf, recvcounts, displs, recvtype)));
    }

    /** As {@link #allGatherv(Object, int[], int[], Datatype)}, non-blocking. */
    public final Request iAllGatherv(@Nullable Buffer recvbuf, int[] recvcounts, int[] displs, Datatype recvtype) {
        Buffer _ = directOrNull(recvbuf);
        return start(() ->
                Collectives.allgatherv(handle(), inPlace(0, recvtype), sides(recvbuf, recvcounts, displs, recvtype)));
    }

    /** Sends a block of equal size from each member to each. */
    public final void allToAll(
            @Nullable Object sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvcount,
            Datatype recvtype) {
        run(() ->
                Collectives.alltoall(handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype)));
    }

    /** As {@link #allToAll(Object, int, Datatype, Object, int, Datatype)}, non-blocking. */
    public final Request iAllToAll(
            @Nullable Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int recvcount,
            Datatype recvtype) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() ->
                Collectives.alltoall(handle(), side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype)));
    }

    /** Sends blocks of different sizes; displacements count extents of the type. */
    public final void allToAllv(
            @Nullable Object sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype recvtype) {
        run(() -> Collectives.alltoallv(
                handle(),
                sides(sendbuf, sendcounts, sdispls, sendtype),
                sides(recvbuf, recvcounts, rdispls, recvtype)));
    }

    /** As {@link #allToAllv(Object, int[], int[], Datatype, Object, int[], int[], Datatype)}, non-blocking. */
    public final Request iAllToAllv(
            @Nullable Buffer sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype sendtype,
            @Nullable Buffer recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype recvtype) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.alltoallv(
                handle(),
                sides(sendbuf, sendcounts, sdispls, sendtype),
                sides(recvbuf, recvcounts, rdispls, recvtype)));
    }

    /** Sends blocks of different sizes and types; displacements count bytes. */
    public final void allToAllw(
            @Nullable Object sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype[] sendtypes,
            @Nullable Object recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype[] recvtypes) {
        run(() -> Collectives.alltoallw(
                handle(),
                new TypedSides(sendbuf, sendcounts, sdispls, sendtypes),
                new TypedSides(recvbuf, recvcounts, rdispls, recvtypes)));
    }

    /** As {@link #allToAllw(Object, int[], int[], Datatype[], Object, int[], int[], Datatype[])}, non-blocking. */
    public final Request iAllToAllw(
            @Nullable Buffer sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype[] sendtypes,
            @Nullable Buffer recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype[] recvtypes) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> Collectives.alltoallw(
                handle(),
                new TypedSides(sendbuf, sendcounts, sdispls, sendtypes),
                new TypedSides(recvbuf, recvcounts, rdispls, recvtypes)));
    }

    // ---- reductions

    /** Combines the values of all members at the root. */
    public final void reduce(
            @Nullable Object sendbuf, @Nullable Object recvbuf, int count, Datatype type, Op op, int root) {
        run(() -> CollectiveReductions.reduce(handle(), values(sendbuf, recvbuf, type, op), count, root));
    }

    /** As {@link #reduce(Object, Object, int, Datatype, Op, int)}, non-blocking. */
    public final Request iReduce(
            @Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int count, Datatype type, Op op, int root) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> CollectiveReductions.reduce(handle(), values(sendbuf, recvbuf, type, op), count, root));
    }

    /** As the longer form; the buffer holds the operands, and at the root the result. */
    public final void reduce(@Nullable Object buf, int count, Datatype type, Op op, int root) {
        run(() -> CollectiveReductions.reduce(handle(), values(null, buf, type, op), count, root));
    }

    /** As {@link #reduce(Object, int, Datatype, Op, int)}, non-blocking. */
    public final Request iReduce(@Nullable Buffer buf, int count, Datatype type, Op op, int root) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.reduce(handle(), values(null, buf, type, op), count, root));
    }

    /** Combines the values of all members at each. */
    public final void allReduce(@Nullable Object sendbuf, @Nullable Object recvbuf, int count, Datatype type, Op op) {
        runAllreduce(sendbuf, 0, recvbuf, 0, count, type, op);
    }

    /** As {@link #allReduce(Object, Object, int, Datatype, Op)}, non-blocking. */
    public final Request iAllReduce(
            @Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> CollectiveReductions.allreduce(handle(), values(sendbuf, recvbuf, type, op), count));
    }

    /** As the longer form; the buffer holds the operands, and the result. */
    public final void allReduce(@Nullable Object buf, int count, Datatype type, Op op) {
        runAllreduce(null, 0, buf, 0, count, type, op);
    }

    /** As {@link #allReduce(Object, int, Datatype, Op)}, non-blocking. */
    public final Request iAllReduce(@Nullable Buffer buf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.allreduce(handle(), values(null, buf, type, op), count));
    }

    /** Combines values and gives each member its part. */
    public final void reduceScatter(
            @Nullable Object sendbuf, @Nullable Object recvbuf, int[] counts, Datatype type, Op op) {
        run(() -> CollectiveReductions.reduceScatter(handle(), values(sendbuf, recvbuf, type, op), counts));
    }

    /** As {@link #reduceScatter(Object, Object, int[], Datatype, Op)}, non-blocking. */
    public final Request iReduceScatter(
            @Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int[] counts, Datatype type, Op op) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(() -> CollectiveReductions.reduceScatter(handle(), values(sendbuf, recvbuf, type, op), counts));
    }

    /** As the longer form; the buffer holds the operands, and the result. */
    public final void reduceScatter(@Nullable Object buf, int[] counts, Datatype type, Op op) {
        run(() -> CollectiveReductions.reduceScatter(handle(), values(null, buf, type, op), counts));
    }

    /** As {@link #reduceScatter(Object, int[], Datatype, Op)}, non-blocking. */
    public final Request iReduceScatter(@Nullable Buffer buf, int[] counts, Datatype type, Op op) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.reduceScatter(handle(), values(null, buf, type, op), counts));
    }

    /** Combines values and gives each member a part of equal size. */
    public final void reduceScatterBlock(
            @Nullable Object sendbuf, @Nullable Object recvbuf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.reduceScatterBlock(handle(), values(sendbuf, recvbuf, type, op), count));
    }

    /** As {@link #reduceScatterBlock(Object, Object, int, Datatype, Op)}, non-blocking. */
    public final Request iReduceScatterBlock(
            @Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(
                () -> CollectiveReductions.reduceScatterBlock(handle(), values(sendbuf, recvbuf, type, op), count));
    }

    /** As the longer form; the buffer holds the operands, and the result. */
    public final void reduceScatterBlock(@Nullable Object buf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.reduceScatterBlock(handle(), values(null, buf, type, op), count));
    }

    /** As {@link #reduceScatterBlock(Object, int, Datatype, Op)}, non-blocking. */
    public final Request iReduceScatterBlock(@Nullable Buffer buf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.reduceScatterBlock(handle(), values(null, buf, type, op), count));
    }

    private Plan gatherInPlace(@Nullable Object buf, int count, Datatype type, int root) {
        Side all = side(buf, count, type);
        return Collectives.gather(handle(), handle().rank() == root ? inPlace(count, type) : all, all, root);
    }

    private Plan scatterInPlace(@Nullable Object buf, int count, Datatype type, int root) {
        Side all = side(buf, count, type);
        return Collectives.scatter(handle(), all, handle().rank() == root ? inPlace(count, type) : all, root);
    }

    /** Counts and displacements, which matter at the root only. */
    private @Nullable Sides atRoot(@Nullable Object buffer, int[] counts, int[] displs, Datatype type, int root) {
        return handle().rank() == root ? sides(buffer, counts, displs, type) : null;
    }

    /** {@code inOut = in op inOut}, without communication. */
    public static void reduceLocal(Object in, Object inOut, int count, Datatype type, Op op) {
        Arguments.unhandled(() -> CollectiveReductions.local(in, inOut, count, type, op));
    }

    // ---- neighbours: not supported yet

    /** Not supported yet. */
    public final void neighborAllGather(
            Object sendbuf, int sendcount, Datatype sendtype, Object recvbuf, int recvcount, Datatype recvtype) {
        throw Left.out("Comm.neighborAllGather");
    }

    /** Not supported yet. */
    public final Request iNeighborAllGather(
            Buffer sendbuf, int sendcount, Datatype sendtype, Buffer recvbuf, int recvcount, Datatype recvtype) {
        throw Left.out("Comm.iNeighborAllGather");
    }

    /** Not supported yet. */
    public final void neighborAllGatherv(
            Object sendbuf,
            int sendcount,
            Datatype sendtype,
            Object recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype) {
        throw Left.out("Comm.neighborAllGatherv");
    }

    /** Not supported yet. */
    public final Request iNeighborAllGatherv(
            Buffer sendbuf,
            int sendcount,
            Datatype sendtype,
            Buffer recvbuf,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype) {
        throw Left.out("Comm.iNeighborAllGatherv");
    }

    /** Not supported yet. */
    public final void neighborAllToAll(
            Object sendbuf, int sendcount, Datatype sendtype, Object recvbuf, int recvcount, Datatype recvtype) {
        throw Left.out("Comm.neighborAllToAll");
    }

    /** Not supported yet. */
    public final Request iNeighborAllToAll(
            Buffer sendbuf, int sendcount, Datatype sendtype, Buffer recvbuf, int recvcount, Datatype recvtype) {
        throw Left.out("Comm.iNeighborAllToAll");
    }

    /** Not supported yet. */
    public final void neighborAllToAllv(
            Object sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype sendtype,
            Object recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype recvtype) {
        throw Left.out("Comm.neighborAllToAllv");
    }

    /** Not supported yet. */
    public final Request iNeighborAllToAllv(
            Buffer sendbuf,
            int[] sendcounts,
            int[] sdispls,
            Datatype sendtype,
            Buffer recvbuf,
            int[] recvcounts,
            int[] rdispls,
            Datatype recvtype) {
        throw Left.out("Comm.iNeighborAllToAllv");
    }
}
