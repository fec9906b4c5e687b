package io.madeleine.session.config;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The place of this process in its session, and how it finds the others.
 *
 * <p>Threading: immutable.
 *
 * @param name the session's name
 * @param rank this process's rank
 * @param size the number of processes
 * @param contact how this process finds the others
 * @param secret the secret that proves membership; empty where none is needed
 */
public record Membership(String name, int rank, int size, Contact contact, String secret) {
    public static final int MAX_SIZE = 1 << 16;
    private static final String HOSTS = "madeleine.session.hosts";
    private static final String RANK = "madeleine.session.rank";
    private static final String SIZE = "madeleine.session.size";
    private static final String SECRET = SecretSource.KEY;
    private static final String LAUNCHER = "madeleine.session.launcher";
    private static final String NAME = "madeleine.session.name";

    /** The keys that determine a membership. */
    static final List<String> KEYS = List.of(NAME, RANK, SIZE, HOSTS, LAUNCHER, SECRET, SecretSource.FILE_KEY);

    /** How the processes of a session find each other. */
    public sealed interface Contact {
        /** The session has one process. */
        record Alone() implements Contact {
            @Override
            public String toString() {
                return "alone";
            }
        }

        /** A launcher listens at this address. */
        record Launcher(HostAddress address) implements Contact {
            @Override
            public String toString() {
                return "launcher at " + address;
            }
        }

        /**
         * The session is opened by a request. Rank 0 listens; {@code here} if this process already does, with a {@link
         * io.madeleine.api.SessionPort}.
         */
        record Root(HostAddress address, boolean here) implements Contact {
            @Override
            public String toString() {
                return (here ? "port at " : "rank 0 at ") + address;
            }
        }

        /** The processes are listed. Rank 0 listens at the first address. */
        record StaticHosts(List<HostAddress> hosts) implements Contact {
            @Override
            public String toString() {
                return "rank 0 at " + hosts.getFirst();
            }
        }
    }

    /** Takes the membership from a request. */
    static Membership of(SessionRequest request, boolean here) {
        HostAddress address = HostAddress.parse(request.address())
                .filter(parsed -> parsed.port() != 0)
                .orElseThrow(() -> new ConfigurationException(
                        "session " + request.name() + ": address " + request.address() + ": expected host:port"));
        if (request.size() > MAX_SIZE) {
            throw new ConfigurationException(
                    "session " + request.name() + ": " + request.size() + " processes: expected at most " + MAX_SIZE);
        }
        SecretStrength.warnIfWeak(request.secret(), "the secret of the request for session " + request.name());
        return new Membership(
                request.name(), request.rank(), request.size(), new Contact.Root(address, here), request.secret());
    }

    /** Determines the membership from configuration and environment. */
    static Membership from(ConfigReader reader, ConfigSources sources) {
        String launcher = reader.text(LAUNCHER);
        Optional<String> environmentLauncher = launcher.equals(ConfigReader.AUTO) && !sources.namesHosts()
                ? sources.surroundings().variable(ProcessEnvironment.LAUNCHER)
                : Optional.empty();
        if (environmentLauncher.isPresent()) {
            return launched(reader, environmentLauncher.get(), ProcessEnvironment.LAUNCHER, sources.surroundings());
        }
        if (!launcher.equals(ConfigReader.AUTO) && !launcher.equals("none")) {
            return launched(reader, launcher, LAUNCHER, sources.surroundings());
        }
        List<HostAddress> hosts = hosts(reader);
        String secret = SecretSource.of(reader, sources.surroundings());
        return hosts.isEmpty() ? alone(reader, secret) : staticHosts(reader, hosts, secret);
    }

    /** Checks the keys that can be checked without knowing which process this is and how it finds the others. */
    static void check(ConfigReader reader, ProcessEnvironment given) {
        String launcher = reader.text(LAUNCHER);
        if (!launcher.equals(ConfigReader.AUTO) && !launcher.equals("none")) {
            launcherAddress(launcher, LAUNCHER);
        }
        List<HostAddress> _ = hosts(reader);
        int size = reader.numberOrAuto(SIZE, 1, MAX_SIZE, MAX_SIZE);
        reader.numberOrAuto(RANK, 0, size - 1, 0);
        SecretSource.check(reader, given);
    }

    /** The membership of a process alone. */
    static Membership alone(String name) {
        return new Membership(name, 0, 1, new Contact.Alone(), "");
    }

    private static Membership alone(ConfigReader reader, String secret) {
        int size = reader.numberOrAuto(SIZE, 1, MAX_SIZE, 1);
        if (size != 1) {
            throw reader.wrong(
                    SIZE, "1 or auto for a process alone; processes find each other with \"mad run\" or " + HOSTS);
        }
        int rank = reader.numberOrAuto(RANK, 0, 0, 0);
        return new Membership(reader.name(NAME), rank, 1, new Contact.Alone(), secret);
    }

    private static Membership launched(ConfigReader reader, String launcher, String source, ProcessEnvironment given) {
        HostAddress address = launcherAddress(launcher, source);
        int size = reader.numberOrAuto(SIZE, 1, MAX_SIZE, variable(given, ProcessEnvironment.SIZE, MAX_SIZE));
        int rank = reader.numberOrAuto(RANK, 0, MAX_SIZE, variable(given, ProcessEnvironment.RANK, MAX_SIZE));
        String secret = SecretSource.of(reader, given);
        if (size < 1 || rank < 0 || rank >= size) {
            throw new ConfigurationException("rank " + rank + " of " + size
                    + " processes: expected a rank from 0 to size-1, from "
                    + RANK + " and " + SIZE + " or " + ProcessEnvironment.RANK + " and " + ProcessEnvironment.SIZE
                    + " of the environment");
        }
        if (secret.isEmpty()) {
            throw new ConfigurationException(SECRET
                    + " is empty: expected the launcher's secret, here, in the file that " + SecretSource.FILE_KEY
                    + " names, or in " + ProcessEnvironment.SECRET + " of the environment");
        }
        return new Membership(reader.name(NAME), rank, size, new Contact.Launcher(address), secret);
    }

    private static HostAddress launcherAddress(String launcher, String source) {
        return HostAddress.parse(launcher)
                .filter(parsed -> parsed.port() != 0)
                .orElseThrow(() -> new ConfigurationException(source + " = " + launcher + ": expected host:port"));
    }

    private static int variable(ProcessEnvironment given, String name, int maximum) {
        Optional<String> written = given.variable(name);
        if (written.isEmpty()) {
            return -1;
        }
        try {
            int number = Integer.parseInt(written.get().strip());
            if (number >= 0 && number <= maximum) {
                return number;
            }
        } catch (NumberFormatException _) {
            // reported below
        }
        throw new ConfigurationException(
                name + " = " + written.get() + " (environment): expected a whole number from 0 to " + maximum);
    }

    private static List<HostAddress> hosts(ConfigReader reader) {
        List<HostAddress> hosts = new ArrayList<>();
        for (String entry : reader.texts(HOSTS)) {
            hosts.add(HostAddress.parse(entry)
                    .orElseThrow(() -> reader.wrong(HOSTS, "entries host or host:port, found \"" + entry + "\"")));
        }
        if (!hosts.isEmpty() && hosts.getFirst().port() == 0) {
            throw reader.wrong(HOSTS, "a port in the first entry, " + hosts.getFirst() + ":PORT, where rank 0 listens");
        }
        return List.copyOf(hosts);
    }

    private static Membership staticHosts(ConfigReader reader, List<HostAddress> hosts, String secret) {
        int size = reader.numberOrAuto(SIZE, 1, MAX_SIZE, hosts.size());
        if (size != hosts.size()) {
            throw reader.wrong(SIZE, "auto or " + hosts.size() + ", the length of " + HOSTS);
        }
        int rank = reader.numberOrAuto(RANK, 0, size - 1, -1);
        if (rank < 0) {
            int[] here =
                    IntStream.range(0, size).filter(i -> hosts.get(i).isLocal()).toArray();
            if (here.length != 1) {
                throw reader.wrong(
                        RANK,
                        "a rank from 0 to " + (size - 1) + ", since " + here.length + " entries of " + HOSTS
                                + " name this machine");
            }
            rank = here[0];
        }
        if (secret.isEmpty() && !hosts.stream().allMatch(HostAddress::isLoopback)) {
            throw new ConfigurationException(SECRET + " is empty (" + reader.origin(SECRET)
                    + "): expected the same secret text in every process, here, in the file that "
                    + SecretSource.FILE_KEY + " names, or in " + ProcessEnvironment.SECRET
                    + " of the environment, since "
                    + HOSTS + " names addresses that others can reach too");
        }
        return new Membership(reader.name(NAME), rank, size, new Contact.StaticHosts(hosts), secret);
    }

    @Override
    public String toString() {
        return "session " + name + ", rank " + rank + " of " + size + ", " + contact;
    }
}
