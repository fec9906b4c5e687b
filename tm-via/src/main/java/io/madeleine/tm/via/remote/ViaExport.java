package io.madeleine.tm.via.remote;

import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.tm.via.ffi.Registration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Exported memory, with a registration of its own, and those who have attached it. To revoke it is a handshake: each
 * holder answers when none of its operations is under way; the registration ends last.
 *
 * <p>Threading: thread-safe.
 */
final class ViaExport implements ExportedMemory {
    private final ViaRemoteMemory all;
    final long key;
    final int region;
    private final RemoteMessage.Place place;
    private final byte[] descriptor;
    private final Map<Long, Holder> holders = new HashMap<>();
    private @Nullable Registration registration;
    private boolean revoked;
    private long endsNs;

    /**
     * An attachment of a peer to the memory.
     *
     * @param peer its number in the address vector
     * @param number the peer's number of the attachment
     * @param address its address
     */
    record Holder(long peer, long number, String address) {}

    ViaExport(
            ViaRemoteMemory all,
            long key,
            int region,
            Registration registration,
            RemoteMessage.Place place,
            byte[] descriptor) {
        this.all = all;
        this.key = key;
        this.region = region;
        this.registration = registration;
        this.place = place;
        this.descriptor = descriptor;
    }

    @Override
    public byte[] descriptor() {
        return descriptor.clone();
    }

    /** Adds a holder; returns where the memory is, or empty if the export is revoked. */
    synchronized Optional<RemoteMessage.Place> attach(Holder holder) {
        if (revoked) {
            return Optional.empty();
        }
        holders.put(holder.number, holder);
        return Optional.of(place);
    }

    /** Whether there is a holder with this number. */
    synchronized boolean isHeldBy(long number) {
        return holders.containsKey(number);
    }

    /** A holder has detached, or has ended; returns it, or empty if there is none with this number. */
    synchronized Optional<Holder> remove(long number) {
        Optional<Holder> removed = Optional.ofNullable(holders.remove(number));
        if (revoked && holders.isEmpty()) {
            closeRegistration();
        }
        return removed;
    }

    synchronized List<Holder> holders() {
        return List.copyOf(holders.values());
    }

    /** Admits no more holders; returns those who have to be told, none if it was revoked before. */
    synchronized List<Holder> end(long nowNs, long timeoutNs) {
        if (revoked) {
            return List.of();
        }
        revoked = true;
        endsNs = nowNs + timeoutNs;
        if (holders.isEmpty()) {
            closeRegistration();
        }
        return holders();
    }

    /** Whether it is revoked, and nobody holds it. */
    synchronized boolean isQuiet() {
        return revoked && holders.isEmpty();
    }

    /** Ends the registration of a revoked export whose holders have not answered in time; returns whether it ended. */
    synchronized boolean endLate(long nowNs) {
        if (revoked && nowNs - endsNs >= 0) {
            closeRegistration();
        }
        return registration == null;
    }

    /** Ends the registration, whoever holds it. */
    synchronized void closeRegistration() {
        Registration made = registration;
        registration = null;
        if (made != null) {
            made.close();
        }
    }

    @Override
    public boolean revoke(long timeoutNs) {
        return all.revoke(this, timeoutNs);
    }

    @Override
    public void close() {
        boolean _ = revoke(0);
    }
}
