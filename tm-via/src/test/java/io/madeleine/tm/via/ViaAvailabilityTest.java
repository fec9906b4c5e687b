package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.Availability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether the driver can be used, with native access and without: it says why not, and loads nothing. */
class ViaAvailabilityTest {
    private static final String SHM = "madeleine.tm.via.adapters.default.provider = shm\n";

    private static ViaPmm driver(String settings) {
        return new ViaPmm(ViaConfig.from(Fabrics.config(settings)));
    }

    private static void assertOff(String settings, String reason, String remedy) throws IOException {
        Availability found = driver(settings).availability();
        assertFalse(found.on(), found.text());
        assertTrue(found.text().contains(reason), found.text());
        assertTrue(found.text().contains(remedy), found.text());
        assertNothingIsLoaded();
    }

    private static void assertNothingIsLoaded() throws IOException {
        if (ProcessHandle.current().info().commandLine().isPresent()) {
            boolean isLoaded = Files.readString(Path.of("/proc/self/maps")).contains("libfabric.so");
            assertFalse(isLoaded && !ViaPmm.class.getModule().isNativeAccessEnabled(), "libfabric is loaded");
        }
    }

    @Test
    void shouldBeOffWhenSwitchedOff() throws IOException {
        assertOff("madeleine.tm.via.enabled = false", "switched off", "madeleine.tm.via.enabled");
        assertEquals(List.of(), driver("madeleine.tm.via.enabled = false").nativeModules());
    }

    @Test
    void shouldTakeSoftwareProvidersOnlyWhenNamed() throws IOException {
        assumeTrue(Providers.devices().isEmpty(), "this host has RDMA devices");
        assertOff("", "no RDMA device", "madeleine.tm.via.adapters.default.provider = shm");
        assertEquals(List.of(), driver("").nativeModules());
        assertTrue(driver(SHM).nativeModules().contains("io.madeleine.tm.via"));
    }

    @Test
    void shouldNameTheFlagWithoutNativeAccess() throws IOException {
        assumeFalse(ViaPmm.class.getModule().isNativeAccessEnabled(), "this run has native access");
        assertOff(SHM, "native access", "--enable-native-access=");
        assertEquals(List.of(), driver(SHM).inventory());
    }

    @Test
    void shouldBeOnWithNativeAccessAndTheLibrary() {
        Fabrics.require();
        Availability found = driver(SHM).availability();
        assertTrue(found.on(), found.text());
        assertTrue(found.reason().contains("shm"), found.reason());
    }

    @Test
    void shouldListWhatLibfabricHas() {
        Fabrics.require();
        List<String> lines = driver("").inventory();
        assertTrue(lines.getFirst().contains("libfabric"), lines::toString);
        assertTrue(
                lines.stream().anyMatch(line -> line.startsWith("provider shm, domain shm, software")),
                lines::toString);
    }

    @Test
    void shouldSayInTheInventoryWhyTheLibraryCannotBeLoaded() {
        assumeTrue(ViaPmm.class.getModule().isNativeAccessEnabled(), "this run has no native access");
        List<String> lines =
                driver("madeleine.tm.via.library = libnosuchfabric.so").inventory();
        assertTrue(lines.getFirst().contains("cannot be loaded"), lines::toString);
    }
}
