package io.madeleine.tm.via;

import io.madeleine.tm.via.ViaConfig.AdapterConfig;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.FabricLibrary;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Why an adapter cannot be opened.
 *
 * <p>Threading: immutable.
 *
 * @param reason what is missing, and what there is
 * @param remedy the key to set
 */
record Refusal(String reason, String remedy) {
    private static final String ENDPOINT = "endpoint with reliable datagrams, messages in order and remote writes";

    /** This host has no RDMA device, and the adapter names no provider. */
    static Refusal withoutDevices(AdapterConfig adapter) {
        return new Refusal(
                "this host has no RDMA device, and libfabric's software providers are taken only when named",
                "name one with " + adapter.key() + ".provider = shm (or \"tcp;ofi_rxm\", net)");
    }

    /** The address that the adapter shall have is not of this host. */
    static Refusal ofForeignAddress(AdapterConfig adapter, InetAddress address) {
        return new Refusal(
                "the adapter " + adapter.name() + " cannot be opened: " + address.getHostAddress()
                        + " is no address of this host",
                "set " + adapter.key() + ".address to one of its addresses, or to auto");
    }

    /** Finds out why libfabric offers nothing that this adapter can take. */
    static Refusal of(FabricLibrary library, AdapterConfig adapter) {
        boolean tagged = adapter.sizes().registered().isOn();
        Set<String> domains = Providers.domains(library, adapter, tagged);
        String provider = adapter.provider().orElse("");
        if (domains.isEmpty()
                && tagged
                && !Providers.domains(library, adapter, false).isEmpty()) {
            return new Refusal(
                    "the adapter " + adapter.name() + " cannot be opened: " + named(provider)
                            + " has no tagged messages, which via/registered needs",
                    "set " + ViaConfig.ROOT + ".registered.from = off");
        }
        if (domains.isEmpty()) {
            return withoutEndpoint(library, adapter, provider);
        }
        if (adapter.domain()
                .filter(domain -> domains.stream().noneMatch(domain::equalsIgnoreCase))
                .isPresent()) {
            return new Refusal(
                    "the adapter " + adapter.name() + " cannot be opened: " + named(provider) + " has no domain "
                            + adapter.domain().get() + "; it has the domains " + list(domains),
                    "set " + adapter.key() + ".domain to one of them, or to auto");
        }
        return new Refusal(
                "the adapter " + adapter.name() + " cannot be opened: " + named(provider) + " has no " + ENDPOINT
                        + adapter.domain()
                                .map(domain -> " in the domain " + domain)
                                .orElse("")
                        + Providers.address(adapter)
                                .map(address -> " at the address " + address)
                                .orElse(""),
                "set " + adapter.key() + ".address to an address of its domain, or to auto");
    }

    private static Refusal withoutEndpoint(FabricLibrary library, AdapterConfig adapter, String provider) {
        String version = "libfabric " + library.versionText();
        String missing = provider.isEmpty()
                ? version + " has no " + ENDPOINT + " for the RDMA devices of this host"
                : FabricInfo.installed(library).containsAll(List.of(provider.split(";")))
                        ? version + " has the provider " + provider + ", but without an " + ENDPOINT
                                + ": its device or its driver may be missing"
                        : version + " has no provider " + provider + " on this host";
        return new Refusal(
                "the adapter " + adapter.name() + " cannot be opened: " + missing + "; it has the providers "
                        + list(Providers.names(library)),
                "set " + adapter.key() + ".provider to one of them");
    }

    private static String named(String provider) {
        return provider.isEmpty() ? "libfabric's provider of RDMA devices" : "the provider " + provider;
    }

    private static String list(Set<String> names) {
        return names.isEmpty()
                ? "none"
                : names.stream()
                        .map(name -> name.contains(";") ? '"' + name + '"' : name)
                        .collect(Collectors.joining(", "));
    }

    /** Reason and remedy in one line. */
    String text() {
        return reason + "; " + remedy;
    }
}
