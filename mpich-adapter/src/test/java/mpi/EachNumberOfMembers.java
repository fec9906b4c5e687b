package mpi;

import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the tests of a class in one world for each number of members. */
@ParameterizedClass
@MethodSource("mpi.Contributions#sizes")
abstract class EachNumberOfMembers {
    static World world;

    @Parameter
    int size;

    @BeforeParameterizedClassInvocation
    static void open(int size) {
        world = new World("sci", size);
    }

    @AfterParameterizedClassInvocation
    static void close() {
        world.close();
    }
}
