package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.Link;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a call waits before it is repeated, where it goes then, and when it is not repeated any more. */
@Timeout(60)
class RetryPolicyTest {
    private static final long MS = 1_000_000;
    private static final OverloadedException REFUSED = new OverloadedException("no room");

    @RemoteService
    interface Repeated {
        @Idempotent(attempts = 3)
        int any();
    }

    private World world;
    private ServiceMethod method;

    @BeforeEach
    void open() {
        world = new World("sci", 2, context -> {});
        method = ServiceMethod.all(Repeated.class, world.of(0).codecs(), 1)
                .values()
                .iterator()
                .next();
    }

    @AfterEach
    void close() {
        world.close();
    }

    private RetryPolicy policy(int targets, long leftNs) {
        Calls.Target[] all = new Calls.Target[targets];
        for (int i = 0; i < targets; i++) {
            all[i] = new Calls.Target(1, new Link(i + 1), new String[0]);
        }
        return new RetryPolicy(world.of(0).node(), all, method, System.nanoTime() + leftNs);
    }

    private static int target(RetryPolicy policy) {
        return policy.target().link().endpoint();
    }

    @Test
    void shouldPauseForTwiceAsLongAfterEachRefusalUpToHalfASecondMoreOrLess() {
        boolean[] below = new boolean[2];
        for (int round = 0; round < 20; round++) {
            RetryPolicy policy = policy(2, TimeUnit.HOURS.toNanos(1));
            for (int i = 0; i < 14; i++) {
                long meanNs = Math.min(1L << i, 512) * MS;
                long pauseNs = policy.pauseNsAfter(REFUSED);
                assertTrue(pauseNs >= meanNs / 2 && pauseNs < 3 * meanNs / 2, i + ": " + pauseNs + " ns");
                below[pauseNs < meanNs ? 0 : 1] = true;
            }
            assertEquals(1, target(policy), "where it was refused there may be room again");
        }
        assertTrue(below[0] && below[1], "those that were refused together do not come back together");
    }

    /** Here the attempts take no time; the pauses alone reach the deadline. */
    @Test
    @Tag("measures")
    void shouldTryOnceMoreBeforeTheDeadlineAndThenNotAgain() {
        for (int round = 0; round < 20; round++) {
            RetryPolicy late = policy(1, 100 * MS);
            long pauseNs = 0;
            int count = 0;
            for (long next = late.pauseNsAfter(REFUSED); next != RetryPolicy.NEVER; next = late.pauseNsAfter(REFUSED)) {
                pauseNs = next;
                count++;
            }
            assertTrue(count >= 1 && count <= 9, count + " pauses"); // of 1, 2, 4 ... 128 ms about, and a last one
            assertTrue(pauseNs > 0 && pauseNs < 100 * MS, pauseNs + " ns at last");
        }
        assertEquals(RetryPolicy.NEVER, policy(1, 0).pauseNsAfter(REFUSED));
        assertEquals(RetryPolicy.NEVER, policy(1, -MS).pauseNsAfter(REFUSED));
    }

    @Test
    void shouldGoToTheNextProcessWhenOneIsClosingUpToSoManyAttempts() {
        UnavailableException closing = new UnavailableException("it is closing");
        RetryPolicy two = policy(2, MS);
        assertEquals(1, target(two));
        assertEquals(0, two.pauseNsAfter(closing));
        assertEquals(2, target(two));
        assertEquals(RetryPolicy.NEVER, two.pauseNsAfter(closing), "there is no third");

        RetryPolicy many = policy(9, MS);
        assertEquals(0, many.pauseNsAfter(closing));
        assertEquals(0, many.pauseNsAfter(closing));
        assertEquals(3, target(many));
        assertEquals(RetryPolicy.NEVER, many.pauseNsAfter(closing), "three attempts in all");
    }

    @Test
    void shouldTakeAnotherWayToAProcessThatIsThereButNotForEver() {
        PeerFailedException cut = new PeerFailedException(1, "cut");
        RetryPolicy policy = policy(2, MS);
        assertEquals(0, policy.pauseNsAfter(cut));
        assertEquals(0, policy.pauseNsAfter(cut));
        assertEquals(1, target(policy), "the process is there");
        assertEquals(RetryPolicy.NEVER, policy.pauseNsAfter(cut));
    }

    @Test
    void shouldNotRepeatWhatHasFailedOtherwiseAndSayHowOftenItWasRefusedBefore() {
        RetryPolicy policy = policy(2, TimeUnit.HOURS.toNanos(1));
        RuntimeException thrown = new IllegalStateException("its own");
        assertEquals(RetryPolicy.NEVER, policy.pauseNsAfter(thrown));
        assertSame(thrown, policy.end(thrown));
        assertSame(REFUSED, policy.end(REFUSED), "not refused before");
        assertTrue(policy.pauseNsAfter(REFUSED) > 0);
        assertSame(thrown, policy.end(thrown));
        DeadlineExceededException late = new DeadlineExceededException("late");
        Throwable end = policy.end(late);
        assertInstanceOf(DeadlineExceededException.class, end);
        assertTrue(end.getMessage().startsWith("late; before, it was refused 1 times within "), end::getMessage);
        assertTrue(end.getMessage().endsWith("at last: no room") && end.getCause() == late, end::getMessage);
        assertInstanceOf(OverloadedException.class, policy.end(REFUSED));
    }
}
