package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.creation.Creation;
import java.nio.Buffer;
import java.util.Optional;
import mpi.CollectiveReductions.Values;
import mpi.Collectives.Side;
import mpi.Collectives.Sides;
import org.jspecify.annotations.Nullable;

/**
 * A communicator of one group.
 *
 * <p>Threading: as {@link Comm}.
 */
@SuppressWarnings({"MemberName", "DoNotCallSuggester"}) // the names of mpiJava; members of a later version
public class Intracomm extends Comm {
    Intracomm() {}

    @Override
    Intracomm another() {
        return new Intracomm();
    }

    @Override
    public Intracomm clone() {
        return dup();
    }

    @Override
    public Intracomm dup() {
        return (Intracomm) super.dup();
    }

    @Override
    public Intracomm iDup() {
        return (Intracomm) super.iDup();
    }

    @Override
    public Intracomm dupWithInfo(Info info) {
        return (Intracomm) super.dupWithInfo(info);
    }

    /** As {@link Comm#compare}. */
    public static int Compare(Comm comm1, Comm comm2) {
        return compare(comm1, comm2);
    }

    // ---- parts

    /**
     * The members with the same colour, ordered by key and rank; the null communicator if it is UNDEFINED.
     * Collective.
     */
    public final Intracomm split(int colour, int key) {
        Intracomm part = new Intracomm();
        split(part, colour, key);
        return part;
    }

    /** As {@link #split(int, int)}, but null if the colour is UNDEFINED. */
    public @Nullable Intracomm Split(int colour, int key) {
        Intracomm part = split(colour, key);
        return part.isNull() ? null : part;
    }

    /** Makes the object stand for the part. */
    final void split(Intracomm part, int colour, int key) {
        try {
            if (colour < 0 && colour != MPI.UNDEFINED) {
                throw new MpiFault(
                        ErrorClass.ARG, "the colour of a split is " + colour + ": expected 0 or more, or UNDEFINED");
            }
            Communicator own = handle();
            Area table = Area.allocate(Creation.tableBytes(own));
            Schedule exchange = Creation.exchange(own, table, colour, key);
            run(exchange);
            make(part, Creation.split(own, table, environment().numbers()));
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    private void make(Intracomm part, Optional<Creation> made) {
        if (made.isPresent()) {
            run(made.get().schedule());
            part.become(this, made.get().result());
        }
    }

    /** The members that share memory: those of this host. Collective. */
    public final Intracomm splitType(int type, int key, Info info) {
        if (type != TYPE_SHARED) {
            return split(MPI.UNDEFINED, key);
        }
        return split(Hosts.colour(this), key);
    }

    /** A part of the group; the null communicator outside it. Collective over this communicator. */
    public final Intracomm create(Group group) {
        Intracomm part = new Intracomm();
        try {
            make(
                    part,
                    Creation.create(
                            handle(), Group.present(group), environment().numbers()));
        } catch (MpiFault e) {
            throw raise(e);
        }
        return part;
    }

    /** As {@link #create}, but null outside the group. */
    public @Nullable Intracomm Create(Group group) {
        Intracomm part = create(group);
        return part.isNull() ? null : part;
    }

    /** As {@link #create}, collective over the group only; the tag keeps concurrent calls apart. */
    public final Intracomm createGroup(Group group, int tag) {
        Intracomm part = new Intracomm();
        try {
            make(
                    part,
                    Creation.createGroup(
                            handle(), Group.present(group), tag, environment().numbers()));
        } catch (MpiFault e) {
            throw raise(e);
        }
        return part;
    }

    // ---- topologies

    /** A Cartesian grid, row by row; the null communicator beyond it. Collective. */
    public final CartComm createCart(int[] dims, boolean[] periods, boolean reorder) {
        CartComm grid;
        try {
            grid = new CartComm(dims, periods);
            int size = grid.cells();
            if (size > getSize()) {
                throw new MpiFault(
                        ErrorClass.ARG,
                        "a grid has " + size + " places for " + getSize()
                                + " members: expected at most as many places as members");
            }
        } catch (MpiFault e) {
            throw raise(e);
        }
        split(grid, getRank() < grid.cells() ? 0 : MPI.UNDEFINED, getRank());
        return grid;
    }

    /** As {@link #createCart}, but null beyond the grid. */
    public @Nullable Cartcomm Create_cart(int[] dims, boolean[] periods, boolean reorder) {
        CartComm grid = createCart(dims, periods, reorder);
        return grid.isNull() ? null : grid;
    }

    // ---- scans

    /** Combines the values of this member and all with lower ranks. */
    public final void scan(@Nullable Object sendbuf, @Nullable Object recvbuf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.scan(handle(), new Values(sendbuf, 0, recvbuf, 0, type, op), count, false));
    }

    /** As {@link #scan(Object, Object, int, Datatype, Op)}, non-blocking. */
    public final Request iScan(@Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(
                () -> CollectiveReductions.scan(handle(), new Values(sendbuf, 0, recvbuf, 0, type, op), count, false));
    }

    /** As the longer form; the buffer holds the operands, and the result. */
    public final void scan(@Nullable Object buf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.scan(handle(), new Values(null, 0, buf, 0, type, op), count, false));
    }

    /** As {@link #scan(Object, int, Datatype, Op)}, non-blocking. */
    public final Request iScan(@Nullable Buffer buf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.scan(handle(), new Values(null, 0, buf, 0, type, op), count, false));
    }

    /** Combines the values of all members with lower ranks; rank 0 keeps what is in its buffer. */
    public final void exScan(@Nullable Object sendbuf, @Nullable Object recvbuf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.scan(handle(), new Values(sendbuf, 0, recvbuf, 0, type, op), count, true));
    }

    /** As {@link #exScan(Object, Object, int, Datatype, Op)}, non-blocking. */
    public final Request iExScan(@Nullable Buffer sendbuf, @Nullable Buffer recvbuf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(sendbuf);
        Buffer _ = directOrNull(recvbuf);
        return start(
                () -> CollectiveReductions.scan(handle(), new Values(sendbuf, 0, recvbuf, 0, type, op), count, true));
    }

    /** As the longer form; the buffer holds the operands, and the result. */
    public final void exScan(@Nullable Object buf, int count, Datatype type, Op op) {
        run(() -> CollectiveReductions.scan(handle(), new Values(null, 0, buf, 0, type, op), count, true));
    }

    /** As {@link #exScan(Object, int, Datatype, Op)}, non-blocking. */
    public final Request iExScan(@Nullable Buffer buf, int count, Datatype type, Op op) {
        Buffer _ = directOrNull(buf);
        return start(() -> CollectiveReductions.scan(handle(), new Values(null, 0, buf, 0, type, op), count, true));
    }

    // ---- mpiJava style

    private static ObjectCollectives.Objects objects(@Nullable Object buffer, int offset) {
        return new ObjectCollectives.Objects(buffer, offset);
    }

    private void onObjects(Runnable operation) {
        try {
            operation.run();
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    private @Nullable Sides atRoot(Sides sides, int root) {
        return getRank() == root ? sides : null;
    }

    /** As {@code barrier}; offsets count elements of the array. */
    public void Barrier() {
        runBarrier();
    }

    /** As {@code bcast}; offsets count elements of the array. */
    public void Bcast(@Nullable Object buf, int offset, int count, Datatype type, int root) {
        if (Datatype.isObject(type)) {
            onObjects(() -> ObjectCollectives.bcast(this, objects(buf, offset), count, root));
            return;
        }
        run(() -> Collectives.bcast(handle(), buf, offset, count, type, root));
    }

    /** As {@code gather}; offsets count elements of the array. */
    public void Gather(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype,
            int root) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.gather(
                    this, objects(sendbuf, sendoffset), sendcount, objects(recvbuf, recvoffset), recvcount, root));
            return;
        }
        run(() -> Collectives.gather(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                new Side(recvbuf, recvoffset, recvcount, recvtype),
                root));
    }

    /** As {@code gatherv}; offsets count elements of the array. */
    public void Gatherv(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype,
            int root) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.gatherv(
                    this,
                    objects(sendbuf, sendoffset),
                    sendcount,
                    objects(recvbuf, recvoffset),
                    recvcounts,
                    displs,
                    root));
            return;
        }
        run(() -> Collectives.gatherv(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                atRoot(new Sides(recvbuf, recvoffset, recvcounts, displs, recvtype), root),
                root));
    }

    /** As {@code scatter}; offsets count elements of the array. */
    public void Scatter(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype,
            int root) {
        if (Datatype.isObject(recvtype)) {
            onObjects(() -> ObjectCollectives.scatter(
                    this, objects(sendbuf, sendoffset), sendcount, objects(recvbuf, recvoffset), recvcount, root));
            return;
        }
        run(() -> Collectives.scatter(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                new Side(recvbuf, recvoffset, recvcount, recvtype),
                root));
    }

    /** As {@code scatterv}; offsets count elements of the array. */
    public void Scatterv(
            @Nullable Object sendbuf,
            int sendoffset,
            int[] sendcounts,
            int[] displs,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype,
            int root) {
        if (Datatype.isObject(recvtype)) {
            onObjects(() -> ObjectCollectives.scatterv(
                    this,
                    objects(sendbuf, sendoffset),
                    sendcounts,
                    displs,
                    objects(recvbuf, recvoffset),
                    recvcount,
                    root));
            return;
        }
        run(() -> Collectives.scatterv(
                handle(),
                atRoot(new Sides(sendbuf, sendoffset, sendcounts, displs, sendtype), root),
                new Side(recvbuf, recvoffset, recvcount, recvtype),
                root));
    }

    /** As {@code allGather}; offsets count elements of the array. */
    public void Allgather(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.allgather(
                    this, objects(sendbuf, sendoffset), sendcount, objects(recvbuf, recvoffset), recvcount));
            return;
        }
        run(() -> Collectives.allgather(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                new Side(recvbuf, recvoffset, recvcount, recvtype)));
    }

    /** As {@code allGatherv}; offsets count elements of the array. */
    public void Allgatherv(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int[] recvcounts,
            int[] displs,
            Datatype recvtype) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.allgatherv(
                    this, objects(sendbuf, sendoffset), sendcount, objects(recvbuf, recvoffset), recvcounts, displs));
            return;
        }
        run(() -> Collectives.allgatherv(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                new Sides(recvbuf, recvoffset, recvcounts, displs, recvtype)));
    }

    /** As {@code allToAll}; offsets count elements of the array. */
    public void Alltoall(
            @Nullable Object sendbuf,
            int sendoffset,
            int sendcount,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int recvcount,
            Datatype recvtype) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.alltoall(
                    this, objects(sendbuf, sendoffset), sendcount, objects(recvbuf, recvoffset), recvcount));
            return;
        }
        run(() -> Collectives.alltoall(
                handle(),
                new Side(sendbuf, sendoffset, sendcount, sendtype),
                new Side(recvbuf, recvoffset, recvcount, recvtype)));
    }

    /** As {@code allToAllv}; offsets count elements of the array. */
    public void Alltoallv(
            @Nullable Object sendbuf,
            int sendoffset,
            int[] sendcounts,
            int[] sdispls,
            Datatype sendtype,
            @Nullable Object recvbuf,
            int recvoffset,
            int[] recvcounts,
            int[] rdispls,
            Datatype recvtype) {
        if (Datatype.isObject(sendtype)) {
            onObjects(() -> ObjectCollectives.alltoallv(
                    this,
                    objects(sendbuf, sendoffset),
                    sendcounts,
                    sdispls,
                    objects(recvbuf, recvoffset),
                    recvcounts,
                    rdispls));
            return;
        }
        run(() -> Collectives.alltoallv(
                handle(),
                new Sides(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Sides(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
    }

    /** As {@code reduce}; offsets count elements of the array. */
    public void Reduce(
            @Nullable Object sendbuf,
            int sendoffset,
            @Nullable Object recvbuf,
            int recvoffset,
            int count,
            Datatype type,
            Op op,
            int root) {
        if (Datatype.isObject(type)) {
            onObjects(() -> ObjectReductions.reduce(
                    this, objects(sendbuf, sendoffset), objects(recvbuf, recvoffset), count, op, root));
            return;
        }
        run(() -> CollectiveReductions.reduce(
                handle(), new Values(sendbuf, sendoffset, recvbuf, recvoffset, type, op), count, root));
    }

    /** As {@code allReduce}; offsets count elements of the array. */
    public void Allreduce(
            @Nullable Object sendbuf,
            int sendoffset,
            @Nullable Object recvbuf,
            int recvoffset,
            int count,
            Datatype type,
            Op op) {
        if (Datatype.isObject(type)) {
            onObjects(() -> ObjectReductions.allreduce(
                    this, objects(sendbuf, sendoffset), objects(recvbuf, recvoffset), count, op));
            return;
        }
        runAllreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, type, op);
    }

    /** As {@code reduceScatter}; offsets count elements of the array. */
    public void Reduce_scatter(
            @Nullable Object sendbuf,
            int sendoffset,
            @Nullable Object recvbuf,
            int recvoffset,
            int[] recvcounts,
            Datatype type,
            Op op) {
        if (Datatype.isObject(type)) {
            onObjects(() -> ObjectReductions.reduceScatter(
                    this, objects(sendbuf, sendoffset), objects(recvbuf, recvoffset), recvcounts, op));
            return;
        }
        run(() -> CollectiveReductions.reduceScatter(
                handle(), new Values(sendbuf, sendoffset, recvbuf, recvoffset, type, op), recvcounts));
    }

    /** As {@code scan}; offsets count elements of the array. */
    public void Scan(
            @Nullable Object sendbuf,
            int sendoffset,
            @Nullable Object recvbuf,
            int recvoffset,
            int count,
            Datatype type,
            Op op) {
        if (Datatype.isObject(type)) {
            onObjects(() ->
                    ObjectReductions.scan(this, objects(sendbuf, sendoffset), objects(recvbuf, recvoffset), count, op));
            return;
        }
        run(() -> CollectiveReductions.scan(
                handle(), new Values(sendbuf, sendoffset, recvbuf, recvoffset, type, op), count, false));
    }

    // ---- not supported yet

    /** Not supported yet. */
    public final GraphComm createGraph(int[] index, int[] edges, boolean reorder) {
        throw Left.out("Intracomm.createGraph");
    }

    /** Not supported yet. */
    public Graphcomm Create_graph(int[] index, int[] edges, boolean reorder) {
        throw Left.out("Intracomm.Create_graph");
    }

    /** Not supported yet. */
    public final GraphComm createDistGraph(
            int[] sources, int[] degrees, int[] destinations, int[] weights, Info info, boolean reorder) {
        throw Left.out("Intracomm.createDistGraph");
    }

    /** Not supported yet. */
    public final GraphComm createDistGraph(
            int[] sources, int[] degrees, int[] destinations, Info info, boolean reorder) {
        throw Left.out("Intracomm.createDistGraph");
    }

    /** Not supported yet. */
    public final GraphComm createDistGraphAdjacent(
            int[] sources, int[] sourceWeights, int[] destinations, int[] destWeights, Info info, boolean reorder) {
        throw Left.out("Intracomm.createDistGraphAdjacent");
    }

    /** Not supported yet. */
    public final GraphComm createDistGraphAdjacent(int[] sources, int[] destinations, Info info, boolean reorder) {
        throw Left.out("Intracomm.createDistGraphAdjacent");
    }

    /** Not supported yet. */
    public static String openPort() {
        throw Left.out("Intracomm.openPort");
    }

    /** Not supported yet. */
    public static String openPort(Info info) {
        throw Left.out("Intracomm.openPort");
    }

    /** Not supported yet. */
    public static void closePort(String port) {
        throw Left.out("Intracomm.closePort");
    }

    /** Not supported yet. */
    public final Intercomm accept(String port, int root) {
        throw Left.out("Intracomm.accept");
    }

    /** Not supported yet. */
    public final Intercomm accept(String port, Info info, int root) {
        throw Left.out("Intracomm.accept");
    }

    /** Not supported yet. */
    public final Intercomm connect(String port, int root) {
        throw Left.out("Intracomm.connect");
    }

    /** Not supported yet. */
    public final Intercomm connect(String port, Info info, int root) {
        throw Left.out("Intracomm.connect");
    }

    /** Not supported yet. */
    public static void publishName(String service, String port) {
        throw Left.out("Intracomm.publishName");
    }

    /** Not supported yet. */
    public static void publishName(String service, Info info, String port) {
        throw Left.out("Intracomm.publishName");
    }

    /** Not supported yet. */
    public static void unpublishName(String service, String port) {
        throw Left.out("Intracomm.unpublishName");
    }

    /** Not supported yet. */
    public static void unpublishName(String service, Info info, String port) {
        throw Left.out("Intracomm.unpublishName");
    }

    /** Not supported yet. */
    public static String lookupName(String service) {
        throw Left.out("Intracomm.lookupName");
    }

    /** Not supported yet. */
    public static String lookupName(String service, Info info) {
        throw Left.out("Intracomm.lookupName");
    }

    /** Not supported yet. */
    public final Intercomm spawn(String command, String[] argv, int maxprocs, Info info, int root, int[] errcodes) {
        throw Left.out("Intracomm.spawn");
    }

    /** Not supported yet. */
    public final Intercomm spawnMultiple(
            String[] commands, String[][] argv, int[] maxprocs, Info[] infos, int root, int[] errcodes) {
        throw Left.out("Intracomm.spawnMultiple");
    }
}
