package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.datatypes.Basic;
import io.madeleine.mpi.datatypes.Length;
import io.madeleine.mpi.datatypes.Type;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The type of the items of a message. Lengths that the getters return count elements of the base type; they are {@link
 * MPI#UNDEFINED} if an int cannot hold them. Displacements of {@code createHVector}, {@code createHIndexed} and {@code
 * createStruct} are bytes, those of {@code Hvector}, {@code Hindexed} and {@code Struct} elements of the base type.
 *
 * <p>The methods that make a type throw an {@link MPIException} if a long cannot hold its lengths in bytes: of class
 * {@link MPI#ERR_COUNT} for the size and the extent, of class {@link MPI#ERR_ARG} for a displacement.
 *
 * <p>Threading: thread-safe. A type is committed from the start.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public final class Datatype implements Freeable, Cloneable {
    private static final Attributes.Space KEYVALS = new Attributes.Space();

    /** The number of the base type in MPJ Express. */
    public final int baseType;

    private final @Nullable Type type;
    private final Attributes attributes = new Attributes(KEYVALS);
    private volatile boolean freed;
    private volatile String name;

    private final boolean isPredefined;

    /** A predefined type. */
    Datatype(@Nullable Type type, String name) {
        this(type, name, true);
    }

    private Datatype(@Nullable Type type, String name, boolean isPredefined) {
        this.type = type;
        this.name = name;
        this.isPredefined = isPredefined;
        this.baseType = type == null ? 0 : numberOf(type.basic());
    }

    private static int numberOf(Basic basic) {
        return switch (basic) {
            case BYTE -> 1;
            case CHAR -> 2;
            case SHORT -> 3;
            case BOOLEAN -> 4;
            case INT -> 5;
            case LONG -> 6;
            case FLOAT, FLOAT_COMPLEX -> 7;
            case DOUBLE, DOUBLE_COMPLEX -> 8;
            case PACKED -> 9;
            case NONE -> 10;
            case OBJECT -> 12;
        };
    }

    /** The layout, in a call with a communicator, whose error handler takes the fault. */
    Type type() {
        Type own = type;
        if (own == null || isGone()) {
            throw new MpiFault(ErrorClass.TYPE, isNullText());
        }
        return own;
    }

    /** The layout, in a call without a communicator. */
    Type layout() {
        Type own = type;
        if (own == null || isGone()) {
            throw new MPIException(MPI.ERR_TYPE, isNullText(), null);
        }
        return own;
    }

    /** Whether it is freed; a reduction that began before has it until its function returns. */
    private boolean isGone() {
        return freed && !UserReduction.isCombining(this);
    }

    /**
     * The same layout in an object that no program sees, so that none frees it; the argument if that is freed or
     * predefined.
     */
    static Datatype lasting(@Nullable Datatype argument) {
        Datatype own = check(argument);
        Type layout = own.type;
        return own.isPredefined || own.freed || layout == null ? own : new Datatype(layout, own.name, false);
    }

    private String isNullText() {
        return "the datatype" + (name.isEmpty() ? "" : " " + name) + " is null: expected one that is not freed";
    }

    /** Returns the argument if it is not null. */
    static Datatype check(@Nullable Datatype argument) {
        if (argument == null) {
            throw new MpiFault(ErrorClass.TYPE, "the datatype is null: expected one such as MPI.INT");
        }
        return argument;
    }

    /** Whether items are objects; false for what is no datatype, which the call refuses when it uses it. */
    static boolean isObject(@Nullable Datatype argument) {
        Type own = argument == null || argument.isGone() ? null : argument.type;
        return own != null && own.basic() == Basic.OBJECT;
    }

    static Datatype make(Supplier<Type> made) {
        return Arguments.unhandled(() -> new Datatype(made.get(), "", false));
    }

    private int units(long bytes) {
        return counted(bytes / layout().basic().bytes());
    }

    private static int counted(long number) {
        return number == (int) number ? (int) number : MPI.UNDEFINED;
    }

    // ---- what it is

    /** The number of the base type in MPJ Express. */
    public int getType() {
        return baseType;
    }

    /** The bytes of data of one item. */
    public int getByteSize() {
        return counted(layout().size());
    }

    /** The lower bound. */
    public int getLb() {
        return units(layout().lb());
    }

    /** As {@link #getLb}. */
    public int Lb() {
        return getLb();
    }

    /** The upper bound. */
    public int Ub() {
        return units(layout().ub());
    }

    /** The distance between items. For MPI.INT2, in bytes. */
    public int getExtent() {
        return isBytePair() ? counted(layout().extent()) : units(layout().extent());
    }

    /** INT2 serves both dialects: its getters count bytes, Extent and Size ints. */
    private boolean isBytePair() {
        return this == MPI.INT2;
    }

    /** The distance between items, in elements of the base type. */
    public int Extent() {
        return units(layout().extent());
    }

    /** Where the data of an item begins. */
    public int getTrueLb() {
        return units(layout().trueLb());
    }

    /** The distance from the first to the last byte of data of an item. */
    public int getTrueExtent() {
        long extent = layout().trueUb() - layout().trueLb();
        return isBytePair() ? counted(extent) : units(extent);
    }

    /** The data of an item. For MPI.INT2, in bytes. */
    public int getSize() {
        return isBytePair() ? getByteSize() : units(layout().size());
    }

    /** The data of an item, in elements of the base type. */
    public int Size() {
        return units(layout().size());
    }

    /** Does nothing: types are committed from the start. */
    public void commit() {
        Type _ = layout();
    }

    /** As {@link #commit}. */
    public void Commit() {
        commit();
    }

    /**
     * Makes this the null type. Operations under way and persistent requests are not affected; the function of a
     * pending reduction can use the type until it returns.
     */
    @Override
    public void free() {
        if (isPredefined) {
            throw new MPIException(
                    MPI.ERR_TYPE, "the predefined datatype " + name + " is freed: expected one of the program", null);
        }
        if (!freed) {
            attributes.clear();
            freed = true;
        }
    }

    /** Whether it is freed, or the null type. */
    public boolean isNull() {
        return isGone() || type == null;
    }

    /** A copy with copies of the attributes. */
    @Override
    public Datatype clone() {
        return dup();
    }

    /** A copy with copies of the attributes. */
    public Datatype dup() {
        Datatype copy = new Datatype(layout(), name, false);
        copy.attributes.copyFrom(attributes);
        return copy;
    }

    // ---- making types, Open MPI style

    /** Items one behind the other. */
    public static Datatype createContiguous(int count, Datatype old) {
        return make(() -> typeOf(old).contiguous(count));
    }

    /** Blocks of items; the stride counts items. */
    public static Datatype createVector(int count, int blockLength, int stride, Datatype old) {
        return make(() -> typeOf(old)
                .vector(
                        count,
                        blockLength,
                        Length.DISPLACEMENT.times(stride, typeOf(old).extent())));
    }

    /** Blocks of items; the stride counts bytes. */
    public static Datatype createHVector(int count, int blockLength, int stride, Datatype old) {
        return make(() -> typeOf(old).vector(count, blockLength, stride));
    }

    /** Blocks of items anywhere; the displacements count items. */
    public static Datatype createIndexed(int[] blockLengths, int[] displacements, Datatype old) {
        return make(() -> typeOf(old)
                .indexed(
                        lengths(blockLengths), scaled(displacements, typeOf(old).extent())));
    }

    /** Blocks of items anywhere; the displacements count bytes. */
    public static Datatype createHIndexed(int[] blockLengths, int[] displacements, Datatype old) {
        return make(() -> typeOf(old).indexed(lengths(blockLengths), scaled(displacements, 1)));
    }

    /** Blocks of different types; the displacements, and the lengths of the result, count bytes. */
    public static Datatype createStruct(int[] blockLengths, int[] displacements, Datatype[] types) {
        return make(() -> Type.struct(lengths(blockLengths), scaled(displacements, 1), types(types), Basic.BYTE, true));
    }

    /** The same data with other bounds, in bytes. */
    public static Datatype createResized(Datatype old, int lb, int extent) {
        return make(() -> typeOf(old).resized(lb, extent));
    }

    /** The layout of a type from which another is made. */
    private static Type typeOf(@Nullable Datatype old) {
        return Arguments.present(old, ErrorClass.TYPE, "the datatype from which another is made", "one such as MPI.INT")
                .type();
    }

    private static int[] lengths(int @Nullable [] blockLengths) {
        return Arguments.present(
                blockLengths, ErrorClass.ARG, "the array of block lengths", "a number of items for each block");
    }

    private static long[] scaled(int[] displacements, long unit) {
        return Arrays.stream(Arguments.present(
                        displacements, ErrorClass.ARG, "the array of displacements", "a number for each block"))
                .asLongStream()
                .map(each -> Length.DISPLACEMENT.times(each, unit))
                .toArray();
    }

    private static List<Type> types(Datatype[] types) {
        return Arrays.stream(
                        Arguments.present(types, ErrorClass.ARG, "the array of datatypes", "a datatype for each block"))
                .map(Datatype::typeOf)
                .toList();
    }

    // ---- making types, mpiJava style

    /** As {@link #createContiguous}. */
    public static Datatype Contiguous(int count, Datatype old) {
        return createContiguous(count, old);
    }

    /** As {@link #createVector}. */
    public static Datatype Vector(int count, int blockLength, int stride, Datatype old) {
        return createVector(count, blockLength, stride, old);
    }

    /** As {@link #createVector}; the stride counts elements of the base type. */
    public static Datatype Hvector(int count, int blockLength, int stride, Datatype old) {
        return make(() -> typeOf(old)
                .vector(count, blockLength, (long) stride * typeOf(old).basic().bytes()));
    }

    /** As {@link #createIndexed}. */
    public static Datatype Indexed(int[] blockLengths, int[] displacements, Datatype old) {
        return createIndexed(blockLengths, displacements, old);
    }

    /** As {@link #createIndexed}; the displacements count elements of the base type. */
    public static Datatype Hindexed(int[] blockLengths, int[] displacements, Datatype old) {
        return make(() -> typeOf(old)
                .indexed(
                        lengths(blockLengths),
                        scaled(displacements, typeOf(old).basic().bytes())));
    }

    /** Blocks of types over one base type; the displacements count elements of it. MPI.LB and MPI.UB set bounds. */
    public static Datatype Struct(int[] blockLengths, int[] displacements, Datatype[] types) {
        List<Basic> bases = Arguments.unhandled(() -> types(types)).stream()
                .map(Type::basic)
                .filter(basic -> basic != Basic.NONE)
                .distinct()
                .toList();
        if (bases.size() > 1) {
            throw new MPIException(
                    MPI.ERR_TYPE, "a struct has components over " + bases + ": expected one base type", null);
        }
        Basic base = bases.isEmpty() ? Basic.NONE : bases.getFirst();
        return make(() ->
                Type.struct(lengths(blockLengths), scaled(displacements, base.bytes()), types(types), base, false));
    }

    // ---- names and attributes

    /** Sets the name. */
    public void setName(String text) {
        Arguments.unhandled(() -> name = Attributes.checkName(text));
    }

    /** The name; empty if there is none. */
    public String getName() {
        return name;
    }

    /** Makes a key for attributes of datatypes. */
    public static int createKeyval() {
        return KEYVALS.create();
    }

    /** Makes a key unusable for further attributes. */
    public static void freeKeyval(int keyval) {
        Arguments.unhandled(() -> KEYVALS.free(keyval));
    }

    /** Sets an attribute: a serialized copy of the value. */
    public void setAttr(int keyval, Object value) {
        Arguments.unhandled(() -> attributes.set(keyval, value));
    }

    /** A copy of an attribute; null if it is not set. */
    public @Nullable Object getAttr(int keyval) {
        return Arguments.unhandled(() -> attributes.get(keyval));
    }

    /** Removes an attribute. */
    public void deleteAttr(int keyval) {
        Arguments.unhandled(() -> attributes.delete(keyval));
    }

    @Override
    public String toString() {
        return name.isEmpty() ? "a derived datatype" : name;
    }
}
