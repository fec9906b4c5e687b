package io.madeleine.bench.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * How values of a row's unit are written and compared. Values stay in the unit of the row; only text uses prefixes.
 *
 * <p>Threading: immutable.
 *
 * @param name as in the row
 * @param base the unit without its prefix
 * @param factor what one of the row's unit is in the base unit
 * @param lowerIsBetter whether a smaller value is the faster one
 */
public record Unit(String name, String base, double factor, boolean lowerIsBetter) {
    private static final String[] PREFIXES = {"n", "µ", "m", "", "k", "M", "G", "T"};
    private static final int NO_PREFIX = 3;
    private static final MathContext DIGITS = new MathContext(3, RoundingMode.HALF_UP);

    /** The unit of a row. */
    public static Unit of(String name) {
        return switch (name) {
            case "us" -> new Unit(name, "s", 1e-6, true);
            case "ns" -> new Unit(name, "s", 1e-9, true);
            case "MB/s" -> new Unit(name, "B/s", 1e6, false);
            case "msg/s" -> new Unit(name, "/s", 1, false);
            default -> new Unit(name, "", 0, false);
        };
    }

    /** Three digits and the prefix that suits: {@code 68.0 ns}, {@code 3.40 µs}, {@code 36.2 GB/s}, {@code 710 k/s}. */
    public String text(double value) {
        return text(value, false);
    }

    /** The same without zeros behind the point: {@code 1 µs}. */
    String tick(double value) {
        return text(value, true);
    }

    private String text(double value, boolean bare) {
        if (base.isEmpty() || value <= 0) {
            return digits(value) + (base.isEmpty() ? " " + name : "");
        }
        double rounded = new BigDecimal(value * factor, DIGITS).doubleValue();
        int thousands = (int) Math.floor(Math.log10(rounded * 1.000001) / 3);
        int prefix = Math.clamp(NO_PREFIX + thousands, 0, PREFIXES.length - 1);
        double number = rounded / Math.pow(1000, prefix - NO_PREFIX);
        int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
        String text = bare ? digits(number) : String.format(Locale.ROOT, "%." + decimals + "f", number);
        return text + " " + PREFIXES[prefix] + base;
    }

    /** How many times faster {@code value} is than {@code other}. */
    public double advantage(double value, double other) {
        return lowerIsBetter ? other / value : value / other;
    }

    /** Three significant digits, no exponent. */
    public static String digits(double value) {
        BigDecimal rounded = new BigDecimal(value, DIGITS).stripTrailingZeros();
        return (rounded.scale() < 0 ? rounded.setScale(0) : rounded).toPlainString();
    }
}
