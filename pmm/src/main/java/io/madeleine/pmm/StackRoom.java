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
 * Room on the stack that a call makes sure of before it changes anything: near the end of its stack a thread fails there, with a
 * {@link StackOverflowError}, and not in the midst of a packet, of a queue or of a poll that it does for everybody.
 *
 * <p>The JVM checks the room for a whole frame when a method is called. So it calls one that does nothing and has that many local
 * variables, more than source code has names for, which is why it is generated. Compiled code checks for the frame all the same,
 * even where it has it inlined: it must be able to go on in the interpreter, in the branch that is never taken, where a call keeps
 * the simplest compiler from doing without. The check is one store for each page, in a method that has one such store anyway.
 *
 * <p>Threading: thread-safe.
 */
public final class StackRoom {
    private static final int TO_CALL_BYTES = 32 << 10;
    private static final int FOR_SEVERAL_BYTES = 48 << 10;
    private static final int TO_MOVE_BYTES = 16 << 10;
    private static final int TO_CLOSE_BYTES = 8 << 10;
    private static final int PLENTY_BYTES = 128 << 10;

    /** More bytecodes than compilers inline (325 by default), however often a method is called. */
    private static final int TOO_LONG_TO_INLINE = 1_000;

    private static final Probe TO_CALL = probe(TO_CALL_BYTES, 0);
    private static final Probe FOR_SEVERAL = probe(FOR_SEVERAL_BYTES, 0);
    private static final Probe TO_MOVE = probe(TO_MOVE_BYTES, 0);
    private static final Probe TO_CLOSE = probe(TO_CLOSE_BYTES, TOO_LONG_TO_INLINE);
    private static final Probe PLENTY = probe(PLENTY_BYTES, TOO_LONG_TO_INLINE);

    /** Not a constant, or the branch would go, and with it the frame. */
    @SuppressWarnings("FieldMayBeFinal")
    private static boolean never;

    /** A method with a large frame. */
    interface Probe {
        void pass(boolean never);
    }

    private StackRoom() {}

    /**
     * There is room for any call, with a round of polls within it.
     *
     * @throws StackOverflowError if not
     */
    public static void ensure() {
        TO_CALL.pass(never);
    }

    /**
     * There is room for a call that makes several others which do {@link #ensure}, and is to succeed as a whole or to change
     * nothing.
     *
     * @throws StackOverflowError if not
     */
    public static void ensureForSeveral() {
        FOR_SEVERAL.pass(never);
    }

    /**
     * There is room for a call that moves one small message, with waking its receiver, and neither polls nor waits. Takes
     * less time than {@link #ensure}: the JVM stores once into each page.
     *
     * @throws StackOverflowError if not
     */
    public static void ensureToMove() {
        TO_MOVE.pass(never);
    }

    /**
     * There is room for giving a message up, which takes less than other calls: whom one of those has failed can do this.
     *
     * <p>The caller sees the failure and can act on it: this check is not inlined. If it were, compiled code would check as the
     * caller is called, and it is that one's caller who would see the failure.
     *
     * @throws StackOverflowError if not
     */
    public static void ensureToClose() {
        TO_CLOSE.pass(never);
    }

    /** Whether there is room for code of the user's that could as well be run by another thread. */
    public static boolean hasPlenty() {
        try {
            PLENTY.pass(never);
            return true;
        } catch (StackOverflowError _) {
            return false;
        }
    }

    /** A method with a frame of that size, and that many bytecodes that do nothing and are never reached. */
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
