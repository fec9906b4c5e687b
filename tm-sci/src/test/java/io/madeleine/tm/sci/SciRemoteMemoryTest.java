package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import io.madeleine.testkit.AbstractRemoteMemoryContractTest;
import io.madeleine.tm.sci.files.SessionDirectory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Remote memory by mapping keeps the contract. */
class SciRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new SciPmm(SciConfig.from(Side.config(directory, "")));
    }

    /** Keeps failures. */
    private static final class Failures implements RemoteCompletion {
        final List<Kind> kinds = new ArrayList<>();

        @Override
        public void completed(long value) {
            throw new AssertionError("it succeeded with " + value);
        }

        @Override
        public void failed(RemoteMemoryException failure) {
            kinds.add(failure.kind());
        }
    }

    @Test
    void shouldFailWhereAFileIsCutShort(@TempDir Path files) throws IOException {
        try (Side owner = Side.open(files, 11);
                Side peer = Side.open(files, 12);
                Arena arena = owner.arenas.newArena()) {
            MemorySegment memory = owner.arenas.own(arena).allocateShared(100_000);
            byte[] descriptor = owner.adapter
                    .remoteMemory()
                    .orElseThrow()
                    .export(memory, RemoteMemory.Access.READ_WRITE)
                    .descriptor();
            RemoteMemory remote = peer.adapter.remoteMemory().orElseThrow();
            try (AttachedMemory attached = remote.attach(descriptor)) {
                cut(files);
                Failures failures = new Failures();
                MemorySegment own = MemorySegment.ofArray(new byte[100_000]);
                for (int round = 0; round < 3; round++) {
                    attached.put(own, 0, 0, 100_000, failures);
                    attached.get(0, own, 0, 100_000, failures);
                    attached.fetchAdd(0, 8, 1, failures);
                }
                assertEquals(
                        List.of(Kind.LOST), failures.kinds.stream().distinct().toList());
                assertEquals(9, failures.kinds.size());
                Kind again = assertThrows(RemoteMemoryException.class, () -> remote.attach(descriptor))
                        .kind();
                assertTrue(again == Kind.LOST || again == Kind.REVOKED, again.toString());
            }
        }
    }

    private static void cut(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(path -> path.toString().endsWith(SessionDirectory.BLOCK))
                    .toList()) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(4096);
                }
            }
        }
    }

    @Test
    void shouldSayWhatHasNoRoom(@TempDir Path files) {
        try (Side owner = Side.open(files, 13)) {
            MemorySegment memory = owner.arenas.lasting().allocate(100_000 - 64);
            RemoteMemoryException refused = assertThrows(
                    RemoteMemoryException.class,
                    () -> owner.adapter
                            .remoteMemory()
                            .orElseThrow()
                            .export(owner.arenas.lasting().allocate(8), RemoteMemory.Access.READ));
            assertTrue(refused.getMessage().contains("Session.allocateShared"), refused.getMessage());
            owner.adapter
                    .remoteMemory()
                    .orElseThrow()
                    .export(memory, RemoteMemory.Access.READ)
                    .close();
        }
    }
}
