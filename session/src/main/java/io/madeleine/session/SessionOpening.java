package io.madeleine.session;

import io.madeleine.admission.Proofs;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.Attempts;
import io.madeleine.pmm.Demands;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.LargePages;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.session.bootstrap.Bootstrap;
import io.madeleine.session.bootstrap.Exit;
import io.madeleine.session.bootstrap.HostKey;
import io.madeleine.session.bootstrap.Joining;
import io.madeleine.session.bootstrap.Resources;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.ConfigReader;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.config.SharedSetting;
import io.madeleine.session.network.Connecting;
import io.madeleine.session.network.Families;
import io.madeleine.session.network.Family;
import io.madeleine.session.network.NamedNetworks;
import io.madeleine.session.network.NetworkChoice;
import io.madeleine.session.network.ProcessDescription;
import io.madeleine.session.network.Processors;
import io.madeleine.session.network.Route;
import io.madeleine.session.network.Routing;
import io.madeleine.switching.SwitchSettings;
import io.madeleine.switching.SwitchedChannel;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Opens one session together with its other processes: join, open adapters, exchange descriptions, choose networks,
 * connect, wait until all have connected. If a step fails, tells the other processes and closes everything that was
 * opened.
 *
 * <p>Threading: confined to caller; used once.
 */
final class SessionOpening {
    private static final Logger LOGGER = System.getLogger(SessionOpening.class.getName());

    private final SessionConfig config;
    private final Membership membership;
    private final long deadlineNs;
    private final SessionEnd end;

    /** Generated in parallel with the other steps, since the first key pair takes the JVM a while. */
    private final FutureTask<MemberKeys.Own> ownKeys = new FutureTask<>(MemberKeys::generate);

    private final Resources resources = new Resources();

    /** Added first, so closed last: everything else may use memory of the session. */
    private final SessionArenas arenas = resources.add(new SessionArenas(largePages()));

    private final Demands demands = new Demands();
    private final Map<String, Adapter> adapters = new LinkedHashMap<>();
    private final Map<String, String> notOpened = new TreeMap<>();

    /** @param exit the action that ends the process when the session is aborted; empty for {@code System.exit} */
    SessionOpening(SessionConfig config, Optional<ExitAction> exit) {
        this.config = config;
        this.end = new SessionEnd(config, exit);
        this.membership = config.membership();
        this.deadlineNs = System.nanoTime() + config.timeouts().openNs();
        Thread.ofVirtual().name("madeleine-keys").start(ownKeys);
    }

    MadeleineSession open() {
        Optional<Bootstrap> bootstrap = Optional.empty();
        try {
            Families families = Families.wire(config);
            LOGGER.log(Level.DEBUG, () -> membership + "; networks: " + families.summary());
            NamedNetworks.checkUsable(config, families);
            bootstrap = Optional.of(Joining.join(config, deadlineNs));
            bootstrap.get().onEnd(end);
            return open(families, bootstrap.get());
        } catch (RuntimeException | Error e) {
            closeAfter(e, bootstrap);
            if (e instanceof RuntimeException unexpected && !(e instanceof MadeleineException)) {
                throw new SessionException(membership + ": opening failed: " + e, unexpected);
            }
            throw e;
        }
    }

    /** Tells the other processes and closes everything; what that throws is suppressed in the failure. */
    private void closeAfter(Throwable failure, Optional<Bootstrap> bootstrap) {
        Attempts closing = new Attempts();
        closing.take(() -> bootstrap.ifPresent(
                meeting -> meeting.abort(failure.getMessage() == null ? failure.toString() : failure.getMessage())));
        resources.closeAll(closing);
        closing.take(arenas);
        Throwable further = closing.failure();
        if (further != null && further != failure) {
            failure.addSuppressed(further);
        }
    }

    private MadeleineSession open(Families families, Bootstrap bootstrap) {
        Reactor reactor = resources.add(reactor(families));
        // The rank would identify the process within one session, but names in the SPI and on the wire must outlive
        // ranks.
        ProcessIdentity self =
                new ProcessIdentity(ByteBuffer.wrap(Proofs.nonce()).getLong(), 0);
        ProcessContext context = new ProcessContext(
                bootstrap.sessionId(),
                self,
                Secrets.memberKey(membership.secret(), bootstrap.sessionId()),
                !membership.secret().isEmpty(),
                reactor,
                System.getLogger("io.madeleine." + membership.name()),
                arenas.memory(),
                demands::newDemand);
        if (membership.size() > 1) {
            openAdapters(families, context);
        }
        List<ProcessDescription> descriptions = exchangeDescriptions(families, bootstrap, self);
        ProgressEngine engine = new ProgressEngine(
                membership.name() + "-" + membership.rank(), reactor, waiting(descriptions), demands);
        resources.add(engine);
        injectFaults(descriptions);
        adapters.values().forEach(adapter -> engine.addSource(adapter.progress()));

        PeerFailures failures = resources.add(new PeerFailures(membership.name()));
        MadeleineSession session = new MadeleineSession(
                bootstrap.sessionId(),
                config,
                ownKeys()
                        .among(descriptions.stream()
                                .map(description -> new MemberKeys.Part(description.keys()))
                                .toList()),
                engine,
                resources,
                failures,
                arenas,
                new MadeleineSession.Ending(bootstrap, end));
        Connecting connecting =
                new Connecting(membership, descriptions, adapters, engine, resources, config.timeouts());
        session.whileOpening(connecting::fail);
        failures.forwardTo((rank, reason) -> connecting.fail(Exit.sentence(rank, "died", reason)));
        bootstrap.listen(session);
        List<Connecting.Made> connections =
                connecting.connect(routes(families, descriptions, bootstrap, connecting), deadlineNs);
        openChannels(session, engine, connections);
        arenas.takeFrom(memoryOf(connections));
        bootstrap.exchange("connected", new byte[0], deadlineNs);
        failures.opened();
        failures.forwardTo((rank, reason) -> {
            session.endWaitsFor(rank, reason);
            bootstrap.lost(rank, reason);
        });
        // Added last, so closed first: the other processes learn that this one leaves before its connections end.
        resources.add(bootstrap);
        session.opened();
        return session;
    }

    /** Decorates the adapters if the configuration asks for faults; without any this costs nothing. */
    private void injectFaults(List<ProcessDescription> descriptions) {
        Faults faults = config.faults();
        if (faults.any()) {
            checkRanks(faults, descriptions.size());
            LOGGER.log(Level.WARNING, () -> membership + ": madeleine.faults injects faults: " + faults.summary());
            ToIntFunction<ProcessIdentity> rankOf = peer -> IntStream.range(0, descriptions.size())
                    .filter(rank -> descriptions.get(rank).identity().equals(peer))
                    .findFirst()
                    .orElseThrow();
            adapters.replaceAll((_, adapter) -> faults.around(adapter, membership.rank(), rankOf));
        }
    }

    private static void checkRanks(Faults faults, int size) {
        for (Faults.Direction direction : faults.directions().keySet()) {
            if (direction.from() >= size || direction.to() >= size) {
                throw new ConfigurationException("madeleine.faults.links." + direction
                        + " names a process that the session does not have: expected ranks from 0 to " + (size - 1)
                        + ", or any");
            }
        }
    }

    private void openChannels(MadeleineSession session, ProgressEngine engine, List<Connecting.Made> connections) {
        Map<String, SwitchedChannel> channels = new TreeMap<>();
        for (ChannelSettings channel : config.channels()) {
            SwitchedChannel opened = new SwitchedChannel(
                    session,
                    channel.name(),
                    engine,
                    new SwitchSettings(
                            config.selfDescribed(),
                            channel.hint(),
                            config.timeouts().peerNs()));
            channels.put(channel.name(), opened);
            resources.add(opened::close);
            session.addChannel(channel.name(), opened);
        }
        for (Connecting.Made made : connections) {
            SwitchedChannel channel = channels.get(made.route().channel());
            if (channel != null) {
                made.attachTo(channel);
            }
        }
    }

    /** The memory sources of the adapters that have a connection. */
    private List<MemorySource> memoryOf(List<Connecting.Made> connections) {
        Set<String> used = connections.stream()
                .map(made -> made.route().network() + "/" + made.route().adapter())
                .collect(Collectors.toSet());
        return adapters.entrySet().stream()
                .filter(adapter -> used.contains(adapter.getKey()))
                .flatMap(adapter -> adapter.getValue().memorySource().stream())
                .toList();
    }

    private static Optional<LargePages> largePages() {
        return ServiceLoader.load(LargePages.class, SessionOpening.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .filter(pages -> pages.availability().on())
                .findFirst();
    }

    private static Reactor reactor(Families families) {
        for (Family family : families.all()) {
            Optional<Reactor> offered = family.availability().on()
                    ? family.module().flatMap(ProtocolModule::offerReactor)
                    : Optional.empty();
            if (offered.isPresent()) {
                return offered.get();
            }
        }
        return new SelectorReactor();
    }

    /** Opens the adapters that some channel can use: the default adapters for "auto", and the named ones. */
    private void openAdapters(Families families, ProcessContext context) {
        for (ChannelSettings channel : config.channels()) {
            for (String network : channel.automatic() ? config.networks() : List.of(channel.network())) {
                Optional<ProtocolModule> module = families.module(network);
                if (module.isEmpty()) {
                    continue;
                }
                String name = channel.adapter().equals(ConfigReader.AUTO)
                        ? module.get().adapterNames().getFirst()
                        : channel.adapter();
                openAdapter(module.get(), name, context, channel);
            }
        }
    }

    private void openAdapter(ProtocolModule module, String name, ProcessContext context, ChannelSettings channel) {
        String key = module.name() + "/" + name;
        if (adapters.containsKey(key) || (channel.automatic() && notOpened.containsKey(key))) {
            return;
        }
        try {
            adapters.put(key, resources.add(module.openAdapter(name, context)));
        } catch (ConfigurationException e) {
            throw e;
        } catch (MadeleineException e) {
            leaveOut(key, e, channel);
        } catch (LinkageError e) {
            String lacking = "a library that it needs is missing or of another version: " + e;
            leaveOut(key, new SessionException(key + " cannot be opened: " + lacking, e), channel);
        } catch (RuntimeException | Error e) {
            throw new SessionException(membership + ": " + key + " cannot be opened: its driver has thrown " + e, e);
        }
    }

    /** Goes on without an adapter, unless the channel names it. */
    private void leaveOut(String key, MadeleineException why, ChannelSettings channel) {
        if (!channel.automatic()) {
            throw why;
        }
        notOpened.put(key, String.valueOf(why.getMessage()));
        LOGGER.log(Level.WARNING, () -> membership + ": " + key + " is not used: " + why.getMessage());
    }

    private List<ProcessDescription> exchangeDescriptions(
            Families families, Bootstrap bootstrap, ProcessIdentity self) {
        List<ProcessDescription.AdapterDescription> adapterDescriptions = new ArrayList<>();
        adapters.forEach((key, adapter) -> {
            String network = key.substring(0, key.indexOf('/'));
            adapterDescriptions.add(new ProcessDescription.AdapterDescription(
                    network,
                    adapter.name(),
                    adapter.address(),
                    families.module(network).orElseThrow().transmissionModules(adapter.name())));
        });
        ProcessDescription own = new ProcessDescription(
                self,
                ownKeys().part().published(),
                HostKey.ofThisHost(),
                Processors.ofThisProcess(),
                config.networks(),
                config.channels(),
                adapterDescriptions,
                SharedSetting.of(config));
        try {
            List<ProcessDescription> descriptions = new ArrayList<>();
            for (byte[] description : bootstrap.exchange("told what networks they have", own.encode(), deadlineNs)) {
                descriptions.add(ProcessDescription.decode(description));
            }
            ProcessDescription.checkShared(membership.rank(), descriptions);
            return descriptions;
        } catch (IOException e) {
            throw new SessionException(
                    membership + ": the processes cannot exchange their descriptions: " + e.getMessage(), e);
        }
    }

    private MemberKeys.Own ownKeys() {
        try {
            return ownKeys.get();
        } catch (ExecutionException e) {
            throw new SessionException(membership + ": its key pair cannot be generated: " + e.getCause(), e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException(membership + ": interrupted while its key pair was generated");
        }
    }

    private WaitPolicy waiting(List<ProcessDescription> descriptions) {
        String host = HostKey.ofThisHost();
        List<Processors> onHost = descriptions.stream()
                .filter(description -> description.host().equals(host))
                .map(ProcessDescription::processors)
                .toList();
        Processors own = descriptions.get(membership.rank()).processors();
        return own.waiting(config.waiting(), onHost, Runtime.getRuntime().availableProcessors());
    }

    private String whyNotOpened(Families families, String network) {
        return notOpened.entrySet().stream()
                .filter(adapter -> adapter.getKey().startsWith(network + "/"))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseGet(() -> {
                    Availability availability = families.availability(network);
                    return availability.on()
                            ? "its madeleine.networks does not contain it"
                            : network + " is off: " + availability.text();
                });
    }

    private List<Route> routes(
            Families families, List<ProcessDescription> descriptions, Bootstrap bootstrap, Connecting connecting) {
        if (membership.size() == 1) {
            return List.of();
        }
        NetworkChoice choice = new NetworkChoice(
                membership.rank(), descriptions, adapters, network -> whyNotOpened(families, network));
        List<Route> routes =
                new Routing(membership, choice, config.channels(), bootstrap, connecting, deadlineNs).settle();
        routes.forEach(route -> LOGGER.log(Level.DEBUG, () -> membership + ": " + route));
        return routes;
    }
}
