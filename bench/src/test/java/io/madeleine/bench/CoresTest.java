package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoresTest {
    @TempDir
    Path system;

    private void write(String file, String text) throws IOException {
        Path path = system.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    @Test
    void shouldFindOnePairForEachWayInWhichCachesAreShared() throws IOException {
        write("cpu0/topology/thread_siblings_list", "0,8");
        write("cpu0/cache/index0/level", "1");
        write("cpu0/cache/index0/shared_cpu_list", "0,8");
        write("cpu0/cache/index1/level", "2");
        write("cpu0/cache/index1/shared_cpu_list", "0-1,8-9");
        write("cpu0/cache/index2/level", "3");
        write("cpu0/cache/index2/shared_cpu_list", "0-3,8-11");
        assertEquals(
                List.of(
                        new Cores(0, 1, "shared L2"),
                        new Cores(0, 2, "shared L3"),
                        new Cores(0, 4, "no shared cache"),
                        new Cores(0, 8, "threads of one core")),
                Cores.pairs(List.of(0, 1, 2, 3, 4, 5, 8), system));
    }

    @Test
    void shouldSayThatItKnowsNothingWhereTheSystemSaysNothing() {
        assertEquals(List.of(new Cores(0, 1, "caches unknown")), Cores.pairs(List.of(0, 1), system));
        assertEquals(List.of(), Cores.pairs(List.of(0), system));
    }
}
