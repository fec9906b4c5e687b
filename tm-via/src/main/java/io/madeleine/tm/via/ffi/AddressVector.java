package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiOpsAv;
import io.madeleine.tm.via.ffi.Offsets.FidAv;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The addresses of an endpoint's peers.
 *
 * <p>Threading: one thread at a time.
 */
public final class AddressVector {
    private final FabricLibrary library;
    private final long vector;
    private final MemorySegment insert;
    private final MemorySegment remove;

    AddressVector(FabricLibrary library, long vector) {
        this.library = library;
        this.vector = vector;
        long ops = Raw.pointer(vector + FidAv.OPS);
        this.insert = Raw.function(ops, FiOpsAv.INSERT);
        this.remove = Raw.function(ops, FiOpsAv.REMOVE);
    }

    /**
     * Adds a peer; returns its number for operations.
     *
     * @param name the name of its endpoint
     * @throws FabricException if the provider does not take the name
     */
    public long insert(byte[] name) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment text = scratch.allocate(name.length + 1L, 8);
            MemorySegment.copy(name, 0, text, ValueLayout.JAVA_BYTE, 0, name.length);
            MemorySegment result = scratch.allocate(Long.BYTES, Long.BYTES);
            int inserted = Downcalls.intOf6(insert, vector, text.address(), 1, result.address(), 0, 0);
            library.check("fi_av_insert", inserted);
            if (inserted != 1) {
                throw new FabricException(0, "fi_av_insert did not take the peer's address");
            }
            return Raw.pointer(result.address());
        }
    }

    /** Removes a peer, to which no operation is outstanding. */
    public void remove(long peer) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment number = scratch.allocate(Long.BYTES, Long.BYTES);
            Raw.putPointer(number.address(), peer);
            int _ = Downcalls.intOf4(remove, vector, number.address(), 1, 0);
        }
    }
}
