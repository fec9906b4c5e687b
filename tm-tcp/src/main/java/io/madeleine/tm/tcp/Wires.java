package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.io.EpollWire;
import io.madeleine.tm.tcp.io.NioWire;
import io.madeleine.tm.tcp.io.PipelineWire;
import io.madeleine.tm.tcp.io.Wire;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.madeleine.tm.tcp.tls.TlsBuffers;
import io.madeleine.tm.tcp.tls.TlsWire;
import io.netty.channel.Channel;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.unix.UnixChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Creates wires from Netty channels after the handshake. Threading: confined to the event loop. */
final class Wires {
    private Wires() {}

    /**
     * Takes the channel out of its handshake pipeline. Called in the loop.
     *
     * @return a future of the wire
     */
    static Future<Wire> takeOver(HandshakeHandler handshake, NettyReactor reactor, TlsBuffers buffers) {
        Promise<Wire> promise = reactor.channels().newPromise();
        Channel channel = handshake.channel();
        SSLEngine engine = handshake.takeEngine();
        if (reactor.io() == IoTransport.IO_URING) {
            PipelineWire wire = new PipelineWire(channel);
            handshake.replaceBy(wire);
            return promise.setSuccess(secured(wire, engine, handshake, buffers));
        }
        channel.deregister().addListener(left -> {
            try {
                if (!left.isSuccess()) {
                    throw new IOException(left.cause());
                }
                promise.setSuccess(secured(direct(channel, reactor), engine, handshake, buffers));
            } catch (IOException | RuntimeException | Error e) {
                ReferenceCountUtil.release(engine);
                promise.setFailure(e);
            }
        });
        return promise;
    }

    private static Wire secured(Wire wire, @Nullable SSLEngine engine, HandshakeHandler handshake, TlsBuffers buffers) {
        return engine == null ? wire : new TlsWire(wire, engine, buffers, handshake.undecrypted());
    }

    private static Wire direct(Channel channel, NettyReactor reactor) {
        if (reactor.io() == IoTransport.EPOLL) {
            return new EpollWire(((UnixChannel) channel).fd(), reactor.loop());
        }
        AbstractNioChannel.NioUnsafe access = (AbstractNioChannel.NioUnsafe) channel.unsafe();
        return new NioWire((SocketChannel) access.ch(), reactor);
    }
}
