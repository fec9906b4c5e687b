package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class SizesTest {
    @ParameterizedTest
    @CsvSource({"0,0", "8,8", "512B,512", "64KiB,65536", "64K,65536", "10kB,10000", "1MiB,1048576", "'2 MiB',2097152"})
    void shouldReadSizes(String text, long bytes) {
        assertEquals(bytes, new Sizes().convert(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "-8", "8 apples", "1.x", "99999999999999999999", "9EiB", "1e30"})
    void shouldRefuseWhatIsNoSize(String text) {
        assertThrows(TypeConversionException.class, () -> new Sizes().convert(text));
    }

    @Test
    void shouldWriteTheLargestUnitWithoutFraction() {
        assertEquals("0 B", Sizes.text(0));
        assertEquals("1023 B", Sizes.text(1023));
        assertEquals("1 KiB", Sizes.text(1024));
        assertEquals("65537 B", Sizes.text(65537));
        assertEquals("16 MiB", Sizes.text(16 << 20));
    }
}
