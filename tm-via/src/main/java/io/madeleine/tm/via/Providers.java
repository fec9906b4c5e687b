package io.madeleine.tm.via;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.tm.via.ViaConfig.AdapterConfig;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.FabricLibrary;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Chooses a provider of libfabric. Without a named provider it takes those of RDMA devices only: the software providers
 * are slower than the networks that Madeleine has without libfabric.
 *
 * <p>Threading: stateless.
 */
final class Providers {
    /** The provider of shared memory. */
    static final String SHM = "shm";

    /** The provider net; it says that 256 receives may be posted, but takes any number. */
    static final String NET = "net";

    private static final String LOOPBACK = "127.0.0.1";
    private static final List<String> SOFTWARE = List.of("tcp", NET, "sockets", "udp");
    private static final List<String> HARDWARE = List.of("verbs", "efa", "cxi", "psm3", "opx", "psm2", "usnic");

    /** Directories with an entry for each RDMA device. */
    private static final List<Path> DEVICES =
            List.of(Path.of("/sys/class/infiniband"), Path.of("/sys/class/cxi"), Path.of("/sys/class/hfi1"));

    /** What to ask for beyond messages and writes, the best first. */
    private static final List<FabricInfo.Extras> EXTRAS = List.of(
            new FabricInfo.Extras(true, true), new FabricInfo.Extras(false, true), new FabricInfo.Extras(true, false));

    private static final AtomicInteger OPENED = new AtomicInteger();

    private Providers() {}

    private static String core(String provider) {
        return provider.split(";", 2)[0];
    }

    /** Whether this provider drives RDMA devices. */
    static boolean isHardware(String provider) {
        return HARDWARE.contains(core(provider));
    }

    /** The names of the RDMA devices of this host, without libfabric. */
    static Set<String> devices() {
        Set<String> found = new TreeSet<>();
        for (Path directory : DEVICES) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
                entries.forEach(entry -> found.add(entry.getFileName().toString()));
            } catch (IOException _) {
                // no driver of this kind is loaded
            }
        }
        return found;
    }

    /** The own address of an adapter: a name for shared memory, the loopback address for software providers. */
    private static Optional<String> source(AdapterConfig adapter, String provider, ProcessContext context) {
        if (provider.equals(SHM)) {
            return Optional.of(ShmFiles.newName(context.sessionId(), OPENED.incrementAndGet()));
        }
        return address(adapter);
    }

    /** The own address of an adapter; empty if it leaves the choice to its provider, or if the provider is shm. */
    static Optional<String> address(AdapterConfig adapter) {
        return adapter.address().or(() -> hasInternetAddresses(adapter) ? Optional.of(LOOPBACK) : Optional.empty());
    }

    private static boolean hasInternetAddresses(AdapterConfig adapter) {
        return adapter.provider().filter(Providers::hasInternetAddresses).isPresent();
    }

    /** Whether the endpoints of this provider have internet addresses. */
    static boolean hasInternetAddresses(String provider) {
        return SOFTWARE.contains(core(provider));
    }

    /** Why the address of an adapter cannot be its own; libfabric would tell only when an endpoint is enabled. */
    private static Optional<Refusal> foreignAddress(AdapterConfig adapter) {
        if (adapter.address().isEmpty() || !hasInternetAddresses(adapter)) {
            return Optional.empty();
        }
        InetAddress address = internetAddress(adapter, adapter.address().get());
        try (DatagramSocket _ = new DatagramSocket(0, address)) {
            return Optional.empty();
        } catch (SocketException _) {
            return Optional.of(Refusal.ofForeignAddress(adapter, address));
        }
    }

    private static InetAddress internetAddress(AdapterConfig adapter, String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new ConfigurationException(
                    adapter.key() + ".address is " + text
                            + ", which is no address; set it to an address of this host, or to auto",
                    e);
        }
    }

    /**
     * Finds the offer for an adapter.
     *
     * @throws io.madeleine.api.MadeleineException if there is none; the text names the key that mends it
     */
    static FabricInfo choose(FabricLibrary library, AdapterConfig adapter, ProcessContext context) {
        Optional<String> source = adapter.provider().flatMap(provider -> source(adapter, provider, context));
        if (!context.secretConfigured() && isReachable(adapter, source)) {
            throw new SessionException("via: the adapter " + adapter.name()
                    + " can be reached from other hosts, so the session needs a secret; set madeleine.session.secret");
        }
        foreignAddress(adapter).ifPresent(refusal -> {
            throw new SessionException("via: " + refusal.text());
        });
        FabricInfo.Query query = query(adapter, source);
        List<FabricInfo> offers = find(library, adapter, query);
        Optional<FabricInfo> chosen = offers.stream()
                .filter(offer ->
                        adapter.provider().filter(offer.provider()::equals).isPresent())
                .findFirst()
                .or(() -> offers.stream().findFirst());
        offers.stream().filter(offer -> chosen.filter(offer::equals).isEmpty()).forEach(FabricInfo::close);
        FabricInfo offer = chosen.orElseThrow(() ->
                new SessionException("via: " + Refusal.of(library, adapter).text()));
        return withExtras(offer, query);
    }

    private static FabricInfo.Query query(AdapterConfig adapter, Optional<String> source) {
        return new FabricInfo.Query(
                adapter.provider(),
                adapter.domain(),
                source,
                adapter.sizes().registered().isOn());
    }

    /**
     * The offers that an adapter can take; the caller closes them. Providers may ignore the domain of a query, as shm
     * does.
     */
    private static List<FabricInfo> find(FabricLibrary library, AdapterConfig adapter, FabricInfo.Query query) {
        List<FabricInfo> fitting = new ArrayList<>();
        for (FabricInfo offer : FabricInfo.find(library, query)) {
            if ((adapter.provider().isPresent() || isHardware(offer.provider()))
                    && query.domain().stream().allMatch(offer.domainName()::equalsIgnoreCase)) {
                fitting.add(offer);
            } else {
                offer.close();
            }
        }
        return fitting;
    }

    /** Why an adapter cannot be opened, as far as libfabric tells without a session; empty if it probably can be. */
    static Optional<Refusal> whyNot(FabricLibrary library, AdapterConfig adapter) {
        Optional<Refusal> foreign = foreignAddress(adapter);
        if (foreign.isPresent()) {
            return foreign;
        }
        List<FabricInfo> offers = find(library, adapter, query(adapter, address(adapter)));
        offers.forEach(FabricInfo::close);
        return offers.isEmpty() ? Optional.of(Refusal.of(library, adapter)) : Optional.empty();
    }

    /** The domains in which an adapter could have its endpoint, whatever its own domain and address. */
    static Set<String> domains(FabricLibrary library, AdapterConfig adapter, boolean tagged) {
        Set<String> names = new TreeSet<>();
        FabricInfo.Query query = new FabricInfo.Query(adapter.provider(), Optional.empty(), Optional.empty(), tagged);
        for (FabricInfo offer : find(library, adapter, query)) {
            names.add(offer.domainName());
            offer.close();
        }
        return names;
    }

    /** The same offer with as much of what remote memory needs as the provider has. */
    private static FabricInfo withExtras(FabricInfo plain, FabricInfo.Query query) {
        for (FabricInfo.Extras extras : EXTRAS) {
            Optional<FabricInfo> better = plain.with(extras, query);
            if (better.isPresent()) {
                plain.close();
                return better.get();
            }
        }
        return plain;
    }

    private static boolean isReachable(AdapterConfig adapter, Optional<String> source) {
        if (adapter.provider().filter(SHM::equals).isPresent()) {
            return false;
        }
        return !hasInternetAddresses(adapter)
                || !internetAddress(adapter, source.orElse(LOOPBACK)).isLoopbackAddress();
    }

    /** The providers that have an endpoint here. */
    static Set<String> names(FabricLibrary library) {
        Set<String> names = new TreeSet<>();
        all(library, offer -> names.add(offer.provider()));
        return names;
    }

    /** The providers and their domains, one line each. */
    static List<String> inventory(FabricLibrary library) {
        Set<String> lines = new TreeSet<>();
        all(
                library,
                offer -> lines.add("provider " + offer.provider() + ", domain " + offer.domainName()
                        + (isHardware(offer.provider()) ? "" : ", software: taken only when named")));
        return List.copyOf(lines);
    }

    private static void all(FabricLibrary library, java.util.function.Consumer<FabricInfo> each) {
        for (FabricInfo offer :
                FabricInfo.find(library, new FabricInfo.Query(Optional.empty(), Optional.empty(), Optional.empty()))) {
            each.accept(offer);
            offer.close();
        }
    }
}
