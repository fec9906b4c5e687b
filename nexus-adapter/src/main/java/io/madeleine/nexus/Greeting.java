package io.madeleine.nexus;

import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.KeyTree;
import io.madeleine.nexus.wire.NodeId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The greeting that two contexts exchange when they connect: identity, proof of it, and listening addresses. The proof
 * is a signature over the name of this connection and the identity, by the key that the session's name proves to be
 * that rank's ({@link KeyTree}).
 *
 * @param id the identity of the sender
 * @param addresses the addresses where the sender listens
 */
record Greeting(NodeId id, List<WanAddress> addresses) {
    /** The largest length of each unit of the greeting, in bytes. */
    static final int MAX_BYTES = 1 << 16;

    private static final String PURPOSE = "nexus wide area 1 ";

    /** The end of a connection. It is part of the signed text, so that neither end can reuse the other's signature. */
    enum Side {
        CLIENT,
        SERVER
    }

    /**
     * Writes this process's greeting.
     *
     * @param binding the bytes that name the connection
     */
    static void write(Node node, Side side, byte[] binding, Arguments arguments) {
        NodeId self = node.nodes().self();
        writeId(arguments, self);
        arguments
                .putInt(node.size())
                .putBytes(node.session().publicKey(node.rank()))
                .putBytes(node.nodes().keyTree().path(node.rank()))
                .putBytes(node.session().sign(PURPOSE + side, signed(binding, self)));
        WanAddress.writeAll(
                arguments, WanRoutes.of(node.nodes().get(node.rank())).addresses());
    }

    /**
     * Reads the other end's greeting.
     *
     * @throws NexusException if it is malformed, or if its proof of identity is wrong
     */
    static Greeting read(Side side, byte[] binding, Request request) {
        NodeId id = readId(request);
        int size = request.getInt();
        byte[] key = request.getBytes();
        byte[] path = request.getBytes();
        byte[] signature = request.getBytes();
        if (!KeyTree.has(id.session(), size, id.rank(), key, path)
                || !KeyTree.isSigned(key, PURPOSE + side, signed(binding, id), signature)) {
            throw new NexusException(
                    "it says that it is " + id + ", and cannot prove it: expected a signature by the key"
                            + " of that rank, which its session's name shows");
        }
        return new Greeting(id, WanAddress.readAll(request));
    }

    private static byte[] signed(byte[] binding, NodeId id) {
        byte[] text = id.toString().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(binding.length + text.length)
                .put(binding)
                .put(text)
                .array();
    }

    static void writeId(Arguments arguments, NodeId id) {
        arguments.putString(id.session()).putString(id.channel()).putInt(id.rank());
    }

    static NodeId readId(Request request) {
        return new NodeId(request.getString(), request.getString(), request.getInt());
    }

    /** Makes a request of the received bytes, as if {@code from} had sent it. */
    static Request unit(Node node, byte[] bytes, int from) {
        Request request = new Request(node);
        request.begin(Bytes.of(bytes), 0, bytes.length, from);
        return request;
    }

    static byte[] bytes(Arguments arguments) {
        if (arguments.hasBulks()) {
            throw new IllegalArgumentException("a greeting has no large arguments");
        }
        return ArgumentCopies.inline(arguments);
    }
}
