package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.mpi.MpiFault;
import java.io.Serializable;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Errors of objects that cannot be written or read say what mends them, and nothing else. */
class ObjectMessagesTest {
    private static final long SHORT_STACK = 256 << 10;
    private static final long LONG_STACK = 64 << 20;

    private record Chain(@Nullable Chain next) implements Serializable {
        static Chain of(int length) {
            Chain chain = new Chain(null);
            for (int i = 1; i < length; i++) {
                chain = new Chain(chain);
            }
            return chain;
        }
    }

    private static <T> T withStack(long bytes, Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(null, task, "stack", bytes).start();
        return task.get(60, TimeUnit.SECONDS);
    }

    private static String failureOf(long stack, Callable<?> work) throws Exception {
        return String.valueOf(
                withStack(stack, () -> assertThrows(MpiFault.class, work::call)).getMessage());
    }

    private static int read(byte[] message) {
        return ObjectMessages.read(message, new Object[1], 0, 1);
    }

    @Test
    void shouldNameTheStackIfThatIsTooShort() throws Exception {
        Object[] chain = {Chain.of(950)};
        byte[] message = withStack(LONG_STACK, () -> ObjectMessages.write(chain, 0, 1));
        assertEquals(1, withStack(LONG_STACK, () -> read(message)));
        String unread = failureOf(SHORT_STACK, () -> read(message));
        assertTrue(unread.contains("-Xss"), unread);
        assertFalse(unread.contains("mpi.object-filter"), unread);
        Object[] longer = {Chain.of(20_000)};
        String unwritten = failureOf(SHORT_STACK, () -> ObjectMessages.write(longer, 0, 1));
        assertTrue(unwritten.contains("-Xss"), unwritten);
    }

    @Test
    void shouldNameTheFilterIfThatRefuses() throws Exception {
        Object[] chain = {Chain.of(1_100)};
        byte[] message = withStack(LONG_STACK, () -> ObjectMessages.write(chain, 0, 1));
        String refused = failureOf(LONG_STACK, () -> read(message));
        assertTrue(refused.contains("mpi.object-filter"), refused);
        assertFalse(refused.contains("-Xss"), refused);
    }
}
