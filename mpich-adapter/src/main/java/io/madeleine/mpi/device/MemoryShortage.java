package io.madeleine.mpi.device;

import io.madeleine.api.Session;
import io.madeleine.mpi.ErrorClass;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends the job when a message is lost because the heap is full: nobody could go on. An orderly end needs memory itself,
 * so a reserve is freed for it. If that is not enough, this process ends without allocating anything, and what started
 * it ends the others.
 *
 * <p>Threading: thread-safe.
 */
final class MemoryShortage {
    /** With its header it fits into the smallest region of the collector G1. */
    private static final int RESERVE_BYTES = (1 << 20) - 64;

    /** Some 200 bytes of memory per kept message: from this part of the heap on, they are the reason why it is full. */
    private static final int KEPT_BYTES = 200;

    private static final int PART_OF_HEAP = 64;
    private static final int NO_RANK = -1;

    private final Session session;
    private final Matching matching;
    private final String advice;
    private final byte[] lastWords;
    private final OutputStream errors;
    private final IntConsumer halt;

    @SuppressWarnings("unused") // it is only freed
    private byte @Nullable [] reserve = new byte[RESERVE_BYTES];

    MemoryShortage(Session session, Matching matching, int creditBytes) {
        this(session, matching, creditBytes, new FileOutputStream(FileDescriptor.err), Runtime.getRuntime()::halt);
    }

    /** A shortage whose last words go to {@code errors} before it calls {@code halt} with the exit code. */
    MemoryShortage(Session session, Matching matching, int creditBytes, OutputStream errors, IntConsumer halt) {
        this.session = session;
        this.matching = matching;
        this.advice = " that it has not asked for: expected receives earlier, more memory (-Xmx), or a smaller"
                + " mpi.credit-bytes, which is now " + creditBytes;
        this.lastWords = ("madeleine: rank " + session.rank() + " has no memory for messages" + advice + "\n")
                .getBytes(StandardCharsets.UTF_8);
        this.errors = errors;
        this.halt = halt;
    }

    /** A message from this rank is lost. */
    void lost(int source, OutOfMemoryError full) {
        end(source, full);
    }

    /** Progress lacks memory, which ends the job if the messages that nobody has asked for fill the heap. */
    void hinders(OutOfMemoryError full) {
        if ((long) matching.keptCount() * KEPT_BYTES >= Runtime.getRuntime().maxMemory() / PART_OF_HEAP) {
            end(NO_RANK, full);
        }
    }

    private void end(int source, OutOfMemoryError full) {
        reserve = null;
        try {
            String what = source == NO_RANK ? "to make progress" : "for a message from rank " + source;
            session.abort(
                    ErrorClass.INTERN,
                    "rank " + session.rank() + " has no memory " + what + " (" + full.getMessage() + "), and keeps "
                            + matching.keptCount() + " messages" + advice);
        } catch (OutOfMemoryError _) {
            endWithoutMemory();
        }
    }

    private void endWithoutMemory() {
        try {
            errors.write(lastWords);
        } catch (IOException _) {
            return; // nobody reads them
        } finally {
            halt.accept(ErrorClass.INTERN);
        }
    }
}
