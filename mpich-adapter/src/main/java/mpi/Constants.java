package mpi;

/**
 * The numbers of MPI, with the values of Open MPI's mpi.h.
 *
 * <p>Threading: immutable.
 */
public class Constants {
    /** One thread. */
    public static final int THREAD_SINGLE = 0;

    /** One thread calls MPI. */
    public static final int THREAD_FUNNELED = 1;

    /** One thread at a time calls MPI. */
    public static final int THREAD_SERIALIZED = 2;

    /** Any threads call MPI at any time. */
    public static final int THREAD_MULTIPLE = 3;

    /** A Cartesian topology. */
    public static final int CART = 1;

    /** A graph topology. */
    public static final int GRAPH = 2;

    /** A distributed graph topology. */
    public static final int DIST_GRAPH = 3;

    /** Receive from any rank. */
    public static final int ANY_SOURCE = -1;

    /** Receive any tag. */
    public static final int ANY_TAG = -1;

    /** No process: transfers with it end at once. */
    public static final int PROC_NULL = -2;

    /** The root of an operation between two groups. */
    public static final int ROOT = -4;

    /** No value. */
    public static final int UNDEFINED = -32766;

    /** The same object. */
    public static final int IDENT = 0;

    /** The same group with another context. */
    public static final int CONGRUENT = 1;

    /** The same members in another order. */
    public static final int SIMILAR = 2;

    /** Other members. */
    public static final int UNEQUAL = 3;

    /** The key of the largest tag. */
    public static final int TAG_UB = 0;

    /** The key of the host process. */
    public static final int HOST = 1;

    /** The key of the processes that can do input and output. */
    public static final int IO = 2;

    /** The key that says whether clocks are synchronised. */
    public static final int WTIME_IS_GLOBAL = 3;

    /** The key of the number of the command. */
    public static final int APPNUM = 4;

    /** The key of the largest error code. */
    public static final int LASTUSEDCODE = 5;

    /** The key of the number of processes. */
    public static final int UNIVERSE_SIZE = 6;

    /** The key of the address of a window. */
    public static final int WIN_BASE = 7;

    /** The key of the size of a window. */
    public static final int WIN_SIZE = 8;

    /** The key of the unit of a window. */
    public static final int WIN_DISP_UNIT = 9;

    /** The version of the standard. */
    public static final int VERSION = 4;

    /** The subversion of the standard. */
    public static final int SUBVERSION = 1;

    /** No key. */
    public static final int KEYVAL_INVALID = -1;

    /** What a buffered send needs of the attached buffer besides its data, in bytes. */
    public static final int BSEND_OVERHEAD = 128;

    /** Not used. */
    public static final int SEND_OVERHEAD = 0;

    /** Not used. */
    public static final int RECV_OVERHEAD = 0;

    /** One more than the longest name. */
    public static final int MAX_OBJECT_NAME = 64;

    /** One more than the longest name of a port. */
    public static final int MAX_PORT_NAME = 1024;

    /** One more than the longest name of a data representation. */
    public static final int MAX_DATAREP_STRING = 128;

    /** One more than the longest key of an info. */
    public static final int MAX_INFO_KEY = 36;

    /** One more than the longest value of an info. */
    public static final int MAX_INFO_VAL = 256;

    /** Row by row. */
    public static final int ORDER_C = 0;

    /** Column by column. */
    public static final int ORDER_FORTRAN = 1;

    /** Blocks. */
    public static final int DISTRIBUTE_BLOCK = 0;

    /** Cyclic. */
    public static final int DISTRIBUTE_CYCLIC = 1;

    /** Not distributed. */
    public static final int DISTRIBUTE_NONE = 2;

    /** The default. */
    public static final int DISTRIBUTE_DFLT_DARG = -1;

    /** Create a file. */
    public static final int MODE_CREATE = 1;

    /** Read only. */
    public static final int MODE_RDONLY = 2;

    /** Write only. */
    public static final int MODE_WRONLY = 4;

    /** Read and write. */
    public static final int MODE_RDWR = 8;

    /** Delete when closed. */
    public static final int MODE_DELETE_ON_CLOSE = 16;

    /** Opened once. */
    public static final int MODE_UNIQUE_OPEN = 32;

    /** Must not exist. */
    public static final int MODE_EXCL = 64;

    /** Begin at the end. */
    public static final int MODE_APPEND = 128;

    /** Sequential access. */
    public static final int MODE_SEQUENTIAL = 256;

    /** The current position. */
    public static final int DISPLACEMENT_CURRENT = -54278278;

    /** From the beginning. */
    public static final int SEEK_SET = 600;

    /** From the current position. */
    public static final int SEEK_CUR = 602;

    /** From the end. */
    public static final int SEEK_END = 604;

    /** No check. */
    public static final int MODE_NOCHECK = 1;

    /** Nothing precedes. */
    public static final int MODE_NOPRECEDE = 2;

    /** No put. */
    public static final int MODE_NOPUT = 4;

    /** No store. */
    public static final int MODE_NOSTORE = 8;

    /** Nothing succeeds. */
    public static final int MODE_NOSUCCEED = 16;

    /** An exclusive lock. */
    public static final int LOCK_EXCLUSIVE = 1;

    /** A shared lock. */
    public static final int LOCK_SHARED = 2;

    /** Not used. */
    public static final int NUM_OF_PROCESSORS = 0;

    /** No error. */
    public static final int SUCCESS = 0;

    /** The error class BUFFER. */
    public static final int ERR_BUFFER = 1;

    /** The error class COUNT. */
    public static final int ERR_COUNT = 2;

    /** The error class TYPE. */
    public static final int ERR_TYPE = 3;

    /** The error class TAG. */
    public static final int ERR_TAG = 4;

    /** The error class COMM. */
    public static final int ERR_COMM = 5;

    /** The error class RANK. */
    public static final int ERR_RANK = 6;

    /** The error class REQUEST. */
    public static final int ERR_REQUEST = 7;

    /** The error class ROOT. */
    public static final int ERR_ROOT = 8;

    /** The error class GROUP. */
    public static final int ERR_GROUP = 9;

    /** The error class OP. */
    public static final int ERR_OP = 10;

    /** The error class TOPOLOGY. */
    public static final int ERR_TOPOLOGY = 11;

    /** The error class DIMS. */
    public static final int ERR_DIMS = 12;

    /** The error class ARG. */
    public static final int ERR_ARG = 13;

    /** The error class UNKNOWN. */
    public static final int ERR_UNKNOWN = 14;

    /** The error class TRUNCATE. */
    public static final int ERR_TRUNCATE = 15;

    /** The error class OTHER. */
    public static final int ERR_OTHER = 16;

    /** The error class INTERN. */
    public static final int ERR_INTERN = 17;

    /** The error class IN_STATUS. */
    public static final int ERR_IN_STATUS = 18;

    /** The error class PENDING. */
    public static final int ERR_PENDING = 19;

    /** The error class ACCESS. */
    public static final int ERR_ACCESS = 20;

    /** The error class AMODE. */
    public static final int ERR_AMODE = 21;

    /** The error class ASSERT. */
    public static final int ERR_ASSERT = 22;

    /** The error class BAD_FILE. */
    public static final int ERR_BAD_FILE = 23;

    /** The error class BASE. */
    public static final int ERR_BASE = 24;

    /** The error class CONVERSION. */
    public static final int ERR_CONVERSION = 25;

    /** The error class DISP. */
    public static final int ERR_DISP = 26;

    /** The error class DUP_DATAREP. */
    public static final int ERR_DUP_DATAREP = 27;

    /** The error class FILE_EXISTS. */
    public static final int ERR_FILE_EXISTS = 28;

    /** The error class FILE_IN_USE. */
    public static final int ERR_FILE_IN_USE = 29;

    /** The error class FILE. */
    public static final int ERR_FILE = 30;

    /** The error class INFO_KEY. */
    public static final int ERR_INFO_KEY = 31;

    /** The error class INFO_NOKEY. */
    public static final int ERR_INFO_NOKEY = 32;

    /** The error class INFO_VALUE. */
    public static final int ERR_INFO_VALUE = 33;

    /** The error class INFO. */
    public static final int ERR_INFO = 34;

    /** The error class IO. */
    public static final int ERR_IO = 35;

    /** The error class KEYVAL. */
    public static final int ERR_KEYVAL = 36;

    /** The error class LOCKTYPE. */
    public static final int ERR_LOCKTYPE = 37;

    /** The error class NAME. */
    public static final int ERR_NAME = 38;

    /** The error class NO_MEM. */
    public static final int ERR_NO_MEM = 39;

    /** The error class NOT_SAME. */
    public static final int ERR_NOT_SAME = 40;

    /** The error class NO_SPACE. */
    public static final int ERR_NO_SPACE = 41;

    /** The error class NO_SUCH_FILE. */
    public static final int ERR_NO_SUCH_FILE = 42;

    /** The error class PORT. */
    public static final int ERR_PORT = 43;

    /** The error class QUOTA. */
    public static final int ERR_QUOTA = 44;

    /** The error class READ_ONLY. */
    public static final int ERR_READ_ONLY = 45;

    /** The error class RMA_CONFLICT. */
    public static final int ERR_RMA_CONFLICT = 46;

    /** The error class RMA_SYNC. */
    public static final int ERR_RMA_SYNC = 47;

    /** The error class SERVICE. */
    public static final int ERR_SERVICE = 48;

    /** The error class SIZE. */
    public static final int ERR_SIZE = 49;

    /** The error class SPAWN. */
    public static final int ERR_SPAWN = 50;

    /** The error class UNSUPPORTED_DATAREP. */
    public static final int ERR_UNSUPPORTED_DATAREP = 51;

    /** The error class UNSUPPORTED_OPERATION. */
    public static final int ERR_UNSUPPORTED_OPERATION = 52;

    /** The error class WIN. */
    public static final int ERR_WIN = 53;

    /** A process has ended. */
    public static final int ERR_PROC_ABORTED = 74;

    /** The largest error class. */
    public static final int ERR_LASTCODE = 92;

    /** Never reported. */
    public static final int ERR_SYSRESOURCE = 0;

    Constants() {}
}
