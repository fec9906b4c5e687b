package io.madeleine.session.config;

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
public record SharedSetting(String key, String value) {
    /** The shared settings of this process. */
    public static List<SharedSetting> of(SessionConfig config) {
        return List.of(new SharedSetting(SessionConfig.SELF_DESCRIBED, String.valueOf(config.selfDescribed())));
    }

    /** The value of a key; empty if the list does not contain it. */
    public static Optional<String> value(List<SharedSetting> settings, String key) {
        return settings.stream()
                .filter(setting -> setting.key.equals(key))
                .map(SharedSetting::value)
                .findFirst();
    }
}
