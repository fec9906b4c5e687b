package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.pmm.RegionArena;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an export says if the system does not lock the memory ({@code ulimit -l}). */
class LockedMemoryTest {
    private static final int BYTES = 1 << 20;

    /** Addresses at which there is no memory: nobody may lock it, not even root. */
    private static final class Nowhere implements MemorySource {
        @Override
        public Optional<MemorySegment> allocate(long bytes, Arena arena) {
            return Optional.empty();
        }

        @Override
        @SuppressWarnings("restricted") // nobody accesses it
        public MemorySegment allocateShared(long bytes, Arena arena) {
            return MemorySegment.ofAddress(4096).reinterpret(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void shouldBeMissedInOneSentence(String provider) throws IOException {
        try (Side side =
                new Side(Fabrics.driver(provider, "madeleine.tm.via.pin = mlock"), "locked-" + System.nanoTime(), 1)) {
            side.arenas.takeFrom(List.of(new Nowhere()));
            try (RegionArena arena = side.arenas.newArena()) {
                MemorySegment memory = arena.allocateShared(BYTES);
                RemoteMemory remote = side.adapter.remoteMemory().orElseThrow();
                RemoteMemoryException refused = assertThrows(
                        RemoteMemoryException.class, () -> remote.export(memory, RemoteMemory.Access.READ));
                assertEquals(Kind.EXHAUSTED, refused.kind());
                assertEquals(
                        "memory cannot be exported: 1048576 bytes cannot be locked in memory: " + limit(),
                        refused.getMessage());
            }
        }
    }

    private static String limit() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
            String soft = lines.filter(each -> each.startsWith("Max locked memory"))
                    .map(each -> each.split("\\s+")[3])
                    .findFirst()
                    .orElseThrow();
            return soft.equals("unlimited")
                    ? "there is no limit of locked memory (ulimit -l), so the system itself is short of memory"
                    : "the limit of locked memory is " + Long.parseLong(soft) / 1024 + " KiB; raise it with ulimit -l"
                            + " in the shell that starts the process, or with LimitMEMLOCK of its service";
        }
    }
}
