package io.madeleine.session.bootstrap;

/**
 * Estimates the strength of a secret in bits, the logarithm of the number of guesses. The estimate uses the characters
 * alone and is low for texts that look like words or repeat themselves.
 *
 * <p>Threading: stateless.
 */
final class SecretStrength {
    /** A search of this size is infeasible. */
    static final int ENOUGH_BITS = 128;

    private static final double WORD_BITS = 1.5;
    private static final double HEX_BITS = 4;

    /** A run of this many letters or digits looks like a word or a number. */
    private static final int ROW = 4;

    /** Bounds the estimate for a secret of few different characters, however long it is. */
    private static final int BITS_PER_DIFFERENT_CHARACTER = 12;

    private static final int FEW_DIGITS = 10;

    private SecretStrength() {}

    /** The estimate: the lowest of the bounds that apply. */
    static int bits(String secret) {
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
