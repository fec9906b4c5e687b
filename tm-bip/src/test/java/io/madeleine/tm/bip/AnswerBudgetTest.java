package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Answers to invented addresses leave most of the send buffer to the peers. */
class AnswerBudgetTest {
    private static final int BUFFER_BYTES = 212_992;
    private static final int MOST = BUFFER_BYTES / AnswerBudget.SHARE / AnswerBudget.DATAGRAM_BYTES;

    private final AnswerBudget budget = new AnswerBudget(BUFFER_BYTES, 0);

    private static InetAddress address(int number) {
        return InetAddress.ofLiteral("10.9." + number / 256 + "." + number % 256);
    }

    private int taken(int attempts, int first, long nowNs) {
        int taken = 0;
        for (int i = 0; i < attempts; i++) {
            taken += budget.takeFor(address(first + i), nowNs) ? 1 : 0;
        }
        return taken;
    }

    @Test
    void shouldAnswerAFewInventedAddressesAtOnceAndAsManyMoreWhileTheSystemKeepsTheirDatagrams() {
        assertEquals(MOST, taken(1000, 0, 0));
        assertEquals(MOST / 3, taken(1000, 0, AnswerBudget.KEPT_NS / 3));
        assertEquals(
                MOST, taken(1000, 0, 20 * AnswerBudget.KEPT_NS), "no more than at first, however long it was idle");
    }

    @Test
    void shouldAlwaysAnswerMembersOfTheSessionAndWhoHasReturnedACookieAndThisHost() {
        budget.member("tag@name.invalid:7000,10.9.0.7:7000");
        budget.member("tag@[fd00::7]:7000,name.invalid:7000");
        budget.member("no address");
        budget.proved(address(8));
        int _ = taken(1000, 100, 0);
        for (String known : new String[] {"10.9.0.7", "fd00::7", "10.9.0.8", "127.0.0.1", "::1"}) {
            assertTrue(budget.takeFor(InetAddress.ofLiteral(known), 0), known);
        }
        assertFalse(budget.takeFor(address(9), 0));
    }

    @Test
    void shouldForgetTheOldestOfManyAddresses() {
        for (int i = 0; i <= AnswerBudget.MOST_PROVED; i++) {
            budget.proved(address(i));
        }
        int _ = taken(1000, 10_000, 0);
        assertFalse(budget.takeFor(address(0), 0));
        assertTrue(budget.takeFor(address(1), 0));
    }
}
