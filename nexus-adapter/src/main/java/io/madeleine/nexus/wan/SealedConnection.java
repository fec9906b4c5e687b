package io.madeleine.nexus.wan;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/**
 * A bidirectional byte stream between two processes that know the secret, over TLS 1.3: a third party can neither read
 * nor change, replay or drop bytes, and cannot decrypt a recording later, even with the secret.
 *
 * <p>Threading: one thread writes and one reads at a time.
 */
public final class SealedConnection implements AutoCloseable {
    /** The number of bytes to write at once, if there are as many. */
    public static final int RECORD_BYTES = 1 << 16;

    private static final int PLAIN_BYTES = 1 << 14;

    /**
     * The receive buffer towards a process of the same host, as for the connections of the module tcp: with the
     * system's own tuning the window may become smaller than one segment of the loopback. Linux then sends nothing
     * while the other way is busy.
     */
    private static final int WITHIN_HOST_RECEIVE_BYTES = 1 << 20;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final byte[] binding;
    private final byte[] plain = new byte[PLAIN_BYTES];
    private int position;
    private int filled;

    SealedConnection(Socket socket, SSLSocket tls, byte[] binding) throws IOException {
        this.socket = socket;
        this.in = tls.getInputStream();
        this.out = tls.getOutputStream();
        this.binding = binding;
        if (Addresses.isOfThisHost(socket.getInetAddress())) {
            socket.setReceiveBufferSize(WITHIN_HOST_RECEIVE_BYTES);
        }
    }

    /**
     * The bytes that name this connection, the same at both ends; a signature over them is valid for this connection
     * only.
     */
    public byte[] binding() {
        return binding.clone();
    }

    /**
     * Sets the time without a byte from the other end after which reading fails with {@link
     * java.net.SocketTimeoutException}.
     */
    public void silenceTimeoutMs(int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
    }

    /** Closes the connection after that time, even if data arrives meanwhile, unless the deadline is lifted before. */
    public Deadline closeAfter(int timeoutMs) {
        return new Deadline(socket, timeoutMs);
    }

    /** The address of the other end, {@code host:port}. */
    public String remoteAddress() {
        return Addresses.text(socket.getInetAddress().getHostAddress(), socket.getPort());
    }

    /**
     * Writes bytes.
     *
     * <p>Ownership: the array stays the caller's.
     */
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    /** Reads exactly {@code length} bytes. */
    public void readFully(byte[] target, int offset, int length) throws IOException {
        readFully(MemorySegment.ofArray(target), offset, length);
    }

    /**
     * Reads exactly {@code length} bytes into memory.
     *
     * <p>Ownership: the memory stays the caller's.
     */
    public void readFully(MemorySegment target, long offset, long length) throws IOException {
        for (long at = offset, left = length; left > 0; ) {
            int part = (int) Math.min(left, available());
            MemorySegment.copy(plain, position, target, ValueLayout.JAVA_BYTE, at, part);
            position += part;
            at += part;
            left -= part;
        }
    }

    /** Reads and drops {@code length} bytes. */
    public void skip(long length) throws IOException {
        for (long left = length; left > 0; ) {
            int part = (int) Math.min(left, available());
            position += part;
            left -= part;
        }
    }

    private int available() throws IOException {
        if (position == filled) {
            position = 0;
            filled = 0;
            try {
                filled = Math.max(0, in.read(plain));
            } catch (SSLException e) {
                if (e.getCause() instanceof SocketException lost) {
                    throw lost;
                }
                throw new IOException("a TLS record is not as the other end has sent it: it was changed in transit", e);
            }
            if (filled == 0) {
                throw new EOFException();
            }
        }
        return filled - position;
    }

    /** Writes bytes as one unit, behind their length. */
    public void writeUnit(byte[] unit) throws IOException {
        byte[] framed = ByteBuffer.allocate(Integer.BYTES + unit.length)
                .putInt(unit.length)
                .put(unit)
                .array();
        write(framed, 0, framed.length);
    }

    /**
     * Reads a unit that {@link #writeUnit} has written.
     *
     * @throws IOException if it is longer than {@code maxBytes}
     */
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

    /**
     * Closes the socket at once, without a TLS close message, for which a blocked writer could make it wait. Threads
     * that read or write get an error. Idempotent.
     */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException _) {
            // it counts as closed
        }
    }

    @Override
    public String toString() {
        return "connection with " + remoteAddress();
    }
}
