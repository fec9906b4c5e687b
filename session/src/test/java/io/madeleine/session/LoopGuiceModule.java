package io.madeleine.session;

import com.google.inject.AbstractModule;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.ProtocolModule;

/** Binds {@link LoopProtocol} as the network "loop". */
public final class LoopGuiceModule extends AbstractModule {
    private final Config loop;

    public LoopGuiceModule(Config config) {
        this.loop = config.getConfig("madeleine.tm.loop");
        if (loop.hasPath("wrong")) {
            throw new ConfigurationException("madeleine.tm.loop.wrong is wrong");
        }
    }

    @Override
    protected void configure() {
        MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                .addBinding("loop")
                .toInstance(new LoopProtocol(loop));
    }
}
