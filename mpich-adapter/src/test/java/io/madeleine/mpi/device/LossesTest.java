package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.madeleine.api.Channel;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendTask;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** What is said of a process that has died. */
class LossesTest {
    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** The error of what needs rank 2, after the session has said that the rank is gone. */
    private static MpiFault failure(String reason) {
        Channel channel = proxy(Channel.class, (_, _, _) -> proxy(SendTask.class, (_, _, _) -> null));
        Peers peers = new Peers(channel, 0, 3, 1 << 20);
        Matching matching = new Matching(3);
        Controls controls = new Controls();
        Losses losses = new Losses(
                peers,
                matching,
                new OperationTable<>(),
                controls,
                new Cancellation(peers, matching, controls),
                new Waiting(
                        proxy(Signal.class, (_, _, _) -> null),
                        new MemoryShortage(proxy(Session.class, (_, _, _) -> 0), matching, 1 << 20)));
        losses.peerFailed(2, new PeerFailedException(2, reason));
        MpiFault seen = peers.lossAmong(rank -> rank == 2);
        assertNotNull(seen);
        assertEquals(ErrorClass.PROC_ABORTED, seen.errorClass());
        return seen;
    }

    @Test
    void shouldSayOnceThatARankIsGoneAndWhy() {
        assertEquals(
                "rank 2 is gone: its process ended by signal 9 (process 17 on node3)",
                failure("rank 2 is gone: its process ended by signal 9 (process 17 on node3)")
                        .getMessage());
        assertEquals(
                "rank 2 ended without closing its session",
                failure("rank 2 ended without closing its session").getMessage());
        assertEquals(
                "rank 2 is gone: its link is closed",
                failure("its link is closed").getMessage());
        assertEquals(
                "rank 2 is gone: rank 22 said so", failure("rank 22 said so").getMessage());
    }
}
