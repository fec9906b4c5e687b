package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendTask;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A body that arrives where memory is short. */
class IntakeTest {
    private final List<String> calls = new ArrayList<>();
    private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    private final OperationTable<Operation> operations = new OperationTable<>();
    private final IncomingMessage message = proxy(IncomingMessage.class, (_, method, _) -> {
        calls.add(method.getName());
        if (method.getName().equals("unpack")) {
            throw new OutOfMemoryError("as a test");
        }
        return null;
    });
    private final Intake intake = intake();

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Intake intake() {
        Channel channel = proxy(Channel.class, (_, _, _) -> proxy(SendTask.class, (_, _, _) -> null));
        Session session = proxy(Session.class, (_, _, _) -> 0);
        Matching matching = new Matching(2);
        Delivery delivery = new Delivery(
                new Peers(channel, 0, 2, 1 << 20), matching, operations, new Controls(), new Faults(session));
        return new Intake(delivery, new MemoryShortage(session, matching, 1 << 20), _ -> {});
    }

    @Test
    void shouldFailTheReceiveAndGoOn() {
        Signal signal = proxy(Signal.class, (_, _, _) -> null);
        ReceiveOperation receive = new ReceiveOperation(signal, operations, 0).prepare(1, 0, 5, null);
        receive.payload().set(memory, 0, 8);
        receive.start();
        try {
            intake.into(receive, message, 0, 8, false);
        } catch (OutOfMemoryError e) { // it would end the whole test run
            throw new AssertionError(e);
        }
        assertTrue(receive.isDone());
        MpiFault why = receive.fault();
        assertNotNull(why);
        assertTrue(String.valueOf(why.getMessage()).contains("OutOfMemoryError: as a test"), why.getMessage());
        assertEquals(List.of("unpack", "close"), calls);
    }

    @Test
    void shouldTellItsCallerThatAMessageIsLostThatNobodyHasAskedFor() {
        Arrived arrived = new Arrived();
        arrived.stage = Arrived.Stage.ARRIVING;
        assertThrows(OutOfMemoryError.class, () -> intake.into(arrived, memory, message, 8));
        assertEquals(List.of("unpack", "close"), calls);
    }
}
