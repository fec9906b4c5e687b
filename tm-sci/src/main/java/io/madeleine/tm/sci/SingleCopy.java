package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.lang.System.Logger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What an adapter has for {@code sci/dma}: the copy engine, if there is one, and the mark by which peers recognise this
 * process's memory. Why single copy is not to be had is said once, as a warning where it was demanded; everything then goes
 * through cells.
 *
 * <p>Threading: thread-safe.
 */
final class SingleCopy implements AutoCloseable {
    private final Logger logger;

    /** How loudly it is said that there is none: whoever has asked for it wants to know. */
    private final Logger.Level level;

    private final @Nullable CopyEngine engine;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment mark = arena.allocate(ValueLayout.JAVA_LONG);
    private final AtomicBoolean warned = new AtomicBoolean();

    private final long offloadFromBytes;
    private final @Nullable CopyHelper helper;

    private final long maxBytes;
    private final SharedBlocks blocks;
    private final SessionDirectory directory;

    private SingleCopy(
            Logger logger,
            Logger.Level level,
            @Nullable CopyEngine engine,
            SharedBlocks blocks,
            SessionDirectory directory,
            long maxBytes,
            long offloadFromBytes) {
        this.blocks = blocks;
        this.directory = directory;
        this.logger = logger;
        this.level = level;
        this.engine = engine;
        this.maxBytes = maxBytes;
        this.offloadFromBytes = offloadFromBytes;
        this.helper = engine == null || offloadFromBytes == Long.MAX_VALUE ? null : new CopyHelper("madeleine-copy");
        mark.set(ValueLayout.JAVA_LONG, 0, new SecureRandom().nextLong());
    }

    static SingleCopy of(SciConfig config, SessionDirectory directory, SharedBlocks blocks, Logger logger) {
        if (!isWanted(config)) {
            return new SingleCopy(logger, Logger.Level.DEBUG, null, blocks, directory, 0, Long.MAX_VALUE);
        }
        Availability availability = availability();
        boolean demanded = config.singleCopy() == SciConfig.SingleCopyUse.ON;
        SingleCopy found = new SingleCopy(
                logger,
                demanded ? Logger.Level.WARNING : Logger.Level.DEBUG,
                availability.on() ? engine().orElse(null) : null,
                blocks,
                directory,
                config.dmaToBytes(),
                config.dmaOffloadFromBytes());
        if (!availability.on() && demanded) {
            found.warnOnce("in this process: " + availability.text());
        }
        return found;
    }

    /** Whether a process with this configuration offers single copy to its peers. */
    static boolean isWanted(SciConfig config) {
        return switch (config.singleCopy()) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> config.sharedBlocks() || availability().on();
        };
    }

    /** Whether processes are to be started so that they may use the engine: where "auto" would only be refused, they are not. */
    static boolean isWorthAFlag(SciConfig config, CopyEngine engine) {
        return switch (config.singleCopy()) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> config.dmaToBytes() > 0 && engine.forbidden().isEmpty();
        };
    }

    /** From which size on blocks of messages are in memory that peers can map; {@link Long#MAX_VALUE} if none are. */
    static long sharesFromBytes(SciConfig config) {
        return isWanted(config) && config.sharedBlocks() ? config.dmaFromBytes() : Long.MAX_VALUE;
    }

    /** The engine of this system, whether or not it can be used here. */
    static Optional<CopyEngine> engine() {
        return Engine.FOUND;
    }

    /** Looked for once. */
    private static final class Engine {
        static final Optional<CopyEngine> FOUND = ServiceLoader.load(
                        CopyEngine.class, SingleCopy.class.getClassLoader())
                .findFirst();
    }

    /** Whether there is an engine that can be used. */
    static Availability availability() {
        return engine().map(CopyEngine::availability)
                .orElseGet(() -> Availability.off("no copy engine is on the path; madeleine-native-linux has one"));
    }

    /** Writes into a pair segment how this process's memory is recognised. */
    void publish(MemorySegment memory, int side) {
        long pid = ProcessHandle.current().pid();
        PairHeaderFlyweight.writeLender(
                memory, PairLayout.lender(side), pid, mark.address(), mark.get(ValueLayout.JAVA_LONG, 0));
    }

    /** This process's memory that its peers can map. */
    SharedBlocks blocks() {
        return blocks;
    }

    /** The same of a peer. */
    PeerBlocks blocksOf(FileStem peer) {
        return new PeerBlocks(directory, peer);
    }

    /** The largest block that is lent to a peer who reads this process's own memory. */
    long maxBytes() {
        return maxBytes;
    }

    /** The thread that helps with long blocks, if there is one. */
    @Nullable
    CopyHelper helper() {
        return helper;
    }

    /** The smallest block that it helps with. */
    long offloadFromBytes() {
        return offloadFromBytes;
    }

    /** A reader of a process's memory, if there is an engine. */
    CopyEngine.@Nullable Reader open(long pid, Arena readerArena) {
        return engine == null ? null : engine.open(pid, readerArena);
    }

    /** Says why a peer's memory cannot be read. */
    void warn(ProcessIdentity peer, String reason) {
        warnOnce("from process " + peer + ": " + reason);
    }

    private void warnOnce(String what) {
        if (warned.compareAndSet(false, true)) {
            logger.log(
                    level,
                    "no single copy " + what + ". Blocks of sci/dma go through cells instead, which always works; "
                            + SciConfig.ROOT + ".dma.single-copy = off says that this is known");
        }
    }

    @Override
    public void close() {
        if (helper != null) {
            helper.close();
        }
        arena.close();
    }
}
