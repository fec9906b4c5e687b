package io.madeleine.session.network;

import com.google.inject.CreationException;
import com.google.inject.Guice;
import com.google.inject.Injector;
import com.google.inject.Key;
import com.google.inject.Module;
import com.google.inject.Provider;
import com.google.inject.ProvisionException;
import com.google.inject.TypeLiteral;
import com.google.inject.spi.Message;
import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.session.config.FamilyConfig;
import io.madeleine.session.config.SessionConfig;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The families of networks of one session. Loads the Guice modules that {@code guice-module} names and wires them in
 * one injector. A family that cannot be loaded or used is off, with a reason; the others still work.
 *
 * <p>Threading: immutable.
 */
public final class Families {
    private static final Key<Map<String, Provider<ProtocolModule>>> MODULES = Key.get(new TypeLiteral<>() {});

    private final Map<String, Family> byName;

    private Families(Map<String, Family> byName) {
        this.byName = byName;
    }

    /** Wires the families that the configuration enables. */
    public static Families wire(SessionConfig config) {
        keepGuiceFromDefiningHiddenClasses();
        Map<String, Family> families = new LinkedHashMap<>();
        Map<String, Module> guiceModules = new LinkedHashMap<>();
        for (FamilyConfig family : config.families()) {
            if (!family.enabled()) {
                families.put(
                        family.name(),
                        Family.off(
                                family.name(),
                                "disabled by madeleine.tm." + family.name() + ".enabled (" + family.enabledOrigin()
                                        + ")"));
            } else if (family.guiceModule().isEmpty()) {
                families.put(
                        family.name(),
                        Family.off(
                                family.name(),
                                "no module of this family is on the class path:"
                                        + " add the artifact io.madeleine:madeleine-tm-" + family.name()));
            } else {
                load(family, config.root(), guiceModules, families);
            }
        }
        provide(guiceModules, families);
        return new Families(families);
    }

    /**
     * Lets the families check their keys, without wiring them.
     *
     * @throws ConfigurationException if a key or a value is wrong
     */
    public static void check(SessionConfig config) {
        config.families().stream()
                .filter(family -> family.enabled() && family.guiceModule().isPresent())
                .forEach(family -> load(family, config.root(), new HashMap<>(), new HashMap<>()));
    }

    /**
     * Keeps Guice from defining classes with sun.misc.Unsafe, about which the JVM warns. Guice reads the property when
     * it is loaded.
     */
    private static void keepGuiceFromDefiningHiddenClasses() {
        if (System.getProperty("guice_bytecode_gen_option") == null) {
            System.getProperties().putIfAbsent("guice_custom_class_loading", "CHILD");
        }
    }

    private static void load(
            FamilyConfig family, Config root, Map<String, Module> guiceModules, Map<String, Family> families) {
        String className = family.guiceModule().orElseThrow();
        try {
            Constructor<?> constructor = classNamed(className).getConstructor(Config.class);
            guiceModules.put(family.name(), (Module) constructor.newInstance(root));
            families.put(
                    family.name(),
                    Family.off(
                            family.name(),
                            className + " binds no protocol module of this name: expected a MapBinder<String,"
                                    + " ProtocolModule> with the key " + family.name()));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof ConfigurationException wrong) {
                throw wrong;
            }
            families.put(
                    family.name(),
                    e.getCause() instanceof LinkageError broken
                            ? lacking(family.name(), broken)
                            : Family.off(family.name(), className + " failed: " + e.getCause()));
        } catch (ClassNotFoundException _) {
            families.put(
                    family.name(),
                    Family.off(
                            family.name(),
                            className + ", named by madeleine.tm." + family.name()
                                    + ".guice-module, is not on the class path"));
        } catch (LinkageError e) {
            families.put(family.name(), lacking(family.name(), e));
        } catch (ReflectiveOperationException | ClassCastException e) {
            families.put(
                    family.name(),
                    Family.off(
                            family.name(),
                            className + " cannot be used: expected a Guice module with a public constructor that takes"
                                    + " a Config: " + e));
        }
    }

    /** Loads a class with Madeleine's class loader, or else with the calling thread's context class loader. */
    private static Class<?> classNamed(String className) throws ClassNotFoundException {
        try {
            return Class.forName(className, true, Families.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            ClassLoader context = Thread.currentThread().getContextClassLoader();
            if (context == null) {
                throw e;
            }
            return Class.forName(className, true, context);
        }
    }

    private static void provide(Map<String, Module> guiceModules, Map<String, Family> families) {
        if (guiceModules.isEmpty()) {
            return;
        }
        Map<String, Provider<ProtocolModule>> providers;
        try {
            Injector injector = Guice.createInjector(guiceModules.values());
            providers = injector.getInstance(MODULES);
        } catch (CreationException e) {
            throw configurationError(e.getErrorMessages())
                    .orElseThrow(
                            () -> new SessionException("the network modules cannot be wired: " + e.getMessage(), e));
        }
        providers.forEach((name, provider) -> families.put(name, provide(name, provider)));
    }

    private static Family provide(String name, Provider<ProtocolModule> provider) {
        try {
            ProtocolModule module = provider.get();
            return new Family(name, Optional.of(module), availability(module));
        } catch (ProvisionException e) {
            Optional<ConfigurationException> wrong = configurationError(e.getErrorMessages());
            if (wrong.isPresent()) {
                throw wrong.get();
            }
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return cause instanceof LinkageError broken
                    ? lacking(name, broken)
                    : Family.off(name, "its module failed: " + cause);
        } catch (LinkageError e) {
            return lacking(name, e);
        }
    }

    /**
     * A driver may throw an InternalError where the system lacks something. The network is then off, as if it were
     * missing.
     */
    private static Availability availability(ProtocolModule module) {
        try {
            return module.availability();
        } catch (ConfigurationException e) {
            throw e;
        } catch (RuntimeException | InternalError e) {
            return Availability.off("the check whether it can be used failed: " + e);
        }
    }

    private static Family lacking(String name, LinkageError error) {
        return Family.off(name, "a library that it needs is missing or of another version: " + error);
    }

    private static Optional<ConfigurationException> configurationError(Collection<Message> messages) {
        return messages.stream()
                .map(Message::getCause)
                .filter(ConfigurationException.class::isInstance)
                .map(ConfigurationException.class::cast)
                .findFirst();
    }

    /** All families, ordered by name. */
    public Collection<Family> all() {
        return byName.values();
    }

    /** The family with this name; empty if there is none. */
    public Optional<Family> family(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The protocol module of a network; empty if the network is off. */
    public Optional<ProtocolModule> module(String network) {
        return Optional.ofNullable(byName.get(network))
                .filter(family -> family.availability().on())
                .flatMap(Family::module);
    }

    /** Whether a network can be used, and why or why not. */
    public Availability availability(String network) {
        Family family = byName.get(network);
        return family == null ? Availability.off("no such network is configured") : family.availability();
    }

    /** Describes in one line which networks are on and off, and why. */
    public String summary() {
        List<String> parts = new ArrayList<>();
        byName.values()
                .forEach(family ->
                        parts.add(family.name() + " " + (family.availability().on() ? "on" : "off") + " ("
                                + family.availability().text() + ")"));
        return parts.isEmpty() ? "none" : String.join("; ", parts);
    }
}
