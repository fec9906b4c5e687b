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
     * {@code --conf=FILE}. Started by {@code mad run}, a process needs no argument: the launcher has told it its rank
     * and how to find the others. Alone and without settings it is a session of one process.
     *
     * @throws ConfigurationException if a key or a value is wrong; the message names it and what is accepted
     * @throws SessionException if the processes could not all be reached in time
     */
    static Session open(String... arguments) {
        Objects.requireNonNull(arguments, "arguments");
        return Providers.session().open(List.of(arguments));
    }

    /** Opens a session from a HOCON file. Errors as for {@link #open(String...)}. */
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
     * Opens a session that is agreed on at run time, beside others. Rank 0 listens at the request's address, unless it opens
     * the session at a {@link SessionPort}.
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

    /** What tells this session from all others, the same in all its processes: a text of up to 100 ASCII characters. */
    String id();

    /**
     * A key for protocols of one's own, made of the session's secret: the same for the same purpose in all processes of
     * all sessions with the same secret, and of no use to whoever does not know that.
     *
     * @param purpose what it is for; keys of different purposes have nothing in common
     * @return 32 bytes
     * @throws ConfigurationException if the session has no secret
     */
    byte[] deriveKey(String purpose);

    /**
     * A key for protocols of one's own that the processes of this session can make, and nobody else: other sessions with the
     * same secret cannot.
     *
     * @param purpose what it is for; keys of different purposes have nothing in common
     * @return 32 bytes, other ones each time a session is opened
     */
    byte[] deriveSessionKey(String purpose);

    /**
     * The public key that a process has made when it opened the session (X.509, Ed25519); {@link #sign} signs with the private
     * one, which never leaves the process.
     *
     * @throws IndexOutOfBoundsException if there is no such rank
     */
    byte[] publicKey(int rank);

    /**
     * Signs a message in the name of this process, as one who has its {@link #publicKey} can check: Ed25519 over the length of
     * the purpose in UTF-8 (four bytes, big-endian), the purpose, the message.
     *
     * @param purpose what it is for; signatures of different purposes cannot be taken for one another
     */
    byte[] sign(String purpose, byte[] message);

    /** The names of the channels, as configured under {@code madeleine.channels}. */
    Set<String> channelNames();

    /**
     * The channel of this name.
     *
     * @throws ConfigurationException if no such channel is configured; the message lists those that are
     */
    Channel channel(String name);

    /** The channel called {@code default}, which every configuration has unless it says otherwise. */
    default Channel channel() {
        return channel("default");
    }

    /**
     * Drives everything once without waiting: polls every network, moves pending blocks, calls handlers unless it is called by
     * one.
     *
     * @return how many events were handled; 0 also when another thread is driving already
     */
    int progress();

    /** A place to wait for what other threads bring about, or message handlers; {@link Channel#newSignal()} is faster for these. */
    Signal newSignal();

    /**
     * Runs each task in a virtual thread of its own: for what handlers hand on since it may wait. Where a handler does so
     * all the time, tasks begin half a microsecond after their message has come and not ten later, as they do in virtual
     * threads that another executor starts: the session then has its networks polled by a virtual thread, whose carrier
     * runs what that starts.
     *
     * @param name what the threads' names begin with; a number follows
     * @return an executor that never refuses, and starts threads also when the session is closed
     */
    Executor virtualThreads(String name);

    /**
     * Memory that the networks reach directly, 64-byte aligned, usable from any thread. Large blocks in it travel inside a
     * host without a copy beyond the receiver's.
     *
     * <p>Ownership: the session's; it is freed when the session closes, after which every access fails with
     * {@link IllegalStateException}.
     *
     * @param bytes how many bytes, at least 1
     */
    MemorySegment allocate(long bytes);

    /**
     * A new arena whose memory is that of {@link #allocate}, but for its user to free: for memory that is needed for a while only.
     *
     * <p>{@link Arena#close()} first waits until no message that is open or on its way uses the memory and no peer reads or writes
     * it, for {@code madeleine.peer-timeout} at most; the networks are driven meanwhile. Then peers cannot reach the memory any
     * more, and it is freed; what used it even so fails: messages are aborted, accesses throw {@link IllegalStateException}. A
     * thread should not close an arena within a message of its own that uses it, nor a handler one that its channel's messages
     * use. If the wait is interrupted ({@link WaitInterruptedException}), the arena stays open.
     *
     * <p>Ownership: the caller's; the session closes it at the latest, and to close it after that does nothing. Threading:
     * any thread may take memory in it, and close it.
     *
     * @throws SessionException if the session is closed
     */
    Arena newArena();

    /**
     * Memory that peers on this host can read and write where it lies, once a library that works by one-sided access has told them
     * of it; of any size, 64-byte aligned, zero. Where there is no room for it, or no network has such memory, it is ordinary
     * memory, which serves for messages like any other; to export it is an error that says why.
     *
     * <p>Ownership: the arena's. Peers keep what they have mapped of it until they notice that it was freed.
     *
     * @param bytes how many bytes, at least 1
     * @param arena one of {@link #newArena} or {@link #arena} of this session
     * @throws IllegalArgumentException if the arena is another
     * @throws IllegalStateException if the arena is closed
     */
    MemorySegment allocateShared(long bytes, Arena arena);

    /** The arena behind {@link #allocate}: shared, closed by the session and not by its user. */
    Arena arena();

    /**
     * Calls {@code listener} once for each peer that dies, also for those that are dead already, from a thread of the
     * session. It should return soon.
     */
    void onPeerFailure(PeerFailureListener listener);

    /**
     * Starts more processes. They are no members of this session: among themselves they are the ranks of one of their own, which
     * {@link #open(String...)} opens in them; to talk with this one's they open a {@linkplain #open(SessionRequest) common
     * session}, whose address and secret they find in their environment.
     *
     * <p>Under {@code mad run} the launcher starts them, with its settings: their output is passed on like that of the others,
     * {@code mad run} waits for their end, and ends them with the others. Otherwise this process does; they end, at the latest,
     * with it. How they end is told by {@link LaunchedProcess#exit} alone: their failure does not stop the others.
     *
     * @throws SessionException if one of them cannot be started, in which case none runs
     */
    List<LaunchedProcess> launch(LaunchRequest request);

    /**
     * Ends all processes of the session, whatever they do: those that compute, wait, or are stuck. Each runs its shutdown
     * hooks and ends with the given exit code; where they take longer than {@code madeleine.session.abort-timeout}, it ends
     * without them. {@code mad run} also ends the processes that are not in the session, and answers that code. This process
     * tells the reason on its standard error; the others say nothing. If several abort at once, the first counts for all.
     *
     * <p>Nothing is sent, closed or freed. What else the processes do, in other sessions too, ends with them. Does not
     * return, unless the session was opened with another way to end a process, as tests do that have several in one JVM:
     * then all its peers have failed.
     *
     * @param code the exit code, 0 to 255; 0 means that {@code mad run} takes it for success
     * @param reason why, in words
     * @throws IllegalArgumentException if the code is no exit code
     */
    void abort(int code, String reason);

    /**
     * Leaves the session: finishes what {@code endPackingAsync} promised (within
     * {@code madeleine.session.close-timeout}), takes in the rest of messages that were discarded (for at most a second, so
     * that their senders are not cut off; a thread that waits for the end of its own message has no longer, either), ends every
     * wait with {@link SessionException}, as all calls that send, receive or wait fail from then on, then frees all resources.
     * Listeners of failures hear of each death that a wait was told of before. Idempotent.
     */
    @Override
    void close();

    /** Told of the death of a peer. */
    @FunctionalInterface
    interface PeerFailureListener {
        /**
         * Called when a peer is gone.
         *
         * @param rank the peer's rank
         * @param cause what was seen, with the time bound or event that decided it
         */
        void peerFailed(int rank, PeerFailedException cause);
    }
}
