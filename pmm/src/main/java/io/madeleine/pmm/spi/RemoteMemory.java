package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * One-sided access: peers read and write memory of this process without its help. Libraries for one-sided
 * communication, or with their own protocol for large messages, build on it. The owner exports memory and sends the
 * descriptor to a peer by its own means. The peer attaches the memory, and then puts, gets, and updates single words
 * atomically.
 *
 * <p>Programs cannot get one: no type of {@code io.madeleine.api} leads to it. It is there for modules above the SPI,
 * which take it from {@link Adapter#remoteMemory()}. To get the adapter that a session opens, such a module wraps the
 * network's {@link ProtocolModule} and names the wrapper in {@code madeleine.tm.NAME.guice-module}.
 *
 * <p>All errors are {@link RemoteMemoryException}s, whose kind says what is wrong. A dead peer, revoked or freed
 * memory, or a forged descriptor makes an operation fail, never the process.
 *
 * <p>No argument may be null: every method, of {@link AttachedMemory} too, refuses null at once with a {@link
 * NullPointerException} whose message is the argument's name.
 *
 * <p>Threading: thread-safe.
 */
public interface RemoteMemory {
    /** The length of the longest descriptor of any network, in bytes. */
    int MAX_DESCRIPTOR_BYTES = 64;

    /** The operations that exported memory permits. */
    enum Access {
        /** Get. */
        READ,

        /** Get, put, and atomic updates of words. */
        READ_WRITE
    }

    /** What this network's one-sided access can do; the same for all memory. */
    RemoteMemoryCapabilities capabilities();

    /**
     * Lets peers access memory until the export is closed or the memory is freed.
     *
     * <p>Ownership: the memory stays with the caller, who can rely on what a peer has put only after that peer has said
     * that it is there.
     *
     * @param memory part of a region of the session that is {@link Region.Kind#SHARED}
     * @param access {@link Access#READ} if the segment is read-only
     * @throws RemoteMemoryException if it is not part of one, has been freed, or is a read-only segment that is to be
     *     exported for writing; the text says why, as {@link Region#remark()} does
     */
    ExportedMemory export(MemorySegment memory, Access access);

    /**
     * Attaches memory that a process of the session has exported. May ask the owner, and then waits for the answer, for
     * a bounded time, until the owner's adapter is polled.
     *
     * @param descriptor a copy of {@link ExportedMemory#descriptor()}; not trusted
     * @throws RemoteMemoryException unless it is a valid descriptor of an existing export of this session
     */
    AttachedMemory attach(byte[] descriptor);
}
