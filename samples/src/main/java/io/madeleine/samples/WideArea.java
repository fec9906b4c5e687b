package io.madeleine.samples;

import io.madeleine.api.Session;
import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.AttachPoint;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.MethodStatus;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Startpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The arrangement of the paper's section 5.3.2 in one program. Inside the cluster, requests use the method {@code mad};
 * a remote program uses {@code wan}, the nexus adapter's own TCP protocol. Each process of the cluster offers a
 * thermometer and accepts attachments. The remote program has a session of its own with the same secret; here it runs
 * in the process of rank 1. It attaches to rank 0, receives startpoints for all ranks, and calls them: each startpoint
 * selects its method by itself.
 *
 * <pre>
 * ./mad run -n 2 samples/src/main/java/io/madeleine/samples/WideArea.java
 *
 * [0] rank 1 is reached by mad
 * [1] somebody far away asks rank 0 by wan: 20 degrees
 * [1] somebody far away asks rank 1 by wan: 21 degrees
 * [1] to Eve: refused
 * </pre>
 */
public final class WideArea {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private WideArea() {}

    /** The service of each process in the cluster. */
    @RemoteService
    public interface Thermometer {
        /** In degrees Celsius. */
        int degrees();
    }

    /** Runs the cluster; rank 1 also runs the remote program. */
    public static void main(String[] arguments) {
        CompletableFuture<String> url = new CompletableFuture<>();
        try (Session session = Session.open(arguments);
                Context context = Context.open(session, here -> {
                    here.export(Thermometer.class, () -> 20 + here.rank());
                    here.endpoint("address").nonThreaded("is", (_, request) -> url.complete(request.getString()));
                });
                AttachPoint point = context.allowAttach(
                        ANY_PORT,
                        List.of("127.0.0.1"),
                        visitor -> visitor.path().equals("eve") ? Optional.empty() : Optional.of(all(context)))) {
            context.barrier(PATIENCE); // every process listens now
            if (context.rank() == 0) {
                Startpoint neighbour = context.startpoint(1, "address");
                System.out.println("rank 1 is reached by " + kind(neighbour));
                neighbour.rsr("is", new Arguments().putString(point.url()));
            } else if (context.rank() == 1) {
                context.await(url::isDone);
                farAway(url.join());
            }
            context.barrier(PATIENCE);
        }
    }

    private static Startpoint all(Context context) {
        List<Startpoint> others = new ArrayList<>();
        for (int rank = 1; rank < context.size(); rank++) {
            others.add(context.startpoint(rank, Thermometer.class.getName()));
        }
        return Startpoint.toAll(context.startpoint(0, Thermometer.class.getName()), others.toArray(Startpoint[]::new));
    }

    private static String kind(Startpoint startpoint) {
        String name = startpoint.method().map(MethodStatus::name).orElse("nothing");
        return name.substring(0, 3);
    }

    /** The remote program. It knows only the URL and the secret. */
    private static void farAway(String url) {
        try (Session alone = Session.open(
                        "session.name=far-away", "session.launcher=none", "session.size=1", "session.rank=0");
                Context context = Context.open(alone)) {
            Startpoint all = context.attach(url);
            for (int i = 0; i < all.linkCount(); i++) {
                Startpoint one = all.links().get(i);
                int degrees = one.service(Thermometer.class).degrees();
                System.out.println(
                        "somebody far away asks rank " + i + " by " + kind(one) + ": " + degrees + " degrees");
            }
            try {
                context.attach(url + "/eve");
            } catch (io.madeleine.nexus.AttachException e) {
                System.out.println("to Eve: refused");
            }
        }
    }
}
