package io.madeleine.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The options that say under which configuration is measured.
 *
 * <p>Threading: confined to caller.
 */
final class SettingOptions {
    @Option(
            names = "--conf",
            paramLabel = "FILE",
            description = "Reads the configuration from this HOCON file. Default: the file that MADELEINE_CONF names,"
                    + " if any.")
    private Optional<Path> conf = Optional.empty();

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            converter = Setting.class,
            description = "Sets one key, as tm.tcp.no-delay=false or tm.sci.regular.cells=4. May be repeated.")
    private List<String> settings = new ArrayList<>();

    @Option(
            names = "--no-native",
            description = "Grants native access to no module; sci then has no single copy of ordinary memory.")
    private boolean noNative;

    /** One setting, whose key and value are checked when all are read. */
    static final class Setting implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.indexOf('=') < 1 || text.startsWith("-")) {
                throw new TypeConversionException("'" + text + "': expected KEY=VALUE, such as wait.mode=spin");
            }
            return text;
        }
    }

    /** Whether native access is kept from all modules. */
    boolean noNative() {
        return noNative;
    }

    /** The settings as arguments of Session.open. */
    List<String> arguments() {
        return sessions().arguments();
    }

    /** The settings as people read them; empty without any. */
    String words() {
        List<String> words = new ArrayList<>(settings);
        conf.ifPresent(file -> words.addFirst("--conf " + file));
        if (noNative) {
            words.add("--no-native");
        }
        return String.join(" ", words);
    }

    /** What the measuring processes are started with. */
    ProtocolSubject.Setup setup() {
        return new ProtocolSubject.Setup(sessions());
    }

    private ProtocolSubject.Sessions sessions() {
        return new ProtocolSubject.Sessions(settings, conf, !noNative);
    }
}
