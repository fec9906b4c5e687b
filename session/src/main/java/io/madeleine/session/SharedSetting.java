package io.madeleine.session;

import io.madeleine.api.SessionException;
import java.util.List;
import java.util.Optional;

/**
 * A key that needs the same value in all processes, with this process's value. The processes compare their values
 * before they connect, since a difference would otherwise show only as corrupt messages.
 *
 * <p>Threading: immutable.
 *
 * @param key the full key
 * @param value its value, as text
 */
record SharedSetting(String key, String value) {
    /** The shared settings of this process. */
    static List<SharedSetting> of(SessionConfig config) {
        return List.of(new SharedSetting(SessionConfig.SELF_DESCRIBED, String.valueOf(config.selfDescribed())));
    }

    /**
     * Compares the values of all processes.
     *
     * @param self this process's rank
     * @param cards the cards of all processes, by rank
     * @throws SessionException if a process has another value than this one
     */
    static void check(int self, List<Card> cards) {
        for (SharedSetting own : cards.get(self).shared()) {
            for (int rank = 0; rank < cards.size(); rank++) {
                String there = cards.get(rank).shared(own.key).orElse("missing");
                if (!there.equals(own.value)) {
                    throw new SessionException(own.key + " is " + own.value + " in rank " + self + " and " + there
                            + " in rank " + rank + ": it needs the same value in all processes");
                }
            }
        }
    }

    /** The value of a key; empty if the list does not contain it. */
    static Optional<String> value(List<SharedSetting> settings, String key) {
        return settings.stream()
                .filter(setting -> setting.key.equals(key))
                .map(SharedSetting::value)
                .findFirst();
    }
}
