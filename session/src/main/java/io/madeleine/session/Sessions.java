package io.madeleine.session;

import com.typesafe.config.Config;
import io.madeleine.api.Session;
import io.madeleine.api.SessionRequest;
import java.util.Optional;

/**
 * Opens sessions from a Typesafe Config; all other ways are in {@link Session}.
 *
 * <p>Threading: stateless.
 */
public final class Sessions {
    private Sessions() {}

    /**
     * Opens a session from settings under {@code madeleine}, such as {@code ConfigFactory.load()} of the program. They
     * count like arguments: more than system properties, the launcher's settings, configuration files and defaults.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong
     * @throws io.madeleine.api.SessionException if the processes could not all be reached in time
     */
    public static Session open(Config settings) {
        return open(ConfigSources.ofConfig(settings, Surroundings.ofThisProcess()));
    }

    /**
     * As {@link #open(Config)}, for a process that is to end in another way when the session is {@linkplain Session#abort
     * aborted}: for tests that have several ranks in one JVM.
     */
    public static Session open(Config settings, ExitAction exit) {
        return open(ConfigSources.ofConfig(settings, Surroundings.ofThisProcess()), Optional.of(exit));
    }

    /** As {@link Session#open(SessionRequest)}, for a process that is to end in another way. */
    public static Session open(SessionRequest request, ExitAction exit) {
        return open(request, false, Optional.of(exit));
    }

    /** Opens what is asked for; if {@code here}, where this process listens already. */
    static Session open(SessionRequest request, boolean here, Optional<ExitAction> exit) {
        ConfigSources sources = ConfigSources.ofSettings(request.settings(), Surroundings.ofThisProcess());
        return new SessionOpening(SessionConfig.of(request, here, sources), exit).open();
    }

    /** A secret for {@code madeleine.session.secret-file} that nobody can guess: 256 random bits, as text. */
    public static String newSecret() {
        return Secrets.generate();
    }

    static Session open(ConfigSources sources) {
        return open(sources, Optional.empty());
    }

    static Session open(ConfigSources sources, Optional<ExitAction> exit) {
        return new SessionOpening(SessionConfig.from(sources), exit).open();
    }
}
