package io.madeleine.testkit.messages;

import org.jspecify.annotations.Nullable;

/** Makes a close fail for lack of stack as detected by the message itself, not by an overflow in the call. */
final class VainClose implements Runnable {
    private final AutoCloseable message;
    private boolean hasFailed;
    private @Nullable StackOverflowError last;

    VainClose(AutoCloseable message) {
        this.message = message;
        boolean _ = isSeenByMessage(new StackOverflowError()); // initialises classes: not at the end of the stack
    }

    @Override
    public void run() {
        if (hasFailed || isSeenByMessage(last)) {
            hasFailed = true;
            return;
        }
        try {
            message.close();
            throw new AssertionError("close succeeded; expected it to run out of stack", last);
        } catch (StackOverflowError e) {
            last = e;
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isSeenByMessage(@Nullable StackOverflowError seen) {
        return seen != null && seen.getStackTrace()[0].getMethodName().equals("ensureToClose");
    }
}
