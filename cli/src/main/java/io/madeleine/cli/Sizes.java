package io.madeleine.cli;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses and formats sizes in bytes.
 *
 * <p>Threading: stateless.
 */
final class Sizes implements ITypeConverter<Long> {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    @Override
    public Long convert(String text) {
        try {
            long bytes = ConfigFactory.parseMap(Map.of("size", text)).getBytes("size");
            if (bytes >= 0 && bytes < Long.MAX_VALUE) { // the library reads larger numbers as Long.MAX_VALUE
                return bytes;
            }
        } catch (ConfigException _) {
            // reported below
        }
        throw new TypeConversionException(
                "'" + text + "' is no size: expected bytes below 8 EiB, as 512, 64KiB, 1MiB or 10kB");
    }

    /** Formats a size in the largest unit that needs no fraction: {@code 64 KiB}, {@code 65537 B}. */
    static String text(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.length - 1);
        return (bytes >> (10 * unit)) + " " + UNITS[unit];
    }
}
