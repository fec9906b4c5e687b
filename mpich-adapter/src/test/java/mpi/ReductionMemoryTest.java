package mpi;

import static mpi.Contributions.sum;
import static mpi.Contributions.values;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.IntBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An allreduce whose members have their values in memory of different kinds. */
class ReductionMemoryTest {
    /**
     * The members of an allreduce with the same values in memory of different kinds, which must send the same messages.
     */
    private enum Kind {
        ARRAY {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                int[] result = new int[values.length];
                comm.allReduce(values, result, values.length, MPI.INT, op);
                return result;
            }
        },
        BUFFERS {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer own = MPI.newIntBuffer(values.length).put(0, values);
                IntBuffer result = MPI.newIntBuffer(values.length);
                comm.allReduce(own, result, values.length, MPI.INT, op);
                assertEquals(IntBuffer.wrap(values), own);
                return array(result);
            }
        },
        IN_PLACE {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.allReduce(both, values.length, MPI.INT, op);
                return array(both);
            }
        },
        SAME_BUFFER {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.allReduce(both.duplicate(), both, values.length, MPI.INT, op);
                return array(both);
            }
        },
        NOT_BLOCKING {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.iAllReduce(both, values.length, MPI.INT, op).waitFor();
                return array(both);
            }
        },
        SPACED {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                int[] both = new int[2 * values.length];
                for (int i = 0; i < values.length; i++) {
                    both[2 * i] = values[i];
                }
                Datatype spaced = Datatype.createResized(MPI.INT, 0, 2 * Integer.BYTES);
                comm.allReduce(both, values.length, spaced, op);
                return IntStream.range(0, values.length).map(i -> both[2 * i]).toArray();
            }
        };

        abstract int[] allReduce(Intracomm comm, int[] values, Op op);

        private static int[] array(IntBuffer buffer) {
            int[] array = new int[buffer.capacity()];
            buffer.get(0, array);
            return array;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 8})
    void shouldReduceAlikeWhateverMemoryEachMemberHas(int size) {
        Kind[] kinds = Kind.values();
        try (World world = new World("sci", size)) {
            world.run(comm -> {
                int rank = comm.getRank();
                for (int count : new int[] {1, 500, 600, 2100, 3001, 17_000, 140_003}) {
                    for (int turn = 0; turn < kinds.length; turn++) {
                        Kind kind = kinds[(turn + rank * 5) % kinds.length];
                        int[] result = kind.allReduce(comm, values(rank, count, turn), MPI.SUM);
                        assertArrayEquals(sum(size, count, turn), result, kind + " " + count);
                    }
                }
            });
        }
    }
}
