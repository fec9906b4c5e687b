package io.madeleine.tm.via.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * libfabric, loaded. A library is never unloaded, because providers start threads. Do not initialise this class without
 * native access.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class FabricLibrary {
    /** The version of the interface that the binding asks for. */
    static final int INTERFACE = Flags.version(1, 14);

    private static final int NEWEST_MAJOR = 2;
    private static final List<String> USUAL_NAMES = List.of("libfabric.so.1", "libfabric.so");
    private static final ConcurrentHashMap<String, FabricLibrary> LOADED = new ConcurrentHashMap<>();

    /**
     * Settings of providers, made before they are loaded. The first two keep the PSM libraries from taking signal
     * handlers when they are loaded; the third keeps libfabric from watching the process's memory.
     */
    private static final List<List<String>> ENVIRONMENT = List.of(
            List.of("IPATH_NO_BACKTRACE", "1"),
            List.of("HFI_NO_BACKTRACE", "1"),
            List.of("FI_MR_CACHE_MONITOR", "disabled"));

    private final String name;
    private final int version;
    private final MemorySegment getInfo;
    private final MemorySegment freeInfo;
    private final MemorySegment duplicateInfo;
    private final MemorySegment openFabric;
    private final MemorySegment errorText;
    private final MemorySegment toText;

    private FabricLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.version = Downcalls.intOf0(symbol(symbols, "fi_version"));
        if (major() < 1 || major() > NEWEST_MAJOR || version < INTERFACE) {
            throw new FabricException(
                    0,
                    name + " is libfabric " + versionText() + "; expected 1.14 to " + NEWEST_MAJOR
                            + ".x (madeleine.tm.via.library)");
        }
        this.getInfo = symbol(symbols, "fi_getinfo");
        this.freeInfo = symbol(symbols, "fi_freeinfo");
        this.duplicateInfo = symbol(symbols, "fi_dupinfo");
        this.openFabric = symbol(symbols, "fi_fabric");
        this.errorText = symbol(symbols, "fi_strerror");
        this.toText = symbol(symbols, "fi_tostr");
    }

    private MemorySegment symbol(SymbolLookup symbols, String symbol) {
        return symbols.find(symbol)
                .orElseThrow(() -> new FabricException(
                        0,
                        name + " is not libfabric: it has no function " + symbol
                                + "; give the right file with madeleine.tm.via.library"));
    }

    /**
     * Loads libfabric, once for each name.
     *
     * @param configured the file to load; empty for the usual names
     * @throws FabricException if there is none, or if it is another library or version
     */
    public static FabricLibrary load(Optional<String> configured) {
        List<String> names = configured.map(List::of).orElse(USUAL_NAMES);
        List<String> failures = new ArrayList<>();
        for (String each : names) {
            FabricLibrary known = LOADED.get(each);
            if (known != null) {
                return known;
            }
            try {
                FabricLibrary opened = open(each);
                FabricLibrary other = LOADED.putIfAbsent(each, opened);
                return other == null ? opened : other;
            } catch (IllegalArgumentException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
        }
        throw new FabricException(
                0,
                "libfabric cannot be loaded: " + String.join("; ", failures)
                        + "; install it (package libfabric1 on Debian and Ubuntu, libfabric on Fedora), or give the"
                        + " file with madeleine.tm.via.library");
    }

    @SuppressWarnings("restricted") // loading the library is the purpose of this class
    private static FabricLibrary open(String name) {
        Path path = Path.of(name);
        if (path.isAbsolute() && !Files.isReadable(path)) {
            throw new IllegalArgumentException(name + " is not a readable file");
        }
        ENVIRONMENT.forEach(each -> Libc.setEnvironmentDefault(each.getFirst(), each.getLast()));
        SymbolLookup[] symbols = new SymbolLookup[1];
        Libc.keepingSignalHandlers(() -> symbols[0] = path.isAbsolute()
                ? SymbolLookup.libraryLookup(path, Arena.global())
                : SymbolLookup.libraryLookup(name, Arena.global()));
        return new FabricLibrary(name, symbols[0]);
    }

    /** The name under which it was found. */
    public String name() {
        return name;
    }

    private int major() {
        return version >>> 16;
    }

    /** The version, such as "1.17". */
    public String versionText() {
        return major() + "." + (version & 0xFFFF);
    }

    /** libfabric's text for an error number. */
    public String errorText(int code) {
        return Raw.text(Downcalls.longOfInt(errorText, code));
    }

    FabricException failure(String call, long result) {
        int code = (int) -result;
        return new FabricException(code, call + " failed: " + errorText(code) + " (" + code + ")");
    }

    void check(String call, long result) {
        if (result < 0) {
            throw failure(call, result);
        }
    }

    /** Describes a struct as {@code fi_tostr} does. */
    String describe(long struct, int type) {
        return Raw.text(Downcalls.toString(toText, struct, type));
    }

    /** An empty fi_info with all its attributes. */
    long newInfo() {
        return copyInfo(0);
    }

    /** A copy of one fi_info. */
    long copyInfo(long info) {
        long made = Downcalls.longOf1(duplicateInfo, info);
        if (made == 0) {
            throw new FabricException(0, "fi_dupinfo failed: out of memory");
        }
        return made;
    }

    /** Frees a list of fi_info. */
    void freeInfo(long info) {
        long _ = Downcalls.longOf1(freeInfo, info);
    }

    /** Calls fi_getinfo; returns the list, or 0 if nothing matches. */
    long getInfo(Optional<String> node, long flags, long hints) {
        long[] found = new long[1];
        Libc.keepingSignalHandlers(() -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(Long.BYTES, Long.BYTES);
                long nodeText =
                        node.map(text -> arena.allocateFrom(text).address()).orElse(0L);
                int code = Downcalls.getInfo(getInfo, INTERFACE, nodeText, 0, flags, hints, result.address());
                if (code != 0 && code != -Flags.FI_ENODATA) {
                    throw failure("fi_getinfo", code);
                }
                found[0] = code == 0 ? Raw.pointer(result.address()) : 0;
            }
        });
        return found[0];
    }

    /** Calls fi_fabric. */
    long openFabric(long attributes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(Long.BYTES, Long.BYTES);
            check("fi_fabric", Downcalls.intOf3(openFabric, attributes, result.address(), 0));
            return Raw.pointer(result.address());
        }
    }
}
