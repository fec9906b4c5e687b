package io.madeleine.tm.via;

import java.util.Optional;

/**
 * The sizes that suit a provider best, for the value "auto" (docs/performance/tm-via.md). Both ends need the same
 * thresholds, so they follow from the configured provider alone.
 *
 * <p>Threading: immutable.
 *
 * @param messageBytes the size of a message of via/pool, head included
 * @param registeredFromBytes the smallest block that takes via/registered; {@link Long#MAX_VALUE} for none
 * @param rdmaFromBytes the smallest block that takes via/rdma
 */
record BestSizes(int messageBytes, long registeredFromBytes, long rdmaFromBytes) {
    private static final int KIB = 1024;
    private static final long NONE = Long.MAX_VALUE;

    /** The provider copies up to 4 KiB through its own memory; a longer message takes a system call. */
    private static final BestSizes SHM = new BestSizes(4 * KIB, NONE, 32 * KIB);

    /** The provider sends longer messages by a rendezvous of its own. */
    private static final BestSizes RXM = new BestSizes(16 * KIB, NONE, 16 * KIB);

    /** Two blocks of 32 KiB, each whole in a message, take less than a rendezvous. */
    private static final BestSizes NET = new BestSizes(36 * KIB, NONE, 128 * KIB);

    /** Hardware that nobody has measured yet: a block of 4 KiB is whole in a message. */
    private static final BestSizes OTHERS = new BestSizes(8 * KIB, NONE, 16 * KIB);

    /** The sizes for a configured provider; empty if libfabric chooses one of hardware. */
    static BestSizes of(Optional<String> provider) {
        String name = provider.orElse("");
        return switch (name) {
            case Providers.SHM -> SHM;
            case Providers.NET -> NET;
            default -> name.endsWith(";ofi_rxm") ? RXM : OTHERS;
        };
    }
}
