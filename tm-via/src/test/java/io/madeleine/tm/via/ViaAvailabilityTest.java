package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.FabricLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** What is wrong with the only adapter that names a provider, beside "default", which names none. */
    private static Availability ofAdapter(String settings) {
        Fabrics.require();
        return driver("madeleine.tm.via.adapters.ib { " + settings + " }").examine();
    }

    private static void assertSays(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), text);
        }
    }

    private static void assertOffFor(Availability found, String... parts) {
        assumeTrue(Providers.devices().isEmpty(), "this host has RDMA devices");
        assertFalse(found.on(), found.text());
        assertSays(found.text(), parts);
    }

    /** A session that opens asks this first, so it does not wait for the library. */
    @Test
    void shouldNotAskLibfabricUnlessItIsToExamine() {
        Fabrics.require();
        ViaPmm driver = driver("madeleine.tm.via.adapters.ib.provider = nosuch");
        assertTrue(driver.availability().on(), driver.availability().text());
        assertTrue(driver.availability().reason().contains("provider nosuch"));
    }

    @Test
    void shouldBeOffWithAProviderThatDoesNotExist() {
        assertOffFor(
                ofAdapter("provider = nosuch"),
                "has no provider nosuch on this host",
                "it has the providers",
                "shm",
                "\"tcp;ofi_rxm\"",
                "set madeleine.tm.via.adapters.ib.provider");
    }

    @Test
    void shouldBeOffWithAProviderThatHasNoEndpointHere() {
        Fabrics.require();
        FabricLibrary library = FabricLibrary.load(Optional.empty());
        Optional<String> idle = FabricInfo.installed(library).stream()
                .filter(name -> Providers.names(library).stream()
                        .noneMatch(here -> List.of(here.split(";")).contains(name)))
                .filter(Providers::isHardware)
                .findFirst();
        assumeTrue(idle.isPresent(), "each provider has an endpoint here");
        assertOffFor(
                ofAdapter("provider = " + idle.get()),
                "has the provider " + idle.get() + ", but without an endpoint",
                "it has the providers",
                "set madeleine.tm.via.adapters.ib.provider");
    }

    @Test
    void shouldNameTheAddressThatIsNotInTheDomain() {
        Fabrics.require();
        FabricLibrary library = FabricLibrary.load(Optional.empty());
        String other = "madeleine.tm.via.adapters.default { provider = net, domain = \"";
        ViaConfig.AdapterConfig net =
                ViaConfig.from(Fabrics.config(other + "lo\" }")).adapter("default");
        Optional<String> domain = Providers.domains(library, net, false).stream()
                .filter(name -> Providers.whyNot(
                                library,
                                ViaConfig.from(Fabrics.config(other + name + "\" }"))
                                        .adapter("default"))
                        .isPresent())
                .findFirst();
        assumeTrue(domain.isPresent(), "all networks of this host have the loopback address");
        Availability found = driver(other + domain.get() + "\" }").examine();
        assertOffFor(
                found,
                "in the domain " + domain.get() + " at the address 127.0.0.1",
                "set madeleine.tm.via.adapters.default.address");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldBeOffWithAnUnknownDomain(String provider) {
        assertOffFor(
                ofAdapter("provider = \"" + provider + "\", domain = nosuch"),
                "the provider " + provider + " has no domain nosuch; it has the domains "
                        + (provider.equals("shm") ? "shm;" : ""),
                "set madeleine.tm.via.adapters.ib.domain to one of them");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldOpenNoAdapterWithAnUnknownDomain(String provider) {
        Fabrics.require();
        ViaPmm driver = Fabrics.driver(provider, "madeleine.tm.via.adapters.default.domain = nosuch\n");
        String said = String.valueOf(assertThrows(SessionException.class, () -> new Side(driver, "domains", 1).close())
                .getMessage());
        assertSays(
                said,
                "the provider " + provider + " has no domain nosuch; it has the domains ",
                "set madeleine.tm.via.adapters.default.domain to one of them");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "net"})
    void shouldBeOffWithAnAddressOfAnotherHost(String provider) {
        assertOffFor(
                ofAdapter("provider = \"" + provider + "\", address = 192.0.2.1"),
                "the adapter ib cannot be opened: 192.0.2.1 is no address of this host",
                "set madeleine.tm.via.adapters.ib.address to one of its addresses");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "net"})
    void shouldOpenNoAdapterWithAnAddressOfAnotherHost(String provider) {
        Fabrics.require();
        ViaPmm driver = Fabrics.driver(provider, "madeleine.tm.via.adapters.default.address = 192.0.2.1\n");
        String said = String.valueOf(assertThrows(SessionException.class, () -> new Side(driver, "domains", 1).close())
                .getMessage());
        assertSays(
                said,
                "192.0.2.1 is no address of this host",
                "set madeleine.tm.via.adapters.default.address to one of");
    }

    @Test
    void shouldBeOffWithAnAddressThatIsNone() {
        assertOffFor(
                ofAdapter("provider = net, address = \"1.2.3.4.5\""),
                "madeleine.tm.via.adapters.ib.address is 1.2.3.4.5, which is no address");
    }

    @Test
    void shouldOpenAnAdapterWithAnotherLoopbackAddress() {
        Fabrics.require();
        ViaPmm driver = Fabrics.driver("net", "madeleine.tm.via.adapters.default.address = 127.0.0.2\n");
        assertTrue(driver.examine().on(), driver.examine().text());
        assertEquals(List.of(), driver.examine().details());
        new Side(driver, "domains", 1).close();
    }

    @Test
    void shouldOpenAnAdapterInADomainThatThereIs() {
        Fabrics.require();
        ViaPmm driver = Fabrics.driver("shm", "madeleine.tm.via.adapters.default.domain = shm\n");
        assertTrue(driver.examine().on(), driver.examine().text());
        assertEquals(List.of(), driver.examine().details());
        new Side(driver, "domains", 1).close();
    }

    @Test
    void shouldBeOnWithOneAdapterThatCanBeOpenedAndSayWhyOthersCannot() {
        Fabrics.require();
        Availability found =
                driver(SHM + "madeleine.tm.via.adapters.ib.provider = nosuch").examine();
        assertTrue(found.on(), found.text());
        assertEquals("libfabric, provider shm", found.reason());
        assertSays(
                found.details().getFirst(), "the adapter ib cannot be opened", "madeleine.tm.via.adapters.ib.provider");
    }

    @Test
    void shouldNameTheProviderOfTheAdapterThatHasOne() {
        assumeTrue(Providers.devices().isEmpty(), "this host has RDMA devices");
        Availability found = ofAdapter("provider = shm");
        assertEquals("libfabric, provider shm", found.reason());
        assertSays(
                found.details().getFirst(),
                "the adapter default cannot be opened",
                "no RDMA device",
                "madeleine.tm.via.adapters.default.provider");
    }
}
