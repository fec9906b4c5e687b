package io.madeleine.bench.peer;

import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.peer.JvmPeer.End;
import io.madeleine.bench.peer.JvmPeer.Kit;
import io.madeleine.bench.peer.Peer.Asked;
import io.madeleine.pmm.WaitMode;
import java.util.Objects;

/**
 * One of the two JVMs of a peer.
 *
 * <p>Threading: confined to caller.
 */
public final class PeerProcess {
    private PeerProcess() {}

    /** Started by {@code mad perf} with peer, rank, wait mode, whether to pin, and the name of folders to use. */
    public static void main(String[] arguments) {
        Asked asked = new Asked(arguments[0]);
        Kit kit = Objects.requireNonNull(JvmKits.ALL.get(asked.name()), asked.word());
        int rank = Integer.parseInt(arguments[1]);
        if (Boolean.parseBoolean(arguments[3]) && kit.pinned()) {
            Pinning.pinThisProcess(rank);
        }
        End end = new End(rank, WaitMode.valueOf(arguments[2]), arguments[4] + "-" + rank, asked.argument());
        ControlLine.serve(rank, (_, line) -> kit.opener().open(end, line));
        System.exit(0); // threads of a library may be left
    }
}
