package io.madeleine.nexus;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How a context behaves. Each {@code with...} answers changed options, or throws {@link IllegalArgumentException} if what it is
 * given is not more than 0; {@link #DEFAULT} is the beginning.
 *
 * <p>Threading: immutable.
 */
public final class ContextOptions {
    /** The options of a context that says nothing; the system property {@code io.madeleine.nexus.debug} turns debug on. */
    public static final ContextOptions DEFAULT = new ContextOptions();

    private static final Duration LONGEST = Duration.ofDays(10_000);

    private int maxRunning = 4096;
    private long maxQueuedBytes = 16L << 20;
    private int maxOutstanding = 1 << 16;
    private int maxRequestBytes = 64 << 20;
    private int maxStreamItems = 256;
    private long maxReceivedBytes = 256L << 20;
    private int maxAttached = 1024;
    private int maxDepth = 1024;
    private Duration argumentTimeout = Duration.ofSeconds(30);
    private Duration callTimeout = Duration.ofSeconds(30);
    private Duration connectTimeout = Duration.ofSeconds(10);
    private Duration silenceTimeout = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private boolean debug = Boolean.getBoolean("io.madeleine.nexus.debug");
    private @Nullable Executor executor;
    private @Nullable SSLContext tls;
    private ClientInterceptor[] clientInterceptors = {};
    private ServerInterceptor[] serverInterceptors = {};

    private ContextOptions() {}

    /** These options with one changed. */
    private ContextOptions with(Consumer<ContextOptions> change) {
        ContextOptions changed = new ContextOptions();
        changed.maxRunning = maxRunning;
        changed.maxQueuedBytes = maxQueuedBytes;
        changed.maxOutstanding = maxOutstanding;
        changed.maxRequestBytes = maxRequestBytes;
        changed.maxStreamItems = maxStreamItems;
        changed.maxReceivedBytes = maxReceivedBytes;
        changed.maxAttached = maxAttached;
        changed.maxDepth = maxDepth;
        changed.argumentTimeout = argumentTimeout;
        changed.callTimeout = callTimeout;
        changed.connectTimeout = connectTimeout;
        changed.silenceTimeout = silenceTimeout;
        changed.closeTimeout = closeTimeout;
        changed.debug = debug;
        changed.executor = executor;
        changed.tls = tls;
        changed.clientInterceptors = clientInterceptors;
        changed.serverInterceptors = serverInterceptors;
        change.accept(changed);
        return changed;
    }

    private static int positive(String name, int value) {
        return (int) positive(name, (long) value);
    }

    private static long positive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("ContextOptions." + name + " is " + value + ": expected more than 0");
        }
        return value;
    }

    private static Duration positive(String name, Duration value) {
        Objects.requireNonNull(value, name);
        if (!value.isPositive() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("ContextOptions." + name + " is " + value
                    + ": expected more than 0, and at most " + LONGEST.toDays() + " days");
        }
        return value;
    }

    /**
     * How many threaded requests and typed calls are carried out at once, those included whose method has returned while its
     * future or stream is not over; one more is rejected, and its sender told. 4096 by default.
     */
    public int maxRunning() {
        return maxRunning;
    }

    /** With another {@link #maxRunning}. */
    public ContextOptions withMaxRunning(int requests) {
        return with(changed -> changed.maxRunning = positive("maxRunning", requests));
    }

    /**
     * How many bytes, per peer, may wait to be sent for handlers that do not wait; for more, {@code rsr} throws {@link
     * OverloadedException}. 16 MiB by default.
     */
    public long maxQueuedBytes() {
        return maxQueuedBytes;
    }

    /** With another {@link #maxQueuedBytes}. */
    public ContextOptions withMaxQueuedBytes(long bytes) {
        return with(changed -> changed.maxQueuedBytes = positive("maxQueuedBytes", bytes));
    }

    /**
     * How many typed calls of this process may be unanswered; one more waits, within its deadline. As many that return futures may
     * wait to be made again. 65,536 by default.
     */
    public int maxOutstanding() {
        return maxOutstanding;
    }

    /** With another {@link #maxOutstanding}. */
    public ContextOptions withMaxOutstanding(int calls) {
        return with(changed -> changed.maxOutstanding = positive("maxOutstanding", calls));
    }

    /**
     * The largest argument, and the most small arguments, in bytes, that memory is taken for; what is larger is refused when it
     * comes. 64 MiB by default.
     */
    public int maxRequestBytes() {
        return maxRequestBytes;
    }

    /** With another {@link #maxRequestBytes}. */
    public ContextOptions withMaxRequestBytes(int bytes) {
        return with(changed -> changed.maxRequestBytes = positive("maxRequestBytes", bytes));
    }

    /**
     * How many items of a stream may be on their way here, or wait for its subscriber, however many that has asked for. 256 by
     * default.
     */
    public int maxStreamItems() {
        return maxStreamItems;
    }

    /** With another {@link #maxStreamItems}. */
    public ContextOptions withMaxStreamItems(int items) {
        return with(changed -> changed.maxStreamItems = positive("maxStreamItems", items));
    }

    /**
     * How many bytes of large arguments may have been received for non-threaded handlers, which run when all are there; one
     * request may take a quarter of that. A request for which there is no room is refused, one with up to 1 MiB never. 256 MiB
     * by default.
     */
    public long maxReceivedBytes() {
        return maxReceivedBytes;
    }

    /** With another {@link #maxReceivedBytes}. */
    public ContextOptions withMaxReceivedBytes(long bytes) {
        return with(changed -> changed.maxReceivedBytes = positive("maxReceivedBytes", bytes));
    }

    /** How many contexts of other sessions may be connected at once; one more is turned away. 1024 by default. */
    public int maxAttached() {
        return maxAttached;
    }

    /** With another {@link #maxAttached}. */
    public ContextOptions withMaxAttached(int contexts) {
        return with(changed -> changed.maxAttached = positive("maxAttached", contexts));
    }

    /**
     * How deep values of typed services may lie within values, as the elements of a list that is linked record by record do: what
     * is deeper is not written, and not read. 1024 by default; each level takes some hundred bytes of the thread's stack.
     */
    public int maxDepth() {
        return maxDepth;
    }

    /** With another {@link #maxDepth}. */
    public ContextOptions withMaxDepth(int levels) {
        return with(changed -> changed.maxDepth = positive("maxDepth", levels));
    }

    /** How long a threaded handler waits for an argument that is on its way. 30 s by default. */
    public Duration argumentTimeout() {
        return argumentTimeout;
    }

    /** With another {@link #argumentTimeout}. */
    public ContextOptions withArgumentTimeout(Duration timeout) {
        return with(changed -> changed.argumentTimeout = positive("argumentTimeout", timeout));
    }

    /** How long a typed call without streams may take, unless {@link CallTimeout} says else. 30 s by default. */
    public Duration callTimeout() {
        return callTimeout;
    }

    /** With another {@link #callTimeout}. */
    public ContextOptions withCallTimeout(Duration timeout) {
        return with(changed -> changed.callTimeout = positive("callTimeout", timeout));
    }

    /** How long connecting to a context of another session may take, its approver included. 10 s by default. */
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /** With another {@link #connectTimeout}. */
    public ContextOptions withConnectTimeout(Duration timeout) {
        return with(changed -> changed.connectTimeout = positive("connectTimeout", timeout));
    }

    /**
     * After how long without a sign a context of another session counts as gone; signs are sent three times as often. 10 s by
     * default.
     */
    public Duration silenceTimeout() {
        return silenceTimeout;
    }

    /** With another {@link #silenceTimeout}. */
    public ContextOptions withSilenceTimeout(Duration timeout) {
        return with(changed -> changed.silenceTimeout = positive("silenceTimeout", timeout));
    }

    /**
     * How long {@link Context#close} waits for what is being carried out, before it interrupts and cancels it. 5 s by default.
     */
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /** With another {@link #closeTimeout}. */
    public ContextOptions withCloseTimeout(Duration timeout) {
        return with(changed -> changed.closeTimeout = positive("closeTimeout", timeout));
    }

    /**
     * What runs threaded handlers, if not a virtual thread for each. It may have bounds of its own: a request it rejects is
     * refused as one beyond {@link #maxRunning} is.
     */
    public Optional<Executor> executor() {
        return Optional.ofNullable(executor);
    }

    /**
     * This process's certificate, and whom it trusts, for contexts of other sessions; empty by default: it makes a certificate
     * of its own, and whoever proves to know the secret is trusted.
     */
    public Optional<SSLContext> tls() {
        return Optional.ofNullable(tls);
    }

    /**
     * With certificates for contexts of other sessions, beside the secret, which they need, too. Both ends show one; names in
     * them are not compared with addresses.
     *
     * @throws IllegalArgumentException if the context is not initialised
     */
    public ContextOptions withTls(SSLContext context) {
        Objects.requireNonNull(context, "context");
        try {
            Object _ = context.getSocketFactory();
        } catch (IllegalStateException e) {
            throw new IllegalArgumentException(
                    "no TLS is possible: " + e.getMessage() + ", expected SSLContext.init", e);
        }
        return with(changed -> changed.tls = context);
    }

    /** With threaded handlers run by an executor, which stays the caller's. */
    public ContextOptions withExecutor(Executor runner) {
        Objects.requireNonNull(runner, "runner");
        return with(changed -> changed.executor = runner);
    }

    /** What goes around the calls that the context's proxies make, the outermost first. None by default. */
    public List<ClientInterceptor> clientInterceptors() {
        return List.of(clientInterceptors);
    }

    /** With one more of the {@link #clientInterceptors}, the innermost. */
    public ContextOptions withClientInterceptor(ClientInterceptor interceptor) {
        Objects.requireNonNull(interceptor, "interceptor");
        return with(changed -> {
            changed.clientInterceptors = Arrays.copyOf(clientInterceptors, clientInterceptors.length + 1);
            changed.clientInterceptors[clientInterceptors.length] = interceptor;
        });
    }

    /** What goes around the calls that the context carries out, the outermost first. None by default. */
    public List<ServerInterceptor> serverInterceptors() {
        return List.of(serverInterceptors);
    }

    /** With one more of the {@link #serverInterceptors}, the innermost. */
    public ContextOptions withServerInterceptor(ServerInterceptor interceptor) {
        Objects.requireNonNull(interceptor, "interceptor");
        return with(changed -> {
            changed.serverInterceptors = Arrays.copyOf(serverInterceptors, serverInterceptors.length + 1);
            changed.serverInterceptors[serverInterceptors.length] = interceptor;
        });
    }

    ServerInterceptor[] serverInterceptorArray() {
        return serverInterceptors;
    }

    /** Whether non-threaded handlers that block are found and reported, as warnings of the logger {@code io.madeleine.nexus}. */
    public boolean debug() {
        return debug;
    }

    /** With or without a look-out for non-threaded handlers that block. */
    public ContextOptions withDebug(boolean wanted) {
        return with(changed -> changed.debug = wanted);
    }

    long callTimeoutNs() {
        return callTimeout.toNanos();
    }

    long argumentTimeoutNs() {
        return argumentTimeout.toNanos();
    }

    int connectTimeoutMs() {
        return milliseconds(connectTimeout);
    }

    int silenceTimeoutMs() {
        return milliseconds(silenceTimeout);
    }

    private static int milliseconds(Duration duration) {
        return Math.clamp(duration.toMillis(), 1, Integer.MAX_VALUE);
    }
}
