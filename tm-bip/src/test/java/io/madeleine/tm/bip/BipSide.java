package io.madeleine.tm.bip;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;

/** Configurations for tests. */
final class BipSide {
    /** A twentieth of the datagrams is lost, as many come twice or late, some are corrupt. */
    static final String BAD_NETWORK =
            "madeleine.tm.bip.faults.send { loss = 0.05, duplication = 0.1, corruption = 0.01,"
                    + " reordering = 0.05, reorder-by = 64 }";

    /** Settings that encrypt, for {@code Certificates}. */
    static final String ENCRYPTION = "madeleine.tm.bip { encryption = aes-gcm, tls { %s } }\n";

    private BipSide() {}

    static Config config(String text) {
        return ConfigFactory.parseString(text)
                .withFallback(ConfigFactory.parseResources(BipPmm.class.getClassLoader(), "reference.conf"))
                .resolve();
    }

    static BipPmm driver(String text) {
        return new BipPmm(BipConfig.from(config(text)));
    }
}
