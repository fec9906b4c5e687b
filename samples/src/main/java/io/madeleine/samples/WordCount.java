package io.madeleine.samples;

import io.madeleine.api.Session;
import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Request;
import io.madeleine.nexus.Startpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Work stealing: the processes count the words of a generated text, part by part. At first rank 0 has all parts. A
 * process without parts asks the others with a typed remote service and gets half of what they have. The counts go to
 * rank 0 as one-sided requests, which need no reply address: a request carries its sender's rank.
 *
 * <pre>
 * ./mad run -n 3 samples/src/main/java/io/madeleine/samples/WordCount.java
 *
 * [0] counted 640000 words of 1999 in 64 parts
 * [0] the most frequent: word0 86816, word1 40551, word2 27235
 * [0] the same as counted by one process: true
 * [0] parts were stolen: true
 * </pre>
 */
public final class WordCount {
    private static final int PARTS = 64;
    private static final int WORDS_PER_PART = 10_000;
    private static final int VOCABULARY = 2_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private WordCount() {}

    /** The service from which idle processes steal. */
    @RemoteService
    public interface Victim {
        /** Removes and returns half of the waiting parts, at least one if there are any. */
        List<Integer> steal();
    }

    /** The waiting parts of one process. */
    private static final class Pool implements Victim {
        private final Deque<Integer> waiting = new ConcurrentLinkedDeque<>();

        @Override
        public synchronized List<Integer> steal() {
            List<Integer> stolen = new ArrayList<>();
            for (int count = (waiting.size() + 1) / 2; count > 0 && !waiting.isEmpty(); count--) {
                stolen.add(waiting.pollLast());
            }
            return stolen;
        }

        synchronized Integer next() {
            return waiting.pollFirst();
        }
    }

    /** The counts of one part. */
    private record Counts(int part, Map<String, Integer> words) {
        static final Codec<Counts> CODEC = Codec.of(Counts::write, Counts::read);

        private void write(Arguments arguments) {
            arguments.putInt(part).putInt(words.size());
            words.forEach((word, count) -> arguments.putString(word).putInt(count));
        }

        private static Counts read(Request request) {
            int part = request.getInt();
            Map<String, Integer> words = new HashMap<>();
            for (int left = request.getInt(); left > 0; left--) {
                words.put(request.getString(), request.getInt());
            }
            return new Counts(part, words);
        }
    }

    /** The totals in rank 0. One thread at a time runs the handler, so the maps need no lock. */
    private static final class Total {
        private final Map<String, Integer> words = new HashMap<>();
        private final Map<Integer, Integer> countedBy = new HashMap<>();
        private final AtomicInteger parts = new AtomicInteger();

        void add(Request request) {
            Counts counts = request.get(Counts.CODEC);
            counts.words().forEach((word, count) -> words.merge(word, count, Integer::sum));
            countedBy.merge(request.remote(), 1, Integer::sum);
            parts.incrementAndGet();
        }
    }

    /** All processes count; rank 0 prints the result. */
    public static void main(String[] arguments) {
        Pool pool = new Pool();
        Total total = new Total();
        try (Session session = Session.open(arguments);
                Context context = Context.open(session, created -> {
                    created.export(Victim.class, pool);
                    created.endpoint("total").nonThreaded("add", (_, request) -> total.add(request));
                    if (created.rank() == 0) {
                        for (int part = 0; part < PARTS; part++) {
                            pool.waiting.add(part);
                        }
                    }
                })) {
            work(context, pool);
            if (context.rank() == 0) {
                while (!context.await(() -> total.parts.get() == PARTS, 100, TimeUnit.MILLISECONDS)) {
                    // steals again while it waits; a steal fails if a process has died with its parts
                    work(context, pool);
                }
                report(total);
            }
            context.barrier(PATIENCE);
        }
    }

    private static void work(Context context, Pool pool) {
        Startpoint total = context.startpoint(0, "total");
        List<Victim> victims = new ArrayList<>();
        for (int i = 1; i < context.size(); i++) {
            victims.add(context.service((context.rank() + i) % context.size(), Victim.class));
        }
        boolean found = true;
        while (found) {
            for (Integer part = pool.next(); part != null; part = pool.next()) {
                total.rsr("add", new Arguments().put(new Counts(part, count(part)), Counts.CODEC));
            }
            found = false;
            for (Victim victim : victims) {
                List<Integer> stolen = victim.steal();
                if (!stolen.isEmpty()) {
                    pool.waiting.addAll(stolen);
                    found = true;
                    break;
                }
            }
        }
    }

    private static Map<String, Integer> count(int part) {
        Map<String, Integer> words = new HashMap<>();
        for (String word : text(part).split(" ", -1)) {
            words.merge(word, 1, Integer::sum);
        }
        return words;
    }

    /** A part of a text with a few frequent and many rare words. */
    private static String text(int part) {
        Random random = new Random(part);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS_PER_PART; i++) {
            int rank = (int) (Math.pow(VOCABULARY, Math.pow(random.nextDouble(), 1.2)) - 1);
            text.append(i == 0 ? "" : " ").append("word").append(rank);
        }
        return text.toString();
    }

    private static void report(Total total) {
        Map<String, Integer> alone = new HashMap<>();
        for (int part = 0; part < PARTS; part++) {
            count(part).forEach((word, count) -> alone.merge(word, count, Integer::sum));
        }
        List<String> first = total.words.entrySet().stream()
                .sorted(Comparator.comparingInt((Map.Entry<String, Integer> entry) -> -entry.getValue())
                        .thenComparing(Map.Entry::getKey))
                .limit(3)
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .toList();
        int words = total.words.values().stream().mapToInt(Integer::intValue).sum();
        System.out.println("counted " + words + " words of " + total.words.size() + " in " + total.parts + " parts");
        System.out.println("the most frequent: " + String.join(", ", first));
        System.out.println("the same as counted by one process: " + alone.equals(total.words));
        System.out.println("parts were stolen: " + (total.countedBy.size() > 1));
    }
}
