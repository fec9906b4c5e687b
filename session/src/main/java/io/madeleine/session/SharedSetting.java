package io.madeleine.session;

import io.madeleine.api.SessionException;
import java.util.List;
import java.util.Optional;

/**
 * A key that needs the same value in all processes, with this process's value. Each tells its own to the others before they
 * connect: a difference would only show as messages that make no sense.
 *
 * <p>Threading: immutable.
 *
 * @param key the whole key
 * @param value its value, as text
 */
record SharedSetting(String key, String value) {
    /** All there are. */
    static List<SharedSetting> of(SessionConfig config) {
        return List.of(new SharedSetting(SessionConfig.SELF_DESCRIBED, String.valueOf(config.selfDescribed())));
    }

    /**
     * Compares what all have told.
     *
     * @throws SessionException if somebody has another value than this process
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

    /** The value of that key among these. */
    static Optional<String> value(List<SharedSetting> settings, String key) {
        return settings.stream()
                .filter(setting -> setting.key.equals(key))
                .map(SharedSetting::value)
                .findFirst();
    }
}
