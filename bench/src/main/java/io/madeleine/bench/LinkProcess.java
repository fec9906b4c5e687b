package io.madeleine.bench;

import com.google.inject.Guice;
import com.google.inject.Key;
import com.google.inject.Module;
import com.google.inject.TypeLiteral;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.spi.ProtocolModule;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * One of the two processes in which links are measured without a session. It wires the one module that it needs.
 *
 * <p>Threading: confined to caller.
 */
public final class LinkProcess {
    private static final Key<Map<String, ProtocolModule>> MODULES = Key.get(new TypeLiteral<>() {});
    private static final String ADAPTER = "madeleine.channels." + PerfProcess.CHANNEL + ".adapter";
    private static final int SETTINGS = 4;

    private LinkProcess() {}

    /** Started by {@code mad perf} with network, rank, wait mode, whether to pin, and settings. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        int rank = Integer.parseInt(arguments[1]);
        WaitMode wait = WaitMode.valueOf(arguments[2]);
        if (Boolean.parseBoolean(arguments[3])) {
            Pinning.pinThisProcess(rank);
        }
        List<String> settings = Arrays.asList(arguments).subList(SETTINGS, arguments.length);
        Config config = configuration(settings);
        ProtocolModule module = module(arguments[0], config);
        String adapter = config.hasPath(ADAPTER)
                ? config.getString(ADAPTER)
                : module.adapterNames().getFirst();
        ControlLine.serve(rank, (_, line) -> LinkWire.open(module, adapter, rank, wait, line));
        System.exit(0); // threads of the network may be left
    }

    private static Config configuration(List<String> settings) {
        Config config = ConfigFactory.empty();
        for (String setting : settings) {
            config = ConfigFactory.parseString("madeleine." + setting).withFallback(config);
        }
        String file = System.getenv("MADELEINE_CONF");
        if (file != null) {
            config = config.withFallback(ConfigFactory.parseFile(new File(file)));
        }
        return config.withFallback(
                        ConfigFactory.parseResources(ProtocolModule.class.getClassLoader(), "reference.conf"))
                .resolve();
    }

    private static ProtocolModule module(String name, Config config) throws ReflectiveOperationException {
        System.setProperty("guice_custom_class_loading", "CHILD"); // as a session does, before Guice loads
        String className = config.getString("madeleine.tm." + name + ".guice-module");
        Module wiring = Class.forName(className)
                .asSubclass(Module.class)
                .getConstructor(Config.class)
                .newInstance(config);
        ProtocolModule module =
                Guice.createInjector(wiring).getInstance(MODULES).get(name);
        if (module == null) {
            throw new IllegalStateException(className + " binds no protocol module " + name);
        }
        return module;
    }
}
