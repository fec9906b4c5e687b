package io.madeleine.nexus.wire;

/**
 * Checks strings before they are sent.
 *
 * <p>Threading: stateless.
 */
public final class Texts {
    private Texts() {}

    /**
     * Checks that UTF-8 can represent a string. Allocates nothing.
     *
     * @throws IllegalArgumentException if the string has a surrogate without its other half
     */
    public static void checkPaired(String text) {
        int length = text.length();
        int i = 0;
        while (i < length) {
            char here = text.charAt(i);
            if (!Character.isSurrogate(here)) {
                i++;
                continue;
            }
            if (Character.isLowSurrogate(here) || i + 1 == length || !Character.isLowSurrogate(text.charAt(i + 1))) {
                throw new IllegalArgumentException("a string of " + length + " characters has an unpaired surrogate at "
                        + i + ", which UTF-8 cannot represent: expected pairs; send other data as an array");
            }
            i += 2;
        }
    }
}
