package io.madeleine.mpi;

/** The error classes of MPI that the engine reports (MPI 4.1, section 9.4), with the numbers of Open MPI's mpi.h. */
public final class ErrorClass {
    public static final int BUFFER = 1;
    public static final int COUNT = 2;
    public static final int TYPE = 3;
    public static final int TAG = 4;
    public static final int COMM = 5;
    public static final int RANK = 6;
    public static final int REQUEST = 7;
    public static final int ROOT = 8;
    public static final int GROUP = 9;
    public static final int OP = 10;
    public static final int TOPOLOGY = 11;
    public static final int DIMS = 12;
    public static final int ARG = 13;
    public static final int UNKNOWN = 14;
    public static final int TRUNCATE = 15;
    public static final int OTHER = 16;
    public static final int INTERN = 17;
    public static final int IN_STATUS = 18;
    public static final int PENDING = 19;
    public static final int INFO_KEY = 31;
    public static final int INFO_VALUE = 33;
    public static final int KEYVAL = 36;
    public static final int UNSUPPORTED_OPERATION = 52;
    public static final int PROC_ABORTED = 74;

    private ErrorClass() {}
}
