package mpi;

import io.madeleine.api.MadeleineException;
import io.madeleine.mpi.MpiFault;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Waiting for some of several requests. Java nulls count as null requests. Threading: confined to caller. */
final class Requests {
    private Requests() {}

    /** Throws if a program passes no array to a method. */
    static void check(Request @Nullable [] requests, String method) {
        if (requests == null) {
            throw new MPIException(
                    MPI.ERR_ARG, "the array of requests of " + method + " is null: expected an array", null);
        }
    }

    /** Throws if a program passes no array, or one with a null element, to a method. */
    static void checkAll(Request[] requests, String method) {
        check(requests, method);
        for (int i = 0; i < requests.length; i++) {
            if (requests[i] == null) {
                throw new MPIException(
                        MPI.ERR_REQUEST,
                        "request " + i + " of " + method + " is null: expected an inactive persistent request",
                        null);
            }
        }
    }

    static boolean hasActive(Request[] requests) {
        for (Request request : requests) {
            if (request != null && request.isActive()) {
                return true;
            }
        }
        return false;
    }

    /** The place of the first active request that has ended, or UNDEFINED. */
    static int firstOver(Request[] requests) {
        for (int i = 0; i < requests.length; i++) {
            if (requests[i] != null && requests[i].isOver()) {
                return i;
            }
        }
        return MPI.UNDEFINED;
    }

    static boolean areAllOver(Request[] requests) {
        for (Request request : requests) {
            if (request != null && request.isActive() && !request.isOver()) {
                return false;
            }
        }
        return true;
    }

    private static @Nullable Comm comm(Request[] requests) {
        for (Request request : requests) {
            if (request != null && request.isActive() && request.comm() != null) {
                return request.comm();
            }
        }
        return null;
    }

    static void progress(Request[] requests) {
        Comm comm = comm(requests);
        if (comm != null && !areAllOver(requests)) {
            comm.device().progress();
        }
    }

    static int awaitAny(Request[] requests) {
        int place = firstOver(requests);
        Comm comm = comm(requests);
        if (place != MPI.UNDEFINED || comm == null) {
            return place;
        }
        Environment own = comm.environment();
        try {
            own.device().awaitCondition(() -> firstOver(requests) != MPI.UNDEFINED, -1);
        } catch (MadeleineException e) { // interrupted, or the session was closed
            throw comm.stoppedWaiting(own, "one of its requests", ", which go on", e);
        }
        return firstOver(requests);
    }

    /** Takes the results of several operations, all of which have ended, without statuses. */
    static void endAll(Request[] requests) {
        for (Request request : requests) {
            if (request != null && !request.isPlain()) {
                Status[] _ = takeAll(requests);
                return;
            }
        }
        for (Request request : requests) {
            if (request != null && request.isActive()) {
                request.clear();
            }
        }
    }

    static Status[] takeAll(Request[] requests) {
        Status[] statuses = new Status[requests.length];
        MpiFault first = null;
        Comm failed = null;
        for (int i = 0; i < requests.length; i++) {
            Request request = requests[i];
            if (request == null || !request.isActive()) {
                statuses[i] = new Status();
                continue;
            }
            MpiFault fault = request.fault();
            if (fault != null && first == null) {
                first = fault;
                failed = request.comm();
            }
            try {
                statuses[i] = request.take();
            } catch (MpiFault e) { // of the finisher
                statuses[i] = new Status();
                first = e;
                failed = request.comm();
            }
        }
        if (first != null && failed != null) {
            throw Request.raiseOfSeveral(failed, first);
        }
        return statuses;
    }

    static Status[] takeSome(Request[] requests) {
        List<Status> statuses = new ArrayList<>();
        MpiFault first = null;
        Comm failed = null;
        for (int i = 0; i < requests.length; i++) {
            Request request = requests[i];
            if (request != null && request.isOver()) {
                MpiFault fault = request.fault();
                if (fault != null && first == null) {
                    first = fault;
                    failed = request.comm();
                }
                try {
                    statuses.add(request.take().at(i));
                } catch (MpiFault e) { // of the finisher
                    first = first == null ? e : first;
                    failed = failed == null ? request.comm() : failed;
                }
            }
        }
        if (first != null && failed != null) {
            throw Request.raiseOfSeveral(failed, first);
        }
        return statuses.toArray(Status[]::new);
    }

    static int @Nullable [] places(Status @Nullable [] statuses) {
        if (statuses == null) {
            return null;
        }
        int[] places = new int[statuses.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = statuses[i].index;
        }
        return places;
    }
}
