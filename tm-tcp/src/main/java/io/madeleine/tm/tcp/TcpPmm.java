package io.madeleine.tm.tcp;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.madeleine.tm.tcp.stream.SocketTable;
import io.madeleine.tm.tcp.stream.TcpStreamLink;
import io.madeleine.tm.tcp.tls.TlsEngines;
import io.madeleine.tm.tcp.tls.TlsIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The TCP protocol module: one transmission module, {@code tcp/stream}, over Netty.
 *
 * <p>Threading: as {@link ProtocolModule} says.
 */
public final class TcpPmm implements ProtocolModule {
    /** The name of the protocol. */
    public static final String NAME = "tcp";

    private final TcpConfig config;

    /** A protocol module with its configuration. Opens no socket. */
    @SuppressWarnings("exports") // a program on the module path has TcpGuiceModule make the configuration
    public TcpPmm(TcpConfig config) {
        this.config = config;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        if (!config.enabled()) {
            return Availability.off("switched off by " + TcpConfig.PATH + ".enabled");
        }
        Optional<String> noNetty = NettyLibrary.unavailable();
        if (noNetty.isPresent()) {
            return Availability.off(noNetty.get());
        }
        IoTransport io = chosen();
        Optional<String> noTls =
                config.tls().enabled() ? TlsEngines.unavailable(config.tls().engine()) : Optional.empty();
        return io.unavailable()
                .map(reason -> whyNot(io, reason))
                .or(() -> noTls)
                .map(Availability::off)
                .orElseGet(() -> Availability.on("sockets through " + io.title()
                                + (config.io().equals(TcpConfig.AUTO) ? " (chosen by io = auto)" : "")
                                + (config.tls().enabled()
                                        ? ", TLS 1.3 with certificates at both ends, "
                                                + TlsEngines.describe(
                                                        config.tls().engine())
                                        : ""))
                        .with(details()));
    }

    /** Off also if the files of TLS cannot be used, with the sentence that the opening of an adapter says. */
    @Override
    public Availability examine() {
        Availability plain = availability();
        return plain.on() && config.tls().enabled()
                ? TlsIdentity.unusable(config.tls()).map(Availability::off).orElse(plain)
                : plain;
    }

    private List<String> details() {
        List<String> details = new ArrayList<>();
        config.adapters()
                .forEach((name, adapter) -> details.add("adapter " + name + ": listens on "
                        + adapter.bindText() + ", port " + (adapter.port() == 0 ? "any" : adapter.port())
                        + ", advertises " + adapter.advertise()));
        new SocketTable()
                .unavailable()
                .ifPresent(reason ->
                        details.add("only the kernel detects a link that is cut while bytes are in flight: " + reason));
        return details;
    }

    private IoTransport chosen() {
        return config.io().equals(TcpConfig.AUTO)
                ? IoTransport.NIO
                : IoTransport.valueOf(config.io().toUpperCase(Locale.ROOT));
    }

    private static String whyNot(IoTransport io, String reason) {
        return TcpConfig.PATH + ".io is " + io.key() + ", which cannot be used here: " + reason;
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return List.of(TcpStreamLink.CAPABILITIES);
    }

    @Override
    public List<String> nativeModules() {
        if (NettyLibrary.unavailable().isPresent()) {
            return List.of(); // do not load a class that needs Netty
        }
        List<String> modules = new ArrayList<>(chosen().nativeModules());
        if (config.tls().enabled()) {
            modules.addAll(TlsEngines.nativeModules(config.tls().engine()));
        }
        return modules.stream().distinct().toList();
    }

    @Override
    public List<String> adapterNames() {
        return List.copyOf(config.adapters().keySet());
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        if (!config.adapters().containsKey(name)) {
            throw new ConfigurationException("tcp has no adapter \"" + name + "\"; " + TcpConfig.PATH
                    + ".adapters names " + String.join(", ", adapterNames()));
        }
        if (context.secret().length == 0) {
            throw new ConfigurationException(
                    "tcp needs a session secret: expected madeleine.session.secret to be set, to the same text in all processes");
        }
        if (context.reactor() instanceof NettyReactor offered) {
            return new TcpAdapter(name, config, context, offered);
        }
        NettyReactor own = newReactor();
        try {
            if (!own.asksBeforeHandling()) {
                throw new ConfigurationException(
                        TcpConfig.PATH + ".io = " + own.io().key()
                                + " needs the session to sleep in the reactor of tcp, but it sleeps in "
                                + context.reactor().getClass().getName() + "; set " + TcpConfig.PATH
                                + ".io = nio, or switch off the other network that offers a reactor");
            }
            return new TcpAdapter(name, config, context, own);
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    /** Returns a new reactor at each call. Ownership: the caller closes it. */
    @Override
    public Optional<Reactor> offerReactor() {
        return Optional.of(newReactor());
    }

    private NettyReactor newReactor() {
        IoTransport io = chosen();
        Optional<String> reason = io.unavailable();
        if (reason.isPresent()) {
            throw new ConfigurationException(whyNot(io, reason.get()));
        }
        return new NettyReactor(io);
    }
}
