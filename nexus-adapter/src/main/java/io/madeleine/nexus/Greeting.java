package io.madeleine.nexus;

import java.util.List;

/**
 * What two contexts tell each other when they connect: who they are and where they listen.
 *
 * @param id who speaks
 * @param addresses where it listens
 */
record Greeting(NodeId id, List<WanAddress> addresses) {
    /** Of any unit of the greeting. */
    static final int MAX_BYTES = 1 << 16;

    void write(Arguments arguments) {
        writeId(arguments, id);
        WanAddress.writeAll(arguments, addresses);
    }

    static Greeting read(Request request) {
        return new Greeting(readId(request), WanAddress.readAll(request));
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
