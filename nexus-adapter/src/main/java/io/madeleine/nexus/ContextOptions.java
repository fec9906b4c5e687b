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
 * The options of a context. Each {@code with...} method returns a changed copy; it throws {@link
 * IllegalArgumentException} if a number or duration is not more than 0. Begin with {@link #DEFAULT}.
 *
 * <p>Threading: immutable.
 */
public final class ContextOptions {
    /** The default options; the system property {@code io.madeleine.nexus.debug} turns debug mode on. */
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

    /** A copy of these options with one change. */
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
     * How many threaded requests and typed calls may run at once. A call counts until the future or stream that its
     * method has returned has ended; so a caller that has its answer can make the next call. Answers that have not left
     * count apart: as many as calls, but at least 64. A request beyond these bounds is refused, and its sender is
     * notified. 4096 by default.
     */
    public int maxRunning() {
        return maxRunning;
    }

    /** A copy with another {@link #maxRunning}. */
    public ContextOptions withMaxRunning(int requests) {
        return with(changed -> changed.maxRunning = positive("maxRunning", requests));
    }

    /**
     * How many bytes per peer may be queued by handlers that must not wait; beyond it, {@code rsr} throws {@link
     * OverloadedException}. Over a channel, a request whose large arguments are longer than that has room while nothing
     * else is queued. 16 MiB by default.
     */
    public long maxQueuedBytes() {
        return maxQueuedBytes;
    }

    /** A copy with another {@link #maxQueuedBytes}. */
    public ContextOptions withMaxQueuedBytes(long bytes) {
        return with(changed -> changed.maxQueuedBytes = positive("maxQueuedBytes", bytes));
    }

    /**
     * How many typed calls of this process may be unanswered; a further call waits for its turn, within its deadline.
     * As many calls that return futures may wait to be repeated. 65,536 by default.
     */
    public int maxOutstanding() {
        return maxOutstanding;
    }

    /** A copy with another {@link #maxOutstanding}. */
    public ContextOptions withMaxOutstanding(int calls) {
        return with(changed -> changed.maxOutstanding = positive("maxOutstanding", calls));
    }

    /**
     * The largest argument, and the largest sum of the small arguments of a request, in bytes, for which memory is
     * allocated; larger ones are refused on arrival ({@link Refusal.Reason#TOO_LARGE}), and a call or stream of which
     * they are a part ends with a {@link NexusException} that names this option. 64 MiB by default.
     */
    public int maxRequestBytes() {
        return maxRequestBytes;
    }

    /** A copy with another {@link #maxRequestBytes}. */
    public ContextOptions withMaxRequestBytes(int bytes) {
        return with(changed -> changed.maxRequestBytes = positive("maxRequestBytes", bytes));
    }

    /**
     * How many items of a stream may be in transit to this process or wait for its subscriber, even if the subscriber
     * has requested more. 256 by default.
     */
    public int maxStreamItems() {
        return maxStreamItems;
    }

    /** A copy with another {@link #maxStreamItems}. */
    public ContextOptions withMaxStreamItems(int items) {
        return with(changed -> changed.maxStreamItems = positive("maxStreamItems", items));
    }

    /**
     * How many bytes of large arguments may be buffered for non-threaded handlers, which run when all arguments are
     * there. One request may take a quarter of it. A request that finds no room is refused; a request with up to 1 MiB
     * always finds room. 256 MiB by default.
     */
    public long maxReceivedBytes() {
        return maxReceivedBytes;
    }

    /** A copy with another {@link #maxReceivedBytes}. */
    public ContextOptions withMaxReceivedBytes(long bytes) {
        return with(changed -> changed.maxReceivedBytes = positive("maxReceivedBytes", bytes));
    }

    /** How many contexts of other sessions may be attached at once; a further one is refused. 1024 by default. */
    public int maxAttached() {
        return maxAttached;
    }

    /** A copy with another {@link #maxAttached}. */
    public ContextOptions withMaxAttached(int contexts) {
        return with(changed -> changed.maxAttached = positive("maxAttached", contexts));
    }

    /**
     * How deep values of typed services may nest, as the elements of a list linked record by record do. A value that
     * nests deeper is neither written nor read. 1024 by default; each level takes some hundred bytes of the thread's
     * stack.
     */
    public int maxDepth() {
        return maxDepth;
    }

    /** A copy with another {@link #maxDepth}. */
    public ContextOptions withMaxDepth(int levels) {
        return with(changed -> changed.maxDepth = positive("maxDepth", levels));
    }

    /** How long a threaded handler waits for an argument that is in transit. 30 s by default. */
    public Duration argumentTimeout() {
        return argumentTimeout;
    }

    /** A copy with another {@link #argumentTimeout}. */
    public ContextOptions withArgumentTimeout(Duration timeout) {
        return with(changed -> changed.argumentTimeout = positive("argumentTimeout", timeout));
    }

    /** How long a typed call without streams may take, unless its method has a {@link CallTimeout}. 30 s by default. */
    public Duration callTimeout() {
        return callTimeout;
    }

    /** A copy with another {@link #callTimeout}. */
    public ContextOptions withCallTimeout(Duration timeout) {
        return with(changed -> changed.callTimeout = positive("callTimeout", timeout));
    }

    /** How long connecting to a context of another session may take, its approver included. 10 s by default. */
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /** A copy with another {@link #connectTimeout}. */
    public ContextOptions withConnectTimeout(Duration timeout) {
        return with(changed -> changed.connectTimeout = positive("connectTimeout", timeout));
    }

    /**
     * The time without any byte after which a context of another session counts as gone. Keep-alive messages are sent
     * three times per interval. 10 s by default.
     */
    public Duration silenceTimeout() {
        return silenceTimeout;
    }

    /** A copy with another {@link #silenceTimeout}. */
    public ContextOptions withSilenceTimeout(Duration timeout) {
        return with(changed -> changed.silenceTimeout = positive("silenceTimeout", timeout));
    }

    /**
     * How long {@link Context#close} waits for running requests and calls before it interrupts and cancels them. 5 s by
     * default.
     */
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /** A copy with another {@link #closeTimeout}. */
    public ContextOptions withCloseTimeout(Duration timeout) {
        return with(changed -> changed.closeTimeout = positive("closeTimeout", timeout));
    }

    /**
     * The executor that runs threaded handlers; if empty, each runs in a virtual thread of its own. The executor may
     * have bounds of its own: a request that it rejects is refused like one beyond {@link #maxRunning}.
     */
    public Optional<Executor> executor() {
        return Optional.ofNullable(executor);
    }

    /**
     * This process's certificate and its trusted authorities, for connections to contexts of other sessions. Empty by
     * default: the process then makes a self-signed certificate, and trusts every peer that proves to know the secret.
     */
    public Optional<SSLContext> tls() {
        return Optional.ofNullable(tls);
    }

    /**
     * A copy with certificates for connections to contexts of other sessions, which both ends need in addition to the
     * secret. Names in the certificates are not compared with addresses.
     *
     * @throws IllegalArgumentException if the context is not initialised
     */
    public ContextOptions withTls(SSLContext context) {
        Objects.requireNonNull(context, "context");
        try {
            Object _ = context.getSocketFactory();
        } catch (IllegalStateException e) {
            throw new IllegalArgumentException(
                    "the SSLContext is not initialised (" + e.getMessage() + "): call SSLContext.init first", e);
        }
        return with(changed -> changed.tls = context);
    }

    /**
     * A copy whose threaded handlers run in the given executor.
     *
     * <p>Ownership: the executor stays the caller's; the context does not shut it down.
     */
    public ContextOptions withExecutor(Executor runner) {
        Objects.requireNonNull(runner, "runner");
        return with(changed -> changed.executor = runner);
    }

    /** The interceptors around the calls that the context's proxies make, the outermost first. None by default. */
    public List<ClientInterceptor> clientInterceptors() {
        return List.of(clientInterceptors);
    }

    /** A copy with one more of the {@link #clientInterceptors}, as the innermost. */
    public ContextOptions withClientInterceptor(ClientInterceptor interceptor) {
        Objects.requireNonNull(interceptor, "interceptor");
        return with(changed -> {
            changed.clientInterceptors = Arrays.copyOf(clientInterceptors, clientInterceptors.length + 1);
            changed.clientInterceptors[clientInterceptors.length] = interceptor;
        });
    }

    /** The interceptors around the calls that the context executes, the outermost first. None by default. */
    public List<ServerInterceptor> serverInterceptors() {
        return List.of(serverInterceptors);
    }

    /** A copy with one more of the {@link #serverInterceptors}, as the innermost. */
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

    /**
     * Whether the context detects non-threaded handlers that block, and reports them as handler failures (logger {@code
     * io.madeleine.nexus}).
     */
    public boolean debug() {
        return debug;
    }

    /** A copy that does or does not detect non-threaded handlers that block. */
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
