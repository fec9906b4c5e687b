package mpi;

/** How a process sees a file. Threading: immutable. */
public final class FileView {
    private final long displacement;
    private final Datatype elementType;
    private final Datatype fileType;
    private final String representation;

    /** A view that begins at a displacement in bytes. */
    public FileView(long disp, Datatype eType, Datatype fileType, String dataRep) {
        this.displacement = disp;
        this.elementType = eType;
        this.fileType = fileType;
        this.representation = dataRep;
    }

    /** Where it begins, in bytes. */
    public long getDisp() {
        return displacement;
    }

    /** The type of an element. */
    public Datatype getEType() {
        return elementType;
    }

    /** The type of what the process sees. */
    public Datatype getFileType() {
        return fileType;
    }

    /** The name of the representation. */
    public String getDataRep() {
        return representation;
    }
}
