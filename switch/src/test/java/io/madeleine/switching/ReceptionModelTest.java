package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A model of the receive half that takes every interleaving of its threads, step by step: the user of an exclusive
 * message, who works without the lock; a thread that polls and withdraws the network's interest; a thread that closes
 * the connection; and the network. A step is one access to a shared variable. Stores of the user without a fence stay
 * in a store buffer until they are flushed, as on x86.
 *
 * <p>What the steps stand for: {@link Reception#begin}, {@link ExclusiveMessage#enter}, {@link Reception#release} and
 * {@code ReceiveHalf.wantEvents} of the user, {@link Reception#advance} of the thread that polls, and {@link
 * ExclusiveMessage#revoke} of the thread that closes. Each slip leaves one of them out; the model must notice it.
 */
class ReceptionModelTest {
    private static final int MESSAGES = 3;

    /** Polls beyond those for events: other connections have the leader poll at any time. */
    private static final int MORE_POLLS = 2;

    private enum Slip {
        POLLER_DOES_NOT_LOOK_AT_THE_STATE_AGAIN,
        USER_DOES_NOT_LOOK_AT_THE_INTEREST,
        RELEASE_WITHOUT_FENCE,
        REVOCATION_WITHOUT_FENCE,
        REVOCATION_WITHOUT_WAITING,
        USER_RAISES_ITS_FLAG_AFTER_THE_CHECK
    }

    // Indexes of the variables. A state of the model is an array of them.
    private static final int STATE = 0;
    private static final int BUFFERED_STATE = 1;
    private static final int INTERESTED = 2;
    private static final int LOCKED = 3;
    private static final int INSIDE = 4;
    private static final int BUFFERED_INSIDE = 5;
    private static final int SENT = 6;
    private static final int IN_FRONT = 7;
    private static final int TAKEN = 8;
    private static final int FREED = 9;
    private static final int USER = 10;
    private static final int POLLER = 11;
    private static final int SEEN = 12;
    private static final int MORE = 13;
    private static final int CLOSER = 14;
    private static final int COUNT = 15;

    private static final int NOTHING = -1;

    // Where the user is: the step that it takes next.
    private static final int BEGIN = 0;
    private static final int WAIT = 1;
    private static final int ENTER = 2;
    private static final int CHECK = 3;
    private static final int MOVE_DATA = 4;
    private static final int LEAVE = 5;
    private static final int RELEASE = 6;
    private static final int READ_INTEREST = 7;
    private static final int WANT_EVENTS = 8;
    private static final int UNLOCK = 9;
    private static final int DONE = 10;

    private final Set<Slip> slips = EnumSet.noneOf(Slip.class);
    private final Set<String> seen = new HashSet<>();
    private final Deque<int[]> open = new ArrayDeque<>();
    private String violation = "";
    private boolean moved;

    private boolean is(Slip slip) {
        return slips.contains(slip);
    }

    /** Tries all interleavings; returns what went wrong, or an empty text. */
    private String explore(boolean closes) {
        int[] first = new int[COUNT];
        first[BUFFERED_STATE] = NOTHING;
        first[BUFFERED_INSIDE] = NOTHING;
        first[INTERESTED] = 1;
        first[MORE] = MORE_POLLS;
        first[CLOSER] = closes ? 0 : 4;
        reach(first);
        while (!open.isEmpty() && violation.isEmpty()) {
            int[] now = open.remove();
            moved = false;
            network(now.clone());
            flush(now);
            user(now.clone());
            poller(now.clone());
            closer(now.clone());
            if (!moved && (now[USER] != DONE || now[TAKEN] < MESSAGES && now[FREED] == 0)) {
                violation = "nothing can move on: " + Arrays.toString(now);
            }
        }
        return violation;
    }

    private void reach(int[] next) {
        moved = true;
        if (seen.add(Arrays.toString(next))) {
            open.add(next);
        }
    }

    // ---- the network

    private void network(int[] s) {
        if (s[SENT] < MESSAGES) {
            s[SENT]++;
            s[IN_FRONT]++;
            reach(s);
        }
    }

    // ---- the store buffer of the user

    private void flush(int[] now) {
        if (now[BUFFERED_INSIDE] != NOTHING) {
            int[] s = now.clone();
            flushInside(s);
            reach(s);
        } else if (now[BUFFERED_STATE] != NOTHING) { // stores leave in their order
            int[] s = now.clone();
            flushAll(s);
            reach(s);
        }
    }

    private static void flushInside(int[] s) {
        if (s[BUFFERED_INSIDE] != NOTHING) {
            s[INSIDE] = s[BUFFERED_INSIDE];
            s[BUFFERED_INSIDE] = NOTHING;
        }
    }

    private static void flushAll(int[] s) {
        flushInside(s);
        if (s[BUFFERED_STATE] != NOTHING) {
            s[STATE] = s[BUFFERED_STATE];
            s[BUFFERED_STATE] = NOTHING;
        }
    }

    // ---- the user

    private void user(int[] s) {
        switch (s[USER]) {
            case BEGIN -> {
                if (s[LOCKED] != 0) {
                    return;
                }
                flushAll(s); // to take a lock is a fence
                if (s[FREED] != 0) {
                    s[USER] = DONE;
                } else if (s[STATE] == Reception.ARRIVED || s[STATE] == Reception.IDLE && s[IN_FRONT] > 0) {
                    s[IN_FRONT]--;
                    s[STATE] = Reception.EXCLUSIVE;
                    s[USER] = ENTER;
                } else {
                    s[USER] = WAIT;
                }
            }
            case WAIT -> {
                if (s[STATE] != Reception.ARRIVED && s[FREED] == 0) {
                    return;
                }
                s[USER] = BEGIN;
            }
            case ENTER -> {
                if (is(Slip.USER_RAISES_ITS_FLAG_AFTER_THE_CHECK)) {
                    s[USER] = s[STATE] == Reception.EXCLUSIVE ? CHECK : DONE;
                } else {
                    s[BUFFERED_INSIDE] = 1;
                    s[USER] = CHECK;
                }
            }
            case CHECK -> {
                if (is(Slip.USER_RAISES_ITS_FLAG_AFTER_THE_CHECK)) {
                    s[BUFFERED_INSIDE] = 1;
                    s[USER] = MOVE_DATA;
                } else {
                    boolean exclusive = s[STATE] == Reception.EXCLUSIVE;
                    s[USER] = exclusive ? MOVE_DATA : DONE;
                    if (!exclusive) {
                        flushInside(s);
                        s[BUFFERED_INSIDE] = 0;
                    }
                }
            }
            case MOVE_DATA -> s[USER] = LEAVE; // between these two steps it accesses the network's memory
            case LEAVE -> {
                flushInside(s);
                s[BUFFERED_INSIDE] = 0;
                s[TAKEN]++;
                s[USER] = RELEASE;
            }
            case RELEASE -> {
                s[BUFFERED_STATE] = Reception.IDLE;
                if (!is(Slip.RELEASE_WITHOUT_FENCE)) {
                    flushAll(s);
                }
                s[USER] = is(Slip.USER_DOES_NOT_LOOK_AT_THE_INTEREST) ? next(s) : READ_INTEREST;
            }
            case READ_INTEREST -> s[USER] = s[INTERESTED] != 0 ? next(s) : WANT_EVENTS;
            case WANT_EVENTS -> {
                if (s[LOCKED] != 0) {
                    return;
                }
                flushAll(s);
                s[LOCKED] = 1;
                s[USER] = UNLOCK;
            }
            case UNLOCK -> {
                s[INTERESTED] = 1;
                s[LOCKED] = 0;
                s[USER] = next(s);
            }
            default -> {
                return;
            }
        }
        if (s[USER] == LEAVE && s[FREED] != 0) {
            violation = "the user moves data of a connection that was freed: " + Arrays.toString(s);
        }
        reach(s);
    }

    private static int next(int[] s) {
        return s[TAKEN] < MESSAGES ? BEGIN : DONE;
    }

    // ---- the thread that polls

    private void poller(int[] s) {
        switch (s[POLLER]) {
            case 0 -> { // takes the lock if there is an event, or by chance
                boolean event = s[INTERESTED] != 0 && s[IN_FRONT] > 0 && s[STATE] != Reception.ARRIVED;
                if (s[LOCKED] != 0 || s[FREED] != 0 || !event && s[MORE] == 0) {
                    return;
                }
                s[MORE] -= event ? 0 : 1;
                s[LOCKED] = 1;
                s[POLLER] = 1;
            }
            case 1 -> {
                s[SEEN] = s[STATE];
                s[POLLER] = s[SEEN] == Reception.IDLE ? 2 : 3;
            }
            case 2 -> {
                if (s[IN_FRONT] > 0) {
                    s[STATE] = Reception.ARRIVED;
                } else {
                    s[INTERESTED] = 1;
                }
                s[POLLER] = 6;
            }
            case 3 -> { // a message that is up to its user
                s[INTERESTED] = 0;
                s[POLLER] = is(Slip.POLLER_DOES_NOT_LOOK_AT_THE_STATE_AGAIN) ? 6 : 4;
            }
            case 4 -> s[POLLER] = s[SEEN] == s[STATE] ? 6 : 5;
            case 5 -> {
                s[INTERESTED] = 1;
                s[POLLER] = 1;
            }
            default -> {
                s[LOCKED] = 0;
                s[POLLER] = 0;
            }
        }
        reach(s);
    }

    // ---- the thread that closes

    private void closer(int[] s) {
        switch (s[CLOSER]) {
            case 0 -> {
                if (s[LOCKED] != 0) {
                    return;
                }
                s[LOCKED] = 1;
                s[CLOSER] = s[STATE] == Reception.EXCLUSIVE ? 1 : 3;
                if (s[CLOSER] == 1) {
                    s[STATE] = Reception.OPEN;
                }
            }
            case 1 -> {
                if (!is(Slip.REVOCATION_WITHOUT_FENCE)) {
                    flushAll(s); // a fence in all threads
                }
                s[CLOSER] = 2;
            }
            case 2 -> {
                if (s[INSIDE] != 0 && !is(Slip.REVOCATION_WITHOUT_WAITING)) {
                    return;
                }
                s[CLOSER] = 3;
            }
            case 3 -> {
                s[FREED] = 1;
                s[LOCKED] = 0;
                s[CLOSER] = 4;
                if (s[USER] == LEAVE) {
                    violation = "the connection is freed while its user moves data: " + Arrays.toString(s);
                }
            }
            default -> {
                return;
            }
        }
        reach(s);
    }

    @Test
    void shouldFindEachMessageAndFreeNothingThatIsInUse() {
        assertEquals("", explore(false));
        int open = seen.size();
        assertEquals("", explore(true));
        assertNotEquals(open, seen.size());
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotice(Slip slip) {
        slips.add(slip);
        boolean ofClosing = slip.ordinal() >= Slip.REVOCATION_WITHOUT_FENCE.ordinal();
        assertNotEquals("", explore(ofClosing));
    }
}
