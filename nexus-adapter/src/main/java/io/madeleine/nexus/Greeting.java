package io.madeleine.nexus;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What two contexts tell each other when they connect: who they are, the proof of it, and where they listen. The proof is a
 * signature over what names this connection, by the key that the session's name shows to be that rank's ({@link Roster}).
 *
 * @param id who speaks
 * @param addresses where it listens
 */
record Greeting(NodeId id, List<WanAddress> addresses) {
    /** Of any unit of the greeting. */
    static final int MAX_BYTES = 1 << 16;

    private static final String PURPOSE = "nexus wide area 1 ";

    /** Which end of a connection speaks: what one has signed is of no use to the other. */
    enum Side {
        CLIENT,
        SERVER
    }

    /**
     * This process's greeting on a connection.
     *
     * @param binding what names the connection
     */
    static void write(Node node, Side side, byte[] binding, Arguments arguments) {
        NodeId self = node.nodes().self();
        writeId(arguments, self);
        arguments
                .putInt(node.size())
                .putBytes(node.session().publicKey(node.rank()))
                .putBytes(node.nodes().roster().path(node.rank()))
                .putBytes(node.session().sign(PURPOSE + side, signed(binding, self)));
        WanAddress.writeAll(arguments, node.nodes().get(node.rank()).routes().addresses());
    }

    /**
     * What the other end has written.
     *
     * @throws NexusException if it is none, or who speaks cannot prove who it is
     */
    static Greeting read(Side side, byte[] binding, Request request) {
        NodeId id = readId(request);
        int size = request.getInt();
        byte[] key = request.getBytes();
        byte[] path = request.getBytes();
        byte[] signature = request.getBytes();
        if (!Roster.has(id.session(), size, id.rank(), key, path)
                || !Roster.isSigned(key, PURPOSE + side, signed(binding, id), signature)) {
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

    /** What has come, from that node. */
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
