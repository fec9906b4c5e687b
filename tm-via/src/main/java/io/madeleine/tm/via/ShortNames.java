package io.madeleine.tm.via;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of endpoints, short enough for a descriptor of remote memory. The first byte is the length of the name, and the
 * zeros at its end are left out. The names that this module gives to endpoints of the provider shm are texts: their
 * first byte is 0, and the numbers of the text follow; the rest of the text is the same for all endpoints of a session.
 *
 * <p>Threading: stateless.
 */
final class ShortNames {
    private static final int HEX = 16;
    private static final int NUMBERS_BYTES = 1 + 4 + 4 + 8 + 3 * 4;
    private static final Pattern SHM = Pattern.compile(
            "(.*madeleine-via-)([0-9a-f]+)-([0-9]+)-([0-9]+)-([0-9]+)(-[^:]*)(:([0-9]+):([0-9]+))?(\0?)");

    /** In place of a number that the name has not. */
    private static final int NONE = -1;

    private ShortNames() {}

    /** The short name of an endpoint of this provider. */
    static byte[] of(byte[] name, String provider) {
        Matcher parts = SHM.matcher(text(name));
        if (provider.equals(Providers.SHM) && parts.matches()) {
            return ByteBuffer.allocate(NUMBERS_BYTES)
                    .put((byte) 0)
                    .putInt(Integer.parseUnsignedInt(parts.group(2), HEX))
                    .putInt(Integer.parseInt(parts.group(3)))
                    .putLong(Long.parseLong(parts.group(4)))
                    .putInt(Integer.parseInt(parts.group(5)))
                    .putInt(parts.group(7) == null ? NONE : Integer.parseInt(parts.group(8)))
                    .putInt(parts.group(7) == null ? NONE : Integer.parseInt(parts.group(9)))
                    .array();
        }
        int length = name.length;
        while (length > 0 && name[length - 1] == 0) {
            length--;
        }
        byte[] made = new byte[1 + length];
        made[0] = (byte) name.length;
        System.arraycopy(name, 0, made, 1, length);
        return made;
    }

    /**
     * The name of an endpoint with this short name, of the same session and provider as an endpoint with another name.
     */
    static byte[] name(byte[] shortName, byte[] other) {
        ByteBuffer numbers = ByteBuffer.wrap(shortName);
        int length = Byte.toUnsignedInt(numbers.get());
        if (length > 0) {
            return Arrays.copyOf(Arrays.copyOfRange(shortName, 1, shortName.length), length);
        }
        Matcher parts = SHM.matcher(text(other));
        if (!parts.matches()) {
            return new byte[0];
        }
        StringBuilder made = new StringBuilder(parts.group(1))
                .append(Integer.toHexString(numbers.getInt()))
                .append('-')
                .append(numbers.getInt())
                .append('-')
                .append(numbers.getLong())
                .append('-')
                .append(numbers.getInt())
                .append(parts.group(6));
        int domain = numbers.getInt();
        if (domain >= 0) {
            made.append(':').append(domain).append(':').append(numbers.getInt());
        }
        return made.append(parts.group(10)).toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }
}
