package io.madeleine.tm.tcp;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The initiator's attempts to make one connection: each address of the peer in turn, and again after a pause while that
 * can help, until the deadline.
 *
 * <p>Threading: confined to the event loop.
 */
final class Call implements CallingHandshake.Caller {
    private static final long PAUSE_MS = 50;

    private final TcpAdapter adapter;
    private final TcpChannel owner;
    private final ConnectionRequest request;
    private final CompletableFuture<ProtocolConnection> future;
    private final EventLoop loop;
    private List<InetSocketAddress> places = List.of();
    private int next;
    private @Nullable Channel channel;
    private String lastFailure = "nothing was tried";

    Call(
            TcpAdapter adapter,
            TcpChannel owner,
            ConnectionRequest request,
            CompletableFuture<ProtocolConnection> future) {
        this.adapter = adapter;
        this.owner = owner;
        this.request = request;
        this.future = future;
        this.loop = adapter.loop();
    }

    void begin(List<InetSocketAddress> resolved) {
        places = resolved;
        loop.schedule(this::expired, request.deadlineNs() - System.nanoTime(), TimeUnit.NANOSECONDS);
        tryNext();
    }

    private void tryNext() {
        if (future.isDone()) {
            return;
        }
        InetSocketAddress place = places.get(next++ % places.size());
        lastFailure = place + " does not answer";
        if (place.isUnresolved()) {
            failed("the host name " + place.getHostString() + " is unknown here", false);
            return;
        }
        ChannelFuture connecting = adapter.connect(
                place,
                new CallingHandshake(
                        adapter.context().secret(),
                        join(),
                        adapter.config().handshake().timeoutNs(),
                        adapter.tlsForCall(),
                        this));
        channel = connecting.channel();
        connecting.addListener(made -> {
            if (!made.isSuccess()) {
                boolean nobodyListens = made.cause() instanceof ConnectException
                        && !(made.cause() instanceof ConnectTimeoutException) // there may be no room for the moment
                        && next >= places.size();
                failed(String.valueOf(made.cause().getMessage()), nobodyListens);
            }
        });
    }

    private Handshake.Join join() {
        return new Handshake.Join(
                adapter.context().sessionId(),
                owner.name(),
                adapter.context().self(),
                request.peer(),
                request.tableDigest());
    }

    @Override
    public void challenged() {
        lastFailure = "the peer does not ask for it from its side";
    }

    @Override
    public void accepted(CallingHandshake handshake) {
        owner.callEnded(this);
        if (!future.isDone()) {
            adapter.establish(handshake, new Lobby.Wish(owner, request, future));
        }
    }

    @Override
    public void failed(String reason, boolean decided) {
        lastFailure = reason;
        if (decided) {
            giveUp(reason);
        } else if (next % places.size() != 0) {
            loop.execute(this::tryNext);
        } else {
            loop.schedule(this::tryNext, PAUSE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void expired() {
        giveUp("the deadline has come, and " + lastFailure
                + "; is the channel configured on network tcp in both processes?");
    }

    /** Ends the attempts. */
    void giveUp(String reason) {
        owner.callEnded(this);
        boolean failed = future.completeExceptionally(new SessionException("tcp: connection of channel \""
                + owner.name() + "\" with process " + request.peer() + " at " + request.peerAddress()
                + " failed (this side calls): " + reason));
        Channel open = channel;
        if (failed && open != null) {
            open.close();
        }
    }
}
