package io.madeleine.tm.bip;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;

/** Configurations for tests. */
final class BipSide {
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
