package mpi;

import java.nio.Buffer;

/**
 * A window of memory for one-sided communication. Not supported yet: every call throws.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings("DoNotCallSuggester") // members of a later version
public final class Win implements Freeable {
    /** The null window. */
    public static final int WIN_NULL = 0;

    /** Memory of one process. */
    public static final int FLAVOR_PRIVATE = 0;

    /** Memory that processes share. */
    public static final int FLAVOR_SHARED = 1;

    /** Not supported yet. */
    public Win(Buffer buffer, int number1, int number2, Info info, Comm comm) {
        throw Left.out("Win");
    }

    /** Not supported yet. */
    public Win(int number1, int number2, Info info, Comm comm, Buffer buffer, int number3) {
        throw Left.out("Win");
    }

    /** Not supported yet. */
    public Win(Info info, Comm comm) {
        throw Left.out("Win");
    }

    /** Not supported yet. */
    public void attach(Buffer buffer, int number) {
        throw Left.out("Win.attach");
    }

    /** Not supported yet. */
    public void detach(Buffer buffer) {
        throw Left.out("Win.detach");
    }

    /** Not supported yet. */
    public Group getGroup() {
        throw Left.out("Win.getGroup");
    }

    /** Not supported yet. */
    public void put(Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2) {
        throw Left.out("Win.put");
    }

    /** Not supported yet. */
    public void get(Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2) {
        throw Left.out("Win.get");
    }

    /** Not supported yet. */
    public void accumulate(
            Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2, Op op) {
        throw Left.out("Win.accumulate");
    }

    /** Not supported yet. */
    public void fence(int number) {
        throw Left.out("Win.fence");
    }

    /** Not supported yet. */
    public void start(Group group, int number) {
        throw Left.out("Win.start");
    }

    /** Not supported yet. */
    public void complete() {
        throw Left.out("Win.complete");
    }

    /** Not supported yet. */
    public void post(Group group, int number) {
        throw Left.out("Win.post");
    }

    /** Not supported yet. */
    public void waitFor() {
        throw Left.out("Win.waitFor");
    }

    /** Not supported yet. */
    public boolean test() {
        throw Left.out("Win.test");
    }

    /** Not supported yet. */
    public void lock(int number1, int number2, int number3) {
        throw Left.out("Win.lock");
    }

    /** Not supported yet. */
    public void unlock(int number) {
        throw Left.out("Win.unlock");
    }

    /** Not supported yet. */
    public void setErrhandler(Errhandler handler) {
        throw Left.out("Win.setErrhandler");
    }

    /** Not supported yet. */
    public Errhandler getErrhandler() {
        throw Left.out("Win.getErrhandler");
    }

    /** Not supported yet. */
    public void callErrhandler(int number) {
        throw Left.out("Win.callErrhandler");
    }

    /** Not supported yet. */
    public static int createKeyval() {
        throw Left.out("Win.createKeyval");
    }

    /** Not supported yet. */
    public static void freeKeyval(int number) {
        throw Left.out("Win.freeKeyval");
    }

    /** Not supported yet. */
    public void setAttr(int number, Object value) {
        throw Left.out("Win.setAttr");
    }

    /** Not supported yet. */
    public Object getAttr(int number) {
        throw Left.out("Win.getAttr");
    }

    /** Not supported yet. */
    public void deleteAttr(int number) {
        throw Left.out("Win.deleteAttr");
    }

    /** Not supported yet. */
    @Override
    public void free() {
        throw Left.out("Win.free");
    }

    /** Not supported yet. */
    public Info getInfo() {
        throw Left.out("Win.getInfo");
    }

    /** Not supported yet. */
    public void setInfo(Info info) {
        throw Left.out("Win.setInfo");
    }

    /** Not supported yet. */
    public Request rPut(
            Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2) {
        throw Left.out("Win.rPut");
    }

    /** Not supported yet. */
    public Request rGet(
            Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2) {
        throw Left.out("Win.rGet");
    }

    /** Not supported yet. */
    public Request rAccumulate(
            Buffer buffer, int number1, Datatype type1, int number2, int number3, int number4, Datatype type2, Op op) {
        throw Left.out("Win.rAccumulate");
    }

    /** Not supported yet. */
    public void getAccumulate(
            Buffer buffer1,
            int number1,
            Datatype type1,
            Buffer buffer2,
            int number2,
            Datatype type2,
            int number3,
            int number4,
            int number5,
            Datatype type3,
            Op op) {
        throw Left.out("Win.getAccumulate");
    }

    /** Not supported yet. */
    public Request rGetAccumulate(
            Buffer buffer1,
            int number1,
            Datatype type1,
            Buffer buffer2,
            int number2,
            Datatype type2,
            int number3,
            int number4,
            int number5,
            Datatype type3,
            Op op) {
        throw Left.out("Win.rGetAccumulate");
    }

    /** Not supported yet. */
    public void lockAll(int number) {
        throw Left.out("Win.lockAll");
    }

    /** Not supported yet. */
    public void unlockAll() {
        throw Left.out("Win.unlockAll");
    }

    /** Not supported yet. */
    public void sync() {
        throw Left.out("Win.sync");
    }

    /** Not supported yet. */
    public void flush(int number) {
        throw Left.out("Win.flush");
    }

    /** Not supported yet. */
    public void flushAll() {
        throw Left.out("Win.flushAll");
    }

    /** Not supported yet. */
    public void compareAndSwap(
            Buffer buffer1, Buffer buffer2, Buffer buffer3, Datatype type, int number1, int number2) {
        throw Left.out("Win.compareAndSwap");
    }

    /** Not supported yet. */
    public void fetchAndOp(Buffer buffer1, Buffer buffer2, Datatype type, int number1, int number2, Op op) {
        throw Left.out("Win.fetchAndOp");
    }

    /** Not supported yet. */
    public void flushLocal(int number) {
        throw Left.out("Win.flushLocal");
    }

    /** Not supported yet. */
    public void flushLocalAll() {
        throw Left.out("Win.flushLocalAll");
    }

    /** Not supported yet. */
    public String getName() {
        throw Left.out("Win.getName");
    }

    /** Not supported yet. */
    public void setName(String name) {
        throw Left.out("Win.setName");
    }
}
