package io.madeleine.bench;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One JSON object on one line, written member by member.
 *
 * <p>Threading: confined to caller.
 */
final class Json {
    private static final MathContext DIGITS = new MathContext(5);

    private final StringBuilder text = new StringBuilder("{");

    Json text(String key, String value) {
        key(key).append(quoted(value));
        return this;
    }

    Json whole(String key, long value) {
        key(key).append(value);
        return this;
    }

    /** Left out if it is not a number. */
    Json number(String key, double value) {
        if (Double.isFinite(value)) {
            key(key).append(plain(value));
        }
        return this;
    }

    /** Left out unless all are numbers. */
    Json numbers(String key, List<Double> values) {
        if (values.stream().allMatch(Double::isFinite)) {
            key(key).append(values.stream().map(Json::plain).collect(Collectors.joining(",", "[", "]")));
        }
        return this;
    }

    Json truth(String key, boolean value) {
        key(key).append(value);
        return this;
    }

    Json texts(String key, Map<String, ? extends Collection<String>> lists) {
        key(key).append(lists.entrySet().stream()
                .map(list -> quoted(list.getKey()) + ":"
                        + list.getValue().stream().map(Json::quoted).collect(Collectors.joining(",", "[", "]")))
                .collect(Collectors.joining(",", "{", "}")));
        return this;
    }

    String line() {
        return text + "}";
    }

    private StringBuilder key(String key) {
        return text.append(text.length() > 1 ? "," : "").append(quoted(key)).append(':');
    }

    private static String quoted(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** Five significant digits, no exponent. */
    static String plain(double value) {
        BigDecimal rounded = new BigDecimal(value, DIGITS).stripTrailingZeros();
        return (rounded.scale() < 0 ? rounded.setScale(0) : rounded).toPlainString();
    }
}
