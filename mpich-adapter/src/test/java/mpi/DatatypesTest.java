package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Derived datatypes: their lengths, and which bytes they move. */
class DatatypesTest {
    private static int extentOfIntAnd(int length, Datatype other) throws MPIException {
        return Datatype.createStruct(new int[] {1, length}, new int[] {0, 8}, new Datatype[] {MPI.INT, other})
                .getExtent();
    }

    @Test
    void shouldCountOnlyBlocksWithDataForTheExtentOfAStruct() throws MPIException {
        assertEquals(16, extentOfIntAnd(1, MPI.DOUBLE));
        assertEquals(4, extentOfIntAnd(0, MPI.DOUBLE));
        assertEquals(4, extentOfIntAnd(1, Datatype.createContiguous(0, MPI.DOUBLE)));
    }

    @Test
    void shouldCountLengthsInElementsOfTheBaseType() {
        Datatype vector = Datatype.createVector(3, 2, 4, MPI.INT);
        assertEquals(6, vector.getSize());
        assertEquals(10, vector.getExtent());
        assertEquals(10, vector.getTrueExtent());
        assertEquals(10, Datatype.createHVector(3, 2, 16, MPI.INT).getExtent());
        assertEquals(10, Datatype.Hvector(3, 2, 4, MPI.INT).Extent());
        assertEquals(3, Datatype.createResized(MPI.INT, 0, 12).getExtent());
        Datatype indexed = Datatype.createIndexed(new int[] {1, 2}, new int[] {5, 1}, MPI.DOUBLE);
        assertEquals(3, indexed.getSize());
        assertEquals(1, indexed.getLb());
        assertEquals(6, indexed.Ub());
        assertEquals(5, indexed.getExtent());
        Datatype struct = Datatype.createStruct(new int[] {1, 1}, new int[] {0, 1}, new Datatype[] {MPI.BYTE, MPI.INT});
        assertEquals(8, struct.getExtent());
        assertEquals(5, struct.getSize());
        Datatype bounded =
                Datatype.Struct(new int[] {1, 1, 1}, new int[] {0, 2, 8}, new Datatype[] {MPI.LB, MPI.INT, MPI.UB});
        assertEquals(8, bounded.Extent());
        assertEquals(1, bounded.Size());
        assertEquals(0, Datatype.createContiguous(0, MPI.INT).getExtent());
    }

    @Test
    void shouldRefuseToMakeATypeFromNull() {
        int[] one = {1};
        for (Executable making : List.<Executable>of(
                () -> Datatype.createContiguous(2, null),
                () -> Datatype.createVector(1, 1, 1, null),
                () -> Datatype.createIndexed(one, one, null),
                () -> Datatype.createResized(null, 0, 8),
                () -> Datatype.createStruct(one, one, new Datatype[1]),
                () -> Datatype.Struct(one, one, new Datatype[1]))) {
            MPIException refused = assertThrows(MPIException.class, making);
            assertEquals(MPI.ERR_TYPE, refused.getErrorClass());
            assertTrue(refused.getMessage().contains("another is made is null"), refused.getMessage());
        }
    }

    private static void assertTooLong(int errorClass, String what, Executable making) {
        MPIException refused = assertThrows(MPIException.class, making);
        assertEquals(errorClass, refused.getErrorClass(), refused.getMessage());
        assertTrue(refused.getMessage().startsWith(what + " is "), refused.getMessage());
        assertTrue(refused.getMessage().endsWith("expected a number of bytes that a long can hold"));
    }

    @Test
    void shouldRefuseToMakeATypeThatALongCannotMeasure() {
        int most = Integer.MAX_VALUE;
        Datatype huge = Datatype.createContiguous(most, Datatype.createContiguous(most, MPI.BYTE)); // some 2^62 bytes
        Datatype sparse = Datatype.createVector(2, 1, most, Datatype.createContiguous(most, MPI.BYTE));
        Datatype twice = Datatype.createContiguous(2, huge);
        Datatype flat = Datatype.createResized(huge, 0, 1);
        int[] ones = {1, 1};
        int[] zeros = {0, 0};
        String size = "the size of a datatype";
        String extent = "the extent of a datatype";
        String displacement = "a displacement";
        assertTooLong(MPI.ERR_COUNT, extent, () -> Datatype.createContiguous(4, huge));
        assertTooLong(MPI.ERR_COUNT, extent, () -> Datatype.createContiguous(most, sparse));
        assertTooLong(MPI.ERR_COUNT, size, () -> Datatype.createContiguous(4, flat));
        assertTooLong(MPI.ERR_COUNT, size, () -> Datatype.createVector(2, 2, 1, huge));
        assertTooLong(MPI.ERR_COUNT, size, () -> Datatype.createVector(3, 1, 1, huge));
        assertTooLong(MPI.ERR_ARG, displacement, () -> Datatype.createVector(2, 1, 3, huge));
        assertTooLong(MPI.ERR_COUNT, size, () -> Datatype.createHVector(3, 1, 1, huge));
        assertTooLong(MPI.ERR_ARG, displacement, () -> Datatype.createIndexed(ones, new int[] {0, most}, huge));
        assertTooLong(MPI.ERR_COUNT, size, () -> Datatype.createHIndexed(new int[] {2, 1}, zeros, flat));
        assertTooLong(MPI.ERR_COUNT, extent, () -> Datatype.createIndexed(new int[] {1}, new int[] {1}, twice));
        assertTooLong(
                MPI.ERR_COUNT,
                size,
                () -> Datatype.createStruct(new int[] {1, 1, 1}, new int[3], new Datatype[] {huge, flat, huge}));
        assertTooLong(
                MPI.ERR_COUNT, extent, () -> Datatype.Struct(new int[] {4, 1}, zeros, new Datatype[] {huge, MPI.UB}));
        assertTooLong(MPI.ERR_ARG, displacement, () -> Datatype.Indexed(ones, new int[] {0, most}, huge));
    }

    /** As MPI_Type_size does (MPI 4.1, section 5.1). */
    @Test
    void shouldSayThatAnIntCannotHoldALength() {
        Datatype ints = Datatype.createContiguous(1 << 30, MPI.INT);
        assertEquals(1 << 30, ints.getSize());
        assertEquals(MPI.UNDEFINED, ints.getByteSize());
        Datatype twice = Datatype.createIndexed(new int[] {2}, new int[] {3}, ints);
        assertEquals(MPI.UNDEFINED, twice.getSize());
        assertEquals(MPI.UNDEFINED, twice.getExtent());
        assertEquals(MPI.UNDEFINED, twice.getTrueExtent());
        assertEquals(MPI.UNDEFINED, twice.getLb());
        assertEquals(MPI.UNDEFINED, twice.Ub());
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            assertEquals(0, comm.packSize(0, ints));
            assertEquals(MPI.UNDEFINED, comm.packSize(1, ints));
            assertEquals(12, comm.packSize(3, MPI.INT));
        }
    }

    @Test
    void shouldRefuseToSendMoreThanALongCanCount() {
        Datatype huge =
                Datatype.createContiguous(Integer.MAX_VALUE, Datatype.createContiguous(Integer.MAX_VALUE, MPI.BYTE));
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            assertTooLong(MPI.ERR_COUNT, "the length of a message", () -> comm.send(new byte[8], 4, huge, 0, 0));
            assertTooLong(MPI.ERR_COUNT, "the length of a message", () -> comm.bcast(new byte[8], 4, huge, 0));
        }
    }

    /** A struct whose fields are longer than an int can count. */
    private static final class Endless extends Struct {
        @Override
        protected Data newData() {
            throw new AssertionError("it has no data");
        }
    }

    @Test
    void shouldRefuseAFieldBeyondWhatAnIntCanCount() {
        Endless layout = new Endless();
        layout.addByte(8);
        MPIException refused = assertThrows(MPIException.class, () -> layout.addDouble(1 << 29));
        assertEquals(MPI.ERR_COUNT, refused.getErrorClass());
        assertEquals(
                "a field of 536870912 times 8 bytes is added to a struct of 8 bytes: expected at most 2147483640"
                        + " bytes in all",
                refused.getMessage());
        assertThrows(MPIException.class, () -> layout.addByte(Integer.MAX_VALUE - 8));
        assertEquals(8, layout.addByte(Integer.MAX_VALUE - 15));
        assertEquals(Integer.MAX_VALUE - 7, layout.getExtent());
    }

    /** A name of three letters and a number. */
    private static final class Label extends Struct {
        final int letters = addChar(3);
        final int number = addInt();

        @Override
        protected Data newData() {
            return new Data();
        }

        final class Data extends Struct.Data {
            void set(String text, int value) {
                for (int i = 0; i < 3; i++) {
                    putChar(letters, i, text.charAt(i));
                }
                putInt(number, value);
            }

            String text() {
                return "" + getChar(letters, 0) + getChar(letters, 1) + getChar(letters, 2) + getInt(number);
            }
        }
    }

    private static final Label LABEL = new Label();

    /** A struct with structs and with items of a datatype that has gaps. */
    private static final class Shelf extends Struct {
        final Datatype spread = Datatype.createVector(2, 1, 2, MPI.INT); // 12 bytes, ints at 0 and 8
        final int mark = addByte();
        final int first = addStruct(LABEL);
        final int others = addStruct(LABEL, 2);
        final int item = addData(spread);
        final int items = addData(spread, 2);

        @Override
        protected Data newData() {
            return new Data();
        }

        final class Data extends Struct.Data {
            Label.Data label(int index) {
                return index == 0 ? getData(LABEL, first) : getData(LABEL, others, index - 1);
            }

            ByteBuffer item(int index) {
                return index == 0 ? getBuffer(spread, item) : getBuffer(spread, items, index - 1);
            }

            void fill(int seed) {
                putByte(mark, (byte) seed);
                for (int i = 0; i < 3; i++) {
                    label(i).set("ab" + (char) ('c' + i), seed + i);
                    item(i).putInt(0, seed + 10 * i).putInt(8, seed + 10 * i + 1);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReachNestedStructsAndItemsOfDatatypesThroughABuffer(boolean isArray) {
        Shelf shelf = new Shelf();
        shelf.spread.commit();
        int bytes = 2 * shelf.getExtent();
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                byte[] out = new byte[bytes];
                byte[] in = new byte[bytes];
                ByteBuffer directOut = MPI.newByteBuffer(bytes);
                ByteBuffer directIn = MPI.newByteBuffer(bytes).position(5); // which does not count
                Shelf.Data sent = isArray ? shelf.getData(out, 1) : shelf.getData(directOut, 1);
                sent.fill(40);
                comm.sendRecv(
                        isArray ? out : directOut,
                        2,
                        shelf.getType(),
                        0,
                        0,
                        isArray ? in : directIn,
                        2,
                        shelf.getType(),
                        0,
                        0);
                Shelf.Data got = isArray ? shelf.getData(in, 1) : shelf.getData(directIn, 1);
                for (int i = 0; i < 3; i++) {
                    assertEquals(
                            "ab" + (char) ('c' + i) + (40 + i), got.label(i).text());
                    assertEquals(40 + 10 * i, got.item(i).getInt(0));
                    assertEquals(0, got.item(i).getInt(4), "between the two ints of an item");
                    assertEquals(41 + 10 * i, got.item(i).getInt(8));
                }
                assertEquals(5, directIn.position());
                ByteBuffer raw = isArray ? ByteBuffer.wrap(in).order(ByteOrder.nativeOrder()) : directIn;
                int start = shelf.getExtent();
                assertEquals(42, raw.getInt(start + 1 + 2 * LABEL.getExtent() + LABEL.number));
                assertEquals(61, raw.getInt(start + 1 + 3 * LABEL.getExtent() + 2 * 12 + 8));
            });
        }
    }

    @Test
    void shouldNotReportSuccessWhereMpiIsNotInitialized() {
        MPIException refused = assertThrows(MPIException.class, MPI::detachBuffer);
        assertEquals(MPI.ERR_OTHER, refused.getErrorClass());
    }

    @Test
    void shouldLayOutPairsAsCDoes() {
        int[][] expected = {{8, 8, 8}, {8, 6, 8}, {16, 12, 12}, {8, 8, 8}, {16, 12, 12}};
        Datatype[] pairs = {MPI.INT2, MPI.SHORT_INT, MPI.LONG_INT, MPI.FLOAT_INT, MPI.DOUBLE_INT};
        for (int i = 0; i < pairs.length; i++) {
            assertArrayEquals(
                    expected[i],
                    new int[] {pairs[i].getExtent(), pairs[i].getSize(), pairs[i].getTrueExtent()},
                    pairs[i].getName());
        }
        assertEquals(2, MPI.INT2.Extent());
        assertEquals(2, MPI.DOUBLE_COMPLEX.getExtent());
    }

    @Test
    void shouldMoveOnlyTheElementsOfTheTypeInBothDirections() {
        Datatype column = Datatype.createVector(4, 1, 5, MPI.INT);
        Datatype shuffled = Datatype.createIndexed(new int[] {1, 2, 1}, new int[] {3, 0, 7}, MPI.INT);
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                int[] matrix = IntStream.range(0, 20).toArray();
                if (comm.getRank() == 0) {
                    comm.Send(matrix, 2, 1, column, 1, 0); // one column
                    comm.send(matrix, 2, shuffled, 1, 1);
                    int[] large = IntStream.range(0, 400_000).toArray();
                    comm.Send(large, 0, 1, Datatype.createVector(100_000, 2, 4, MPI.INT), 1, 2);
                } else {
                    int[] got = new int[20];
                    Status status = comm.Recv(got, 0, 1, column, 0, 0);
                    assertEquals(1, status.getCount(column));
                    assertEquals(4, status.getElements(column));
                    assertEquals(4, status.getCount(MPI.INT));
                    int[] wanted = new int[20];
                    for (int row = 0; row < 4; row++) {
                        wanted[5 * row] = 5 * row + 2;
                    }
                    assertArrayEquals(wanted, got);
                    int[] packed = new int[8];
                    comm.recv(packed, 8, MPI.INT, 0, 1);
                    assertArrayEquals(new int[] {3, 0, 1, 7, 11, 8, 9, 15}, packed);
                    int[] large = new int[400_000];
                    comm.Recv(large, 1, 1, Datatype.createVector(100_000, 2, 4, MPI.INT), 0, 2);
                    for (int i = 0; i < 100_000; i++) {
                        assertEquals(4 * i, large[4 * i + 1]);
                        assertEquals(4 * i + 1, large[4 * i + 2]);
                        assertEquals(0, large[4 * i]);
                    }
                }
            });
        }
    }

    /** A random type, and what it covers: the offset of each element, in order. */
    private record Sample(Datatype type, int[] elements) {}

    private static Sample random(Random random, int depth) {
        if (depth == 0) {
            return new Sample(MPI.SHORT, new int[] {0});
        }
        Sample old = random(random, depth - 1);
        int extent = old.type().getExtent();
        int blocks = 1 + random.nextInt(3);
        int[] lengths = random.ints(blocks, 1, 4).toArray();
        int[] displacements = new int[blocks];
        int at = random.nextInt(3);
        for (int i = 0; i < blocks; i++) {
            displacements[i] = at;
            at += lengths[i] + random.nextInt(3);
        }
        int[] elements = IntStream.range(0, blocks)
                .boxed()
                .flatMapToInt(i -> IntStream.range(0, lengths[i])
                        .boxed()
                        .flatMapToInt(j ->
                                java.util.Arrays.stream(old.elements()).map(e -> (displacements[i] + j) * extent + e)))
                .toArray();
        return new Sample(Datatype.createIndexed(lengths, displacements, old.type()), elements);
    }

    @Test
    void shouldPackAndUnpackRandomTypesAsTheirTypeMapsSay() {
        Random random = new Random(5);
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            for (int round = 0; round < 200; round++) {
                Sample sample = random(random, 1 + round % 3);
                int count = 1 + random.nextInt(3);
                int extent = sample.type().getExtent();
                short[] buffer = new short[(count + 2) * Math.max(extent, 1) + 200];
                for (int i = 0; i < buffer.length; i++) {
                    buffer[i] = (short) (i + 1);
                }
                byte[] packed = new byte[comm.packSize(count, sample.type()) + 3];
                int end = comm.pack(buffer, count, sample.type(), packed, 3);
                assertEquals(packed.length, end);
                short[] expected = new short[count * sample.elements().length];
                for (int i = 0; i < expected.length; i++) {
                    int item = i / sample.elements().length;
                    expected[i] = buffer[item * extent + sample.elements()[i % sample.elements().length]];
                }
                short[] got = new short[expected.length];
                ByteBuffer.wrap(packed, 3, packed.length - 3)
                        .order(java.nio.ByteOrder.nativeOrder())
                        .asShortBuffer()
                        .get(got);
                assertArrayEquals(expected, got);
                short[] back = new short[buffer.length];
                assertEquals(packed.length, comm.unpack(packed, 3, back, count, sample.type()));
                for (int i = 0; i < expected.length; i++) {
                    int item = i / sample.elements().length;
                    assertEquals(expected[i], back[item * extent + sample.elements()[i % sample.elements().length]]);
                }
                assertEquals(
                        IntStream.range(0, back.length)
                                .filter(i -> back[i] != 0)
                                .count(),
                        IntStream.range(0, count)
                                .boxed()
                                .flatMapToInt(item -> java.util.Arrays.stream(sample.elements())
                                        .map(e -> item * extent + e))
                                .distinct()
                                .count());
            }
        }
    }

    @Test
    void shouldFindTheLargestValueAndItsIndex() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                int rank = comm.getRank();
                double[] values = {3, 1, rank == 1 ? 7 : 7 - 1e-9};
                ByteBuffer own = MPI.newByteBuffer(3 * MPI.DOUBLE_INT.getExtent());
                for (int i = 0; i < 3; i++) {
                    DoubleInt.Data pair = MPI.doubleInt.getData(own, i);
                    pair.putValue(values[i]);
                    pair.putIndex(10 * rank + i);
                }
                ByteBuffer result = MPI.newByteBuffer(own.capacity());
                comm.allReduce(own, result, 3, MPI.DOUBLE_INT, MPI.MAXLOC);
                int[] indexes = {0, 1, 12}; // of equal values the smallest index
                for (int i = 0; i < 3; i++) {
                    DoubleInt.Data pair = MPI.doubleInt.getData(result, i);
                    assertEquals(indexes[i], pair.getIndex());
                }
                assertEquals(7, MPI.doubleInt.<DoubleInt.Data>getData(result, 2).getValue());
                int[] pairs = {rank == 2 ? -5 : 5, rank};
                int[] least = new int[2];
                comm.Allreduce(pairs, 0, least, 0, 1, MPI.INT2, MPI.MINLOC);
                assertArrayEquals(new int[] {-5, 2}, least);
            });
        }
    }

    @Test
    void shouldMultiplyComplexNumbers() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                DoubleBuffer own = MPI.newDoubleBuffer(2);
                DoubleComplex number = DoubleComplex.get(own);
                number.putReal(1);
                number.putImag(comm.getRank() + 1);
                double[] result = new double[2];
                comm.allReduce(own, result, 1, MPI.DOUBLE_COMPLEX, MPI.PROD);
                assertArrayEquals(new double[] {-1, 3}, result); // (1 + i) (1 + 2 i)
            });
        }
    }

    @Test
    void shouldRefuseOperationsThatATypeDoesNotHave() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            assertEquals(
                    MPI.ERR_OP,
                    assertThrows(MPIException.class, () -> comm.allReduce(new double[1], 1, MPI.DOUBLE, MPI.BAND))
                            .getErrorClass());
            assertEquals(
                    MPI.ERR_OP,
                    assertThrows(MPIException.class, () -> comm.allReduce(new int[1], 1, MPI.INT, MPI.MAXLOC))
                            .getErrorClass());
        }
    }

    /** A struct of a program. */
    private static final class Particle extends Struct {
        private final int mass = addDouble();
        private final int kind = addByte();
        private final int place = addInt(3);

        @Override
        protected Data newData() {
            return new Data();
        }

        private final class Data extends Struct.Data {} // calls no constructor, as programs of Open MPI
    }

    @Test
    void shouldLayOutStructsAndSendThem() {
        Particle layout = new Particle();
        assertEquals(8, layout.kind);
        assertEquals(9, layout.place);
        assertEquals(24, layout.getExtent());
        assertThrows(AssertionError.class, layout::addInt);
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                byte[] memory = new byte[2 * layout.getExtent()];
                if (comm.getRank() == 0) {
                    Particle.Data second = layout.getData(memory, 1);
                    second.putDouble(layout.mass, 2.5);
                    second.putByte(layout.kind, (byte) 3);
                    second.putInt(layout.place, 2, 99);
                    comm.send(memory, 2, layout.getType(), 1, 0);
                } else {
                    comm.recv(memory, 2, layout.getType(), 0, 0);
                    Particle.Data second = layout.getData(memory, 1);
                    assertEquals(2.5, second.getDouble(layout.mass));
                    assertEquals(3, second.getByte(layout.kind));
                    assertEquals(99, second.getInt(layout.place, 2));
                }
            });
        }
    }

    @Test
    void shouldKeepAttributesAndNamesOfTypes() {
        int key = Datatype.createKeyval();
        Datatype type = MPI.INT.dup();
        type.setAttr(key, new int[] {1});
        type.setName("mine");
        Datatype copy = type.dup();
        assertArrayEquals(new int[] {1}, (int[]) copy.getAttr(key));
        assertEquals("mine", copy.getName());
        type.free();
        assertTrue(type.isNull());
        assertThrows(MPIException.class, type::getSize);
    }

    @Test
    void shouldTakeEachBoundByItself() {
        Datatype upper =
                Datatype.Struct(new int[] {1, 2, 1}, new int[] {0, 3, 8}, new Datatype[] {MPI.INT, MPI.INT, MPI.UB});
        assertEquals(0, upper.Lb());
        assertEquals(8, upper.Extent());
        Datatype lower = Datatype.Struct(new int[] {1, 1}, new int[] {2, 3}, new Datatype[] {MPI.LB, MPI.INT});
        assertEquals(2, lower.Lb());
        assertEquals(2, lower.Extent());
        Datatype before = Datatype.Struct(new int[] {1, 1}, new int[] {6, 3}, new Datatype[] {MPI.LB, MPI.INT});
        assertEquals(4, before.Ub());
        assertEquals(16, Datatype.Contiguous(2, upper).Ub());
        assertEquals(8 + 8, Datatype.Vector(2, 1, 1, upper).Extent());
    }

    @Test
    void shouldNotFreeAPredefinedType() {
        for (Datatype type : List.of(MPI.INT, MPI.DOUBLE2, MPI.UB)) {
            MPIException seen = assertThrows(MPIException.class, type::free);
            assertEquals(MPI.ERR_TYPE, seen.getErrorClass());
            assertFalse(type.isNull());
        }
        Datatype own = MPI.INT.dup();
        own.free();
        MPIException seen = assertThrows(MPIException.class, own::getSize);
        assertEquals("the datatype MPI_INT32_T is null: expected one that is not freed", seen.getMessage());
        Datatype unnamed = Datatype.createContiguous(2, MPI.INT);
        unnamed.free();
        seen = assertThrows(MPIException.class, unnamed::getSize);
        assertEquals("the datatype is null: expected one that is not freed", seen.getMessage());
    }

    @Test
    void shouldSendMoreThanAMillionSeparateRanges() {
        int items = 400_000;
        Datatype part = Datatype.createIndexed(new int[] {1, 2, 1}, new int[] {0, 2, 5}, MPI.INT);
        Datatype particle = Datatype.createResized(part, 0, 32);
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                int[] values = new int[items * 8];
                if (comm.getRank() == 0) {
                    Arrays.setAll(values, i -> i);
                    comm.send(values, items, particle, 1, 0);
                } else {
                    assertEquals(items, comm.recv(values, items, particle, 0, 0).getCount(particle));
                    for (int i = 0; i < values.length; i++) {
                        int place = i % 8;
                        boolean isPart = place == 0 || place == 2 || place == 3 || place == 5;
                        assertEquals(isPart ? i : 0, values[i]);
                    }
                }
            });
        }
    }
}
