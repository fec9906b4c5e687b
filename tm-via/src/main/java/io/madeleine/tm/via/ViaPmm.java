package io.madeleine.tm.via;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DescriptorPoller;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.NativeAccess;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.via.ViaConfig.AdapterConfig;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.FabricLibrary;
import io.madeleine.tm.via.link.ConnectionSizes;
import io.madeleine.tm.via.link.RdmaSizes;
import io.madeleine.tm.via.link.RegisteredSizes;
import io.madeleine.tm.via.port.PortSettings;
import io.madeleine.tm.via.port.Strictness;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The driver of networks with remote memory access, through libfabric. The paper's VIA driver (section 5.2.1) had
 * pre-registered buffers for small blocks and remote writes for large ones; this one has both in libfabric's terms.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class ViaPmm implements ProtocolModule {
    /** The name of the driver. */
    public static final String NAME = "via";

    private static final long POLL_WITHOUT_DESCRIPTOR_NS = 100_000;
    private static final long POLL_WITH_DESCRIPTOR_NS = 10_000_000;

    private final ViaConfig config;
    private final Strictness strictness;

    /** Creates the driver. */
    ViaPmm(ViaConfig config) {
        this(config, Strictness.NONE);
    }

    /** A driver with restrictions beyond those of its provider. */
    ViaPmm(ViaConfig config, Strictness strictness) {
        this.config = config;
        this.strictness = strictness;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        if (!config.enabled()) {
            return Availability.off("switched off by " + ViaConfig.ROOT + ".enabled");
        }
        if (!System.getProperty("os.name", "").equals("Linux")
                || !Set.of("amd64", "aarch64").contains(System.getProperty("os.arch", ""))) {
            return Availability.off("it needs Linux on x86-64 or AArch64; this system is "
                    + System.getProperty("os.name") + " on " + System.getProperty("os.arch"));
        }
        Set<String> devices = Providers.devices();
        if (!isNamed() && devices.isEmpty()) {
            Refusal refusal = Refusal.withoutDevices(config.adapters().getFirst());
            return Availability.off(refusal.reason(), refusal.remedy());
        }
        Optional<String> lacking = NativeAccess.missing(ViaPmm.class.getModule());
        if (lacking.isPresent()) {
            return Availability.off(lacking.get());
        }
        if (config.library().isEmpty() && !LibraryFile.isInstalled()) {
            return Availability.off(
                    "libfabric is not installed",
                    "install it (package libfabric1 on Debian and Ubuntu, libfabric on Fedora), or give its file with "
                            + ViaConfig.ROOT + ".library");
        }
        return Availability.on("libfabric, "
                + config.adapters().stream()
                        .filter(adapter -> adapter.provider().isPresent() || !devices.isEmpty())
                        .map(adapter -> carrier(adapter, devices))
                        .distinct()
                        .collect(Collectors.joining(", ")));
    }

    private static String carrier(AdapterConfig adapter, Set<String> devices) {
        return adapter.provider().map(name -> "provider " + name).orElseGet(() -> listed(devices));
    }

    private static String listed(Set<String> devices) {
        return "RDMA devices " + String.join(", ", devices);
    }

    /** On if libfabric has an offer for at least one adapter; the details say why others cannot be opened. */
    @Override
    public Availability examine() {
        Availability plain = availability();
        if (!plain.on()) {
            return plain;
        }
        Set<String> devices = Providers.devices();
        FabricLibrary library;
        try {
            library = FabricLibrary.load(config.library());
        } catch (FabricException e) {
            return Availability.off(String.valueOf(e.getMessage()));
        }
        List<String> found = new ArrayList<>();
        List<Refusal> wanted = new ArrayList<>();
        List<String> all = new ArrayList<>();
        for (AdapterConfig adapter : config.adapters()) {
            Optional<Refusal> refusal = whyNot(library, adapter, devices);
            if (refusal.isEmpty()) {
                found.add(carrier(adapter, devices));
            } else {
                all.add(refusal.get().text());
                if (adapter.provider().isPresent() || !devices.isEmpty()) {
                    wanted.add(refusal.get());
                }
            }
        }
        return found.isEmpty()
                ? Availability.off(
                        wanted.stream().map(Refusal::reason).collect(Collectors.joining("; ")),
                        wanted.stream().map(Refusal::remedy).collect(Collectors.joining("; ")))
                : Availability.on("libfabric, " + found.stream().distinct().collect(Collectors.joining(", ")))
                        .with(all);
    }

    private static Optional<Refusal> whyNot(FabricLibrary library, AdapterConfig adapter, Set<String> devices) {
        if (adapter.provider().isEmpty() && devices.isEmpty()) {
            Refusal refusal = Refusal.withoutDevices(adapter);
            return Optional.of(new Refusal(
                    "the adapter " + adapter.name() + " cannot be opened: " + refusal.reason(), refusal.remedy()));
        }
        try {
            return Providers.whyNot(library, adapter);
        } catch (FabricException | ConfigurationException e) {
            return Optional.of(new Refusal(
                    "the adapter " + adapter.name() + " cannot be opened: " + e.getMessage(),
                    "look at " + adapter.key()));
        }
    }

    private boolean isNamed() {
        return config.adapters().stream().anyMatch(adapter -> adapter.provider().isPresent());
    }

    @Override
    public List<String> inventory() {
        if (NativeAccess.missing(ViaPmm.class.getModule()).isPresent()) {
            return List.of();
        }
        try {
            FabricLibrary library = FabricLibrary.load(config.library());
            List<String> lines = new ArrayList<>();
            lines.add("libfabric " + library.versionText() + " (" + library.name() + ") has these endpoints; it"
                    + " does not encrypt");
            lines.addAll(Providers.inventory(library));
            return lines;
        } catch (io.madeleine.api.MadeleineException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return transmissionModules(config.adapters().getFirst().name());
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules(String adapter) {
        ConnectionSizes sizes = config.adapter(adapter).sizes();
        RdmaSizes rdma = sizes.rdma();
        RegisteredSizes registered = sizes.registered();
        long largeFromBytes = rdma.isOn() ? rdma.fromBytes() : Long.MAX_VALUE;
        TransmissionCapabilities pool = new TransmissionCapabilities(
                "via/pool",
                BufferMode.STATIC,
                LinkMode.BUFFER,
                AggregationMode.ASYMMETRIC,
                upTo(Math.min(registered.fromBytes(), largeFromBytes)),
                sizes.payloadBytes(),
                "blocks copied through registered buffers, " + sizes.packetCount()
                        + " for each direction of a connection");
        List<TransmissionCapabilities> all = new ArrayList<>(List.of(pool));
        if (registered.isOn()) {
            all.add(registered(registered, upTo(largeFromBytes)));
        }
        if (rdma.isOn()) {
            all.add(rdma(rdma));
        }
        return all;
    }

    private static long upTo(long nextFromBytes) {
        return nextFromBytes == Long.MAX_VALUE ? Long.MAX_VALUE : nextFromBytes - 1;
    }

    private static TransmissionCapabilities registered(RegisteredSizes sizes, long maxBlockBytes) {
        return new TransmissionCapabilities(
                "via/registered",
                BufferMode.DYNAMIC,
                LinkMode.BUFFER_GROUP,
                AggregationMode.ASYMMETRIC,
                maxBlockBytes,
                0,
                "medium blocks, sent from registered memory in messages of up to " + sizes.pieceBytes() / 1024
                        + " KiB, several blocks in one");
    }

    private static TransmissionCapabilities rdma(RdmaSizes sizes) {
        return new TransmissionCapabilities(
                "via/rdma",
                BufferMode.DYNAMIC,
                LinkMode.BUFFER_GROUP,
                AggregationMode.ASYMMETRIC,
                Long.MAX_VALUE,
                0,
                "large blocks, written into memory of the receiver in chunks of " + sizes.chunkBytes() / 1024 + " KiB");
    }

    @Override
    public List<String> thresholdKeys() {
        return List.of(ViaConfig.ROOT + ".registered.from", ViaConfig.ROOT + ".rdma.from");
    }

    @Override
    public List<String> nativeModules() {
        if (!config.enabled() || !isNamed() && Providers.devices().isEmpty()) {
            return List.of();
        }
        List<String> modules = new ArrayList<>(List.of("io.madeleine.tm.via"));
        for (DescriptorPoller poller : ServiceLoader.load(DescriptorPoller.class, ViaPmm.class.getClassLoader())) {
            modules.addAll(poller.nativeModules());
        }
        return modules;
    }

    @Override
    public List<String> adapterNames() {
        return config.adapters().stream().map(AdapterConfig::name).toList();
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        FabricLibrary library = FabricLibrary.load(config.library());
        boolean waits = context.reactor().descriptors().on();
        ConnectionSizes sizes = config.adapter(name).sizes();
        try (FabricInfo info = Providers.choose(library, config.adapter(name), context)) {
            boolean isShared = info.provider().equals(Providers.SHM);
            if (isShared) {
                ShmFiles.sweep();
            }
            PortSettings settings = new PortSettings(
                    sizes.messageBytes(),
                    isShared && strictness.equals(Strictness.NONE) ? Integer.MAX_VALUE : 0,
                    waits && !isShared,
                    info.provider().equals(Providers.NET),
                    isShared,
                    isShared || !waits ? POLL_WITHOUT_DESCRIPTOR_NS : POLL_WITH_DESCRIPTOR_NS,
                    config.pins(),
                    strictness);
            return new ViaAdapter(name, info, settings, sizes, context);
        }
    }

    @Override
    public void removeLeftovers() {
        ShmFiles.sweep();
    }
}
