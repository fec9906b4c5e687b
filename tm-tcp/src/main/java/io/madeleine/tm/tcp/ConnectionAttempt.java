package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.PendingConnection;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The initiator's attempts to make one connection. It tries each address of the peer in turn, and repeats that after a
 * pause as long as it can help, until the deadline.
 *
 * <p>Threading: confined to the event loop.
 */
final class ConnectionAttempt implements HandshakeHandler.Caller {
    private static final long PAUSE_MS = 50;

    private final TcpAdapter adapter;
    private final PendingConnection wanted;
    private List<InetSocketAddress> places = List.of();
    private String hint = "";
    private int next;
    private @Nullable Channel channel;

    ConnectionAttempt(TcpAdapter adapter, PendingConnection wanted) {
        this.adapter = adapter;
        this.wanted = wanted;
    }

    @Override
    public PendingConnection wanted() {
        return wanted;
    }

    /**
     * Begins.
     *
     * @param ifSilent what error texts add if nobody answers at the peer's address
     */
    void begin(List<InetSocketAddress> resolved, String ifSilent) {
        places = resolved;
        hint = ifSilent;
        tryNext();
    }

    private void tryNext() {
        if (wanted.isDone()) {
            return;
        }
        InetSocketAddress place = places.get(next++ % places.size());
        wanted.note(place + " does not answer" + hint);
        if (place.isUnresolved()) {
            failed("the host name " + place.getHostString() + " cannot be resolved here", false);
            return;
        }
        ChannelFuture connecting = adapter.connect(place, new HandshakeHandler(adapter, adapter.tlsForCall(), this));
        channel = connecting.channel();
        connecting.addListener(made -> {
            if (!made.isSuccess()) {
                boolean nobodyListens = made.cause() instanceof ConnectException
                        && !(made.cause() instanceof ConnectTimeoutException) // the backlog may be full
                        && next >= places.size();
                failed(made.cause().getMessage() + hint, nobodyListens);
            }
        });
    }

    @Override
    public void failed(String reason, boolean decided) {
        wanted.note(reason);
        if (decided) {
            boolean _ = wanted.fail(reason);
        } else if (next % places.size() != 0) {
            adapter.loop().execute(this::tryNext);
        } else {
            adapter.loop().schedule(this::tryNext, PAUSE_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** Ends the attempt under way, if there is one. */
    void giveUp() {
        Channel open = channel;
        if (open != null) {
            open.close();
        }
    }
}
