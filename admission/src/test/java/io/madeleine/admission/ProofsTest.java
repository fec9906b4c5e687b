package io.madeleine.admission;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProofsTest {
    /** The examples of RFC 4231, sections 4.2 and 4.3. */
    @Test
    void shouldMakeTheProofsOfTheStandardOverThePurposeAndAllPartsInTheirOrder() {
        byte[] key = new byte[20];
        Arrays.fill(key, (byte) 0x0b);
        assertEquals(
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", hex(Proofs.proof(key, "Hi There")));
        byte[] jefe = "Jefe".getBytes(US_ASCII);
        String expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assertEquals(expected, hex(Proofs.proof(jefe, "what do ya want for nothing?")));
        assertEquals(
                expected,
                hex(Proofs.proof(
                        jefe,
                        "what do ya ",
                        "want ".getBytes(US_ASCII),
                        new byte[0],
                        "for nothing?".getBytes(US_ASCII))));
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void shouldMakeNoncesOfWhichNoTwoAreAlikeAndEachBitIsSetInHalf() {
        int count = 500;
        Set<String> seen = new HashSet<>();
        int[] set = new int[Proofs.BYTES * Byte.SIZE];
        for (int i = 0; i < count; i++) {
            byte[] nonce = Proofs.nonce();
            assertEquals(32, nonce.length);
            assertTrue(seen.add(hex(nonce)));
            for (int bit = 0; bit < set.length; bit++) {
                set[bit] += nonce[bit / Byte.SIZE] >> bit % Byte.SIZE & 1;
            }
        }
        int[] strange = Arrays.stream(set)
                .filter(each -> each < count / 4 || each > count * 3 / 4) // eleven deviations from the mean
                .toArray();
        assertArrayEquals(new int[0], strange);
    }
}
