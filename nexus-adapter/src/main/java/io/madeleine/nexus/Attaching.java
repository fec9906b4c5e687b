package io.madeleine.nexus;

import io.madeleine.nexus.wan.Credentials;
import io.madeleine.nexus.wan.Deadline;
import io.madeleine.nexus.wan.Handshake;
import io.madeleine.nexus.wan.Listener;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.NodeId;
import io.madeleine.nexus.wire.RequestLayout;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins contexts of separately started programs: listens, connects, and asks the {@link Approver}. After the
 * {@linkplain io.madeleine.nexus.wan.Handshake handshake}, in which both ends prove that they know the secret, they
 * exchange:
 *
 * <pre>
 * client -> server   greeting, ATTACH path                     or   greeting, PASS pass and id of the expected node
 * server -> client   accepted?, reason or greeting, startpoint      accepted?, reason or greeting
 * </pre>
 *
 * <p>Threading: thread-safe.
 */
final class Attaching implements NodeListener {
    static final String PURPOSE = "nexus wide area 2";
    private static final String SCHEME = "nexus";
    private static final int ADDRESSES = RequestLayout.id("addresses");
    private static final byte ATTACH = 1;
    private static final byte PASS = 2;

    private final Node node;
    private final List<AttachPoint> points = new CopyOnWriteArrayList<>();

    /** The places of {@link ContextOptions#maxAttached} that are free. */
    private final Semaphore places;

    private @Nullable Credentials credentials;

    Attaching(Node node) {
        this.node = node;
        this.places = new Semaphore(node.options().maxAttached());
        node.systemEndpoint()
                .nonThreaded(
                        "addresses",
                        (_, request) ->
                                WanRoutes.of(node.nodes().get(request.remote())).add(WanAddress.readAll(request)));
        node.add(this);
    }

    /** Created on first use: not every context connects to other sessions. */
    private synchronized Credentials credentials() {
        Credentials made = credentials;
        if (made == null) {
            made = new Credentials(
                    node.session().deriveKey(PURPOSE), node.options().tls().orElse(null));
            credentials = made;
        }
        return made;
    }

    // ---- listening

    AttachPoint allow(InetSocketAddress bind, List<String> hosts, Approver approver) {
        byte[] random = new byte[2 * Long.BYTES];
        new SecureRandom().nextBytes(random);
        long pass = ByteBuffer.wrap(random).getLong();
        long passRest = ByteBuffer.wrap(random).getLong(Long.BYTES);
        Listener listener;
        try {
            listener = new Listener(
                    bind,
                    credentials(),
                    node.options().connectTimeoutMs(),
                    connection -> welcome(connection, approver, pass, passRest));
        } catch (IOException e) {
            throw new AttachException(
                    "cannot listen for contexts at " + bind + ": " + e.getMessage()
                            + "; choose another port, or 0 for any",
                    e);
        }
        List<WanAddress> addresses = new ArrayList<>();
        for (String host : hosts) {
            addresses.add(new WanAddress(host, listener.port(), pass, passRest));
        }
        own().add(addresses);
        node.grants().begin();
        AttachPoint point = new AttachPoint(
                listener, addresses.stream().map(WanAddress::toString).toList());
        points.add(point);
        tellAddresses();
        return point;
    }

    /** The addresses where this process listens. */
    private WanRoutes own() {
        return WanRoutes.of(node.nodes().get(node.rank()));
    }

    /** Sends the addresses where this process listens to all nodes that it has a route to. */
    void tellAddresses() {
        Arguments arguments = new Arguments();
        WanAddress.writeAll(arguments, own().addresses());
        node.nodes().forEachOther(peer -> node.systemRequests().tell(peer, ADDRESSES, arguments));
    }

    /** Takes a place first: contexts that attach at once count, and the approver is asked only if there is room. */
    private void welcome(SealedConnection connection, Approver approver, long pass, long passRest) throws IOException {
        Request hello = Greeting.unit(node, connection.readUnit(Greeting.MAX_BYTES), node.rank());
        boolean hasPlace = places.tryAcquire();
        WanRoute route = null;
        try {
            route = admit(connection, hello, hasPlace, approver, pass, passRest);
        } finally {
            if (hasPlace && route == null) {
                left();
            }
        }
        if (route != null) {
            route.start();
        }
    }

    /** Answers a greeting; null if its sender is refused. */
    private @Nullable WanRoute admit(
            SealedConnection connection, Request hello, boolean hasPlace, Approver approver, long pass, long passRest)
            throws IOException {
        Greeting from;
        Startpoint given = null;
        String refusal = whyNoRoom(hasPlace);
        try {
            from = Greeting.read(Greeting.Side.CLIENT, connection.binding(), hello);
            if (hello.getByte() == ATTACH) {
                AttachRequest request = new AttachRequest(
                        hello.getString(),
                        connection.remoteAddress(),
                        from.id().session(),
                        from.id().rank());
                if (refusal.isEmpty()) {
                    given = ask(approver, request);
                    refusal = given == null ? "its approver has refused" : "";
                }
            } else {
                long half = hello.getLong();
                boolean isHolder = hello.getLong() == passRest && half == pass;
                NodeId meant = Greeting.readId(hello);
                refusal = !isHolder
                        ? "the startpoint is no longer valid: get a new one from its context"
                        : meant.equals(node.nodes().self()) ? "" : "another context listens there now";
            }
        } catch (NexusException e) {
            String why = "its greeting is not accepted: " + e.getMessage();
            connection.writeUnit(
                    Greeting.bytes(new Arguments().putBoolean(false).putText(why)));
            throw new IOException(why, e);
        }
        if (refusal.isEmpty()) {
            refusal = whyNoRoom(hasPlace); // the approver may have taken its time
        }
        if (!refusal.isEmpty()) {
            connection.writeUnit(
                    Greeting.bytes(new Arguments().putBoolean(false).putText(refusal)));
            connection.close();
            return null;
        }
        Peer peer = node.nodes().of(from.id());
        WanRoutes.of(peer).add(from.addresses());
        Arguments answer = new Arguments().putBoolean(true);
        Greeting.write(node, Greeting.Side.SERVER, connection.binding(), answer);
        connection.writeUnit(Greeting.bytes(answer));
        if (given != null) {
            connection.writeUnit(Greeting.bytes(new Arguments().putStartpoint(given)));
        }
        return new WanRoute(node, peer, connection, null, true);
    }

    private String whyNoRoom(boolean hasPlace) {
        if (node.refusesRequests()) {
            return "it is being closed";
        }
        return hasPlace
                ? ""
                : node.options().maxAttached()
                        + " contexts are attached to it, the most allowed (ContextOptions.maxAttached)";
    }

    @SuppressWarnings("IllegalCatch") // the approver is user code
    private @Nullable Startpoint ask(Approver approver, AttachRequest request) {
        try {
            Optional<Startpoint> given = approver.approve(request);
            return given.orElse(null);
        } catch (Throwable e) { // an Error, too: the other end must get an answer
            node.failures().approverFailed(request, e);
            return null;
        }
    }

    @Override
    public void routeLost(Peer peer, Route route, String why) {
        if (route instanceof WanRoute wan && wan.leavesPlace()) {
            left();
        }
    }

    /** Gives back the place of a connection that is refused, or lost. */
    private void left() {
        places.release();
    }

    // ---- connecting

    /** Attaches to the context that listens at the URL; returns the startpoint that its approver gives. */
    Startpoint attach(String url) {
        URI place = parse(url);
        String host = place.getHost();
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        String path = place.getPath() == null || place.getPath().isEmpty()
                ? ""
                : place.getPath().substring(1);
        int pathBytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (pathBytes >= RequestLayout.BULK_BYTES) {
            throw new IllegalArgumentException(
                    "a URL with a path of " + pathBytes + " bytes: expected less than " + RequestLayout.BULK_BYTES);
        }
        try {
            Consumer<Arguments> purpose = hello -> hello.putByte(ATTACH).putString(path);
            Answered<Startpoint> answered = connection -> {
                Greeting answer = answer(connection);
                Peer peer = node.nodes().of(answer.id());
                WanRoutes.of(peer).add(answer.addresses());
                byte[] given = connection.readUnit(Greeting.MAX_BYTES);
                Startpoint startpoint = Startpoint.read(Greeting.unit(node, given, peer.number()));
                if (peer.number() == node.rank()) {
                    connection.close(); // attached to itself: requests need no connection
                } else {
                    WanAddress used = known(peer, bare, place.getPort());
                    WanRoute route = new WanRoute(node, peer, connection, used, false);
                    WanRoutes.of(peer).connected(route);
                    route.start();
                }
                return startpoint;
            };
            return Connector.run(
                    () -> connectAndGreet(bare, place.getPort(), purpose, answered), Connector.NO_DEADLINE);
        } catch (SocketException | EOFException e) {
            // nothing listens there, or it has stopped, or it is another program
            String seen = e instanceof EOFException ? "the connection was closed at once" : WanReader.text(e);
            throw new AttachException(
                    "cannot attach to " + url + ": " + seen + "; expected a program there that listens"
                            + " at that port (Context.allowAttach)",
                    e);
        } catch (IOException | NexusException e) {
            throw new AttachException("cannot attach to " + url + ": " + WanReader.text(e), e);
        }
    }

    /** Adds the address just used to the peer's addresses, which may lack it: the peer may be behind a gateway. */
    private static @Nullable WanAddress known(Peer peer, String host, int port) {
        for (WanAddress told : WanRoutes.of(peer).addresses()) {
            WanAddress used = new WanAddress(host, port, told.pass(), told.passRest());
            WanRoutes.of(peer).add(List.of(used));
            return used;
        }
        return null;
    }

    private static URI parse(String url) {
        try {
            URI place = new URI(url);
            if (SCHEME.equals(place.getScheme()) && place.getHost() != null && place.getPort() > 0) {
                return place;
            }
        } catch (URISyntaxException _) {
            // the exception below says what is wrong
        }
        throw new IllegalArgumentException("\"" + url + "\": expected nexus://host:port or nexus://host:port/path");
    }

    /** Connects to a node to which this process holds a startpoint. */
    WanRoute connect(Peer peer, WanAddress address) throws IOException {
        Consumer<Arguments> purpose = hello -> {
            hello.putByte(PASS).putLong(address.pass()).putLong(address.passRest());
            Greeting.writeId(hello, peer.id());
        };
        return connectAndGreet(address.host(), address.port(), purpose, connection -> {
            Greeting answer = answer(connection);
            if (!answer.id().equals(peer.id())) {
                throw new IOException("another context listens there now: " + answer.id());
            }
            WanRoutes.of(peer).add(answer.addresses());
            return new WanRoute(node, peer, connection, address, false);
        });
    }

    /** Reads what the other end answers to a greeting, and makes use of the connection. */
    @FunctionalInterface
    private interface Answered<T> {
        T by(SealedConnection connection) throws IOException;
    }

    /** Connects, greets and has the answer read, all of it within the connect timeout. */
    private <T> T connectAndGreet(String host, int port, Consumer<Arguments> purpose, Answered<T> answered)
            throws IOException {
        node.grants().begin(); // the other end may call this context, too
        int timeoutMs = node.options().connectTimeoutMs();
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        SealedConnection connection = Handshake.connect(host, port, credentials(), timeoutMs);
        try (Deadline deadline = connection.closeAfter(Deadline.leftMs(untilNs, System.nanoTime()))) {
            try {
                Arguments hello = new Arguments();
                Greeting.write(node, Greeting.Side.CLIENT, connection.binding(), hello);
                purpose.accept(hello);
                connection.writeUnit(Greeting.bytes(hello));
                return answered.by(connection);
            } catch (IOException | RuntimeException | Error e) {
                connection.close();
                if (deadline.explains(e)) {
                    throw unanswered("it has not answered within " + timeoutMs + " ms", e);
                }
                throw e;
            }
        }
    }

    private static IOException unanswered(String seen, Throwable why) {
        return new IOException(
                seen + "; its approver may take longer than the connect timeout of either end"
                        + " (ContextOptions.withConnectTimeout)",
                why);
    }

    private Greeting answer(SealedConnection connection) throws IOException {
        Request answer = Greeting.unit(node, firstUnit(connection), node.rank());
        try {
            if (!answer.getBoolean()) {
                throw new IOException("refused: " + answer.getString());
            }
            return Greeting.read(Greeting.Side.SERVER, connection.binding(), answer);
        } catch (NexusException e) {
            throw new IOException("its greeting is not accepted: " + e.getMessage(), e);
        }
    }

    /** Reads the first answer, which comes when the other end's approver has decided. */
    private byte[] firstUnit(SealedConnection connection) throws IOException {
        try {
            return connection.readUnit(Greeting.MAX_BYTES);
        } catch (EOFException e) {
            throw unanswered("it has closed the connection without an answer", e);
        }
    }

    /** Listens no more. */
    @Override
    public void closing() {
        points.forEach(AttachPoint::close);
    }
}
