package io.madeleine.session;

import com.typesafe.config.ConfigFactory;
import io.madeleine.api.Session;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import io.madeleine.api.spi.SessionProvider;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The provider that {@link Session#open} finds by ServiceLoader.
 *
 * <p>Threading: stateless.
 */
public final class MadeleineSessionProvider implements SessionProvider {
    /** For {@link java.util.ServiceLoader}. */
    public MadeleineSessionProvider() {}

    @Override
    public Session open(List<String> arguments) {
        return Sessions.open(ConfigSources.ofArguments(arguments, ProcessEnvironment.ofThisProcess()));
    }

    @Override
    public Session open(Path file) {
        return Sessions.open(
                new ConfigSources(ConfigFactory.empty(), Optional.of(file), ProcessEnvironment.ofThisProcess()));
    }

    @Override
    public Session open(Map<String, ?> settings) {
        return Sessions.open(ConfigSources.ofSettings(settings, ProcessEnvironment.ofThisProcess()));
    }

    @Override
    public Session open(SessionRequest request) {
        return Sessions.open(request, false, Optional.empty());
    }

    @Override
    public SessionPort openPort(String address) {
        return ListeningPort.open(address);
    }
}
