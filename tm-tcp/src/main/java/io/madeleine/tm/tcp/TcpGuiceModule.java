package io.madeleine.tm.tcp;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;

/** Brings the TCP family into a session: binds {@code tcp} in the map of protocol modules. */
public final class TcpGuiceModule extends AbstractModule {
    private final TcpConfig config;

    /**
     * A module that takes its part of the session's configuration.
     *
     * @throws io.madeleine.api.ConfigurationException if that part is wrong
     */
    public TcpGuiceModule(Config root) {
        this.config = TcpConfig.from(root);
    }

    @Override
    protected void configure() {
        MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                .addBinding(TcpPmm.NAME)
                .toInstance(new TcpPmm(config));
    }
}
