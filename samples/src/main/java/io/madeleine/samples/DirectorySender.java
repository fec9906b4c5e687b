package io.madeleine.samples;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Sends a directory tree from rank 0 to rank 1. Files of any size travel block by block through one reused block of
 * session memory. The receiver compares the SHA-256 digest of the bytes it wrote with that of the bytes the sender
 * read. It checks each name before it creates anything, so no file can leave the target directory. The sender skips
 * links and special files.
 *
 * <pre>
 * ./mad run -n 2 samples/src/main/java/io/madeleine/samples/DirectorySender.java conf /tmp/copy
 *
 * [0] sent N files, N directories, N bytes; rank 1 confirms
 * [1] received N files, N directories, N bytes; all digests agree
 * </pre>
 *
 * <p>The protocol: a directory is one message (kind, name, 0). A file is a header message (kind, name, size), one
 * message per block of at most 1 MiB, and a message with the digest. A message of kind END ends the stream; rank 1
 * answers it with its counts.
 */
public final class DirectorySender {
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int MAX_NAME_BYTES = 4096;
    private static final int DIGEST_BYTES = 32;
    private static final byte DIRECTORY = 1;
    private static final byte FILE = 2;
    private static final byte END = 3;

    private final Channel channel;
    private final MemorySegment block;
    private final ByteBuffer buffer;
    private long files;
    private long directories;
    private long bytes;

    private DirectorySender(Channel channel) {
        this.channel = channel;
        this.block = channel.session().allocate(BLOCK_BYTES);
        this.buffer = block.asByteBuffer();
    }

    /** Rank 0 sends the first directory, rank 1 writes into the second. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("expected two arguments: SOURCE-DIRECTORY TARGET-DIRECTORY");
        }
        try (Session session = Session.open()) {
            if (session.size() != 2) {
                throw new IllegalArgumentException("expected 2 processes (mad run -n 2), found " + session.size());
            }
            DirectorySender self = new DirectorySender(session.channel());
            if (session.rank() == 0) {
                self.send(Path.of(arguments[0]));
            } else {
                self.receive(Path.of(arguments[1]));
            }
        }
    }

    private void send(Path source) throws IOException {
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                if (!directory.equals(source)) {
                    sendHeader(DIRECTORY, portableName(source.relativize(directory)), 0);
                    directories++;
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    sendFile(file, portableName(source.relativize(file)));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        sendHeader(END, "", 0);
        try (IncomingMessage message = channel.beginUnpacking()) {
            long receivedFiles = message.unpackLong();
            long receivedBytes = message.unpackLong();
            message.endUnpacking();
            boolean same = receivedFiles == files && receivedBytes == bytes;
            System.out.println("sent " + counts() + "; rank 1 " + (same ? "confirms" : "DISAGREES"));
        }
    }

    private void sendFile(Path file, String name) throws IOException {
        MessageDigest digest = sha256();
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = in.size();
            sendHeader(FILE, name, size);
            for (long left = size; left > 0; left -= buffer.limit()) {
                buffer.clear().limit((int) Math.min(left, BLOCK_BYTES));
                while (buffer.hasRemaining()) {
                    if (in.read(buffer) < 0) {
                        throw new IOException(file + " has become shorter while it was read");
                    }
                }
                digest.update(buffer.flip());
                try (OutgoingMessage message = channel.beginPacking(1)) {
                    message.pack(block, 0, buffer.limit(), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    message.endPacking(); // from here on the block may be overwritten
                }
            }
            files++;
            bytes += size;
        }
        try (OutgoingMessage message = channel.beginPacking(1)) {
            message.pack(digest.digest(), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            message.endPacking();
        }
    }

    private void sendHeader(byte kind, String name, long size) {
        try (OutgoingMessage message = channel.beginPacking(1)) {
            message.packByte(kind).packUtf8(name).packLong(size);
            message.endPacking();
        }
    }

    private void receive(Path target) throws IOException {
        Files.createDirectories(target);
        Path root = target.toRealPath();
        while (true) {
            byte kind;
            String name;
            long size;
            try (IncomingMessage message = channel.beginUnpacking()) {
                kind = message.unpackByte();
                name = message.unpackUtf8(MAX_NAME_BYTES);
                size = message.unpackLong();
                message.endUnpacking();
            }
            switch (kind) {
                case DIRECTORY -> {
                    Files.createDirectories(inside(root, name));
                    directories++;
                }
                case FILE -> receiveFile(inside(root, name), size);
                case END -> {
                    confirm();
                    return;
                }
                default -> throw new IOException("expected a message of kind 1 to 3, found " + kind);
            }
        }
    }

    private void receiveFile(Path file, long size) throws IOException {
        MessageDigest digest = sha256();
        try (FileChannel out = FileChannel.open(
                file,
                StandardOpenOption.WRITE,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                LinkOption.NOFOLLOW_LINKS)) {
            for (long left = size; left > 0; left -= buffer.limit()) {
                buffer.clear().limit((int) Math.min(left, BLOCK_BYTES));
                try (IncomingMessage message = channel.beginUnpacking()) {
                    message.unpack(block, 0, buffer.limit(), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    message.endUnpacking();
                }
                digest.update(buffer);
                buffer.flip();
                while (buffer.hasRemaining()) {
                    out.write(buffer);
                }
            }
        }
        byte[] expected = new byte[DIGEST_BYTES];
        try (IncomingMessage message = channel.beginUnpacking()) {
            message.unpack(expected, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            message.endUnpacking();
        }
        if (!MessageDigest.isEqual(expected, digest.digest())) {
            throw new IOException(file + " is not what was sent: its SHA-256 digest differs");
        }
        files++;
        bytes += size;
    }

    private void confirm() {
        try (OutgoingMessage message = channel.beginPacking(0)) {
            message.packLong(files).packLong(bytes);
            message.endPacking();
        }
        System.out.println("received " + counts() + "; all digests agree");
    }

    private String counts() {
        return files + " files, " + directories + " directories, " + bytes + " bytes";
    }

    /** The relative path with slashes, independent of the system's separator. */
    private static String portableName(Path relative) {
        StringBuilder name = new StringBuilder();
        relative.forEach(part -> name.append(name.isEmpty() ? "" : "/").append(part));
        return name.toString();
    }

    /**
     * Resolves a name from the network below {@code root}.
     *
     * @throws IOException if the result would lie outside, also through an existing link
     */
    static Path inside(Path root, String name) throws IOException {
        Path path = root;
        for (String part : name.split("/", -1)) {
            if (part.isEmpty()
                    || part.equals(".")
                    || part.equals("..")
                    || part.indexOf('\\') >= 0
                    || part.indexOf('\0') >= 0) {
                throw new IOException("the name \"" + name + "\" is refused: it could leave the target directory");
            }
            if (Files.isSymbolicLink(path)) {
                throw new IOException("the name \"" + name + "\" is refused: " + path + " is a link");
            }
            path = path.resolve(part);
        }
        if (!path.normalize().startsWith(root) || path.equals(root)) {
            throw new IOException("the name \"" + name + "\" is refused: it leaves the target directory");
        }
        return path;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
