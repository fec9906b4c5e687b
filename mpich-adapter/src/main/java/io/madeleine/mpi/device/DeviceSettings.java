package io.madeleine.mpi.device;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.Properties;

/**
 * The bounds of the device, from system properties of the same names, in bytes.
 *
 * <p>Threading: immutable.
 *
 * @param eagerBytes {@code mpi.eager-bytes}: longer messages ask first (rendezvous)
 * @param creditBytes {@code mpi.credit-bytes}: how much a process keeps of one peer's messages that nobody has asked
 *     for; beyond, messages wait at their sender. Each counts 128 bytes and its body.
 * @param fragmentBytes {@code mpi.fragment-bytes}: a longer body travels in several messages, so that others get
 *     between them
 * @param bufferBytes {@code mpi.buffer-bytes}: how much memory of the session the buffers of {@code newByteBuffer} and
 *     its like take at most; further ones are ordinary memory
 */
public record DeviceSettings(int eagerBytes, int creditBytes, long fragmentBytes, long bufferBytes) {
    private static final int EAGER_BYTES = 64 << 10;
    private static final int CREDIT_BYTES = 4 << 20;
    private static final int FRAGMENT_BYTES = 4 << 20;
    private static final int LEAST_FRAGMENT_BYTES = 4 << 10;
    private static final int BUFFER_BYTES = 256 << 20;

    /** Validates the numbers. */
    public DeviceSettings {
        check("mpi.eager-bytes", eagerBytes, Arrived.INLINE_BYTES, 1 << 20);
        check("mpi.credit-bytes", creditBytes, 1 << 10, 1 << 30);
        check("mpi.fragment-bytes", fragmentBytes, LEAST_FRAGMENT_BYTES, Long.MAX_VALUE);
        check("mpi.buffer-bytes", bufferBytes, 0, Long.MAX_VALUE);
    }

    private static void check(String key, long value, long least, long most) {
        if (value < least || value > most) {
            throw new MpiFault(ErrorClass.ARG, key + " is " + value + ": expected " + least + " to " + most + " bytes");
        }
    }

    /** The settings that these properties ask for. */
    public static DeviceSettings from(Properties properties) {
        return new DeviceSettings(
                number(properties, "mpi.eager-bytes", EAGER_BYTES),
                number(properties, "mpi.credit-bytes", CREDIT_BYTES),
                number(properties, "mpi.fragment-bytes", FRAGMENT_BYTES),
                number(properties, "mpi.buffer-bytes", BUFFER_BYTES));
    }

    private static int number(Properties properties, String key, int otherwise) {
        String text = properties.getProperty(key);
        if (text == null) {
            return otherwise;
        }
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException e) {
            throw new MpiFault(
                    ErrorClass.ARG, "the system property " + key + " is '" + text + "': expected a number of bytes", e);
        }
    }
}
