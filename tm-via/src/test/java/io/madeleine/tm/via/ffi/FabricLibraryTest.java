package io.madeleine.tm.via.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.tm.via.Fabrics;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The installed libfabric, loaded. */
class FabricLibraryTest {
    @BeforeEach
    void require() {
        Fabrics.require();
    }

    private static String refusal(String file) {
        return String.valueOf(assertThrows(FabricException.class, () -> FabricLibrary.load(Optional.of(file)))
                .getMessage());
    }

    @Test
    void shouldLoadTheInstalledLibraryOnce() {
        FabricLibrary library = FabricLibrary.load(Optional.empty());
        assertTrue(library.versionText().matches("[12]\\.\\d+"), library.versionText());
        assertSame(library, FabricLibrary.load(Optional.empty()));
        assertFalse(library.errorText(Flags.FI_EAGAIN).isBlank());
    }

    @Test
    void shouldRefuseALibraryThatIsNotLibfabric() {
        String said = refusal("libc.so.6");
        assertTrue(said.contains("is not libfabric"), said);
        assertTrue(said.contains("madeleine.tm.via.library"), said);
    }

    @Test
    void shouldSayHowToInstallALibraryThatIsMissing() {
        for (String file : List.of("/no/such/file.so", "libnosuchfabric.so.1")) {
            String said = refusal(file);
            assertTrue(said.contains(file), said);
            assertTrue(said.contains("package libfabric1"), said);
            assertTrue(said.contains("madeleine.tm.via.library"), said);
        }
    }

    @Test
    void shouldReadWhatLibfabricPrints() {
        FabricLibrary library = FabricLibrary.load(Optional.empty());
        for (String provider : List.of("shm", "tcp;ofi_rxm", "net")) {
            Optional<String> source = provider.equals("shm") ? Optional.of("test") : Optional.of("127.0.0.1");
            List<FabricInfo> found =
                    FabricInfo.find(library, new FabricInfo.Query(Optional.of(provider), Optional.empty(), source));
            assertTrue(found.stream().anyMatch(info -> info.provider().equals(provider)), provider);
            for (FabricInfo info : found) {
                check(info); // the provider may be offered under further names
                info.close();
            }
        }
    }

    private static void check(FabricInfo info) {
        String printed = info.describe();
        String text = printed.replaceAll("\\s+", " ");
        assertTrue(text.contains("prov_name: " + info.provider() + " "), printed);
        assertTrue(text.contains("name: " + info.domainName() + " "), printed);
        assertTrue(text.contains("type: FI_EP_RDM"), printed);
        assertTrue(text.contains("inject_size: " + info.injectBytes() + " size: " + info.sendCount() + " "), printed);
        assertTrue(text.contains("cq_data_size: " + info.immediateBytes() + " "), printed);
        assertTrue(text.contains("mr_key_size: " + info.keyBytes() + " "), printed);
        assertEquals(text.contains("FI_MR_VIRT_ADDR"), info.hasRegistration(Flags.FI_MR_VIRT_ADDR), printed);
        assertEquals(text.contains("FI_MR_LOCAL"), info.hasRegistration(Flags.FI_MR_LOCAL), printed);
        assertTrue(text.contains("threading: FI_THREAD_SAFE"), printed);
    }

    @Test
    void shouldFindNothingForAProviderThatDoesNotExist() {
        FabricLibrary library = FabricLibrary.load(Optional.empty());
        assertEquals(
                List.of(),
                FabricInfo.find(
                        library, new FabricInfo.Query(Optional.of("nonesuch"), Optional.empty(), Optional.empty())));
    }
}
