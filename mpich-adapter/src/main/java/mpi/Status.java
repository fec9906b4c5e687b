package mpi;

import io.madeleine.mpi.datatypes.Type;
import org.jspecify.annotations.Nullable;

/**
 * What was received: its sender, its tag, its length.
 *
 * <p>Threading: confined to caller.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public final class Status implements Freeable {
    /** The rank of the sender. */
    public int source = MPI.ANY_SOURCE;

    /** The tag of the message. */
    public int tag = MPI.ANY_TAG;

    /** The place of the request in the array of a wait or test for some of several. */
    public int index;

    private int error;
    private long bytes;
    private boolean cancelled;

    /** The number of objects, for a message of MPI.OBJECT; -1 for others. */
    private int objects = -1;

    /** The status of no message. */
    public Status() {}

    Status(int source, int tag, long bytes, boolean cancelled, int error) {
        this.source = source;
        this.tag = tag;
        this.bytes = bytes;
        this.cancelled = cancelled;
        this.error = error;
    }

    /** The status of a message that a process without rank has sent. */
    static Status ofNoProcess() {
        return new Status(MPI.PROC_NULL, MPI.ANY_TAG, 0, false, MPI.SUCCESS);
    }

    Status at(int place) {
        index = place;
        return this;
    }

    Status withObjects(int count) {
        objects = count;
        return this;
    }

    long bytes() {
        return bytes;
    }

    private static Type layout(@Nullable Datatype type) {
        return Arguments.required(type, MPI.ERR_TYPE, "the datatype", "one such as MPI.INT")
                .layout();
    }

    private static int whole(long count) {
        return count < 0 || count > Integer.MAX_VALUE ? MPI.UNDEFINED : (int) count;
    }

    /**
     * The number of items received; UNDEFINED if the bytes are no whole number of items. Of objects that were only
     * probed, it is the number of their bytes, which is no less than that of the objects.
     */
    public int getCount(Datatype type) {
        return objects >= 0 ? objects : whole(layout(type).itemsIn(bytes));
    }

    /** As {@link #getCount}. */
    public int Get_count(Datatype type) {
        return getCount(type);
    }

    /** The number of basic elements received. */
    public int getElements(Datatype type) {
        return objects >= 0 ? objects : whole(layout(type).elementsIn(bytes));
    }

    /** As {@link #getElements}. */
    public int Get_elements(Datatype type) {
        return getElements(type);
    }

    /** As {@link #getElements}, for more than an int can count. */
    public Count getElementsX(Datatype type) {
        long count = layout(type).elementsIn(bytes);
        return new Count(count < 0 ? MPI.UNDEFINED : count);
    }

    /** Sets the number of basic elements. */
    public void setElements(Datatype type, int count) {
        setElementsX(type, new Count(count));
    }

    /** As {@link #setElements}, for more than an int can count. */
    public void setElementsX(Datatype datatype, Count count) {
        Type type = layout(datatype);
        long perItem = Math.max(1, type.elementsIn(type.size()));
        bytes = count.getCount() / perItem * type.size() + count.getCount() % perItem * (type.size() / perItem);
    }

    /** Whether the operation was cancelled. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** As {@link #isCancelled}. */
    public boolean Test_cancelled() {
        return cancelled;
    }

    /** Sets whether the operation was cancelled. */
    public void setCancelled(boolean flag) {
        cancelled = flag;
    }

    /** The rank of the sender. */
    public int getSource() {
        return source;
    }

    /** The tag of the message. */
    public int getTag() {
        return tag;
    }

    /** The error class; meaningful in the statuses of several requests of which one has failed. */
    public int getError() {
        return error;
    }

    /** The place of the request in the array of a wait or test for some of several. */
    public int getIndex() {
        return index;
    }

    /** Does nothing: a status holds no resources. */
    @Override
    public void free() {
        // nothing to free
    }
}
