package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiOps;
import io.madeleine.tm.via.ffi.Offsets.Fid;

/**
 * An open object of libfabric, a {@code struct fid}.
 *
 * <p>Threading: as its owner; close it once.
 *
 * @param kind what it is, for messages
 * @param fid its address
 */
record Handle(String kind, long fid) {
    int bind(long other, long flags) {
        return Downcalls.intOf3(Raw.function(Raw.pointer(fid + Fid.OPS), FiOps.BIND), fid, other, flags);
    }

    int control(int command, long argument) {
        return Downcalls.control(Raw.function(Raw.pointer(fid + Fid.OPS), FiOps.CONTROL), fid, command, argument);
    }

    /** Closes it; a provider that refuses keeps it until the process ends. */
    void close() {
        int result = Downcalls.intOf1(Raw.function(Raw.pointer(fid + Fid.OPS), FiOps.CLOSE), fid);
        if (result != 0) {
            System.getLogger("io.madeleine.tm.via")
                    .log(System.Logger.Level.WARNING, "closing a handle of {0} failed: error {1}", kind, -result);
        }
    }
}
