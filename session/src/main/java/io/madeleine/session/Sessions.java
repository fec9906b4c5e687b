package io.madeleine.session;

import com.typesafe.config.Config;
import io.madeleine.api.Session;
import io.madeleine.api.SessionRequest;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Opens sessions from a Typesafe Config. {@link Session} has all other ways to open one.
 *
 * <p>Threading: stateless.
 */
public final class Sessions {
    private static final Logger LOGGER = System.getLogger(Sessions.class.getName());

    /** Said once in a process; tests reset it. */
    static final AtomicBoolean TOLD_OF_SOLITUDE = new AtomicBoolean();

    private Sessions() {}

    /**
     * Opens a session from the settings under {@code madeleine}, for instance from the program's {@code
     * ConfigFactory.load()}. These settings rank as high as arguments: above system properties, the launcher's
     * settings, configuration files and defaults. Values that a {@code reference.conf} supplies count as defaults.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong
     * @throws io.madeleine.api.SessionException if the processes are not all connected within {@code
     *     madeleine.session.open-timeout}
     */
    public static Session open(Config settings) {
        return open(ConfigSources.ofConfig(settings, ProcessEnvironment.ofThisProcess()));
    }

    /**
     * As {@link #open(Config)}, but calls {@code exit} instead of {@code System.exit} when the session is {@linkplain
     * Session#abort aborted}. For tests that run several ranks in one JVM.
     */
    public static Session open(Config settings, ExitAction exit) {
        return open(ConfigSources.ofConfig(settings, ProcessEnvironment.ofThisProcess()), Optional.of(exit));
    }

    /**
     * As {@link Session#open(SessionRequest)}, but calls {@code exit} instead of {@code System.exit} when the session
     * is aborted.
     */
    public static Session open(SessionRequest request, ExitAction exit) {
        return open(request, false, Optional.of(exit));
    }

    /**
     * Opens the requested session.
     *
     * @param here whether this process already listens at the request's address, with a {@link ListeningPort}
     */
    static Session open(SessionRequest request, boolean here, Optional<ExitAction> exit) {
        ConfigSources sources = ConfigSources.ofSettings(request.settings(), ProcessEnvironment.ofThisProcess());
        return new SessionOpening(SessionConfig.of(request, here, sources), exit).open();
    }

    /** Generates a secret for {@code madeleine.session.secret-file}: 256 random bits as hexadecimal text. */
    public static String newSecret() {
        return Secrets.generate();
    }

    static Session open(ConfigSources sources) {
        return open(sources, Optional.empty());
    }

    static Session open(ConfigSources sources, Optional<ExitAction> exit) {
        SessionConfig config = SessionConfig.from(sources);
        if (sources.areEmpty() && TOLD_OF_SOLITUDE.compareAndSet(false, true)) {
            LOGGER.log(
                    Level.INFO,
                    "a session of one process is opened, since nothing says otherwise: \"mad run\" starts the processes"
                            + " of a larger one, or madeleine.session.hosts and madeleine.session.rank list them");
        }
        return new SessionOpening(config, exit).open();
    }
}
