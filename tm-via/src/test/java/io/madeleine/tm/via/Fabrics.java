package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.tm.via.port.Strictness;

/** libfabric, for tests: they are skipped where it is missing, but fail where all tests have to run. */
public final class Fabrics {
    /**
     * Local memory is registered, contexts lie in memory, some registrations fail, keys are the provider's, messages
     * have one range, immediate data has 4 bytes.
     */
    static final Strictness STRICT = new Strictness(true, true, 64, 3, true, 1, 4, false, Long.MAX_VALUE);

    /** Switches via/registered on, for blocks of less than via/rdma takes. */
    static final String REGISTERED =
            "madeleine.tm.via.registered.from = 2 KiB\nmadeleine.tm.via.registered.message = 8 KiB\n";

    private static final String MISSING = "libfabric is not installed (package libfabric1)";

    private Fabrics() {}

    /** Skips the test unless libfabric is installed and may be called. */
    public static void require() {
        assumeTrue(ViaPmm.class.getModule().isNativeAccessEnabled(), "this run has no native access");
        if ("true".equals(System.getenv("CI"))) {
            assertTrue(LibraryFile.isInstalled(), MISSING);
        }
        assumeTrue(LibraryFile.isInstalled(), MISSING);
    }

    /** The default configuration with these settings on top. */
    public static Config config(String settings) {
        return ConfigFactory.parseString(settings)
                .withFallback(ConfigFactory.parseResources(ViaPmm.class.getClassLoader(), "reference.conf"))
                .resolve();
    }

    /** A driver of one provider. */
    public static ViaPmm driver(String provider, String settings) {
        return driver(provider, settings, Strictness.NONE);
    }

    /** The last module is via/registered. */
    static final String REGISTERED_LAST = "madeleine.tm.via { rdma.from = off, registered.from = 4 KiB }\n";

    /** A driver of one provider whose last module is via/rdma, or via/registered. */
    static ViaPmm driver(String provider, boolean isRegistered) {
        return driver(provider, isRegistered ? REGISTERED_LAST : "");
    }

    /** A driver of one provider that is as strict as hardware. */
    static ViaPmm strictDriver(String provider) {
        return driver(provider, REGISTERED, STRICT);
    }

    static ViaPmm driver(String provider, String settings, Strictness strictness) {
        require();
        String all = "madeleine.tm.via.adapters.default.provider = \"" + provider + "\"\n" + settings;
        return new ViaPmm(ViaConfig.from(config(all)), strictness);
    }
}
