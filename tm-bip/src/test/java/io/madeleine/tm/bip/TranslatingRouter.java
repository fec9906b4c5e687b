package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.InternetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/** Carries datagrams between one process inside and one outside, which sees only the router's address. */
final class TranslatingRouter implements AutoCloseable {
    private final ByteBuffer datagram = ByteBuffer.allocate(65_536);
    private final Selector selector = Selector.open();
    private final InetSocketAddress outsider;
    private final DatagramChannel inner = open();
    private final Thread thread = new Thread(this::run, "router");
    private volatile DatagramChannel outer = open();
    private volatile boolean closed;
    private volatile Consumer<byte[]> eye = _ -> {};
    private SocketAddress insider = new InetSocketAddress(0);

    TranslatingRouter(String outsider) throws IOException {
        this.outsider = InternetAddress.parse(outsider, "bip").resolve().getFirst();
        thread.start();
    }

    private DatagramChannel open() throws IOException {
        DatagramChannel opened = DatagramChannel.open();
        opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        opened.configureBlocking(false);
        return opened;
    }

    /** Where the process inside finds the one outside, as the address of an adapter. */
    String address() throws IOException {
        return InternetAddress.of((InetSocketAddress) inner.getLocalAddress(), "auto")
                .toString();
    }

    /** Shows all datagrams to somebody, who may change them. */
    void show(Consumer<byte[]> to) {
        eye = to;
    }

    /** Sends datagrams of somebody else in the name of the processes: to the one inside, or to the one outside. */
    void inject(byte[] bytes, boolean isInward) {
        try {
            if (isInward) {
                inner.send(ByteBuffer.wrap(bytes), insider);
            } else {
                outer.send(ByteBuffer.wrap(bytes), outsider);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** From now on the process inside has another port; what is sent to the old one is lost. */
    void translateAnew() throws IOException {
        DatagramChannel old = outer;
        outer = open();
        old.close();
    }

    private void run() {
        try {
            while (!closed) {
                boolean moved = false;
                DatagramChannel translated = outer;
                for (SocketAddress from = take(inner); from != null; from = take(inner)) {
                    insider = from;
                    translated.send(datagram, outsider);
                    moved = true;
                }
                for (SocketAddress from = take(translated); from != null; from = take(translated)) {
                    inner.send(datagram, insider);
                    moved = true;
                }
                if (!moved) {
                    selector.select(1);
                }
            }
        } catch (java.nio.channels.ClosedChannelException _) {
            if (!closed) {
                run(); // the old port was closed in between
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private SocketAddress take(DatagramChannel from) throws IOException {
        datagram.clear();
        SocketAddress found = from.receive(datagram);
        datagram.flip();
        if (found != null) {
            byte[] bytes = new byte[datagram.remaining()];
            datagram.get(bytes);
            eye.accept(bytes);
            datagram.clear().put(bytes).flip();
        }
        return found;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        selector.close();
        inner.close();
        outer.close();
    }
}
