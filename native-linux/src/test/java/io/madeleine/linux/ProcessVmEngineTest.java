package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** Without native access, as the core runs. */
class ProcessVmEngineTest {
    @Test
    void shouldBeFoundAndSayWhichFlagIsMissing() {
        assumeFalse(ProcessVmEngine.class.getModule().isNativeAccessEnabled(), "native access is granted");
        CopyEngine engine = ServiceLoader.load(CopyEngine.class).findFirst().orElseThrow();
        assertEquals("process_vm_readv", engine.name());
        assertEquals(List.of("io.madeleine.linux"), engine.nativeModules());
        assertFalse(engine.availability().on());
        assertTrue(
                engine.availability().reason().contains("--enable-native-access=ALL-UNNAMED"),
                engine.availability().reason());
        assertThrows(IllegalStateException.class, () -> engine.open(1, Arena.ofAuto()));
    }
}
