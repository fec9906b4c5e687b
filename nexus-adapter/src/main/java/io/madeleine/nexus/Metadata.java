package io.madeleine.nexus;

import io.madeleine.nexus.wire.RequestLayout;
import io.madeleine.nexus.wire.Texts;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Named strings that accompany a call or its answer, such as the caller's identity or a trace id. Names are
 * case-sensitive. All entries together take up to 8 KiB in UTF-8, each with four bytes of overhead.
 *
 * <p>Threading: immutable.
 */
public final class Metadata {
    /** No metadata. */
    public static final Metadata EMPTY = new Metadata(Map.of());

    private static final int MAX_BYTES = 8 << 10;

    /** Less than {@link RequestLayout#BULK_BYTES}, from which on it would be a block of its own. */
    private static final int PART_BYTES = 512;

    private final Map<String, String> values;

    private Metadata(Map<String, String> values) {
        this.values = values;
    }

    static Metadata of(Map<String, String> values) {
        return values.isEmpty() ? EMPTY : new Metadata(Collections.unmodifiableMap(new LinkedHashMap<>(values)));
    }

    /** Metadata with one entry. */
    public static Metadata of(String name, String value) {
        return EMPTY.with(name, value);
    }

    /**
     * A copy with one entry added or replaced.
     *
     * @throws IllegalArgumentException if the entries become too long together, or a string has an unpaired surrogate
     */
    public Metadata with(String name, String value) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(value, "value");
        Map<String, String> more = new LinkedHashMap<>(values);
        more.put(name, value);
        encode(more);
        return new Metadata(Collections.unmodifiableMap(more));
    }

    /** The value of a name, if there is one. */
    public Optional<String> get(String name) {
        Objects.requireNonNull(name, "name");
        return Optional.ofNullable(values.get(name));
    }

    /** All entries, in the order in which they were added. */
    public Map<String, String> asMap() {
        return values;
    }

    /** Whether there are no entries. */
    public boolean isEmpty() {
        return values.isEmpty();
    }

    // ---- on the wire: the number of bytes, then the bytes in parts; each string follows its length in two bytes

    void write(Arguments arguments) {
        byte[] bytes = encode(values);
        arguments.putInt(bytes.length);
        MemorySegment all = MemorySegment.ofArray(bytes);
        for (int from = 0; from < bytes.length; from += PART_BYTES) {
            arguments.putSegment(all.asSlice(from, Math.min(PART_BYTES, bytes.length - from)));
        }
    }

    private static byte[] encode(Map<String, String> values) {
        ByteBuffer buffer = ByteBuffer.allocate(MAX_BYTES);
        values.forEach((name, value) -> {
            put(buffer, name, name);
            put(buffer, value, name);
        });
        byte[] bytes = new byte[buffer.flip().remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static void put(ByteBuffer buffer, String text, String name) {
        Texts.checkPaired(text);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length + Short.BYTES > buffer.remaining()) {
            throw new IllegalArgumentException("metadata with \"" + name + "\" take more than " + MAX_BYTES
                    + " bytes: pass longer values as arguments");
        }
        buffer.putShort((short) bytes.length).put(bytes);
    }

    static Metadata read(Request request) {
        int length = request.getInt();
        if (length < 0 || length > Math.min(MAX_BYTES, request.remaining())) {
            throw new NexusException("a call or answer from rank " + request.remote() + " has " + length
                    + " bytes of metadata: expected at most " + MAX_BYTES + ", and no more than the message has");
        }
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            int part = Math.min(PART_BYTES, buffer.remaining());
            request.get(MemorySegment.ofBuffer(buffer).asSlice(0, part));
            buffer.position(buffer.position() + part);
        }
        buffer.flip();
        Map<String, String> values = new LinkedHashMap<>();
        while (buffer.hasRemaining()) {
            values.put(text(buffer, request), text(buffer, request));
        }
        return new Metadata(Collections.unmodifiableMap(values));
    }

    private static String text(ByteBuffer buffer, Request request) {
        int length = buffer.remaining() < Short.BYTES ? -1 : Short.toUnsignedInt(buffer.getShort());
        if (length < 0 || length > buffer.remaining()) {
            throw new NexusException(
                    "the metadata of a call or answer from rank " + request.remote() + " are cut short");
        }
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return values.keySet().toString(); // the values may be secret
    }
}
