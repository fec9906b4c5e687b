package io.madeleine.api;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * A group of processes with ranks {@code 0 .. size()-1} that exchange messages over named channels.
 *
 * <p>Opening a session is collective: it returns once every process of the session is connected, or fails within
 * {@code madeleine.session.open-timeout}. A process may be in several sessions at once; there is no static state.
 *
 * <p>Threading: thread-safe.
 */
public interface Session extends AutoCloseable {
    /**
     * Opens a session from settings {@code key=value} (a key may omit its leading {@code madeleine.}) and
     * {@code --conf=FILE}. A process that {@code mad run} started needs no argument: the launcher has told it its rank
     * and the address of the session. Without a launcher and settings, the session has one process.
     *
     * @throws ConfigurationException if a key or a value is wrong; the message names it and the accepted values
     * @throws SessionException if the processes could not all be reached in time
     */
    static Session open(String... arguments) {
        Objects.requireNonNull(arguments, "arguments");
        return Providers.session().open(List.of(arguments));
    }

    /** Opens a session from a HOCON file. Throws as {@link #open(String...)} does. */
    static Session open(Path file) {
        Objects.requireNonNull(file, "file");
        return Providers.session().open(file);
    }

    /** Opens a session from settings by key, for instance {@code Map.of("madeleine.wait.mode", "spin")}. */
    static Session open(Map<String, ?> settings) {
        Objects.requireNonNull(settings, "settings");
        return Providers.session().open(settings);
    }

    /**
     * Opens a session that its processes agree on at run time, beside other sessions. Rank 0 listens at the request's
     * address, unless it opens the session at a {@link SessionPort}.
     *
     * @throws ConfigurationException if the request, a key or a value is wrong
     * @throws SessionException if the processes could not all be reached in time
     */
    static Session open(SessionRequest request) {
        Objects.requireNonNull(request, "request");
        return Providers.session().open(request);
    }

    /** This process's number in the session, {@code 0 .. size()-1}. */
    int rank();

    /** How many processes the session has. */
    int size();

    /** The unique id of this session, the same in all its processes: up to 100 ASCII characters. */
    String id();

    /**
     * Derives a key from the session's secret, for a protocol of your own. All processes of all sessions with the same
     * secret derive the same key for the same purpose; nobody without the secret can derive it.
     *
     * @param purpose what the key is for; keys of different purposes are independent
     * @return 32 bytes
     * @throws ConfigurationException if the session has no secret
     */
    byte[] deriveKey(String purpose);

    /**
     * Derives a key that only the processes of this session can derive, for a protocol of your own. Other sessions with
     * the same secret cannot.
     *
     * @param purpose what the key is for; keys of different purposes are independent
     * @return 32 bytes, different each time a session is opened
     */
    byte[] deriveSessionKey(String purpose);

    /**
     * The public key (X.509, Ed25519) that a process generated when it opened the session. {@link #sign} uses the
     * private key, which never leaves its process.
     *
     * @throws IndexOutOfBoundsException if there is no such rank
     */
    byte[] publicKey(int rank);

    /**
     * Signs a message for this process; anyone who has its {@link #publicKey} can verify the signature. The algorithm
     * is Ed25519 over the length of the purpose in UTF-8 (four bytes, big-endian), the purpose, and the message.
     *
     * @param purpose what the signature is for; a signature is valid for its own purpose only
     */
    byte[] sign(String purpose, byte[] message);

    /** The names of the channels, as {@code madeleine.channels} configures them. */
    Set<String> channelNames();

    /**
     * The channel of this name.
     *
     * @throws ConfigurationException if no such channel is configured; the message lists the configured ones
     */
    Channel channel(String name);

    /** The channel called {@code default}, which every configuration has unless it says otherwise. */
    default Channel channel() {
        return channel("default");
    }

    /**
     * Makes progress once without waiting: polls every network, moves pending blocks, and calls handlers unless the
     * caller is a handler. In a virtual thread it asks the session's own thread to do so, and returns 0.
     *
     * @return how many events were handled; 0 also if another thread is already driving progress
     */
    int progress();

    /**
     * Makes a signal for conditions that other threads or message handlers make true; for handlers
     * {@link Channel#newSignal()} is faster.
     */
    Signal newSignal();

    /**
     * Returns an executor that runs each task in a virtual thread of its own, for work that a handler hands on because
     * it may wait. If handlers submit tasks continually, a task starts many times sooner than in the virtual threads of
     * another executor: the session then polls its networks in a virtual thread, whose carrier runs the task next
     * without being woken.
     *
     * @param name prefix of the threads' names; a number follows
     * @return an executor that never refuses a task, even after the session is closed
     */
    Executor virtualThreads(String name);

    /**
     * Allocates memory that the networks access directly, 64-byte aligned, usable from any thread. Within a host, a
     * large block in it travels with one copy, the receiver's.
     *
     * <p>Ownership: the session's; the session frees the memory when it closes, and every later access fails with
     * {@link IllegalStateException}.
     *
     * @param bytes how many bytes, at least 1
     */
    MemorySegment allocate(long bytes);

    /**
     * As {@link #allocate}, but the memory outlives the session: it can be read and written as long as a segment or
     * buffer of it is reachable. For programs that keep their results when they leave.
     *
     * <p>Ownership: the garbage collector frees the memory when the session is closed and nothing refers to it any
     * more; until then it is not freed.
     *
     * @param bytes how many bytes, at least 1
     * @throws SessionException if the session is closed
     */
    MemorySegment allocateKept(long bytes);

    /**
     * Makes an arena whose memory is like that of {@link #allocate}, but freed by the caller: for memory that is needed
     * for a while only.
     *
     * <p>{@link Arena#close()} first waits until no open or pending message uses the memory and no peer reads or writes
     * it, for {@code madeleine.peer-timeout} at most, and drives the networks meanwhile. It then revokes the peers'
     * access and frees the memory. Anything that still uses it fails: messages are aborted, accesses throw
     * {@link IllegalStateException}. A thread should not close an arena while it has an open message that uses it, nor
     * should a handler close one that its channel's messages use. If the wait is interrupted
     * ({@link WaitInterruptedException}), the arena stays open.
     *
     * <p>Ownership: the caller's; the session closes the arena when it closes; to close it after that does nothing.
     * Threading: any thread may allocate memory in it and close it.
     *
     * @throws SessionException if the session is closed
     */
    Arena newArena();

    /**
     * Allocates memory that peers on this host can read and write in place, once a library for one-sided access has
     * given them its descriptor. The memory is zeroed and 64-byte aligned, of any size. If there is no room for it, or
     * if no network supports it, the result is ordinary memory, which serves for messages like any other; an attempt to
     * export it throws and says why.
     *
     * <p>Ownership: the arena's. Peers keep their mappings until they notice that the memory was freed.
     *
     * @param bytes how many bytes, at least 1
     * @param arena an arena of this session, from {@link #newArena} or {@link #arena}
     * @throws IllegalArgumentException if the arena is another
     * @throws IllegalStateException if the arena is closed
     */
    MemorySegment allocateShared(long bytes, Arena arena);

    /** The arena of {@link #allocate}: shared; only the session closes it. */
    Arena arena();

    /**
     * Calls {@code listener} once for each peer that dies, and at once for peers that are already dead, in a thread of
     * the session. The listener should return soon.
     *
     * <p>Messages that had arrived completely when the network found the peer's end can still be received afterwards.
     * What a peer sends after it was given up is dropped, even if it is alive.
     */
    void onPeerFailure(PeerFailureListener listener);

    /**
     * Starts more processes. They are not members of this session: they are the ranks of a session of their own, which
     * {@link #open(String...)} opens in them. To communicate with this session's processes they open a
     * {@linkplain #open(SessionRequest) common session}, whose address and secret they find in their environment.
     *
     * <p>Under {@code mad run} the launcher starts them, with its settings: it passes their output on, waits for their
     * end, and ends them together with the other processes. Otherwise this process starts them; they end, at the
     * latest, when it ends. Only {@link LaunchedProcess#exit} reports how they end: their failure does not stop the
     * other processes.
     *
     * @throws SessionException if one of them cannot be started; then none of them runs
     */
    List<LaunchedProcess> launch(LaunchRequest request);

    /**
     * Ends all processes of the session, even those that compute, wait, or are stuck. Each process runs its shutdown
     * hooks and ends with the given exit code; if the hooks take longer than {@code madeleine.session.abort-timeout},
     * it ends without them. {@code mad run} also ends the processes that are not in the session, and exits with that
     * code. This process prints the reason to its standard error; the others print nothing. If several processes abort
     * at the same time, the first one determines code and reason.
     *
     * <p>Nothing is sent, closed or freed. Everything else in the processes, other sessions included, ends with them.
     * The call does not return, unless the session was opened with another way to end a process, as tests with several
     * sessions in one JVM do: then all its peers have failed.
     *
     * @param code the exit code, 0 to 255; {@code mad run} takes 0 for success
     * @param reason the reason, for people to read
     * @throws IllegalArgumentException if the code is not an exit code
     */
    void abort(int code, String reason);

    /**
     * Leaves the session, in this order:
     *
     * <ol>
     * <li>It sends what {@code endPackingAsync} promised, within {@code madeleine.session.close-timeout}.
     * <li>It drains discarded messages for at most a second, so that their senders are not cut off. A thread that waits
     *     for the end of its own message has the same second.
     * <li>It ends every wait with {@link SessionException}; all later calls that send, receive or wait fail with it,
     *     too.
     * <li>It frees all resources.
     * </ol>
     *
     * <p>Failure listeners hear of each death that a wait has reported before. Idempotent.
     */
    @Override
    void close();

    /** A listener for the deaths of peers. */
    @FunctionalInterface
    interface PeerFailureListener {
        /**
         * Reports that a peer is gone.
         *
         * @param rank the peer's rank
         * @param cause what was detected, with the time bound or event that decided it
         */
        void peerFailed(int rank, PeerFailedException cause);
    }
}
