package io.madeleine.bench;

import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.pmm.WaitMode;
import java.util.Arrays;
import java.util.List;

/**
 * One of the two processes in which links are measured without a session.
 *
 * <p>Threading: confined to caller.
 */
public final class LinkProcess {
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
        BareNetwork network = BareNetwork.of(arguments[0], settings);
        ControlLine.serve(rank, (_, line) -> LinkWire.open(network, rank, wait, line));
        System.exit(0); // threads of the network may be left
    }
}
