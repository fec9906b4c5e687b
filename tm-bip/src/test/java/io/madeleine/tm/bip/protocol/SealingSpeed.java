package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A program that measures how fast one core seals and opens datagrams, and how fast the JDK's AES-GCM is without
 * anything around it.
 */
public final class SealingSpeed {
    private static final int[] SIZES = {64, 1_432, 8_932, 65_464};
    private static final long PERIOD_NS = 300_000_000L;
    private static final int PERIODS = 6;
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Datagram datagram = new Datagram(Arena.ofAuto());
    private final Protection sealing = new Protection(new byte[32], new byte[32]);
    private final Protection opening = new Protection(new byte[32], new byte[32]);
    private final byte[] plain = new byte[65_536];
    private final byte[] sealed = new byte[65_536 + DatagramLayout.TAG_BYTES];
    private long number;

    private SealingSpeed() {}

    /** Prints one line for each size: MB/s, the best of several periods, and bytes allocated. */
    public static void main(String[] arguments) throws Exception {
        SealingSpeed speed = new SealingSpeed();
        System.out.println(
                "datagram  cipher MB/s  seal MB/s  seal and open MB/s  bytes per seal  bytes per seal and open");
        for (int bytes : SIZES) {
            double cipher = 0;
            double seal = 0;
            double both = 0;
            for (int period = 0; period < PERIODS; period++) {
                cipher = Math.max(cipher, speed.measure(bytes, () -> speed.encrypt(bytes)));
                seal = Math.max(seal, speed.measure(bytes, () -> speed.seal(bytes)));
                both = Math.max(both, speed.measure(bytes, () -> speed.sealAndOpen(bytes)));
            }
            System.out.printf(
                    "%8d  %11.0f  %9.0f  %18.0f  %14d  %23d%n",
                    bytes,
                    cipher,
                    seal,
                    both,
                    allocated(() -> speed.seal(bytes)),
                    allocated(() -> speed.sealAndOpen(bytes)));
        }
    }

    private double measure(int bytes, Runnable what) {
        long startNs = System.nanoTime();
        long count = 0;
        long nowNs;
        do {
            for (int i = 0; i < 16; i++) {
                what.run();
            }
            count += 16;
            nowNs = System.nanoTime();
        } while (nowNs - startNs < PERIOD_NS);
        return 1e3 * bytes * count / (nowNs - startNs);
    }

    private static long allocated(Runnable what) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1000; i++) {
            what.run();
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / 1000;
    }

    private void encrypt(int bytes) {
        try {
            Cipher used = CIPHER;
            byte[] nonce = new byte[12];
            for (int i = 0; i < Long.BYTES; i++) {
                nonce[i] = (byte) (number >>> 8 * i);
            }
            number++;
            used.init(Cipher.ENCRYPT_MODE, KEY, new GCMParameterSpec(128, nonce));
            used.doFinal(plain, 0, bytes, sealed, 0);
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void seal(int bytes) {
        datagram.begin(DatagramLayout.SEALED, 8, number++, 0);
        datagram.bytes().position(Math.max(DatagramLayout.HEADER_BYTES, bytes - DatagramLayout.TAG_BYTES));
        datagram.seal(sealing, number - 2);
    }

    private void sealAndOpen(int bytes) {
        seal(bytes);
        if (!opening.open(datagram)) {
            throw new IllegalStateException("the datagram was not opened");
        }
    }

    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[16], "AES");
    private static final Cipher CIPHER = cipher();

    private static Cipher cipher() {
        try {
            return Cipher.getInstance("AES/GCM/NoPadding");
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
