package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Region;
import io.madeleine.tm.via.ffi.FabricException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The session's memory as it is registered for one peer, which alone gets these keys. They end with the connection:
 * what the peer has begun to write then lands nowhere.
 *
 * <p>Threading: guarded by the owner's lock.
 */
public final class PeerRegistrations {
    private RegionUses.@Nullable Use[] uses = new RegionUses.Use[4];
    private KeptRegistrations.@Nullable Cells[] cells = new KeptRegistrations.Cells[4];

    /** Makes an empty set. */
    public PeerRegistrations() {}

    /**
     * Registers the memory at an address for writes of the peer.
     *
     * @param bytes how many bytes, at most {@link RegionUses.Use#bytesTogether}
     * @throws FabricException if that is impossible, perhaps for the moment only: the caller then copies
     */
    public KeptRegistration use(RegionUses.Use use, long address, long bytes) {
        Region region = use.keptRegion();
        if (region == null) {
            return use.target(address, bytes);
        }
        int number = region.number();
        if (number >= uses.length) {
            int length = Math.max(2 * uses.length, number + 1);
            uses = Arrays.copyOf(uses, length);
            cells = Arrays.copyOf(cells, length);
        }
        KeptRegistrations.Cells known = cells[number];
        if (known == null || uses[number] != use) { // another region has this number now
            known = use.newTargets(region);
            uses[number] = use;
            cells[number] = known;
        }
        return use.target(known, address);
    }

    /** Ends them; one that is in use ends with its use. */
    public void close() {
        for (int i = 0; i < uses.length; i++) {
            RegionUses.Use use = uses[i];
            KeptRegistrations.Cells known = cells[i];
            if (use != null && known != null) {
                uses[i] = null;
                cells[i] = null;
                use.endTargets(known);
            }
        }
    }
}
