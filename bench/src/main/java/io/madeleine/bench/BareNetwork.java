package io.madeleine.bench;

import com.google.inject.Guice;
import com.google.inject.Key;
import com.google.inject.Module;
import com.google.inject.TypeLiteral;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.pmm.spi.ProtocolModule;
import java.io.File;
import java.util.List;
import java.util.Map;

/**
 * One of our networks without a session: only the module of its driver is wired.
 *
 * <p>Threading: immutable.
 *
 * @param module the driver
 * @param adapter the adapter that was asked for, or else the driver's first
 * @param configuration what the driver was made from
 */
record BareNetwork(ProtocolModule module, String adapter, Config configuration) {
    /** The environment variable that names the configuration file. */
    static final String FILE = "MADELEINE_CONF";

    private static final Key<Map<String, ProtocolModule>> MODULES = Key.get(new TypeLiteral<>() {});
    private static final String ADAPTER = "madeleine.channels." + PerfProcess.CHANNEL + ".adapter";

    /**
     * The network of this family with these settings, key=value each, which take precedence over the configuration
     * file.
     */
    static BareNetwork of(String family, List<String> settings) throws ReflectiveOperationException {
        Config configuration = configuration(settings);
        ProtocolModule module = module(family, configuration);
        String adapter = configuration.hasPath(ADAPTER)
                ? configuration.getString(ADAPTER)
                : module.adapterNames().getFirst();
        return new BareNetwork(module, adapter, configuration);
    }

    /** These settings, key=value each, over those of the configuration file and of the networks. */
    static Config configuration(List<String> settings) {
        Config config = ConfigFactory.empty();
        for (String setting : settings) {
            config = ConfigFactory.parseString("madeleine." + setting).withFallback(config);
        }
        String file = System.getenv(FILE);
        if (file != null) {
            config = config.withFallback(ConfigFactory.parseFile(new File(file)));
        }
        return config.withFallback(
                        ConfigFactory.parseResources(ProtocolModule.class.getClassLoader(), "reference.conf"))
                .resolve();
    }

    private static ProtocolModule module(String family, Config config) throws ReflectiveOperationException {
        System.setProperty("guice_custom_class_loading", "CHILD"); // as a session does, before Guice loads
        String className = config.getString("madeleine.tm." + family + ".guice-module");
        Module wiring = Class.forName(className)
                .asSubclass(Module.class)
                .getConstructor(Config.class)
                .newInstance(config);
        ProtocolModule module =
                Guice.createInjector(wiring).getInstance(MODULES).get(family);
        if (module == null) {
            throw new IllegalStateException(className + " binds no protocol module " + family);
        }
        return module;
    }
}
