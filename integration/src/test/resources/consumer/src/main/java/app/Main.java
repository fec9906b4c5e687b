package app;

import io.madeleine.api.Session;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.RemoteService;
import java.time.Duration;

/** Two processes: each says hello to the next, and asks it for a sum. */
public final class Main {
    /** What each process serves. */
    @RemoteService
    public interface Adder {
        long add(long a, long b);
    }

    private Main() {}

    public static void main(String[] arguments) {
        try (Session session = Session.open();
                Context context = Context.open(session, here -> here.export(Adder.class, (a, b) -> a + b))) {
            int next = (context.rank() + 1) % context.size();
            String how = Main.class.getModule().isNamed() ? "module path" : "class path";
            System.out.println(how + ", rank " + context.rank() + ": "
                    + context.service(next, Adder.class).add(20, 22));
            context.barrier(Duration.ofSeconds(20));
        }
    }
}
