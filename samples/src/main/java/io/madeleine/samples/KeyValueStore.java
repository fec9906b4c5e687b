package io.madeleine.samples;

import io.madeleine.api.Session;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.Idempotent;
import io.madeleine.nexus.Publishers;
import io.madeleine.nexus.RemoteService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A distributed key-value store. Each process holds a shard, the keys whose hash selects its rank, and serves it to all
 * others with a typed remote service. Every process writes, with many calls in progress at once. Then every process
 * reads the values that the others have written. Finally rank 0 reads all keys of all shards as streams.
 *
 * <pre>
 * ./mad run -n 3 samples/src/main/java/io/madeleine/samples/KeyValueStore.java
 *
 * [0] read 3000 of 3000 values
 * [0] 3 shards have 3000 keys, 30 counters add up to 900
 * [1] read 3000 of 3000 values
 * [2] read 3000 of 3000 values
 * </pre>
 */
public final class KeyValueStore {
    private static final int KEYS_EACH = 1_000;
    private static final int COUNTERS = 30;
    private static final int INCREMENTS_EACH = 300;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private KeyValueStore() {}

    /** The remote service of a shard. */
    @RemoteService
    public interface Shard {
        /** Stores a value. */
        CompletableFuture<Void> put(String key, byte[] value);

        /** The value of a key, if there is one. Idempotent, so the caller retries if the shard is too busy. */
        @Idempotent
        Optional<byte[]> get(String key);

        /** Adds to a counter and returns its new value. */
        CompletableFuture<Long> add(String counter, long amount);

        /** All keys. */
        Flow.Publisher<String> keys();

        /** The sum of all counters. */
        long sumOfCounters();
    }

    /** The part of the store that one process holds. */
    private static final class LocalShard implements Shard {
        private final Map<String, byte[]> values = new ConcurrentHashMap<>();
        private final Map<String, AtomicLong> counters = new ConcurrentHashMap<>();

        @Override
        public CompletableFuture<Void> put(String key, byte[] value) {
            values.put(key, value);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public Optional<byte[]> get(String key) {
            return Optional.ofNullable(values.get(key));
        }

        @Override
        public CompletableFuture<Long> add(String counter, long amount) {
            return CompletableFuture.completedFuture(
                    counters.computeIfAbsent(counter, _ -> new AtomicLong()).addAndGet(amount));
        }

        @Override
        public Flow.Publisher<String> keys() {
            return Publishers.of(values.keySet());
        }

        @Override
        public long sumOfCounters() {
            return counters.values().stream().mapToLong(AtomicLong::get).sum();
        }
    }

    /** The whole store, as each process sees it. */
    private static final class Store {
        private final List<Shard> shards = new ArrayList<>();

        Store(Context context) {
            for (int rank = 0; rank < context.size(); rank++) {
                shards.add(context.service(rank, Shard.class)); // this process's own shard is one of them
            }
        }

        Shard shardOf(String key) {
            return shards.get(Math.floorMod(key.hashCode(), shards.size()));
        }
    }

    /** All processes do the same; at the end rank 0 summarizes the whole store. */
    public static void main(String[] arguments) {
        try (Session session = Session.open(arguments);
                Context context = Context.open(session, created -> created.export(Shard.class, new LocalShard()))) {
            Store store = new Store(context);
            write(store, context.rank());
            context.barrier(PATIENCE);
            int total = KEYS_EACH * context.size();
            System.out.println("read " + read(store, context.size()) + " of " + total + " values");
            context.barrier(PATIENCE);
            if (context.rank() == 0) {
                summarize(store);
            }
            context.barrier(PATIENCE);
        }
    }

    private static String key(int rank, int number) {
        return "key " + rank + "/" + number;
    }

    private static byte[] value(int rank, int number) {
        byte[] value = new byte[1 + (number * 37) % 3_000]; // the larger values travel as blocks of their own
        java.util.Arrays.fill(value, (byte) (rank * 31 + number));
        return value;
    }

    private static void write(Store store, int rank) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < KEYS_EACH; i++) {
            String key = key(rank, i);
            calls.add(store.shardOf(key).put(key, value(rank, i)));
        }
        for (int i = 0; i < INCREMENTS_EACH; i++) {
            String counter = "counter " + i % COUNTERS;
            calls.add(store.shardOf(counter).add(counter, 1));
        }
        calls.forEach(CompletableFuture::join);
    }

    private static int read(Store store, int ranks) {
        int found = 0;
        for (int rank = 0; rank < ranks; rank++) {
            for (int i = 0; i < KEYS_EACH; i++) {
                String key = key(rank, i);
                byte[] expected = value(rank, i);
                if (store.shardOf(key)
                        .get(key)
                        .filter(value -> java.util.Arrays.equals(value, expected))
                        .isPresent()) {
                    found++;
                }
            }
        }
        return found;
    }

    private static void summarize(Store store) {
        int keys = 0;
        long sum = 0;
        for (Shard shard : store.shards) {
            keys += Publishers.toList(shard.keys()).join().size();
            sum += shard.sumOfCounters();
        }
        System.out.println(
                store.shards.size() + " shards have " + keys + " keys, " + COUNTERS + " counters add up to " + sum);
    }
}
