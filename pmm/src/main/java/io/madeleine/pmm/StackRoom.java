package io.madeleine.pmm;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;

/**
 * Reserves stack space before a call changes anything. A thread near the end of its stack then fails at the start, with
 * a {@link StackOverflowError}, and not in the middle of a packet, of a queue operation, or of a poll that it does for
 * others.
 *
 * <p>The JVM checks the space for a whole frame when a method is called. So this class calls a method that does nothing
 * and has as many local variables as needed. They are too many for source code, so the method is generated. Compiled
 * code checks for the frame even where the method is inlined, since it must be able to continue in the interpreter, in
 * the branch that is never taken; the call in that branch keeps the simplest compiler from omitting the frame. The
 * check is one store per page, in a method that has one such store anyway.
 *
 * <p>Threading: thread-safe.
 */
public final class StackRoom {
    private static final int TO_CALL_BYTES = 32 << 10;
    private static final int FOR_SEVERAL_BYTES = 48 << 10;
    private static final int TO_MOVE_BYTES = 16 << 10;
    private static final int TO_CLOSE_BYTES = 8 << 10;
    private static final int PLENTY_BYTES = 128 << 10;

    /** More bytecodes than any compiler inlines (by default 325), however often the method is called. */
    private static final int TOO_LONG_TO_INLINE = 1_000;

    private static final Probe TO_CALL = probe(TO_CALL_BYTES, 0);
    private static final Probe FOR_SEVERAL = probe(FOR_SEVERAL_BYTES, 0);
    private static final Probe TO_MOVE = probe(TO_MOVE_BYTES, 0);
    private static final Probe TO_CLOSE = probe(TO_CLOSE_BYTES, TOO_LONG_TO_INLINE);
    private static final Probe PLENTY = probe(PLENTY_BYTES, TOO_LONG_TO_INLINE);

    /** Not a constant: otherwise the compiler would remove the branch, and with it the frame. */
    @SuppressWarnings("FieldMayBeFinal")
    private static boolean never;

    /** A method with a large frame. */
    interface Probe {
        void pass(boolean never);
    }

    private StackRoom() {}

    /**
     * Ensures room for any call, including a round of polls.
     *
     * @throws StackOverflowError if there is not enough room
     */
    public static void ensure() {
        TO_CALL.pass(never);
    }

    /**
     * Ensures room for a call that makes several calls which do {@link #ensure}, and that must succeed as a whole or
     * change nothing.
     *
     * @throws StackOverflowError if there is not enough room
     */
    public static void ensureForSeveral() {
        FOR_SEVERAL.pass(never);
    }

    /**
     * Ensures room for a call that moves one small message and wakes its receiver, but neither polls nor waits. Faster
     * than {@link #ensure}, since the JVM stores once into each page.
     *
     * @throws StackOverflowError if there is not enough room
     */
    public static void ensureToMove() {
        TO_MOVE.pass(never);
    }

    /**
     * Ensures room to give a message up. This takes less than other calls, so that it is possible after one of those
     * has failed.
     *
     * <p>The caller can catch the error, because this check is not inlined. If it were, compiled code would check when
     * the caller itself is called, and the caller's caller would get the error.
     *
     * @throws StackOverflowError if there is not enough room
     */
    public static void ensureToClose() {
        TO_CLOSE.pass(never);
    }

    /** Whether there is room for code of the user that another thread could run as well. */
    public static boolean hasPlenty() {
        try {
            PLENTY.pass(never);
            return true;
        } catch (StackOverflowError _) {
            return false;
        }
    }

    /** Makes a method with a frame of that size and with this many padding bytecodes, which are never reached. */
    private static Probe probe(int frameBytes, int padding) {
        int lastLocal = frameBytes / Long.BYTES - 1;
        ClassDesc self = ClassDesc.of(StackRoom.class.getPackageName(), "StackProbe");
        byte[] probe = ClassFile.of()
                .build(
                        self,
                        type -> type.withFlags(ClassFile.ACC_FINAL)
                                .withInterfaces(List.of(type.constantPool().classEntry(desc(Probe.class))))
                                .withMethodBody(
                                        INIT_NAME,
                                        MTD_void,
                                        0,
                                        code -> code.aload(0)
                                                .invokespecial(CD_Object, INIT_NAME, MTD_void)
                                                .return_())
                                .withMethodBody(
                                        "pass",
                                        MethodTypeDesc.of(CD_void, ConstantDescs.CD_boolean),
                                        ClassFile.ACC_PUBLIC,
                                        code -> {
                                            Label past = code.newLabel();
                                            code.iload(1)
                                                    .ifeq(past)
                                                    .iload(1)
                                                    .istore(lastLocal)
                                                    .invokestatic(desc(Thread.class), "yield", MTD_void);
                                            for (int i = 0; i < padding; i++) {
                                                code.nop();
                                            }
                                            code.labelBinding(past).return_();
                                        }));
        try {
            MethodHandles.Lookup made = MethodHandles.lookup().defineHiddenClass(probe, true);
            return (Probe) made.findConstructor(made.lookupClass(), MethodType.methodType(void.class))
                    .invoke();
        } catch (Throwable e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static ClassDesc desc(Class<?> type) {
        return type.describeConstable().orElseThrow();
    }
}
