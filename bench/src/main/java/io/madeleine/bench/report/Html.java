package io.madeleine.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Small things that every part of the page needs.
 *
 * <p>Threading: stateless.
 */
public final class Html {
    private Html() {}

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** Escapes a text, and keeps each number in one line with its unit. */
    static String sentence(String text) {
        return escape(text).replaceAll("(?<=\\d) ", "&nbsp;");
    }

    /** A coordinate: one digit behind the point is a tenth of a pixel. */
    static String px(double value) {
        String text = String.format(Locale.ROOT, "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }

    static String resource(String name) {
        try (InputStream in = Html.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + " is missing beside " + Html.class.getName());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the resource " + name, e);
        }
    }

    static String capitalised(String word) {
        return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }

    /** A size with its unit, in the largest that needs no fraction. */
    public static String size(long bytes) {
        return compactSize(bytes, " ", new String[] {"B", "KiB", "MiB", "GiB"});
    }

    /** A size on an axis of bytes. */
    static String tick(long bytes) {
        return compactSize(bytes, "", new String[] {"", "K", "M", "G"});
    }

    private static String compactSize(long bytes, String between, String[] units) {
        int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, units.length - 1);
        return (bytes >> (10 * unit)) + between + units[unit];
    }
}
