package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Arrays of all primitive types as parameters and results of services. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PrimitiveArraysTest {
    @RemoteService
    interface Echo {
        boolean[] booleans(boolean[] values);

        byte[] bytes(byte[] values);

        short[] shorts(short[] values);

        char[] chars(char[] values);

        int[] ints(int[] values);

        long[] longs(long[] values);

        float[] floats(float[] values);

        double[] doubles(double[] values);

        boolean[][] nested(boolean[][] values);
    }

    /** Returns what it gets. */
    static final class Echoing implements Echo {
        @Override
        public boolean[] booleans(boolean[] values) {
            return values;
        }

        @Override
        public byte[] bytes(byte[] values) {
            return values;
        }

        @Override
        public short[] shorts(short[] values) {
            return values;
        }

        @Override
        public char[] chars(char[] values) {
            return values;
        }

        @Override
        public int[] ints(int[] values) {
            return values;
        }

        @Override
        public long[] longs(long[] values) {
            return values;
        }

        @Override
        public float[] floats(float[] values) {
            return values;
        }

        @Override
        public double[] doubles(double[] values) {
            return values;
        }

        @Override
        public boolean[][] nested(boolean[][] values) {
            return values;
        }
    }

    @Test
    void shouldReturnAsTheyWere() {
        try (World world = new World("sci", 2, context -> context.export(Echo.class, new Echoing()))) {
            Echo there = world.of(0).service(1, Echo.class);
            assertArrayEquals(new boolean[] {true, false, true}, there.booleans(new boolean[] {true, false, true}));
            assertArrayEquals(new boolean[0], there.booleans(new boolean[0]));
            assertArrayEquals(null, there.booleans(null));
            assertArrayEquals(new byte[] {1, -2}, there.bytes(new byte[] {1, -2}));
            assertArrayEquals(new short[] {1, -2}, there.shorts(new short[] {1, -2}));
            assertArrayEquals(new char[] {'a', 0xd800}, there.chars(new char[] {'a', 0xd800}));
            assertArrayEquals(new int[] {1, -2}, there.ints(new int[] {1, -2}));
            assertArrayEquals(new long[] {1, -2}, there.longs(new long[] {1, -2}));
            assertArrayEquals(new float[] {1, -0f}, there.floats(new float[] {1, -0f}));
            assertArrayEquals(new double[] {1, -0.0}, there.doubles(new double[] {1, -0.0}));
            boolean[][] nested = {{true}, null, {}};
            assertArrayEquals(nested, there.nested(nested));
        }
    }
}
