package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.RequestLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that is reached by two channels over two networks, and by a connection: the first one that works is used. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MethodsTest {
    private final AtomicInteger sum = new AtomicInteger();

    private World world() {
        World world = new World(
                "sci, tcp",
                2,
                context -> context.endpoint("sum").nonThreaded("add", (_, request) -> sum.addAndGet(request.getInt())));
        AttachPoint _ = world.of(1)
                .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.empty());
        World.await(() -> world.of(0).methodsOf(1).size() == 3);
        return world;
    }

    private void add(Startpoint to) {
        int before = sum.get();
        to.rsr("add", new Arguments().putInt(1));
        World.await(() -> sum.get() == before + 1);
    }

    private static List<String> table(Startpoint to) {
        return to.methods().stream()
                .map(method -> method.name() + " " + method.state())
                .toList();
    }

    /** As when its network has found out. */
    private static void lose(Startpoint to, String method) {
        for (Route route : to.context().node().nodes().get(to.rank()).routes()) {
            if (route.name().equals(method)) {
                route.lose("its cable is cut");
            }
        }
    }

    @Test
    void shouldTakeTheFirstMethodThatWorksAndThenTheNext() {
        try (World world = world()) {
            Startpoint there = world.of(0).startpoint(1, "sum");
            add(there);
            assertEquals(List.of("mad/sci IN_USE", "mad/tcp WORKS", "wan UNTRIED"), table(there));
            add(there.via("wan")); // by hand; others go on as before
            add(there);
            assertEquals(List.of("mad/sci IN_USE", "mad/tcp WORKS", "wan WORKS"), table(there));
            lose(there, "mad/sci");
            add(there);
            assertEquals(List.of("mad/sci FAILED", "mad/tcp IN_USE", "wan WORKS"), table(there));
            assertEquals("its cable is cut", there.methods().getFirst().reason());
            lose(there, "mad/tcp");
            add(there);
            assertEquals(List.of("mad/sci FAILED", "mad/tcp FAILED", "wan IN_USE"), table(there));
        }
    }

    @Test
    void shouldUseOnlyTheMethodThatAStartpointIsBoundTo() {
        try (World world = world()) {
            Startpoint there = world.of(0).startpoint(1, "sum");
            for (String method : List.of("mad/tcp", "mad:second", "mad/sci", "wan", "mad")) {
                add(there.via(method));
            }
            lose(there, "mad/tcp");
            for (String method : List.of("mad/tcp", "mad:second")) {
                Startpoint bound = there.via(method);
                assertThrows(PeerFailedException.class, () -> bound.rsr("add", new Arguments().putInt(1)), method);
            }
            add(there.via("mad/tcp", "mad/sci")); // in the order they are named
            add(there);
        }
    }

    @Test
    void shouldNotConnectToTellWhoHasGone() throws Exception {
        try (World world = world()) {
            Startpoint there = world.of(0).startpoint(1, "sum");
            add(there);
            lose(there, "mad/sci");
            lose(there, "mad/tcp");
            world.of(0).attaching().tellAddresses();
            world.of(0).node().nodes().get(1).tell(new Arguments(), RequestLayout.id("addresses"));
            Thread.sleep(200); // longer than connecting takes
            assertEquals(List.of("mad/sci FAILED", "mad/tcp FAILED", "wan UNTRIED"), table(there));
            assertEquals(0, world.of(0).sendFailureCount());
        }
    }
}
