package io.madeleine.tm.tcp;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.tm.tcp.config.TcpConfig;

/**
 * Binds {@code tcp} in the session's map of protocol modules.
 *
 * <p>Threading: immutable.
 */
public final class TcpGuiceModule extends AbstractModule {
    private final TcpConfig config;

    /**
     * Reads {@code madeleine.tm.tcp} from the session's configuration.
     *
     * @throws io.madeleine.api.ConfigurationException if that part is invalid
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
