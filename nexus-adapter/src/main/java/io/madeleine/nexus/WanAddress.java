package io.madeleine.nexus;

import java.util.ArrayList;
import java.util.List;

/**
 * An address where a context listens for holders of its startpoints, with the pass that admits them.
 *
 * @param host a name or address
 * @param port the TCP port
 * @param pass half of the pass: 16 random bytes that only holders of startpoints know
 * @param passRest the other half
 */
record WanAddress(String host, int port, long pass, long passRest) {
    /** The largest number of addresses of a context. */
    static final int MAX_COUNT = 16;

    private static final int MAX_LENGTH = 255;

    WanAddress {
        if (host.isEmpty() || host.length() > MAX_LENGTH || port < 1 || port > 65_535) {
            throw new NexusException("an address with port " + port + " and a host of " + host.length()
                    + " characters: expected 1 to 65535, and 1 to " + MAX_LENGTH);
        }
    }

    void write(Arguments arguments) {
        arguments.putString(host).putInt(port).putLong(pass).putLong(passRest);
    }

    static WanAddress read(Request request) {
        return new WanAddress(request.getString(), request.getInt(), request.getLong(), request.getLong());
    }

    static void writeAll(Arguments arguments, List<WanAddress> table) {
        arguments.putByte((byte) table.size());
        table.forEach(address -> address.write(arguments));
    }

    static List<WanAddress> readAll(Request request) {
        int count = request.getByte();
        if (count < 0 || count > MAX_COUNT) {
            throw new NexusException(
                    "a table of " + count + " communication methods is announced: expected up to " + MAX_COUNT);
        }
        List<WanAddress> table = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            table.add(read(request));
        }
        return table;
    }

    /** Host and port in the form of a URL. */
    String place() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** The URL, without the pass. */
    @Override
    public String toString() {
        return "nexus://" + place();
    }
}
