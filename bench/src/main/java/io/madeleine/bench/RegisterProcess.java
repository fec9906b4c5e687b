package io.madeleine.bench;

import com.typesafe.config.Config;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Samples;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The process that measures {@link Pattern#REGISTER} without a session. It registers memory with a network, as an owner
 * that exports memory does, and ends the registration. Or it copies the same number of bytes.
 *
 * <p>Threading: confined to caller.
 */
public final class RegisterProcess implements ControlLine.Program {
    /** The answer of a network that registers memory. */
    static final String REGISTERS = "registers";

    /** The answer if a setting also makes each registration lock its pages. */
    static final String LOCKS = "registers and locks";

    private static final String REFUSAL =
            "it registers no memory: its adapters have no one-sided access (RemoteMemory); sci and via have it";
    private static final int SETTINGS = 3;
    private static final int TOKEN_BYTES = 16;
    private static final long PAGE_BYTES = 4096;
    private static final long REVOKE_NS = 1_000_000_000;

    /** How long the operations of a sample take, about. */
    private static final long SAMPLE_NS = 100_000;

    private final BareAdapter bare;
    private final MemorySegment memory;
    private final Operation operation;

    /** What the process does. */
    enum Work {
        /** Prints whether the network registers memory, and ends. */
        ASK,
        /** Registers memory. */
        REGISTER,
        /** Copies memory. */
        COPY
    }

    /** The operation that is timed, on a block at the beginning of the memory. */
    private interface Operation {
        void on(MemorySegment block);
    }

    private RegisterProcess(BareNetwork network, boolean copies, ControlLine line) {
        bare = new BareAdapter(network, 0, line.token());
        RemoteMemory remote = bare.adapter().remoteMemory().orElseThrow(() -> new MeasuringException(REFUSAL));
        memory = pages(line.memoryBytes());
        operation = copies ? copy(pages(line.memoryBytes())) : block -> register(remote, block);
    }

    /** Started by {@code mad perf} with network, work, whether to pin, and settings. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        String family = arguments[0];
        Work work = Work.valueOf(arguments[1]);
        BareNetwork network = BareNetwork.of(family, Arrays.asList(arguments).subList(SETTINGS, arguments.length));
        if (work == Work.ASK) {
            System.out.println(answer(network, family));
            System.exit(0); // threads of the network may be left
        }
        if (Boolean.parseBoolean(arguments[2])) {
            Pinning.pinThisProcess(0);
        }
        ControlLine.serveProgram(0, line -> {
            line.exchangeContacts("-");
            return new RegisterProcess(network, work == Work.COPY, line);
        });
        System.exit(0);
    }

    private static String answer(BareNetwork network, String family) {
        byte[] token = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(token);
        try (BareAdapter bare = new BareAdapter(network, 0, HexFormat.of().formatHex(token))) {
            if (bare.adapter().remoteMemory().isEmpty()) {
                return REFUSAL;
            }
            return locks(network.configuration(), family) ? LOCKS : REGISTERS;
        } catch (RuntimeException e) {
            return "its adapter cannot be opened: "
                    + String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }

    private static boolean locks(Config configuration, String family) {
        String key = "madeleine.tm." + family + ".pin";
        return configuration.hasPath(key) && configuration.getString(key).equals("mlock");
    }

    /** Memory that peers may access, in whole pages that the system has already provided. */
    private MemorySegment pages(long bytes) {
        MemorySegment all = bare.arenas().lasting().allocateShared(bytes + PAGE_BYTES);
        MemorySegment aligned = all.asSlice(-all.address() & (PAGE_BYTES - 1), bytes);
        return aligned.fill((byte) 1);
    }

    private static void register(RemoteMemory remote, MemorySegment block) {
        if (!remote.export(block, RemoteMemory.Access.READ_WRITE).revoke(REVOKE_NS)) {
            throw new MeasuringException("a registration that nobody uses did not end");
        }
    }

    private static Operation copy(MemorySegment target) {
        return block -> Blocks.copy(block, 0, target, 0, block.byteSize());
    }

    @Override
    public Pattern pattern(String word) {
        if (!word.equals(Pattern.REGISTER.word())) {
            throw new IllegalArgumentException("there is no pattern " + word + " here");
        }
        return Pattern.REGISTER;
    }

    @Override
    public Round carryOut(Order order) {
        MemorySegment block = memory.asSlice(0, order.bytes());
        Samples samples = new Samples(order);
        long sampleNs = samples.sampleNs(SAMPLE_NS);
        long count = 1;
        for (long all = 0; samples.isCold(all); ) {
            long elapsedNs = run(block, count);
            all += count;
            count = elapsedNs < sampleNs / 2 ? count * 2 : Math.max(1, count * sampleNs / elapsedNs);
        }
        while (!samples.isOver()) {
            samples.begin();
            long elapsedNs = run(block, count);
            samples.end(Pattern.REGISTER.measure().value((double) elapsedNs, (double) count, block.byteSize()), count);
            int _ = bare.poll();
        }
        return samples.round();
    }

    private long run(MemorySegment block, long count) {
        long beginNs = System.nanoTime();
        for (long i = 0; i < count; i++) {
            operation.on(block);
        }
        return Math.max(1, System.nanoTime() - beginNs);
    }

    @Override
    public void close() {
        bare.close();
    }
}
