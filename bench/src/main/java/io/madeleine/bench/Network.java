package io.madeleine.bench;

import io.madeleine.bench.experiment.Variation;
import io.madeleine.pmm.spi.Suggestions;
import io.madeleine.session.Providers;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A network of ours as it was asked for: a family, {@code tcp}, or one of its adapters or providers, {@code tcp:epoll}.
 *
 * <p>Threading: immutable.
 *
 * @param title as it was asked for, which is what rows call it
 * @param protocol the family with these settings
 * @param settings the settings of the provider, key=value each
 * @param adapter which adapter channels take; empty for the default one
 */
record Network(String title, Protocol protocol, List<String> settings, Optional<String> adapter) {
    private static final String BETWEEN = ":";

    /** Copies the list. */
    Network {
        settings = List.copyOf(settings);
    }

    /**
     * The network with that name.
     *
     * @param arguments those of a session
     * @throws UnknownNetworkException if there is none; it says which there are
     */
    static Network of(String asked, List<String> arguments) {
        String[] words = asked.split(BETWEEN, 2);
        SessionInfo info = SessionInfo.of(arguments);
        Protocol family = info.protocol(words[0])
                .orElseThrow(() -> new UnknownNetworkException(
                        asked + ": there is no such network, expected some of " + String.join(",", names(info))));
        if (words.length == 1) {
            return new Network(asked, family, List.of(), Optional.empty());
        }
        Map<String, List<String>> providers = Providers.of(arguments, words[0]);
        List<String> settings = providers.get(words[1]);
        if (settings != null) {
            List<String> all = new ArrayList<>(arguments);
            all.addAll(settings);
            return new Network(asked, SessionInfo.of(all).protocol(words[0]).orElseThrow(), settings, Optional.empty());
        }
        if (family.adapters().contains(words[1])) {
            return new Network(asked, family, List.of(), Optional.of(words[1]));
        }
        Set<String> known = new TreeSet<>(providers.keySet());
        known.addAll(family.adapters());
        throw new UnknownNetworkException(asked + ": " + words[0] + " has no provider or adapter " + words[1] + ", "
                + "expected one of " + String.join(", ", known) + "; madeleine.tm." + words[0]
                + ".providers has the providers" + Suggestions.didYouMean(words[1], known));
    }

    private static List<String> names(SessionInfo info) {
        return info.protocols().stream().map(Protocol::name).toList();
    }

    /** The part behind the family in a name of this form; empty if there is none. */
    static String provider(String title) {
        int at = title.indexOf(BETWEEN);
        return at < 0 ? "" : title.substring(at + BETWEEN.length());
    }

    /** The family's name. */
    String family() {
        return protocol.name();
    }

    /** The same with further settings; its own settings take precedence over them. */
    Network with(List<String> arguments) {
        return of(title, arguments);
    }

    /** The same with the change of an experiment, which these settings of sessions have. */
    Network with(Variation change, ProtocolSubject.Setup changed) {
        return change.settings().isEmpty() ? this : with(changed.sessions().arguments());
    }

    /** The settings by which a channel of this name takes it. */
    List<String> ofChannel(String channel) {
        List<String> all = new ArrayList<>(List.of("channels." + channel + ".network=" + family()));
        adapter.ifPresent(name -> all.add("channels." + channel + ".adapter=" + name));
        return all;
    }

    /** No network has this name. */
    static final class UnknownNetworkException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        UnknownNetworkException(String message) {
            super(message);
        }
    }
}
