package io.madeleine.tm.sci;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;

/**
 * Binds the family under its name, {@code sci}, in the map of protocol modules.
 *
 * <p>Threading: confined to the injector's creation.
 */
public final class SciGuiceModule extends AbstractModule {
    private final SciConfig config;

    /**
     * The module for a configuration, of which it reads {@code madeleine.tm.sci}.
     *
     * @throws io.madeleine.api.ConfigurationException if that part is wrong; here, since Guice logs what {@code configure} throws
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
