package io.madeleine.tm.sci;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Messages keep their promises through shared memory. */
class SciMessageContractTest extends AbstractMessageContractTest {
    @TempDir
    static Path directory = Path.of("");

    static Stream<MessageSetup> setups() {
        return MessageSetup.of("sci", () -> _ -> new SciPmm(SciConfig.from(Side.config(directory, ""))));
    }
}
