package io.madeleine.tm.sci;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * Messages keep their promises through single copy. The run without native access differs only where memory is not the
 * session's: that goes through cells, as {@link SciMessageContractTest} has it, and as {@link DmaContractTest} has it
 * in both runs.
 */
@EnabledIf(value = "isToRun", disabledReason = "without native access only with -Pthorough")
class DmaMessageContractTest extends AbstractMessageContractTest {
    @TempDir
    static Path directory = Path.of("");

    static boolean isToRun() {
        return Boolean.getBoolean("thorough")
                || DmaMessageContractTest.class.getModule().isNativeAccessEnabled();
    }

    static Stream<MessageSetup> setups() {
        return MessageSetup.of(
                "sci with dma", () -> _ -> new SciPmm(SciConfig.from(Side.config(directory, Side.SINGLE_COPY))));
    }
}
