package io.madeleine.tm.sci.shared;

import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.RemoteDescriptor;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryCapabilities;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SciKeys;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory by mapping. Exported memory lies in {@linkplain SharedBlocks shared blocks}, whose files the peer maps.
 * A descriptor names the owner, the file, the place in it, and the key of the export (see {@link BlockFileLayout}).
 * Offsets in bytes:
 *
 * <pre>
 *   0    identity of the owner      8    incarnation     12   nonce of its files
 *   16   key
 *   24   number of the export, 2 bytes      26   offset in the file, 6 bytes
 *   32   1 bit: may be written      7 bits: 0      16 bits: number of the file
 *   35   length, 5 bytes
 * </pre>
 *
 * <p>Threading: thread-safe.
 */
public final class SciRemoteMemory implements RemoteMemory, AutoCloseable {
    private static final int LENGTH_BITS = 40;
    private static final int NUMBER_BITS = 16;
    private static final int OFFSET_BITS = 48;

    private final ProcessContext context;
    private final SessionDirectory directory;
    private final SharedBlocks blocks;
    private final Function<FileStem, @Nullable BooleanSupplier> ends;
    private final RemoteDescriptor descriptors;
    private final SecureRandom random = new SecureRandom();
    private final Set<SciAttachment> attachments = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Creates the remote memory of an adapter.
     *
     * @param ends for each process that this one has met, whether it has ended; null for any other process
     */
    public SciRemoteMemory(
            ProcessContext context,
            SessionDirectory directory,
            SharedBlocks blocks,
            Function<FileStem, @Nullable BooleanSupplier> ends) {
        this.context = context;
        this.directory = directory;
        this.blocks = blocks;
        this.ends = ends;
        this.descriptors = new RemoteDescriptor(SciKeys.NAME, context);
    }

    @Override
    public RemoteMemoryCapabilities capabilities() {
        return new RemoteMemoryCapabilities(true, true, true, true, Long.MAX_VALUE);
    }

    @Override
    public ExportedMemory export(MemorySegment memory, Access access) {
        RemoteArguments.checkExport(memory, access);
        throwIfClosed();
        Region region = memory.isNative() ? context.memory().find(memory.address()) : null;
        if (region == null || !region.contains(memory.address(), memory.byteSize())) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE,
                    memory + " is not memory of the session: expected memory of Session.allocateShared");
        }
        SharedBlock block = blocks.block(region);
        if (block == null) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE,
                    memory + " is memory that peers cannot reach: "
                            + (region.remark().isEmpty()
                                    ? "expected memory of Session.allocateShared"
                                    : region.remark()));
        }
        BlockFile file = block.file();
        int export = file.takeExport();
        if (export < 0) {
            throw new RemoteMemoryException(
                    Kind.EXHAUSTED,
                    "all " + file.exports() + " exports of the file in " + directory.path() + " that holds this memory"
                            + " are in use; exports on which a peer was killed during an operation stay in use. Revoke"
                            + " some, or make fewer and larger exports");
        }
        long key = random.nextLong() | 1; // 0 means no export
        ByteBuffer body = ByteBuffer.allocate(RemoteDescriptor.BODY_BYTES);
        FileStem self = directory.stem();
        body.putLong(self.identity().id()).putInt(self.identity().incarnation()).putInt(self.nonce());
        body.putLong(key);
        body.putLong((long) export << OFFSET_BITS | block.offset() + memory.address() - region.base());
        body.putLong((access == Access.READ_WRITE ? Long.MIN_VALUE : 0)
                | (long) file.number() << LENGTH_BITS
                | memory.byteSize());
        SciExport made = new SciExport(block, export, descriptors.seal(body.array()));
        OrderedWords.setVolatile(file.end(), BlockFileLayout.key(file.end(), export), key);
        if (!block.enter(made)) {
            made.close();
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE, memory + " is being freed: expected memory of an open arena");
        }
        return made;
    }

    @Override
    public AttachedMemory attach(byte[] descriptor) {
        RemoteArguments.checkAttach(descriptor);
        throwIfClosed();
        ByteBuffer body = descriptors.open(descriptor);
        FileStem owner = new FileStem(new ProcessIdentity(body.getLong(), body.getInt()), body.getInt());
        long key = body.getLong();
        long place = body.getLong();
        int export = (int) (place >>> OFFSET_BITS);
        long offset = place & (1L << OFFSET_BITS) - 1;
        long packed = body.getLong();
        long bytes = packed & (1L << LENGTH_BITS) - 1;
        int number = (int) (packed >>> LENGTH_BITS) & (1 << NUMBER_BITS) - 1;
        BooleanSupplier gone = ends.apply(owner);
        if (gone != null && gone.getAsBoolean()) {
            throw SciAttachment.lost(owner, "its process has ended");
        }
        Arena arena = Arena.ofShared();
        SciAttachment attached;
        try {
            MemorySegment file = map(owner, number, arena);
            long memoryBytes = BlockFileLayout.memoryBytes(file);
            if (memoryBytes - offset < bytes || export >= BlockFileLayout.exports(file.byteSize() - memoryBytes)) {
                throw SciAttachment.revoked(owner); // Another file has this number now.
            }
            attached = new SciAttachment(
                    this, new SciAttachment.Mapping(arena, file, offset, bytes), owner, gone, packed < 0, key, export);
            attached.throwIfRevoked();
            TruncatedFiles.settle();
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        } catch (InternalError _) {
            arena.close();
            throw SciAttachment.lost(owner, "the file of its memory was cut short by somebody");
        }
        attachments.add(attached);
        if (closed) {
            attached.close();
        }
        return attached;
    }

    private MemorySegment map(FileStem owner, int number, Arena arena) {
        try {
            return SegmentFile.open(
                    directory.blockFile(owner, number), BlockFileLayout.fileBytes(1), Long.MAX_VALUE, arena);
        } catch (IOException | UnsupportedOperationException e) {
            throw Files.exists(directory.file(owner, SessionDirectory.OWNER))
                    ? SciAttachment.revoked(owner)
                    : SciAttachment.lost(owner, "its files are gone: " + e);
        }
    }

    private void throwIfClosed() {
        if (closed) {
            throw new RemoteMemoryException(Kind.CLOSED, "the session is closed");
        }
    }

    void forget(SciAttachment attached) {
        attachments.remove(attached);
    }

    @Override
    public void close() {
        closed = true;
        attachments.forEach(SciAttachment::close);
    }
}
