package io.madeleine.tm.bip;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;

/**
 * Binds the driver of reliable datagrams under its name, {@code bip}, in the map of protocol modules.
 *
 * <p>Threading: confined to the thread that creates the injector.
 */
public final class BipGuiceModule extends AbstractModule {
    private final BipConfig config;

    /**
     * Creates the module and reads the settings of {@code madeleine.tm.bip}. They are read here because Guice logs
     * every exception that {@code configure} throws.
     *
     * @param root the whole configuration
     * @throws io.madeleine.api.ConfigurationException if a setting of {@code madeleine.tm.bip} is wrong
     */
    public BipGuiceModule(Config root) {
        this.config = BipConfig.from(root);
    }

    @Override
    protected void configure() {
        MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                .addBinding(BipPmm.NAME)
                .toInstance(new BipPmm(config));
    }
}
