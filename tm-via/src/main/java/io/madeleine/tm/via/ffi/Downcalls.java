package io.madeleine.tm.via.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Downcalls by shape. Each takes the function's address first, so that functions of several providers share one handle.
 * Pointers are passed as 64-bit numbers: the caller keeps their memory alive during the call, and as long as the
 * provider uses it. The calls allocate nothing. Do not initialise this class without native access.
 *
 * <p>Threading: stateless.
 */
final class Downcalls {
    private static final MethodHandle INT_OF_1 = handle(JAVA_INT, JAVA_LONG);
    private static final MethodHandle INT_OF_2 = handle(JAVA_INT, longs(2));
    private static final MethodHandle INT_OF_3 = handle(JAVA_INT, longs(3));
    private static final MethodHandle INT_OF_4 = handle(JAVA_INT, longs(4));
    private static final MethodHandle INT_OF_6 = handle(JAVA_INT, longs(6));
    private static final MethodHandle INT_OF_9 = handle(JAVA_INT, longs(9));
    private static final MethodHandle CONTROL = handle(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle TRYWAIT = handle(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle LONG_OF_2 = handle(JAVA_LONG, longs(2));
    private static final MethodHandle LONG_OF_3 = handle(JAVA_LONG, longs(3));
    private static final MethodHandle LONG_OF_4 = handle(JAVA_LONG, longs(4));
    private static final MethodHandle LONG_OF_6 = handle(JAVA_LONG, longs(6));
    private static final MethodHandle LONG_OF_7 = handle(JAVA_LONG, longs(7));
    private static final MethodHandle LONG_OF_8 = handle(JAVA_LONG, longs(8));
    private static final MethodHandle LONG_OF_9 = handle(JAVA_LONG, longs(9));
    private static final MethodHandle VALID = handle(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle FETCH = handle(JAVA_LONG, words(9));
    private static final MethodHandle COMPARE = handle(JAVA_LONG, words(11));
    private static final MethodHandle STRERROR =
            handle(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle INT_OF_0 = handle(JAVA_INT);
    private static final MethodHandle LONG_OF_1 = handle(JAVA_LONG, JAVA_LONG);
    private static final MethodHandle LONG_OF_INT = handle(JAVA_LONG, JAVA_INT);
    private static final MethodHandle TO_STRING = handle(JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle GET_INFO =
            handle(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle OF_INT_AND_1 = handle(JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle OF_INT_AND_2 = handle(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle OF_2_AND_INT = handle(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    private Downcalls() {}

    private static MemoryLayout[] longs(int count) {
        MemoryLayout[] all = new MemoryLayout[count];
        Arrays.fill(all, JAVA_LONG);
        return all;
    }

    /** So many longs, the type and the kind of an atomic operation, and its context. */
    private static MemoryLayout[] words(int count) {
        MemoryLayout[] all = longs(count + 3);
        all[count] = JAVA_INT;
        all[count + 1] = JAVA_INT;
        return all;
    }

    @SuppressWarnings("restricted") // downcalls are the purpose of this package
    private static MethodHandle handle(MemoryLayout result, MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(result, arguments));
    }

    private static RuntimeException wrong(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException known
                ? known
                : new IllegalStateException("a downcall threw a checked exception", e);
    }

    static int intOf0(MemorySegment function) {
        try {
            return (int) INT_OF_0.invokeExact(function);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int intOf1(MemorySegment function, long a) {
        try {
            return (int) INT_OF_1.invokeExact(function, a);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int intOf2(MemorySegment function, long a, long b) {
        try {
            return (int) INT_OF_2.invokeExact(function, a, b);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int intOf3(MemorySegment function, long a, long b, long c) {
        try {
            return (int) INT_OF_3.invokeExact(function, a, b, c);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int intOf4(MemorySegment function, long a, long b, long c, long d) {
        try {
            return (int) INT_OF_4.invokeExact(function, a, b, c, d);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int intOf6(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return (int) INT_OF_6.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static int intOf9(MemorySegment function, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
        try {
            return (int) INT_OF_9.invokeExact(function, a, b, c, d, e, f, g, h, i);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static int control(MemorySegment function, long fid, int command, long argument) {
        try {
            return (int) CONTROL.invokeExact(function, fid, command, argument);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int trywait(MemorySegment function, long fabric, long fids, int count) {
        try {
            return (int) TRYWAIT.invokeExact(function, fabric, fids, count);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long longOf1(MemorySegment function, long a) {
        try {
            return (long) LONG_OF_1.invokeExact(function, a);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long longOfInt(MemorySegment function, int a) {
        try {
            return (long) LONG_OF_INT.invokeExact(function, a);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long longOf3(MemorySegment function, long a, long b, long c) {
        try {
            return (long) LONG_OF_3.invokeExact(function, a, b, c);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long longOf4(MemorySegment function, long a, long b, long c, long d) {
        try {
            return (long) LONG_OF_4.invokeExact(function, a, b, c, d);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long longOf6(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) LONG_OF_6.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static long longOf2(MemorySegment function, long a, long b) {
        try {
            return (long) LONG_OF_2.invokeExact(function, a, b);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static long longOf7(MemorySegment function, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) LONG_OF_7.invokeExact(function, a, b, c, d, e, f, g);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static long longOf8(MemorySegment function, long a, long b, long c, long d, long e, long f, long g, long h) {
        try {
            return (long) LONG_OF_8.invokeExact(function, a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    static long longOf9(
            MemorySegment function, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
        try {
            return (long) LONG_OF_9.invokeExact(function, a, b, c, d, e, f, g, h, i);
        } catch (Throwable t) {
            throw wrong(t);
        }
    }

    /** A function such as {@code fi_fetch_atomicvalid}. */
    static int valid(MemorySegment function, long endpoint, int type, int kind, long count) {
        try {
            return (int) VALID.invokeExact(function, endpoint, type, kind, count);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    /** A function such as {@code fi_fetch_atomic}, for one word. */
    static long fetch(
            MemorySegment function,
            long endpoint,
            long operand,
            long result,
            long descriptor,
            long peer,
            long target,
            long key,
            int type,
            int kind,
            long context) {
        try {
            return (long) FETCH.invokeExact(
                    function,
                    endpoint,
                    operand,
                    1L,
                    descriptor,
                    result,
                    descriptor,
                    peer,
                    target,
                    key,
                    type,
                    kind,
                    context);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    /** A function such as {@code fi_compare_atomic}, for one word. */
    static long compare(
            MemorySegment function,
            long endpoint,
            long operand,
            long compared,
            long result,
            long descriptor,
            long peer,
            long target,
            long key,
            int type,
            int kind,
            long context) {
        try {
            return (long) COMPARE.invokeExact(
                    function,
                    endpoint,
                    operand,
                    1L,
                    descriptor,
                    compared,
                    descriptor,
                    result,
                    descriptor,
                    peer,
                    target,
                    key,
                    type,
                    kind,
                    context);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long strerror(MemorySegment function, long queue, int providerError, long data, long text, long bytes) {
        try {
            return (long) STRERROR.invokeExact(function, queue, providerError, data, text, bytes);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static long toString(MemorySegment function, long data, int type) {
        try {
            return (long) TO_STRING.invokeExact(function, data, type);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    static int getInfo(
            MemorySegment function, int version, long node, long service, long flags, long hints, long result) {
        try {
            return (int) GET_INFO.invokeExact(function, version, node, service, flags, hints, result);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    /** A function such as {@code getrlimit}. */
    static int ofIntAnd1(MemorySegment function, int a, long b) {
        try {
            return (int) OF_INT_AND_1.invokeExact(function, a, b);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    /** A function such as {@code sigaction}. */
    static int ofIntAnd2(MemorySegment function, int a, long b, long c) {
        try {
            return (int) OF_INT_AND_2.invokeExact(function, a, b, c);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }

    /** A function such as {@code setenv}. */
    static int of2AndInt(MemorySegment function, long a, long b, int c) {
        try {
            return (int) OF_2_AND_INT.invokeExact(function, a, b, c);
        } catch (Throwable e) {
            throw wrong(e);
        }
    }
}
