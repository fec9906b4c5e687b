package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * What an adapter can do beside moving messages: have peers read and write memory of this process without its help, as libraries
 * for one-sided access and large messages of others want it. The owner exports memory, and tells a peer the descriptor by
 * means of its own; the peer attaches what it names, and puts, gets, and works on single words atomically.
 *
 * <p>Errors are {@link RemoteMemoryException}s, whose kind says what is wrong. A peer that dies, memory that is revoked or freed, a
 * descriptor that nobody has made: all of them are errors of an operation, never of the process.
 *
 * <p>Threading: thread-safe.
 */
public interface RemoteMemory {
    /** The longest descriptor of any network, in bytes. */
    int MAX_DESCRIPTOR_BYTES = 64;

    /** What may be done with exported memory. */
    enum Access {
        /** Get. */
        READ,

        /** Get, put, and work on words. */
        READ_WRITE
    }

    /** What it can do; the same for all memory. */
    RemoteMemoryCapabilities capabilities();

    /**
     * Lets peers reach memory until the export is closed or the memory is freed.
     *
     * <p>Ownership: the memory stays the caller's, who sees what peers write once he has been told that it is there.
     *
     * @param memory of a region of the session that is {@link Region.Kind#SHARED}
     * @throws RemoteMemoryException if it is not; the message says why, as {@link Region#remark()} does
     */
    ExportedMemory export(MemorySegment memory, Access access);

    /**
     * Reaches out for memory that a process of the session has exported.
     *
     * @param descriptor as {@link ExportedMemory#descriptor()} made it; not trusted
     * @throws RemoteMemoryException if it is not one of this session that is still good
     */
    AttachedMemory attach(byte[] descriptor);
}
