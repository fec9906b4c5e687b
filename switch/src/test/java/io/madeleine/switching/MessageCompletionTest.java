package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.Waitable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageCompletionTest {
    @Test
    void shouldStillCallAnActionThatIsReplacedAfterTheEnd() {
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            MessageCompletion completion = new MessageCompletion(engine, new Waitable());
            completion.begin();
            List<String> called = new ArrayList<>();
            completion.onDone(() -> called.add("replaced before the end"));
            completion.onDone(() -> called.add("first"));
            completion.end(null); // and whoever does is held up before it calls the action
            completion.onDone(() -> called.add("second"));
            completion.leave();
            assertEquals(List.of("first", "second"), called);
        }
    }

    /** Code in other languages, or compiled with tools, throws checked exceptions where none is declared. */
    @Test
    void shouldThrowNothingThatAnActionThrows() {
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            MessageCompletion completion = new MessageCompletion(engine, new Waitable());
            completion.begin();
            completion.onDone(MessageCompletionTest::throwUndeclared);
            completion.end(null);
            assertDoesNotThrow(completion::leave);
            assertDoesNotThrow(() -> completion.onDone(MessageCompletionTest::throwUndeclared));
        }
    }

    private static void throwUndeclared() {
        MessageCompletionTest.<RuntimeException>sneak(new InterruptedException("as a test"));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // erased: this is the point
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
