package io.madeleine.tm.via;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;

/**
 * Binds the driver of libfabric networks under its name, {@code via}, in the map of protocol modules.
 *
 * <p>Threading: confined to the thread that creates the injector.
 */
public final class ViaGuiceModule extends AbstractModule {
    private final ViaConfig config;

    /**
     * Creates the module and reads the settings of {@code madeleine.tm.via}. They are read here because Guice logs
     * every exception that {@code configure} throws.
     *
     * @param root the whole configuration
     * @throws io.madeleine.api.ConfigurationException if a setting of {@code madeleine.tm.via} is wrong
     */
    public ViaGuiceModule(Config root) {
        this.config = ViaConfig.from(root);
    }

    @Override
    protected void configure() {
        MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                .addBinding(ViaPmm.NAME)
                .toInstance(new ViaPmm(config));
    }
}
