package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.memory.SciKeys;
import io.madeleine.tm.sci.shared.PeerBlocks;
import io.madeleine.tm.sci.shared.SharedBlocks;
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
 * The resources of an adapter for {@code sci/dma}: the copy engine, if there is one, and the mark by which peers
 * recognise this process's memory. If single copy is impossible, the first failure is logged once: as a warning if the
 * configuration demands single copy, else at level DEBUG. All blocks but shared ones then go through cells.
 *
 * <p>Threading: thread-safe.
 */
public final class SingleCopy implements AutoCloseable {
    private final Logger logger;

    /** The level at which a failure is logged. */
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

    /** Of a process that does not offer {@code sci/dma}. */
    public static SingleCopy none(SessionDirectory directory, SharedBlocks blocks, Logger logger) {
        return new SingleCopy(logger, Logger.Level.DEBUG, null, blocks, directory, 0, Long.MAX_VALUE);
    }

    /**
     * Of a process that offers {@code sci/dma}.
     *
     * @param demanded whether to warn if single copy is impossible
     * @param maxBytes the largest block outside shared blocks that is lent
     * @param offloadFromBytes the smallest block that a second thread helps to copy; {@link Long#MAX_VALUE} for none
     */
    public static SingleCopy of(
            boolean demanded,
            long maxBytes,
            long offloadFromBytes,
            SessionDirectory directory,
            SharedBlocks blocks,
            Logger logger) {
        Availability availability = availability();
        SingleCopy found = new SingleCopy(
                logger,
                demanded ? Logger.Level.WARNING : Logger.Level.DEBUG,
                availability.on() ? engine().orElse(null) : null,
                blocks,
                directory,
                maxBytes,
                offloadFromBytes);
        if (!availability.on() && demanded) {
            found.warnOnce("in this process: " + availability.text());
        }
        return found;
    }

    /** The engine of this system, whether or not this process can use it. */
    public static Optional<CopyEngine> engine() {
        return Engine.FOUND;
    }

    /** Looks for the engine once. */
    private static final class Engine {
        static final Optional<CopyEngine> FOUND = ServiceLoader.load(
                        CopyEngine.class, SingleCopy.class.getClassLoader())
                .findFirst();
    }

    /** Whether this process can use an engine. */
    public static Availability availability() {
        return engine().map(CopyEngine::availability)
                .orElseGet(() -> Availability.off("no copy engine is on the path; madeleine-native-linux has one"));
    }

    /** Publishes in a pair segment how peers recognise this process's memory. */
    public void publish(MemorySegment memory, int side) {
        long pid = ProcessHandle.current().pid();
        PairHeaderFlyweight.writeLender(
                memory, PairLayout.lender(side), pid, mark.address(), mark.get(ValueLayout.JAVA_LONG, 0));
    }

    /** This process's shared blocks. */
    public SharedBlocks blocks() {
        return blocks;
    }

    /** A new set of mappings for the shared blocks of a peer. */
    PeerBlocks blocksOf(FileStem peer) {
        return new PeerBlocks(directory, peer);
    }

    /** The largest block outside shared blocks that is lent. */
    long maxBytes() {
        return maxBytes;
    }

    /** The thread that helps to copy long blocks; null if there is none. */
    @Nullable
    CopyHelper helper() {
        return helper;
    }

    /** The smallest block that the helper thread helps to copy. */
    long offloadFromBytes() {
        return offloadFromBytes;
    }

    /** Opens a reader of a process's memory; null if there is no engine. */
    CopyEngine.@Nullable Reader open(long pid, Arena readerArena) {
        return engine == null ? null : engine.open(pid, readerArena);
    }

    /** Logs why a peer's memory cannot be read. */
    void warn(ProcessIdentity peer, String reason) {
        warnOnce("from process " + peer + ": " + reason);
    }

    private void warnOnce(String what) {
        if (warned.compareAndSet(false, true)) {
            logger.log(
                    level,
                    "no single copy " + what + ". Blocks of sci/dma go through cells instead, which always works; set "
                            + SciKeys.ROOT + ".dma.single-copy = auto or off to silence this warning");
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
