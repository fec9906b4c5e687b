package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Guests from other sessions may call what they were given, and nothing else. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrantsTest {
    private final AtomicInteger total = new AtomicInteger();
    private final AtomicLong refusals = new AtomicLong();

    /** Called. */
    @RemoteService(name = "given")
    public interface Given {
        /** What guests may know. */
        int number();
    }

    /** Called by members only. */
    @RemoteService(name = "private")
    public interface Private {
        /** What guests may not know. */
        String secret();
    }

    private World server() {
        return new World("sci", 2, context -> {
            context.export(Given.class, () -> 1);
            context.export(Private.class, () -> "secret of rank " + context.rank());
            context.endpoint().serve(Private.class, () -> "of the endpoint without a name");
            context.endpoint("sum").threaded("add", (_, request) -> total.addAndGet(request.getInt()));
            context.endpoint("deputy")
                    .threaded(
                            "call",
                            (_, request) -> request.getStartpoint()
                                    .service(Private.class)
                                    .secret());
        });
    }

    private static AttachPoint let(Context context, Startpoint given) {
        return context.allowAttach(
                new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.of(given));
    }

    /** A pointer to an endpoint of the node of another one, made by hand. */
    private static Startpoint forged(Startpoint given, Link link) {
        return new Startpoint(given.context(), new int[] {given.rank()}, new Link[] {link}, false);
    }

    @Test
    void shouldLetGuestsCallTheServicesTheyWereGivenAndNoOthers() {
        try (World server = server();
                World guests = new World("sci", 1, _ -> {})) {
            Startpoint given = guests.of(0)
                    .attach(let(server.of(0), server.of(0).startpoint(0, "given"))
                            .url());
            assertEquals(1, given.service(Given.class).number());
            IllegalArgumentException byName = assertThrows(
                    IllegalArgumentException.class, () -> guests.of(0).service(given.rank(), Private.class));
            assertTrue(byName.getMessage().contains("take the startpoint that it has given"), byName::toString);
            for (Link link : List.of(
                    new Link(RequestLayout.endpointId("private")),
                    new Link(1),
                    new Link(2),
                    new Link(RequestLayout.endpointId("private"), 1, 2),
                    borrowed(given, RequestLayout.endpointId("private")))) {
                NexusException e = assertThrows(
                        NexusException.class,
                        () -> forged(given, link).service(Private.class).secret());
                assertTrue(String.valueOf(e.getMessage()).contains("was not granted"), e::toString);
            }
            assertEquals(
                    "secret of rank 1", server.of(0).service(1, Private.class).secret()); // members may
        }
    }

    /** With what lets call another endpoint. */
    private static Link borrowed(Startpoint given, int endpoint) {
        Link own = given.targets()[0].link();
        return new Link(endpoint, own.grant(), own.grantRest());
    }

    @Test
    void shouldRefuseRequestsOfGuestsToEndpointsTheyWereNotGiven() {
        try (World server = server();
                World guests = new World("sci", 1, _ -> {})) {
            Startpoint given = guests.of(0)
                    .attach(let(server.of(0), server.of(0).startpoint(0, "given"))
                            .url());
            guests.of(0).onRefusal(refusal -> {
                if (refusal.reason() == Refusal.Reason.NO_SUCH_ENDPOINT) {
                    refusals.addAndGet(refusal.count());
                }
            });
            int sum = RequestLayout.endpointId("sum");
            forged(given, new Link(sum)).rsr("add", new Arguments().putInt(1));
            forged(given, new Link(sum, 3, 4)).rsr("add", new Arguments().putInt(1));
            forged(given, borrowed(given, sum))
                    .rsr("add", new Arguments().putInt(1).putBytes(new byte[2_000_000]));
            World.await(() -> refusals.get() == 3);
            assertEquals(0, total.get());
            assertEquals(1, given.service(Given.class).number()); // the connection is as it was
            assertEquals(0, guests.of(0).handlerFailureCount());
        }
    }

    /** A grant is for one endpoint of one process, and each of its bits counts. */
    @Test
    void shouldRefuseAGrantOfWhichOneBitIsChangedOrThatIsAnothers() {
        try (World server = server()) {
            Grants grants = server.of(0).node().grants();
            int sum = RequestLayout.endpointId("sum");
            Endpoint endpoint = server.of(0).node().find(sum);
            int stranger = 2; // the first number that no rank has
            Link none = grants.granted(0, sum);
            assertTrue(!none.isGranted() && !grants.isAtWork());
            assertTrue(!grants.allow(stranger, endpoint, 0, 0) && !grants.isGranted(0, none), "zero is no grant");

            grants.begin();
            assertTrue(grants.isAtWork());
            Link right = grants.granted(0, sum);
            assertTrue(right.isGranted() && right.endpoint() == sum);
            grants.begin();
            assertEquals(right, grants.granted(0, sum), "the key stays");
            Grants neighbours = server.of(1).node().grants();
            neighbours.begin();
            assertEquals(right, neighbours.granted(0, sum), "each process of the session can give it");
            assertTrue(grants.isGranted(0, right));
            assertTrue(grants.allow(stranger, endpoint, right.grant(), right.grantRest()));
            for (int bit = 0; bit < 2 * Long.SIZE; bit++) {
                long first = right.grant() ^ (bit < Long.SIZE ? 1L << bit : 0);
                long second = right.grantRest() ^ (bit < Long.SIZE ? 0 : 1L << bit);
                assertTrue(!grants.isGranted(0, new Link(sum, first, second)), "bit " + bit);
                assertTrue(!grants.allow(stranger, endpoint, first, second), "bit " + bit);
            }
            assertTrue(!grants.isGranted(1, right), "another process's endpoint");
            assertTrue(!grants.isGranted(0, new Link(sum ^ 1, right.grant(), right.grantRest())));
            assertTrue(!grants.allow(stranger, endpoint, right.grantRest(), right.grant()));
            assertTrue(!grants.allow(stranger, null, right.grant(), right.grantRest()));
            assertTrue(grants.allow(1, endpoint, 0, 0), "a member of the session");
            assertTrue(!grants.allow(1, null, 0, 0));
        }
    }

    /** Who is granted something may pass it on, also to third sessions and back. */
    @Test
    void shouldLetGrantsTravel() {
        try (World server = server();
                World guests = new World("sci", 2, _ -> {});
                World others = new World("sci", 1, _ -> {})) {
            Startpoint rank1 = server.of(0).startpoint(1, "sum"); // given out by its neighbour
            AttachPoint _ = let(server.of(1), rank1);
            World.await(() -> server.of(0).methodsOf(1).size() == 2);
            Startpoint sum = guests.of(0).attach(let(server.of(0), rank1).url());
            sum.rsr("add", new Arguments().putInt(1));
            Startpoint passed = others.of(0).attach(let(guests.of(0), sum).url());
            passed.rsr("add", new Arguments().putInt(10));
            AtomicReference<Startpoint> back = new AtomicReference<>();
            Endpoint box =
                    server.of(0).endpoint("box").nonThreaded("put", (_, request) -> back.set(request.getStartpoint()));
            others.of(0)
                    .attach(let(server.of(0), box.startpoint()).url())
                    .rsr("put", new Arguments().putStartpoint(passed));
            World.await(() -> back.get() != null && total.get() == 11);
            assertEquals(rank1, back.get());
            back.get().rsr("add", new Arguments().putInt(100));
            World.await(() -> total.get() == 111);
        }
    }

    /** A guest cannot have a member call for it what it may not call itself. */
    @Test
    void shouldNotTakePointersFromGuestsThatThisSessionHasNotGivenOut() {
        try (World server = server();
                World guests = new World("sci", 1, _ -> {})) {
            Startpoint deputy = guests.of(0)
                    .attach(let(server.of(0), server.of(0).startpoint(0, "deputy"))
                            .url());
            AtomicReference<Throwable> failure = new AtomicReference<>();
            server.of(0).onHandlerFailure((_, _, _, cause) -> failure.set(cause));
            deputy.rsr(
                    "call",
                    new Arguments()
                            .putStartpoint(forged(deputy, borrowed(deputy, RequestLayout.endpointId("private")))));
            World.await(() -> failure.get() != null);
            assertTrue(
                    String.valueOf(failure.get().getMessage()).contains("never given out"), () -> "" + failure.get());
        }
    }
}
