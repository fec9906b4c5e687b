package io.madeleine.tm.bip;

import io.madeleine.testkit.Fuzzing;
import io.madeleine.tm.bip.protocol.DatagramFuzz;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jazzer looks for datagrams that break what reads them. */
@Timeout(600)
class FuzzTest {
    @TempDir
    static Path folder;

    @Test
    void shouldReadDatagramsOfWhateverBytes() throws IOException, InterruptedException {
        Fuzzing fuzzing = Fuzzing.start(DatagramFuzz.class, folder, "io.madeleine.tm.bip.**", DatagramFuzz.seeds());
        try {
            fuzzing.assertNothingFound(150);
        } finally {
            fuzzing.end();
        }
    }
}
