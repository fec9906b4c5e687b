package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Acceptor;
import io.madeleine.am.SendQueue;
import io.madeleine.api.Channel;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.bsi.BSIObjectIdentifiers;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.junit.jupiter.api.Test;

/** Default methods of the interfaces of programs, wherever program and library are. */
class DefaultMethodsTest {
    private static final String MODULE = "io.madeleine.nexus";

    interface Hidden {
        int one();

        default int plus(int more) {
            return one() + more;
        }
    }

    private static Path placeOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** This module as a named one, in a layer of its own; the test is on the class path. */
    private static Class<?> inModule(Class<?> type) throws Exception {
        List<Path> places = new ArrayList<>();
        for (Class<?> each : List.of(
                Context.class,
                Channel.class,
                SendQueue.class,
                Acceptor.class,
                X509CertificateHolder.class,
                BSIObjectIdentifiers.class,
                BouncyCastleProvider.class)) {
            places.add(placeOf(each));
        }
        Configuration configuration = ModuleLayer.boot()
                .configuration()
                .resolve(ModuleFinder.of(places.toArray(Path[]::new)), ModuleFinder.of(), Set.of(MODULE));
        ModuleLayer.Controller controller = ModuleLayer.defineModulesWithOneLoader(
                configuration, List.of(ModuleLayer.boot()), ClassLoader.getPlatformClassLoader());
        Module module = controller.layer().findModule(MODULE).orElseThrow();
        controller.addOpens(module, MODULE, DefaultMethodsTest.class.getModule());
        return module.getClassLoader().loadClass(type.getName());
    }

    @Test
    void shouldRunTheDefaultMethodOfAHiddenInterfaceOnTheClassPathFromANamedModule() throws Exception {
        Class<?> named = inModule(DefaultMethods.class);
        assertTrue(named.getModule().isNamed() && !Hidden.class.getModule().isNamed());
        Method invoke = named.getDeclaredMethod("invoke", Object.class, Method.class, Object[].class);
        invoke.setAccessible(true);
        Object proxy =
                Proxy.newProxyInstance(Hidden.class.getClassLoader(), new Class<?>[] {Hidden.class}, (_, _, _) -> 1);
        Method plus = Hidden.class.getDeclaredMethod("plus", int.class);
        assertEquals(3, invoke.invoke(null, proxy, plus, new Object[] {2}));
    }
}
