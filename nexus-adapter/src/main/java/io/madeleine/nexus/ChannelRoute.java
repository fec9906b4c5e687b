package io.madeleine.nexus;

import io.madeleine.am.FailedMessage;
import io.madeleine.am.QueuedMessage;
import io.madeleine.am.SendQueue;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Signal;
import io.madeleine.nexus.wire.Link;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The route to another process of the session, over a channel. A thread that may wait sends and waits. A non-threaded
 * handler must not wait: it sends if the connection is free, and otherwise leaves the request in a bounded queue, which
 * is emptied when the connection takes more. When the route is lost, queued requests take another route.
 *
 * <p>Threading: thread-safe.
 */
final class ChannelRoute extends Route {
    /** The estimated overhead of a queued request, in bytes. */
    private static final long ENTRY_BYTES = 160;

    private final Channel channel;
    private final int rank;
    private final Signal signal;
    private final SendQueue queue;

    private final FailedMessage failed = new FailedMessage();

    private enum Attempt {
        SENT,
        BUSY,
        LOST
    }

    /** A request that a handler has queued; its large arguments are lent meanwhile. */
    private final class Queued implements QueuedMessage {
        private final Link link;
        private final int handler;
        private final Arguments arguments;
        private final @Nullable Arguments owner;
        private final String[] methods;
        private final long bytes;

        Queued(Link link, int handler, Arguments arguments, String[] methods, long bytes) {
            this.link = link;
            this.handler = handler;
            this.arguments = ArgumentCopies.ofSmall(arguments);
            this.owner = arguments.hasBulks() ? arguments : null;
            this.methods = methods;
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void pack(OutgoingMessage message) {
            arguments.pack(message, link.endpoint(), handler);
        }

        @Override
        public void sent(Completion completion) {
            if (owner != null) {
                completion.onDone(owner::takenBack);
            }
        }

        @Override
        public void failed(RuntimeException why) {
            node.failures().sendFailed(rank, why);
            over();
        }

        @Override
        public void lost() {
            try {
                peer.sendAnotherWay(arguments, link, handler, methods);
            } catch (RuntimeException e) { // the memory of an argument was closed meanwhile, for instance
                node.failures().sendFailed(rank, e);
            }
            over();
        }

        private void over() {
            if (owner != null) {
                owner.takenBack();
            }
        }
    }

    ChannelRoute(Node node, Peer peer, Channel channel, int rank, Signal signal) {
        super(node, peer);
        this.channel = channel;
        this.rank = rank;
        this.signal = signal;
        this.queue = new SendQueue(channel, rank, node.options().maxQueuedBytes(), this::nothingIsQueued, this::lose);
    }

    private void nothingIsQueued() {
        signal.signal();
        node.wayIsFree(peer);
    }

    @Override
    Signal newSignal() {
        return channel.newSignal();
    }

    @Override
    int rank() {
        return rank;
    }

    @Override
    String name() {
        return "mad/" + channel.network(rank);
    }

    @Override
    String address() {
        return "channel " + channel.name();
    }

    @Override
    boolean isMeantBy(String word) {
        return word.equals("mad") || word.equals("mad:" + channel.name()) || super.isMeantBy(word);
    }

    @Override
    void afterLoss(String why) {
        queue.lost();
    }

    @Override
    @Nullable
    String whyDisconnected() {
        String why = lost();
        if (why != null || channel.isConnected(rank)) {
            return why;
        }
        try {
            // never present: not connected; throws with the reason
            channel.tryBeginPacking(rank).ifPresent(OutgoingMessage::close);
        } catch (PeerFailedException e) {
            return String.valueOf(e.getMessage());
        } catch (MadeleineException _) {
            // the session is being closed, for instance
        }
        return "its process has ended, or the connection is lost";
    }

    @Override
    boolean isDrained() {
        return queue.isEmpty();
    }

    @Override
    boolean send(Arguments arguments, Link link, int handler) {
        if (lost() != null) {
            return false;
        }
        return queue.isEmpty() ? sendHere(arguments, link, handler) : sendInTurn(arguments, link, handler);
    }

    /** Sends behind the requests that are queued already. */
    private boolean sendInTurn(Arguments arguments, Link link, int handler) {
        boolean[] sent = new boolean[1];
        queue.inTurn(arguments.sendByNs(), () -> sent[0] = lost() == null && sendHere(arguments, link, handler));
        return sent[0];
    }

    private boolean sendHere(Arguments arguments, Link link, int handler) {
        OutgoingMessage message;
        try {
            failed.close();
            if (arguments.trySend(channel, rank, link.endpoint(), handler)) {
                return true;
            }
            message = channel.beginPackingUntil(rank, arguments.sendByNs());
        } catch (PeerFailedException e) {
            lose(String.valueOf(e.getMessage()));
            return false;
        }
        try {
            arguments.pack(message, link.endpoint(), handler);
            message.endPacking();
        } catch (RuntimeException | Error e) {
            failed.message = message;
            failed.close();
            throw e;
        }
        message.close();
        return true;
    }

    /** Sends a goodbye although the route is lost, since the peer has said goodbye first. */
    void answerGoodbye(Arguments goodbye) {
        boolean _ = sendHere(goodbye, Link.SYSTEM, SystemRequests.GOODBYE);
    }

    @Override
    boolean sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        if (lost() != null) {
            return false;
        }
        Attempt attempt = queue.isEmpty() ? trySend(arguments, link, handler) : Attempt.BUSY;
        if (attempt == Attempt.BUSY) {
            enqueue(arguments, link, handler, methods);
        }
        return attempt != Attempt.LOST;
    }

    /**
     * What a request takes of the queue. Its large arguments never take more than all: one of them that is larger has
     * room when nothing else is queued.
     */
    private long queuedBytes(Arguments arguments) {
        long least = ENTRY_BYTES + arguments.inlineBytes();
        return Math.max(
                least,
                Math.min(ENTRY_BYTES + arguments.byteSize(), node.options().maxQueuedBytes()));
    }

    private void enqueue(Arguments arguments, Link link, int handler, String[] methods) {
        long bytes = queuedBytes(arguments);
        if (!queue.claim(bytes)) {
            throw new OverloadedException("rank " + rank + " receives too slowly: "
                    + queue.bytes() + " bytes of requests to it wait at rank " + node.rank()
                    + " already, expected at most "
                    + node.options().maxQueuedBytes() + " (ContextOptions.maxQueuedBytes)");
        }
        failed.close();
        Queued queued = new Queued(link, handler, arguments, methods, bytes);
        if (arguments.hasBulks()) {
            arguments.lend();
        }
        queue.add(queued);
    }

    /** Sends a message if the connection is free. Large arguments may stay in use beyond this call. */
    private Attempt trySend(Arguments arguments, Link link, int handler) {
        Optional<OutgoingMessage> begun;
        try {
            failed.close();
            if (arguments.trySend(channel, rank, link.endpoint(), handler)) {
                return Attempt.SENT;
            }
            begun = channel.tryBeginPacking(rank);
        } catch (PeerFailedException e) {
            lose(String.valueOf(e.getMessage()));
            return Attempt.LOST;
        }
        if (begun.isEmpty()) {
            return Attempt.BUSY;
        }
        OutgoingMessage message = begun.get();
        Completion sent;
        try {
            arguments.pack(message, link.endpoint(), handler);
            sent = message.endPackingAsync();
        } catch (RuntimeException | Error e) {
            failed.message = message;
            failed.close();
            throw e;
        }
        if (arguments.hasBulks() && !sent.isDone()) {
            arguments.lend();
            sent.onDone(arguments::takenBack);
        }
        message.close(); // the object may serve another message once this one has ended
        return Attempt.SENT;
    }

    @Override
    boolean awaitDrained(long timeoutNs) {
        queue.wake();
        return queue.isEmpty() || signal.await(queue::isEmpty, timeoutNs, TimeUnit.NANOSECONDS);
    }
}
