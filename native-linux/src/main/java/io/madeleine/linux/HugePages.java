package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.LargePages;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Allocates anonymous memory on transparent huge pages. The memory is aligned to the page size and marked with {@code
 * madvise(MADV_HUGEPAGE)}, as the usual system setting "madvise" requires.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class HugePages implements LargePages {
    private static final Path SYSTEM = Path.of("/sys/kernel/mm/transparent_hugepage");
    private static final long USUAL_BYTES = 2L << 20;

    private final Path system;

    /** For {@link java.util.ServiceLoader}. Makes no downcall. */
    public HugePages() {
        this(SYSTEM);
    }

    HugePages(Path system) {
        this.system = system;
    }

    @Override
    public Availability availability() {
        Availability access = NativeAccess.availability();
        if (!access.on()) {
            return access;
        }
        Optional<String> enabled = line("enabled");
        if (enabled.isEmpty() || enabled.get().contains("[never]")) {
            return Availability.off(
                    "transparent huge pages are " + (enabled.isEmpty() ? "not in this kernel" : "switched off")
                            + "; write \"madvise\" to " + system.resolve("enabled") + " to switch them on");
        }
        return Availability.on("transparent huge pages of " + (pageBytes() >> 10) + " KiB");
    }

    @Override
    public long pageBytes() {
        return line("hpage_pmd_size").map(Long::valueOf).orElse(USUAL_BYTES);
    }

    private Optional<String> line(String name) {
        try {
            List<String> lines = Files.readAllLines(system.resolve(name));
            return lines.stream().findFirst();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    @Override
    @SuppressWarnings("restricted") // downcalls are the purpose of this module
    public Optional<MemorySegment> allocate(long bytes, Arena arena) {
        Availability availability = availability();
        if (!availability.on()) {
            throw new IllegalStateException("huge pages cannot be used: " + availability.reason());
        }
        long page = pageBytes();
        if (bytes <= 0 || bytes > Long.MAX_VALUE - 2 * page) {
            throw new IllegalArgumentException(bytes + " bytes: expected 1 to " + (Long.MAX_VALUE - 2 * page));
        }
        long length = (bytes + page - 1) / page * page;
        long begin = Mapping.map(length + page);
        if (begin == Mapping.FAILED) {
            return Optional.empty();
        }
        long aligned = (begin + page - 1) / page * page;
        cut(begin, aligned - begin);
        cut(aligned + length, begin + page - aligned);
        try {
            Mapping.adviseHugePages(aligned, length); // fails on an older kernel, which then uses small pages
            return Optional.of(MemorySegment.ofAddress(aligned)
                    .reinterpret(length, arena, _ -> Mapping.unmap(aligned, length))
                    .asSlice(0, bytes));
        } catch (RuntimeException e) { // the arena is closed or confined to another thread
            Mapping.unmap(aligned, length);
            throw e;
        }
    }

    private static void cut(long address, long bytes) {
        if (bytes > 0) {
            Mapping.unmap(address, bytes);
        }
    }
}
