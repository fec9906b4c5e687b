package io.madeleine.samples.mpi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import mpi.Intracomm;
import mpi.MPI;

/**
 * Sorts the lines of a text file (Blelloch et al., sample sort, 1991). Each process reads its share of the lines and
 * sorts them; regular samples give the splitters, and each process gets the lines between two of them. The last word of
 * the output says whether the result equals that of one process.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/SampleSort.java LICENSE
 *
 * [0] sorted 202 lines, in order: true, as one process sorts them: true
 * </pre>
 */
public final class SampleSort {
    private final Intracomm world = MPI.COMM_WORLD;
    private final int rank = world.getRank();
    private final int size = world.getSize();

    private SampleSort() {}

    public static void main(String[] args) throws IOException {
        String[] own = MPI.Init(args);
        if (own.length != 1) {
            throw new IllegalArgumentException("expected one argument, a text file, found " + own.length);
        }
        new SampleSort().run(Path.of(own[0]));
        MPI.Finalize();
    }

    private void run(Path file) throws IOException {
        List<String> all = Files.readAllLines(file);
        String[] share = all.subList(all.size() * rank / size, all.size() * (rank + 1) / size)
                .toArray(String[]::new);
        Arrays.sort(share);
        String[] mine = exchange(share, splitters(share));
        Arrays.sort(mine);
        int[] count = {mine.length};
        world.reduce(count, 1, MPI.INT, MPI.SUM, 0);
        String sorted = gather(mine);
        if (rank == 0) {
            String[] lines = sorted.split("\n", -1);
            boolean isInOrder = IntStream.range(1, lines.length).allMatch(i -> lines[i - 1].compareTo(lines[i]) <= 0);
            boolean isSame =
                    sorted.equals(String.join("\n", all.stream().sorted().toList()));
            System.out.println(
                    "sorted " + count[0] + " lines, in order: " + isInOrder + ", as one process sorts them: " + isSame);
        }
    }

    private static byte[] bytes(String[] lines) {
        return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    }

    private static String[] lines(byte[] bytes, int from, int count) {
        return new String(bytes, from, count, StandardCharsets.UTF_8).split("\n", -1);
    }

    /** Every process contributes as many regular samples as there are processes; of all of them, every n-th splits. */
    private String[] splitters(String[] share) {
        String[] samples = IntStream.range(0, size)
                .mapToObj(i -> share.length == 0 ? "" : share[share.length * i / size])
                .toArray(String[]::new);
        byte[] own = bytes(samples);
        int[] counts = new int[size];
        counts[rank] = own.length;
        world.allGather(counts, 1, MPI.INT);
        int[] places = places(counts);
        byte[] gathered = new byte[places[size]];
        world.allGatherv(own, own.length, MPI.BYTE, gathered, counts, places, MPI.BYTE);
        String[] sorted = IntStream.range(0, size)
                .mapToObj(i -> lines(gathered, places[i], counts[i]))
                .flatMap(Arrays::stream)
                .sorted()
                .toArray(String[]::new);
        return IntStream.range(1, size).mapToObj(i -> sorted[i * size]).toArray(String[]::new);
    }

    /** Where each part begins; the last element is the sum. */
    private static int[] places(int[] counts) {
        int[] places = new int[counts.length + 1];
        for (int i = 0; i < counts.length; i++) {
            places[i + 1] = places[i] + counts[i];
        }
        return places;
    }

    private String[] exchange(String[] share, String[] splitters) {
        byte[][] parts = new byte[size][];
        int[] lineCounts = new int[size];
        int begin = 0;
        for (int i = 0; i < size; i++) {
            int end = begin;
            while (end < share.length && (i == size - 1 || share[end].compareTo(splitters[i]) < 0)) {
                end++;
            }
            lineCounts[i] = end - begin;
            parts[i] = bytes(Arrays.copyOfRange(share, begin, end));
            begin = end;
        }
        int[] out = Arrays.stream(parts).mapToInt(part -> part.length).toArray();
        int[] in = new int[size];
        int[] inLines = new int[size];
        world.allToAll(out, 1, MPI.INT, in, 1, MPI.INT);
        world.allToAll(lineCounts, 1, MPI.INT, inLines, 1, MPI.INT);
        int[] outPlaces = places(out);
        int[] inPlaces = places(in);
        byte[] leaving = new byte[outPlaces[size]];
        for (int i = 0; i < size; i++) {
            System.arraycopy(parts[i], 0, leaving, outPlaces[i], out[i]);
        }
        byte[] coming = new byte[inPlaces[size]];
        world.allToAllv(leaving, out, outPlaces, MPI.BYTE, coming, in, inPlaces, MPI.BYTE);
        return IntStream.range(0, size)
                .filter(i -> inLines[i] > 0)
                .mapToObj(i -> lines(coming, inPlaces[i], in[i]))
                .flatMap(Arrays::stream)
                .toArray(String[]::new);
    }

    /** All lines at rank 0, in the order of the ranks. */
    private String gather(String[] mine) {
        byte[] own = mine.length == 0 ? new byte[0] : (String.join("\n", mine) + "\n").getBytes(StandardCharsets.UTF_8);
        int[] counts = new int[size];
        counts[rank] = own.length;
        world.allGather(counts, 1, MPI.INT);
        int[] places = places(counts);
        byte[] all = new byte[rank == 0 ? places[size] : 0];
        world.gatherv(own, own.length, MPI.BYTE, all, counts, places, MPI.BYTE, 0);
        return rank == 0 ? new String(all, 0, Math.max(0, all.length - 1), StandardCharsets.UTF_8) : "";
    }
}
