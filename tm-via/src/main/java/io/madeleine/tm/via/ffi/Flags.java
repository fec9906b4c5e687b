package io.madeleine.tm.via.ffi;

/**
 * Constants of libfabric's headers. A test compares them with the installed headers.
 *
 * <p>Threading: stateless.
 */
public final class Flags {
    /** Messages. */
    public static final long FI_MSG = 1L << 1;

    /** Remote memory access. */
    public static final long FI_RMA = 1L << 2;

    /** Messages that receives select by a tag. */
    public static final long FI_TAGGED = 1L << 3;

    /** Atomic updates of words. */
    public static final long FI_ATOMIC = 1L << 4;

    /** Access: the local target of a read. */
    public static final long FI_READ = 1L << 8;

    /** Access: the local source of a write. */
    public static final long FI_WRITE = 1L << 9;

    /** Receives; a completion of one. */
    public static final long FI_RECV = 1L << 10;

    /** Sends; a completion of one. */
    public static final long FI_SEND = 1L << 11;

    /** All operations of the sending side. */
    public static final long FI_TRANSMIT = FI_SEND;

    /** Access: peers may read. */
    public static final long FI_REMOTE_READ = 1L << 12;

    /** Access: peers may write. */
    public static final long FI_REMOTE_WRITE = 1L << 13;

    /** The completion carries immediate data of a peer. */
    public static final long FI_REMOTE_CQ_DATA = 1L << 17;

    /** The operation completes when the peer can see its effect. */
    public static final long FI_DELIVERY_COMPLETE = 1L << 28;

    /** The node and service of {@code fi_getinfo} are the own address. */
    public static final long FI_SOURCE = 1L << 57;

    /** A flag of fi_getinfo: asks for the names of all providers, whether or not they can be used here. */
    public static final long FI_PROV_ATTR_ONLY = 1L << 54;

    /** Mode: each operation needs 32 bytes of context. */
    public static final long FI_CONTEXT = 1L << 59;

    /** Mode: each operation needs 64 bytes of context. */
    public static final long FI_CONTEXT2 = 1L << 52;

    /** Mode: a write with immediate data uses up a posted receive. */
    public static final long FI_RX_CQ_DATA = 1L << 56;

    /** Messages of one sender keep their order. */
    public static final long FI_ORDER_SAS = 1L << 8;

    /** Registration: local buffers have to be registered. */
    public static final int FI_MR_LOCAL = 1 << 2;

    /** Registration: peers use virtual addresses, not offsets. */
    public static final int FI_MR_VIRT_ADDR = 1 << 4;

    /** Registration: only memory with pages behind it. */
    public static final int FI_MR_ALLOCATED = 1 << 5;

    /** Registration: the provider chooses the keys. */
    public static final int FI_MR_PROV_KEY = 1 << 6;

    /** Registration: a region is bound to an endpoint. */
    public static final int FI_MR_ENDPOINT = 1 << 9;

    /** Endpoint type: reliable datagrams. */
    public static final int FI_EP_RDM = 3;

    /** Any thread may call. */
    public static final int FI_THREAD_SAFE = 1;

    /** Address vector: a table. */
    public static final int FI_AV_TABLE = 2;

    /** Completion format: context, flags, length, buffer, data. */
    public static final int FI_CQ_FORMAT_DATA = 3;

    /** Completion queue without a wait object. */
    public static final int FI_WAIT_NONE = 0;

    /** Completion queue with a file descriptor to wait on. */
    public static final int FI_WAIT_FD = 3;

    /** Control command: the wait object. */
    public static final int FI_GETWAIT = 5;

    /** Control command: enable. */
    public static final int FI_ENABLE = 6;

    /** Type for {@code fi_tostr}: fi_info. */
    public static final int FI_TYPE_INFO = 0;

    /** Type of a word: 4 bytes. */
    public static final int FI_INT32 = 4;

    /** Type of a word: 8 bytes. */
    public static final int FI_INT64 = 6;

    /** Atomic update: adds. */
    public static final int FI_SUM = 2;

    /** Atomic update: sets if the word has the expected value. */
    public static final int FI_CSWAP = 12;

    /** Error: try again. */
    public static final int FI_EAGAIN = 11;

    /** Memory, or the right to lock it, is exhausted. */
    public static final int FI_ENOMEM = 12;

    /** Error: an operation has failed; its error waits in the completion queue. */
    public static final int FI_EAVAIL = 259;

    /** Error: the key is in use. */
    public static final int FI_ENOKEY = 266;

    /** Error: the operation was cancelled. */
    public static final int FI_ECANCELED = 125;

    /** Error: nothing found. */
    public static final int FI_ENODATA = 61;

    private Flags() {}

    /** A version number as {@code FI_VERSION} makes it. */
    public static int version(int major, int minor) {
        return major << 16 | minor;
    }
}
