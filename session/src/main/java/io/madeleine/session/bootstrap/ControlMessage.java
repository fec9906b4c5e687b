package io.madeleine.session.bootstrap;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * A message between a process and its bootstrap server. Each travels in one frame: a type byte, then the fields. Texts
 * and values carry their length and are bounded.
 *
 * <p>Threading: immutable.
 */
public sealed interface ControlMessage {
    /** The largest value of a {@link Put}. */
    int MAX_VALUE_BYTES = 64 << 10;

    /** The largest frame: a value with its key. */
    int MAX_FRAME_BYTES = MAX_VALUE_BYTES + 1024;

    /** The largest text, in UTF-8 bytes; a longer one is truncated when it is sent. */
    int MAX_TEXT_BYTES = 900;

    /** To the server, as first message: which session the process joins, and as which rank. */
    record Hello(String session, int rank, int size, String host, long pid) implements ControlMessage {}

    /**
     * To a process: it has joined. {@code serverRank} is the rank of the process that runs the server, or -1 for a
     * launcher.
     */
    record Welcome(String sessionId, int serverRank, String serverHost, long serverPid) implements ControlMessage {}

    /** To a process: it may not join. */
    record Refused(String reason) implements ControlMessage {}

    /** To the server: this process's value in an exchange. */
    @SuppressWarnings("ArrayRecordComponent") // never compared, and the array is not shared
    record Put(String key, byte[] value) implements ControlMessage {}

    /** To a process: the value of a rank in an exchange; empty values are not sent. */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Value(String key, int rank, byte[] value) implements ControlMessage {}

    /** To a process: all values of an exchange have been sent. */
    record Complete(String key) implements ControlMessage {}

    /** To the server: which processes are missing in an exchange? */
    record MissingQuery(String key) implements ControlMessage {}

    /** To a process: the answer to {@link MissingQuery}, as text. */
    record MissingReply(String key, String who) implements ControlMessage {}

    /** Both ways: a sign of life. */
    record Heartbeat() implements ControlMessage {}

    /** To the server: this process closes its session. */
    record Leave() implements ControlMessage {}

    /** To a process: another has closed its session. */
    record Left(int rank) implements ControlMessage {}

    /** To a process: another is dead. To the server: this process has lost its connection to another. */
    record Death(int rank, String reason) implements ControlMessage {}

    /** To a process: another, which is alive, has lost its connection to it, and has given it up. */
    record PeerGaveUp(int rank, String reason) implements ControlMessage {}

    /** Both ways: a process could not open the session, so the session fails for all. The server fills in the rank. */
    record OpenFailed(int rank, String reason) implements ControlMessage {}

    /** To the server of a launcher: start processes, as a {@link LaunchSpec} says. */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Launch(long id, byte[] spec) implements ControlMessage {}

    /** To a process: the processes with these ids have been started; or none has, and {@code failure} says why. */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Launched(long id, long[] pids, String failure) implements ControlMessage {}

    /** To the server of a launcher: this process waits for the launch no longer, and its processes are not wanted. */
    record LaunchGivenUp(long id) implements ControlMessage {}

    /** To a process: a process that it requested has ended. */
    record LaunchedEnded(long id, int rank, int code) implements ControlMessage {}

    /**
     * To the server: this process is about to exit and has not left; it may still do so. To a process: the process that
     * runs the server is about to exit, which nobody could tell afterwards. The server fills in the rank.
     */
    record Exiting(int rank) implements ControlMessage {}

    /**
     * Both ways: all processes of the session have to end with this exit code. The server fills in the rank, that of
     * the process that aborted.
     */
    record SessionAbort(int rank, int code, String reason) implements ControlMessage {
        @Override
        public String toString() {
            return "rank " + rank + " has aborted the session with exit code " + code + ": " + reason;
        }
    }

    /** The type of the message in one word, for error messages. */
    default String kind() {
        return getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /** Encodes the content of the frame. */
    default byte[] encode() {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            writeTo(new DataOutputStream(bytes));
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void writeTo(DataOutputStream out) throws IOException {
        switch (this) {
            case Hello hello -> {
                out.writeByte(1);
                writeText(out, hello.session);
                out.writeInt(hello.rank);
                out.writeInt(hello.size);
                writeText(out, hello.host);
                out.writeLong(hello.pid);
            }
            case Welcome welcome -> {
                out.writeByte(2);
                writeText(out, welcome.sessionId);
                out.writeInt(welcome.serverRank);
                writeText(out, welcome.serverHost);
                out.writeLong(welcome.serverPid);
            }
            case Refused(String reason) -> {
                out.writeByte(3);
                writeText(out, reason);
            }
            case Put(String key, byte[] value) -> {
                out.writeByte(4);
                writeText(out, key);
                writeValue(out, value);
            }
            case Value(String key, int rank, byte[] value) -> {
                out.writeByte(5);
                writeText(out, key);
                out.writeInt(rank);
                writeValue(out, value);
            }
            case Complete(String key) -> {
                out.writeByte(6);
                writeText(out, key);
            }
            case MissingQuery(String key) -> {
                out.writeByte(7);
                writeText(out, key);
            }
            case MissingReply(String key, String who) -> {
                out.writeByte(8);
                writeText(out, key);
                writeText(out, who);
            }
            case Heartbeat() -> out.writeByte(9);
            case Leave() -> out.writeByte(10);
            case Left(int rank) -> {
                out.writeByte(11);
                out.writeInt(rank);
            }
            case Death(int rank, String reason) -> {
                out.writeByte(12);
                out.writeInt(rank);
                writeText(out, reason);
            }
            case PeerGaveUp(int rank, String reason) -> {
                out.writeByte(20);
                out.writeInt(rank);
                writeText(out, reason);
            }
            case OpenFailed(int rank, String reason) -> {
                out.writeByte(13);
                out.writeInt(rank);
                writeText(out, reason);
            }
            case SessionAbort(int rank, int code, String reason) -> {
                out.writeByte(14);
                out.writeInt(rank);
                out.writeInt(code);
                writeText(out, reason);
            }
            case Launch(long id, byte[] spec) -> {
                out.writeByte(16);
                out.writeLong(id);
                writeValue(out, spec);
            }
            case Launched(long id, long[] pids, String failure) -> {
                out.writeByte(17);
                out.writeLong(id);
                out.writeInt(pids.length);
                for (long pid : pids) {
                    out.writeLong(pid);
                }
                writeText(out, failure);
            }
            case LaunchedEnded(long id, int rank, int code) -> {
                out.writeByte(18);
                out.writeLong(id);
                out.writeInt(rank);
                out.writeInt(code);
            }
            case LaunchGivenUp(long id) -> {
                out.writeByte(19);
                out.writeLong(id);
            }
            case Exiting(int rank) -> {
                out.writeByte(15);
                out.writeInt(rank);
            }
        }
    }

    /**
     * Decodes the content of a frame.
     *
     * @throws IOException if it is not a valid message
     */
    static ControlMessage decode(byte[] frame) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
        byte type = in.readByte();
        ControlMessage message = switch (type) {
            case 1 -> new Hello(readText(in), in.readInt(), in.readInt(), readText(in), in.readLong());
            case 2 -> new Welcome(readText(in), in.readInt(), readText(in), in.readLong());
            case 3 -> new Refused(readText(in));
            case 4 -> new Put(readText(in), readValue(in));
            case 5 -> new Value(readText(in), in.readInt(), readValue(in));
            case 6 -> new Complete(readText(in));
            case 7 -> new MissingQuery(readText(in));
            case 8 -> new MissingReply(readText(in), readText(in));
            case 9 -> new Heartbeat();
            case 10 -> new Leave();
            case 11 -> new Left(in.readInt());
            case 12 -> new Death(in.readInt(), readText(in));
            case 13 -> new OpenFailed(in.readInt(), readText(in));
            case 14 -> new SessionAbort(in.readInt(), in.readInt(), readText(in));
            case 15 -> new Exiting(in.readInt());
            case 16 -> new Launch(in.readLong(), readValue(in));
            case 17 -> new Launched(in.readLong(), readNumbers(in), readText(in));
            case 18 -> new LaunchedEnded(in.readLong(), in.readInt(), in.readInt());
            case 19 -> new LaunchGivenUp(in.readLong());
            case 20 -> new PeerGaveUp(in.readInt(), readText(in));
            default -> throw new IOException("unknown control message of type " + type);
        };
        if (in.available() > 0) {
            throw new IOException(in.available() + " bytes too many in a control message of type " + type);
        }
        return message;
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length > MAX_TEXT_BYTES) {
            // a character cut in two becomes a replacement character, which is acceptable at the end of a long reason
            utf8 = Arrays.copyOf(utf8, MAX_TEXT_BYTES);
        }
        out.writeShort(utf8.length);
        out.write(utf8);
    }

    private static String readText(DataInputStream in) throws IOException {
        return new String(readBytes(in, in.readUnsignedShort(), MAX_TEXT_BYTES), StandardCharsets.UTF_8);
    }

    private static void writeValue(DataOutputStream out, byte[] value) throws IOException {
        if (value.length > MAX_VALUE_BYTES) {
            throw new IOException(
                    "a value of " + value.length + " bytes, at most " + MAX_VALUE_BYTES + " can be exchanged");
        }
        out.writeInt(value.length);
        out.write(value);
    }

    private static byte[] readValue(DataInputStream in) throws IOException {
        return readBytes(in, in.readInt(), MAX_VALUE_BYTES);
    }

    private static long[] readNumbers(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > in.available() / Long.BYTES) {
            throw new IOException("a list of " + count + " numbers in a control message");
        }
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = in.readLong();
        }
        return numbers;
    }

    private static byte[] readBytes(DataInputStream in, int length, int maximum) throws IOException {
        if (length < 0 || length > maximum || length > in.available()) {
            throw new IOException("a field of " + length + " bytes in a control message, expected 0 to "
                    + Math.min(maximum, in.available()));
        }
        return in.readNBytes(length);
    }
}
