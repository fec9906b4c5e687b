package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.Session;
import io.madeleine.mpi.ErrorClass;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The end of a job whose messages nobody asks for. */
class MemoryShortageTest {
    private static final OutOfMemoryError FULL = new OutOfMemoryError("as a test");
    private static final String ADVICE = " that it has not asked for: expected receives earlier, more memory (-Xmx),"
            + " or a smaller mpi.credit-bytes, which is now 4096";

    private final List<String> events = new ArrayList<>();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
    private final Matching matching = new Matching(4);
    private boolean isFull;
    private MemoryShortage shortage;

    @BeforeEach
    void prepare() {
        Session session = (Session) Proxy.newProxyInstance(
                Session.class.getClassLoader(), new Class<?>[] {Session.class}, (_, method, arguments) -> {
                    if (method.getName().equals("rank")) {
                        return 3;
                    }
                    if (isFull) {
                        throw FULL;
                    }
                    events.add(method.getName() + " " + arguments[0] + ": " + arguments[1]);
                    return null;
                });
        shortage = new MemoryShortage(session, matching, 4096, errors, code -> events.add("halt " + code));
    }

    private void keep(long count) {
        for (long i = 0; i < count; i++) {
            matching.keep(matching.newArrived(), 0);
        }
    }

    @Test
    void shouldEndTheJobWhenAMessageIsLost() {
        keep(2);
        shortage.lost(1, FULL);
        assertEquals(
                List.of("abort " + ErrorClass.INTERN + ": rank 3 has no memory for a message from rank 1 (as a test),"
                        + " and keeps 2 messages" + ADVICE),
                events);
        assertEquals("", errors.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldEndTheProcessWithLastWordsIfThereIsNoMemoryForAnOrderlyEnd() {
        isFull = true;
        shortage.lost(1, FULL);
        assertEquals(List.of("halt " + ErrorClass.INTERN), events);
        assertEquals(
                "madeleine: rank 3 has no memory for messages" + ADVICE + "\n",
                errors.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldEndTheJobForLackOfProgressOnlyIfKeptMessagesFillTheHeap() {
        keep(1);
        shortage.hinders(FULL);
        assertEquals(List.of(), events);
        long many = Runtime.getRuntime().maxMemory() / 64 / 200;
        keep(many);
        shortage.hinders(FULL);
        assertEquals(
                List.of("abort " + ErrorClass.INTERN + ": rank 3 has no memory to make progress (as a test), and keeps "
                        + (many + 1) + " messages" + ADVICE),
                events);
    }
}
