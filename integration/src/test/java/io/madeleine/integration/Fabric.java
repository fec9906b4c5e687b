package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.inject.AbstractModule;
import com.google.inject.Guice;
import com.google.inject.Key;
import com.google.inject.TypeLiteral;
import com.google.inject.multibindings.MapBinder;
import com.typesafe.config.Config;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.via.ViaGuiceModule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Sessions over {@code via}, and the remote memory of the adapter that a session has opened. */
final class Fabric {
    private static final CompletableFuture<Adapter> OPENED = new CompletableFuture<>();

    private Fabric() {}

    /**
     * Processes with the default channel over a provider; skipped where libfabric is missing, unless all tests have to
     * run.
     */
    static Ranks over(String provider, int count, Class<?> program) throws IOException {
        boolean installed = new String(Files.readAllBytes(Path.of("/etc/ld.so.cache")), StandardCharsets.ISO_8859_1)
                .contains("libfabric.so");
        String missing = "libfabric is not installed (package libfabric1)";
        assertTrue(installed || !"true".equals(System.getenv("CI")), missing);
        assumeTrue(installed, missing);
        return Ranks.of(count, program)
                .over("via")
                .with("tm.via.adapters.default.provider=" + provider, "tm.via.guice-module=" + Module.class.getName())
                .java("--enable-native-access=ALL-UNNAMED");
    }

    /** The remote memory of the session that this process has opened. */
    static RemoteMemory remoteMemory() throws Exception {
        return OPENED.get(10, TimeUnit.SECONDS).remoteMemory().orElseThrow();
    }

    /** Binds the driver of via, and keeps the adapter that the session opens. */
    public static final class Module extends AbstractModule {
        private final Config root;

        public Module(Config root) {
            this.root = root;
        }

        @Override
        protected void configure() {
            ProtocolModule via = Guice.createInjector(new ViaGuiceModule(root))
                    .getInstance(Key.get(new TypeLiteral<Map<String, ProtocolModule>>() {}))
                    .get("via");
            MapBinder.newMapBinder(binder(), String.class, ProtocolModule.class)
                    .addBinding("via")
                    .toInstance(new Recorder(via));
        }
    }

    private record Recorder(ProtocolModule via) implements ProtocolModule {
        @Override
        public String name() {
            return via.name();
        }

        @Override
        public Availability availability() {
            return via.availability();
        }

        @Override
        public List<TransmissionCapabilities> transmissionModules() {
            return via.transmissionModules();
        }

        @Override
        public List<String> adapterNames() {
            return via.adapterNames();
        }

        @Override
        public Adapter openAdapter(String name, ProcessContext context) {
            Adapter adapter = via.openAdapter(name, context);
            boolean _ = OPENED.complete(adapter);
            return adapter;
        }
    }
}
