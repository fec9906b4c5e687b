package io.madeleine.nexus;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Exceptions on the wire: type, message, code, stack, causes. They are plain data; a peer cannot make this process load
 * a class by naming it.
 *
 * <p>Threading: stateless.
 */
final class ExceptionCoding {
    private static final int MAX_FRAMES = 64;
    private static final int MAX_CAUSES = 8;

    /** Flag in the byte of the code: details follow. */
    private static final int HAS_DETAILS = 0x80;

    private ExceptionCoding() {}

    /** Writes an exception with its causes, and the declared type as which the caller expects it. */
    static void write(Arguments arguments, Throwable thrown, Class<?>[] declared) {
        arguments.putText(expectedAs(thrown, declared));
        int count = 0;
        for (Throwable next = thrown; next != null && count < MAX_CAUSES; next = causeOf(next)) {
            count++;
        }
        arguments.putByte((byte) count);
        Throwable next = thrown;
        for (int i = 0; i < count && next != null; i++, next = causeOf(next)) {
            arguments.putText(
                    next instanceof RemoteException remote
                            ? remote.remoteType()
                            : next.getClass().getName());
            arguments.putText(messageOf(next));
            writeCode(arguments, next);
            StackTraceElement[] stack = stackOf(next);
            int frames = Math.min(stack.length, MAX_FRAMES);
            arguments.putByte((byte) frames);
            for (int k = 0; k < frames; k++) {
                StackTraceElement frame = stack[k];
                arguments.putText(frame.getClassName());
                arguments.putText(frame.getMethodName());
                arguments.putText(frame.getFileName() == null ? "" : frame.getFileName());
                arguments.putInt(frame.getLineNumber());
            }
        }
    }

    // Methods of the program's own exceptions may throw.

    private static @Nullable Throwable causeOf(Throwable thrown) {
        try {
            return thrown.getCause();
        } catch (Throwable e) {
            return null;
        }
    }

    private static String messageOf(Throwable thrown) {
        try {
            return String.valueOf(thrown.getMessage());
        } catch (Throwable e) {
            return "its message cannot be made: " + e.getClass().getName();
        }
    }

    private static StackTraceElement[] stackOf(Throwable thrown) {
        try {
            return thrown.getStackTrace();
        } catch (Throwable e) {
            return new StackTraceElement[0];
        }
    }

    private static int codeOf(Throwable thrown) {
        try {
            return ErrorCode.of(thrown).number();
        } catch (Throwable e) {
            return ErrorCode.UNKNOWN.number();
        }
    }

    /**
     * Writes code and details of one exception of the chain; each has its own, so that wrapping an exception loses
     * none.
     */
    private static void writeCode(Arguments arguments, Throwable thrown) {
        int code = codeOf(thrown);
        CallException detailed = thrown instanceof CallException call
                ? call
                : causeOf(thrown) instanceof RemoteException remote ? remote : null;
        Metadata details = detailed == null ? Metadata.EMPTY : detailed.metadata();
        if (details.isEmpty()) {
            arguments.putByte((byte) code);
        } else {
            arguments.putByte((byte) (code | HAS_DETAILS));
            details.write(arguments);
        }
    }

    /** The closest of the declared types; empty if there is none, or if it also covers {@link RemoteException}. */
    private static String expectedAs(Throwable thrown, Class<?>[] declared) {
        Class<?> closest = null;
        for (Class<?> type : declared) {
            if (type.isInstance(thrown)
                    && !type.isAssignableFrom(RemoteException.class)
                    && (closest == null || closest.isAssignableFrom(type))) {
                closest = type;
            }
        }
        return closest == null ? "" : closest.getName();
    }

    /**
     * Reads what {@link #write} has written, and makes the exception for the caller of a method that declares these
     * types.
     */
    static Throwable read(Request request, Class<?>[] declared) {
        String expectedAs = request.getString();
        return atCaller(readAll(request), expectedAs, declared);
    }

    private static RemoteException readAll(Request request) {
        int count = request.getByte();
        if (count < 1 || count > MAX_CAUSES) {
            throw new NexusException("an answer from rank " + request.remote() + " has no exception next");
        }
        RemoteException first = readOne(request);
        RemoteException last = first;
        for (int i = 1; i < count; i++) {
            RemoteException cause = readOne(request);
            last.initCause(cause);
            last = cause;
        }
        return first;
    }

    private static RemoteException readOne(Request request) {
        String type = request.getString();
        String message = request.getString();
        int code = request.getByte();
        Metadata details = (code & HAS_DETAILS) == 0 ? Metadata.EMPTY : Metadata.read(request);
        RemoteException read =
                new RemoteException(request.remote(), ErrorCode.of(code & ~HAS_DETAILS & 0xFF), type, message);
        details.asMap().forEach(read::with);
        StackTraceElement[] stack = new StackTraceElement[Math.max(0, request.getByte())];
        for (int k = 0; k < stack.length; k++) {
            stack[k] = new StackTraceElement(
                    request.getString(), request.getString(), emptyToNull(request.getString()), request.getInt());
        }
        read.setStackTrace(stack);
        return read;
    }

    private static @Nullable String emptyToNull(String text) {
        return text.isEmpty() ? null : text;
    }

    /**
     * Makes an exception of the expected declared type from the message, with the remote exception as its cause;
     * returns the remote exception itself if none is expected or none can be made.
     */
    private static Throwable atCaller(RemoteException remote, String expectedAs, Class<?>[] declared) {
        for (Class<?> type : declared) {
            if (type.getName().equals(expectedAs)) {
                try {
                    Constructor<?> constructor = type.getDeclaredConstructor(String.class);
                    constructor.setAccessible(true);
                    Throwable made = (Throwable) constructor.newInstance(String.valueOf(remote.getMessage()));
                    made.initCause(remote);
                    return made;
                } catch (Throwable e) {
                    return remote; // it cannot be made; the remote exception has the same information
                }
            }
        }
        return remote;
    }

    /** Appends the stack of the calling thread, which has waited, to the remote one. */
    static Throwable withCallersStack(Throwable failure) {
        if (failure instanceof RemoteException) {
            StackTraceElement[] there = failure.getStackTrace();
            StackTraceElement[] here = new Throwable().getStackTrace();
            StackTraceElement[] both = Arrays.copyOf(there, there.length + here.length);
            System.arraycopy(here, 0, both, there.length, here.length);
            failure.setStackTrace(both);
        }
        return failure;
    }
}
