package mpi;

import java.nio.Buffer;

/**
 * A file that processes share. Not supported yet: every call throws.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings("DoNotCallSuggester") // members of a later version
public final class File {
    /** Not supported yet. */
    public File(Comm comm, String name, int number) {
        throw Left.out("File");
    }

    /** Not supported yet. */
    public File(Comm comm, String name, int number, Info info) {
        throw Left.out("File");
    }

    /** Not supported yet. */
    public void close() {
        throw Left.out("File.close");
    }

    /** Not supported yet. */
    public static void delete(String name) {
        throw Left.out("File.delete");
    }

    /** Not supported yet. */
    public static void delete(String name, Info info) {
        throw Left.out("File.delete");
    }

    /** Not supported yet. */
    public void setSize(long offset) {
        throw Left.out("File.setSize");
    }

    /** Not supported yet. */
    public void preallocate(long offset) {
        throw Left.out("File.preallocate");
    }

    /** Not supported yet. */
    public long getSize() {
        throw Left.out("File.getSize");
    }

    /** Not supported yet. */
    public Group getGroup() {
        throw Left.out("File.getGroup");
    }

    /** Not supported yet. */
    public int getAMode() {
        throw Left.out("File.getAMode");
    }

    /** Not supported yet. */
    public void setInfo(Info info) {
        throw Left.out("File.setInfo");
    }

    /** Not supported yet. */
    public Info getInfo() {
        throw Left.out("File.getInfo");
    }

    /** Not supported yet. */
    public void setView(long offset, Datatype type1, Datatype type2, String name) {
        throw Left.out("File.setView");
    }

    /** Not supported yet. */
    public void setView(long offset, Datatype type1, Datatype type2, String name, Info info) {
        throw Left.out("File.setView");
    }

    /** Not supported yet. */
    public FileView getView() {
        throw Left.out("File.getView");
    }

    /** Not supported yet. */
    public Status readAt(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.readAt");
    }

    /** Not supported yet. */
    public Status readAtAll(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.readAtAll");
    }

    /** Not supported yet. */
    public Status writeAt(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.writeAt");
    }

    /** Not supported yet. */
    public Status writeAtAll(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.writeAtAll");
    }

    /** Not supported yet. */
    public Request iReadAt(long offset, Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iReadAt");
    }

    /** Not supported yet. */
    public Request iReadAtAll(long offset, Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iReadAtAll");
    }

    /** Not supported yet. */
    public Request iWriteAt(long offset, Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iWriteAt");
    }

    /** Not supported yet. */
    public Request iWriteAtAll(long offset, Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iWriteAtAll");
    }

    /** Not supported yet. */
    public Status read(Object value, int number, Datatype type) {
        throw Left.out("File.read");
    }

    /** Not supported yet. */
    public Status readAll(Object value, int number, Datatype type) {
        throw Left.out("File.readAll");
    }

    /** Not supported yet. */
    public Status write(Object value, int number, Datatype type) {
        throw Left.out("File.write");
    }

    /** Not supported yet. */
    public Status writeAll(Object value, int number, Datatype type) {
        throw Left.out("File.writeAll");
    }

    /** Not supported yet. */
    public Request iRead(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iRead");
    }

    /** Not supported yet. */
    public Request iReadAll(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iReadAll");
    }

    /** Not supported yet. */
    public Request iWrite(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iWrite");
    }

    /** Not supported yet. */
    public Request iWriteAll(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iWriteAll");
    }

    /** Not supported yet. */
    public void seek(long offset, int number) {
        throw Left.out("File.seek");
    }

    /** Not supported yet. */
    public long getPosition() {
        throw Left.out("File.getPosition");
    }

    /** Not supported yet. */
    public long getByteOffset(long offset) {
        throw Left.out("File.getByteOffset");
    }

    /** Not supported yet. */
    public Status readShared(Object value, int number, Datatype type) {
        throw Left.out("File.readShared");
    }

    /** Not supported yet. */
    public Status writeShared(Object value, int number, Datatype type) {
        throw Left.out("File.writeShared");
    }

    /** Not supported yet. */
    public Request iReadShared(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iReadShared");
    }

    /** Not supported yet. */
    public Request iWriteShared(Buffer buffer, int number, Datatype type) {
        throw Left.out("File.iWriteShared");
    }

    /** Not supported yet. */
    public Status readOrdered(Object value, int number, Datatype type) {
        throw Left.out("File.readOrdered");
    }

    /** Not supported yet. */
    public Status writeOrdered(Object value, int number, Datatype type) {
        throw Left.out("File.writeOrdered");
    }

    /** Not supported yet. */
    public void seekShared(long offset, int number) {
        throw Left.out("File.seekShared");
    }

    /** Not supported yet. */
    public long getPositionShared() {
        throw Left.out("File.getPositionShared");
    }

    /** Not supported yet. */
    public void readAtAllBegin(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.readAtAllBegin");
    }

    /** Not supported yet. */
    public Status readAtAllEnd(Object value) {
        throw Left.out("File.readAtAllEnd");
    }

    /** Not supported yet. */
    public void writeAtAllBegin(long offset, Object value, int number, Datatype type) {
        throw Left.out("File.writeAtAllBegin");
    }

    /** Not supported yet. */
    public Status writeAtAllEnd(Object value) {
        throw Left.out("File.writeAtAllEnd");
    }

    /** Not supported yet. */
    public void readAllBegin(Object value, int number, Datatype type) {
        throw Left.out("File.readAllBegin");
    }

    /** Not supported yet. */
    public Status readAllEnd(Object value) {
        throw Left.out("File.readAllEnd");
    }

    /** Not supported yet. */
    public void writeAllBegin(Object value, int number, Datatype type) {
        throw Left.out("File.writeAllBegin");
    }

    /** Not supported yet. */
    public Status writeAllEnd(Object value) {
        throw Left.out("File.writeAllEnd");
    }

    /** Not supported yet. */
    public void readOrderedBegin(Object value, int number, Datatype type) {
        throw Left.out("File.readOrderedBegin");
    }

    /** Not supported yet. */
    public Status readOrderedEnd(Object value) {
        throw Left.out("File.readOrderedEnd");
    }

    /** Not supported yet. */
    public void writeOrderedBegin(Object value, int number, Datatype type) {
        throw Left.out("File.writeOrderedBegin");
    }

    /** Not supported yet. */
    public Status writeOrderedEnd(Object value) {
        throw Left.out("File.writeOrderedEnd");
    }

    /** Not supported yet. */
    public int getTypeExtent(Datatype type) {
        throw Left.out("File.getTypeExtent");
    }

    /** Not supported yet. */
    public void setAtomicity(boolean flag) {
        throw Left.out("File.setAtomicity");
    }

    /** Not supported yet. */
    public boolean getAtomicity() {
        throw Left.out("File.getAtomicity");
    }

    /** Not supported yet. */
    public void sync() {
        throw Left.out("File.sync");
    }

    /** Not supported yet. */
    public void setErrhandler(Errhandler handler) {
        throw Left.out("File.setErrhandler");
    }

    /** Not supported yet. */
    public Errhandler getErrhandler() {
        throw Left.out("File.getErrhandler");
    }

    /** Not supported yet. */
    public void callErrhandler(int number) {
        throw Left.out("File.callErrhandler");
    }
}
