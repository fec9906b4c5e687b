package io.madeleine.tm.via;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * When a process of this host started, which also says whether it still runs.
 *
 * <p>Threading: stateless.
 */
final class ProcessStart {
    /** The process has ended. */
    static final long ENDED = -1;

    /** The system does not tell. */
    static final long UNKNOWN = 0;

    /** The field of the start in /proc/PID/stat, 0 being the one behind the command. */
    private static final int START_FIELD = 19;

    private static final int MOST_BYTES = 512;

    private ProcessStart() {}

    /** The start in ticks since boot, {@link #ENDED} or {@link #UNKNOWN}. */
    static long of(long pid) {
        byte[] text = new byte[MOST_BYTES];
        try (FileInputStream stat = new FileInputStream("/proc/" + pid + "/stat")) {
            int length = stat.read(text);
            return length <= 0 ? ENDED : parse(text, length);
        } catch (FileNotFoundException _) {
            return Files.exists(Path.of("/proc/self/stat")) ? ENDED : UNKNOWN;
        } catch (IOException _) {
            return ENDED; // it ended just now
        }
    }

    private static long parse(byte[] text, int length) {
        int at = length - 1;
        while (at > 0 && text[at] != ')') {
            at--;
        }
        at += 2;
        if (at >= length) {
            return UNKNOWN;
        }
        if (text[at] == 'Z' || text[at] == 'X') {
            return ENDED;
        }
        for (int field = 0; field < START_FIELD; field++) {
            while (at < length && text[at] != ' ') {
                at++;
            }
            at++;
        }
        long start = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
            start = 10 * start + text[at] - '0';
        }
        return start;
    }
}
