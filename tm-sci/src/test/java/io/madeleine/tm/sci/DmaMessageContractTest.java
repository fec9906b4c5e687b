package io.madeleine.tm.sci;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Messages keep their promises through single copy, whether or not native access is granted. */
class DmaMessageContractTest extends AbstractMessageContractTest {
    @TempDir
    static Path directory = Path.of("");

    static Stream<MessageSetup> setups() {
        return MessageSetup.of(
                "sci with dma", () -> _ -> new SciPmm(SciConfig.from(Side.config(directory, Side.SINGLE_COPY))));
    }
}
