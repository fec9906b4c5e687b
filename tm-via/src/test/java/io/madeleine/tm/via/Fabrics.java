package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.tm.via.port.Strictness;

/** libfabric, for tests: they are skipped where it is missing, but fail where all tests have to run. */
public final class Fabrics {
    /** Local memory is registered, contexts lie in memory, some registrations fail, the provider chooses the keys. */
    static final Strictness STRICT = new Strictness(true, true, 64, 3, true);

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

    /** A driver of one provider that is as strict as hardware. */
    static ViaPmm strictDriver(String provider) {
        return driver(provider, "", STRICT);
    }

    static ViaPmm driver(String provider, String settings, Strictness strictness) {
        require();
        String all = "madeleine.tm.via.adapters.default.provider = \"" + provider + "\"\n" + settings;
        return new ViaPmm(ViaConfig.from(config(all)), strictness);
    }
}
