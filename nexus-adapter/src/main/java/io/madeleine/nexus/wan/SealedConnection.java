package io.madeleine.nexus.wan;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.Key;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A stream of bytes each way between two who know the secret, in records that nobody else can read, change, repeat or leave
 * out:
 *
 * <pre>
 * length(4)  AES-256-GCM of up to 64 KiB, with its tag (length bytes)
 * </pre>
 *
 * Each direction and connection has a key of its own, made of the secret and both ends' nonces; a record's initialisation
 * vector is its number. Memory: two records each way.
 *
 * <p>Threading: one thread writes and one reads at a time.
 */
public final class SealedConnection implements AutoCloseable {
    /** How many bytes go into a record. */
    public static final int RECORD_BYTES = 1 << 16;

    private static final int TAG_BYTES = 16;
    private static final int IV_BYTES = 12;
    private static final String ALGORITHM = "AES/GCM/NoPadding";

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final Seal sealing;
    private final Seal opening;
    private final byte[] outgoing = new byte[Integer.BYTES + RECORD_BYTES + TAG_BYTES];
    private final byte[] incoming = new byte[RECORD_BYTES + TAG_BYTES];
    private final byte[] plain = new byte[RECORD_BYTES + TAG_BYTES];
    private int position;
    private int filled;

    /** A direction's key and the number of its next record. */
    private static final class Seal {
        private final Key key;
        private final Cipher cipher;
        private long number;

        Seal(byte[] key) throws GeneralSecurityException {
            this.key = new SecretKeySpec(key, "AES");
            this.cipher = Cipher.getInstance(ALGORITHM);
        }

        int apply(int mode, byte[] source, int offset, int length, byte[] target, int to)
                throws GeneralSecurityException {
            byte[] iv = ByteBuffer.allocate(IV_BYTES).putLong(4, number++).array();
            cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, iv));
            return cipher.doFinal(source, offset, length, target, to);
        }
    }

    SealedConnection(Socket socket, DataInputStream in, byte[] sealKey, byte[] openKey) throws IOException {
        this.socket = socket;
        this.in = in;
        this.out = socket.getOutputStream();
        try {
            this.sealing = new Seal(sealKey);
            this.opening = new Seal(openKey);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks " + ALGORITHM + ", which every JDK has", e);
        }
    }

    /** After so long without a byte from the other end, reading fails with {@link java.net.SocketTimeoutException}. */
    public void silenceTimeoutMs(int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
    }

    /** Where the other end is. */
    public String remoteAddress() {
        return Addresses.text(socket.getInetAddress().getHostAddress(), socket.getPort());
    }

    /** Writes; what is up to {@link #RECORD_BYTES} is one record. */
    public void write(byte[] bytes, int offset, int length) throws IOException {
        for (int at = offset, left = length; left > 0; ) {
            int part = Math.min(left, RECORD_BYTES);
            try {
                int sealed = sealing.apply(Cipher.ENCRYPT_MODE, bytes, at, part, outgoing, Integer.BYTES);
                ByteBuffer.wrap(outgoing).putInt(sealed);
                out.write(outgoing, 0, Integer.BYTES + sealed);
            } catch (GeneralSecurityException e) {
                throw new IOException("a record cannot be sealed", e);
            }
            at += part;
            left -= part;
        }
    }

    /** Reads exactly so many bytes. */
    public void readFully(byte[] target, int offset, int length) throws IOException {
        readFully(MemorySegment.ofArray(target), offset, length);
    }

    /** Reads exactly so many bytes into memory. */
    public void readFully(MemorySegment target, long offset, long length) throws IOException {
        for (long at = offset, left = length; left > 0; ) {
            int part = (int) Math.min(left, available());
            MemorySegment.copy(plain, position, target, ValueLayout.JAVA_BYTE, at, part);
            position += part;
            at += part;
            left -= part;
        }
    }

    /** Reads so many bytes for nobody. */
    public void skip(long length) throws IOException {
        for (long left = length; left > 0; ) {
            int part = (int) Math.min(left, available());
            position += part;
            left -= part;
        }
    }

    private int available() throws IOException {
        while (position == filled) {
            int length = in.readInt();
            if (length <= TAG_BYTES || length > incoming.length) {
                throw new IOException("a record of " + Integer.toUnsignedString(length)
                        + " bytes is announced: expected " + (TAG_BYTES + 1) + " to " + incoming.length);
            }
            in.readFully(incoming, 0, length);
            try {
                filled = opening.apply(Cipher.DECRYPT_MODE, incoming, 0, length, plain, 0);
            } catch (GeneralSecurityException e) {
                throw new IOException("a record is not what the other end has sent: somebody has changed it", e);
            }
            position = 0;
        }
        return filled - position;
    }

    /** Sends bytes as one unit. */
    public void writeUnit(byte[] unit) throws IOException {
        byte[] framed = ByteBuffer.allocate(Integer.BYTES + unit.length)
                .putInt(unit.length)
                .put(unit)
                .array();
        write(framed, 0, framed.length);
    }

    /** Receives what {@link #writeUnit} has sent, of up to so many bytes. */
    public byte[] readUnit(int maxBytes) throws IOException {
        byte[] length = new byte[Integer.BYTES];
        readFully(length, 0, length.length);
        int bytes = ByteBuffer.wrap(length).getInt();
        if (bytes < 0 || bytes > maxBytes) {
            throw new IOException("a unit of " + Integer.toUnsignedString(bytes)
                    + " bytes is announced: expected at most " + maxBytes);
        }
        byte[] unit = new byte[bytes];
        readFully(unit, 0, bytes);
        return unit;
    }

    /** Ends the connection; who reads or writes gets an error. Idempotent. */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    @Override
    public String toString() {
        return "connection with " + remoteAddress();
    }
}
