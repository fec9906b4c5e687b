package io.madeleine.session.config;

import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Estimates the strength of a secret in bits, the logarithm of the number of guesses. The estimate uses the characters
 * alone and is low for texts that look like words or repeat themselves.
 *
 * <p>Threading: thread-safe.
 */
public final class SecretStrength {
    private static final System.Logger LOGGER = System.getLogger(SecretStrength.class.getName());

    private static final Set<String> WARNED_OF = ConcurrentHashMap.newKeySet();

    /** A search of this size is infeasible. */
    public static final int ENOUGH_BITS = 128;

    private static final double WORD_BITS = 1.5;
    private static final double HEX_BITS = 4;

    /** A run of this many letters or digits looks like a word or a number. */
    private static final int ROW = 4;

    /** Bounds the estimate for a secret of few different characters, however long it is. */
    private static final int BITS_PER_DIFFERENT_CHARACTER = 12;

    private static final int FEW_DIGITS = 10;

    private SecretStrength() {}

    /**
     * Warns once of a secret that can be guessed.
     *
     * @param source where the secret comes from, as the subject of a sentence
     */
    static void warnIfWeak(String secret, String source) {
        int bits = bits(secret);
        if (secret.isEmpty() || bits >= ENOUGH_BITS || !WARNED_OF.add(secret)) {
            return;
        }
        LOGGER.log(
                Level.WARNING,
                source + " is weak: it has about " + bits + " bits, expected " + ENOUGH_BITS
                        + " or more. It is stretched, which makes guessing slower, not impossible; \"mad secret"
                        + " FILE\" makes a strong one.");
    }

    /** The estimate: the lowest of the bounds that apply. */
    public static int bits(String secret) {
        int different = (int) secret.chars().distinct().count();
        double bits = isHex(secret) && different >= FEW_DIGITS ? HEX_BITS * secret.length() : mixed(secret);
        return (int) Math.min(bits, different * BITS_PER_DIFFERENT_CHARACTER);
    }

    private static boolean isHex(String secret) {
        return secret.matches("[0-9a-f]*[a-f][0-9a-f]*|[0-9A-F]*[A-F][0-9A-F]*");
    }

    /** Characters in long runs of one kind count as text, all others as random choices from the kinds that occur. */
    private static double mixed(String secret) {
        int characters = secret.chars()
                .mapToObj(Kind::of)
                .distinct()
                .mapToInt(kind -> kind.count)
                .sum();
        double each = Math.log(Math.max(2, characters)) / Math.log(2);
        double bits = 0;
        int length = secret.length();
        for (int begin = 0; begin < length; ) {
            int end = begin + 1;
            while (end < length && Kind.of(secret.charAt(end)) == Kind.of(secret.charAt(begin))) {
                end++;
            }
            bits += (end - begin) * (end - begin >= ROW ? WORD_BITS : each);
            begin = end;
        }
        return bits;
    }

    /** Kinds of characters, with the number of characters of each. */
    private enum Kind {
        LOWER(26),
        UPPER(26),
        DIGIT(10),
        OTHER(8);

        private final int count;

        Kind(int count) {
            this.count = count;
        }

        static Kind of(int character) {
            if (Character.isDigit(character)) {
                return DIGIT;
            }
            if (Character.isLowerCase(character)) {
                return LOWER;
            }
            return Character.isUpperCase(character) ? UPPER : OTHER;
        }
    }
}
