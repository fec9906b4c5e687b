package io.madeleine.tm.sci;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;

/**
 * Binds the driver of shared memory under its name, {@code sci}, in the map of protocol modules.
 *
 * <p>Threading: confined to the thread that creates the injector.
 */
public final class SciGuiceModule extends AbstractModule {
    private final SciConfig config;

    /**
     * Creates the module and reads the settings of {@code madeleine.tm.sci}. They are read here because Guice logs
     * every exception that {@code configure} throws.
     *
     * @param root the whole configuration
     * @throws io.madeleine.api.ConfigurationException if a setting of {@code madeleine.tm.sci} is wrong
     */
    public SciGuiceModule(Config root) {
        this.config = SciConfig.from(root);
    }

    @Override
    protected void configure() {
        MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                .addBinding(SciPmm.NAME)
                .toInstance(new SciPmm(config));
    }
}
