package io.madeleine.tm.bip;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.tls.PemIdentity;
import java.util.ArrayList;
import java.util.List;

/**
 * The driver of reliable messages over datagrams: BIP's model (paper, section 5.2.4) on any IP network. Short messages
 * go into static buffers under a credit-based flow control, long ones into memory that the receiver names.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class BipPmm implements ProtocolModule {
    /** The name of the driver. */
    public static final String NAME = "bip";

    static final String SHORT = "bip/short";
    static final String LONG = "bip/long";

    private final BipConfig config;

    /** Creates the driver. Opens no socket. */
    public BipPmm(BipConfig config) {
        this.config = config;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        if (!config.enabled()) {
            return Availability.off("switched off by " + BipConfig.PATH + ".enabled");
        }
        List<String> details = new ArrayList<>();
        config.adapters().forEach((name, adapter) -> {
            Availability offload = config.offload().availability(adapter.bind());
            details.add("adapter " + name + ": bound to " + adapter.bindText() + ", port "
                    + (adapter.port() == 0 ? "any" : adapter.port()) + ", advertises " + adapter.advertise() + ", "
                    + (offload.on() ? "many datagrams by one call: " : "datagrams one by one: ") + offload.text());
        });
        return Availability.on("UDP through the JDK's channels"
                        + (config.endpoint().encrypts()
                                ? ", AES-GCM with keys of TLS 1.3 and certificates at both ends"
                                : ""))
                .with(details);
    }

    /** Off also if the files of TLS cannot be used, with the sentence that the opening of an adapter says. */
    @Override
    public Availability examine() {
        Availability plain = availability();
        return plain.on() && config.endpoint().encrypts()
                ? PemIdentity.unusable(BipConfig.TLS_KEYS, BipConfig.ENCRYPTION_ON, config.tls())
                        .map(Availability::off)
                        .orElse(plain)
                : plain;
    }

    @Override
    public List<String> nativeModules() {
        List<String> binds = config.adapters().values().stream()
                .map(SocketAdapterConfig::bind)
                .toList();
        return config.enabled() ? config.offload().nativeModules(binds) : List.of();
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return List.of(
                new TransmissionCapabilities(
                        SHORT,
                        BufferMode.STATIC,
                        LinkMode.BUFFER,
                        AggregationMode.ASYMMETRIC,
                        config.shortMaxBlockBytes(),
                        config.shortBufferBytes(),
                        "small blocks, copied into static buffers at both ends"),
                new TransmissionCapabilities(
                        LONG,
                        BufferMode.DYNAMIC,
                        LinkMode.BUFFER_GROUP,
                        AggregationMode.ASYMMETRIC,
                        Long.MAX_VALUE,
                        0,
                        "blocks of any size, placed where the receiver wants them"));
    }

    @Override
    public List<String> thresholdKeys() {
        return List.of(BipConfig.PATH + ".short.max-block");
    }

    @Override
    public List<String> adapterNames() {
        return List.copyOf(config.adapters().keySet());
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        if (!config.adapters().containsKey(name)) {
            throw new ConfigurationException("bip has no adapter \"" + name + "\"; " + BipConfig.PATH
                    + ".adapters names " + String.join(", ", adapterNames()));
        }
        if (context.secret().length == 0) {
            throw new ConfigurationException("bip needs a session secret, and it is empty");
        }
        return BipAdapter.open(name, config, context);
    }
}
