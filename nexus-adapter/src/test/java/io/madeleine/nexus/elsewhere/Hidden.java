package io.madeleine.nexus.elsewhere;

import io.madeleine.nexus.Context;
import io.madeleine.nexus.RemoteService;

/** A service whose interface only this package sees. */
public final class Hidden {
    private Hidden() {}

    @RemoteService
    interface Secret {
        int number(int seed);

        default String twice(int seed, String text) {
            return text + number(number(seed));
        }

        default int none() {
            return 0;
        }
    }

    /** Serves it. */
    public static void export(Context context) {
        context.export(Secret.class, seed -> seed * 3);
    }

    /** Calls its default methods. */
    public static String call(Context context, int rank) {
        Secret remote = context.service(rank, Secret.class);
        return remote.twice(5, "=") + remote.none();
    }
}
