/*
 * The benchmarks of MPI, after those of OSU: the same as io.madeleine.bench.mpi has in Java. All processes run a
 * benchmark at the same time; rank 0 tells the others how many rounds come next, and takes the figures.
 */
#include "wire.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE is no array */
#endif

#define WINDOW 64
#define TAG 1
#define ANSWER 2
#define CONTROL 9
#define POSTED 1000
#define FIRST_POSTED_TAG 100
#define SAMPLE_NS 10000000LL
#define LEAST_SAMPLES 5
#define WARM_MESSAGES 50000
#define MILLISECOND_NS 1000000LL
#define MOST_RANKS 64

static int rank, size, bytes;
static char *out, *in;
static int counts[MOST_RANKS], places[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];

struct benchmark {
    const char *pattern;
    double (*sample)(const struct benchmark *of, long rounds); /* the figure as rank 0 sees it */
    void (*verify)(const struct benchmark *of);
    void (*call)(void);  /* a collective operation */
    void (*check)(void); /* what it has brought */
    int is_of_floats, is_single, both_ways;
};

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static char content(int from, int to, long index)
{
    return (char)(1 + 31 * from + 17 * to + 7 * index);
}

static void fill(int place, int to)
{
    for (long i = 0; i < bytes; i++)
        out[(long)place * bytes + i] = content(rank, to, i);
}

static void clear(int of_floats)
{
    memset(in, 0, of_floats ? (size_t)bytes : (size_t)bytes * size);
}

static void check_block(const char *memory, int place, int from, int to)
{
    for (long i = 0; i < bytes; i++)
        if (memory[(long)place * bytes + i] != content(from, to, i))
            fail("a message of MPI does not hold what was sent");
}

static int floats(void)
{
    return bytes / (int)sizeof(float);
}

static float number(int of, long index)
{
    return (float)(of + 1 + index % 5);
}

static void check_sums(long first, long count, int ranks)
{
    for (long i = 0; i < count; i++) {
        float expected = 0;
        for (int of = 0; of < ranks; of++)
            expected += number(of, first + i);
        if (((float *)in)[i] != expected)
            fail("a sum of MPI is not what was expected");
    }
}

/* ---- point to point ---------------------------------------------------------------------------------------------- */

static void exchange(void)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

static void verify_exchange(const struct benchmark *of)
{
    (void)of;
    if (rank > 1)
        return;
    fill(0, 1 - rank);
    clear(0);
    exchange();
    check_block(in, 0, 1 - rank, rank);
}

static double latency(const struct benchmark *of, long rounds)
{
    int64_t begin_ns;

    (void)of;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_ns = now_ns();
    for (long i = 0; i < rounds; i++)
        exchange();
    return (now_ns() - begin_ns) / (2e3 * rounds);
}

/* MB/s, as NetPIPE measures it. */
static double pingpong(const struct benchmark *of, long rounds)
{
    return bytes / latency(of, rounds);
}

/* The same behind receives that wait for other messages. */
static double latency_behind_others(const struct benchmark *of, long rounds)
{
    static MPI_Request others[POSTED];
    static char spare[POSTED];
    double figure;

    for (int i = 0; rank < 2 && i < POSTED; i++)
        MPI_Irecv(&spare[i], 1, MPI_BYTE, 1 - rank, FIRST_POSTED_TAG + i, MPI_COMM_WORLD, &others[i]);
    figure = latency(of, rounds);
    for (int i = 0; rank < 2 && i < POSTED; i++) {
        MPI_Cancel(&others[i]);
        MPI_Wait(&others[i], MPI_STATUS_IGNORE);
    }
    return figure;
}

static void window(int both_ways)
{
    static MPI_Request requests[2 * WINDOW];
    int at = 0, word = 0;

    if (both_ways || rank == 1)
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &requests[at++]);
    if (both_ways || rank == 0)
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &requests[at++]);
    MPI_Waitall(at, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(&word, 4, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&word, 4, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
}

static void verify_window(const struct benchmark *of)
{
    if (rank > 1)
        return;
    fill(0, 1 - rank);
    clear(0);
    window(of->both_ways);
    if (of->both_ways || rank == 1)
        check_block(in, 0, 1 - rank, rank);
}

static double windows(const struct benchmark *of, long rounds)
{
    double messages = (double)rounds * WINDOW * (of->both_ways ? 2 : 1);
    int64_t begin_ns, elapsed_ns;

    MPI_Barrier(MPI_COMM_WORLD);
    begin_ns = now_ns();
    if (rank < 2)
        for (long i = 0; i < rounds; i++)
            window(of->both_ways);
    elapsed_ns = now_ns() - begin_ns;
    return strcmp(of->pattern, "mpi-rate") == 0 ? 1e9 * messages / elapsed_ns : 1e3 * bytes * messages / elapsed_ns;
}

static uint64_t computed = 88172645463325252ULL;

static void compute_until(int64_t instant_ns)
{
    volatile uint64_t *kept = &computed;
    uint64_t state = *kept;

    while (now_ns() - instant_ns < 0) {
        for (int i = 0; i < 8; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    }
    *kept = state;
}

static double exchange_after_computing(const struct benchmark *of, long rounds)
{
    int64_t elapsed_ns = 0;

    (void)of;
    if (rank > 1)
        return 0;
    for (long i = 0; i < rounds; i++) {
        int64_t instant_ns = now_ns() + MILLISECOND_NS;
        if (rank == 0)
            MPI_Send(&instant_ns, 8, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD);
        else
            MPI_Recv(&instant_ns, 8, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute_until(instant_ns);
        exchange();
        elapsed_ns += now_ns() - instant_ns;
    }
    return elapsed_ns / (2e3 * rounds);
}

static double rendezvous(const struct benchmark *of, long rounds)
{
    MPI_Request request;
    char byte = 0;

    (void)of;
    (void)rounds;
    if (rank == 0) {
        int64_t begin_ns;
        MPI_Recv(&byte, 1, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin_ns = now_ns();
        MPI_Isend(out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return (now_ns() - begin_ns) / 1e3;
    } else if (rank == 1) {
        MPI_Irecv(in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        MPI_Send(&byte, 1, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
        compute_until(now_ns() + 5 * MILLISECOND_NS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return 0;
}

static void verify_rendezvous(const struct benchmark *of)
{
    fill(0, 1);
    clear(0);
    rendezvous(of, 1);
    if (rank == 1)
        check_block(in, 0, 0, 1);
}

/* ---- collective operations --------------------------------------------------------------------------------------- */

static void verify_call(const struct benchmark *of)
{
    if (of->is_of_floats)
        for (long i = 0; i < floats(); i++)
            ((float *)out)[i] = number(rank, i);
    else
        for (int to = 0; to < size; to++)
            fill(to, to);
    clear(of->is_of_floats);
    of->call();
    of->check();
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The time of a call, a barrier between two calls, the mean over the processes. */
static double mean_of_calls(const struct benchmark *of, long rounds)
{
    double elapsed_ns = 0, sum = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (of->call == barrier) {
        int64_t begin_ns = now_ns();
        for (long i = 0; i < rounds; i++)
            of->call();
        elapsed_ns = now_ns() - begin_ns;
    } else {
        for (long i = 0; i < rounds; i++) {
            int64_t begin_ns = now_ns();
            of->call();
            elapsed_ns += now_ns() - begin_ns;
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Reduce(&elapsed_ns, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum / (1e3 * rounds * size);
}

static void check_nothing(void)
{
}

/* Block i of what was received is what rank i has sent to this one. */
static void check_all(void)
{
    for (int from = 0; from < size; from++)
        check_block(in, from, from, rank);
}

static void check_at_root(void)
{
    if (rank == 0)
        check_all();
}

/* Everybody has what everybody had in block 0. */
static void check_everywhere(void)
{
    for (int from = 0; from < size; from++)
        check_block(in, from, from, 0);
}

static void check_own(void)
{
    check_block(in, 0, 0, rank);
}

static void check_root(void)
{
    check_block(out, 0, 0, 0);
}

static void bcast(void)
{
    MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
    MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gatherv(void)
{
    MPI_Gatherv(out, bytes, MPI_BYTE, in, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
    MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatterv(void)
{
    MPI_Scatterv(out, counts, places, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(void)
{
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allgatherv(void)
{
    MPI_Allgatherv(out, bytes, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallv(void)
{
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallw(void)
{
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
}

static void reduce(void)
{
    MPI_Reduce(out, in, floats(), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void check_reduce(void)
{
    if (rank == 0)
        check_sums(0, floats(), size);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_allreduce(void)
{
    check_sums(0, floats(), size);
}

static int part(int of)
{
    return floats() / size + (of < floats() % size);
}

static void reduce_scatter(void)
{
    int parts[MOST_RANKS];

    for (int of = 0; of < size; of++)
        parts[of] = part(of);
    MPI_Reduce_scatter(out, in, parts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_reduce_scatter(void)
{
    long first = 0;

    for (int of = 0; of < rank; of++)
        first += part(of);
    check_sums(first, part(rank), size);
}

static void reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(out, in, floats() / size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_reduce_scatter_block(void)
{
    check_sums((long)(floats() / size) * rank, floats() / size, size);
}

static void scan(void)
{
    MPI_Scan(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_scan(void)
{
    check_sums(0, floats(), rank + 1);
}

static void exscan(void)
{
    MPI_Exscan(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void check_exscan(void)
{
    if (rank > 0)
        check_sums(0, floats(), rank);
}

static void begin_and_wait(void)
{
    MPI_Request request;

    MPI_Iallreduce(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The share of a non-blocking allreduce that a program which computes as long as it takes alone does not notice. */
static double overlap(const struct benchmark *of, long rounds)
{
    double pure_ns = 0, overall_ns = 0, compute_ns = 0, share;
    MPI_Request request;

    for (long i = 0; i < rounds; i++) {
        int64_t begin_ns;
        MPI_Barrier(MPI_COMM_WORLD);
        begin_ns = now_ns();
        of->call();
        pure_ns += (double)(now_ns() - begin_ns) / rounds;
    }
    MPI_Bcast(&pure_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (long i = 0; i < rounds; i++) {
        int64_t begin_ns, computing_ns;
        MPI_Barrier(MPI_COMM_WORLD);
        begin_ns = now_ns();
        MPI_Iallreduce(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        computing_ns = now_ns();
        compute_until(computing_ns + (int64_t)pure_ns);
        compute_ns += (double)(now_ns() - computing_ns) / rounds;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        overall_ns += (double)(now_ns() - begin_ns) / rounds;
    }
    share = 100 - 100 * (overall_ns - compute_ns) / pure_ns;
    return share < 0 ? 0 : share > 100 ? 100 : share;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

#define COLLECTIVE(name, function, its_check) \
    {.pattern = name, .sample = mean_of_calls, .verify = verify_call, .call = function, .check = its_check}
#define REDUCTION(name, function, its_check) \
    {.pattern = name, .sample = mean_of_calls, .verify = verify_call, .call = function, .check = its_check, \
        .is_of_floats = 1}

static const struct benchmark benchmarks[] = {
    {.pattern = "mpi-latency", .sample = latency, .verify = verify_exchange},
    {.pattern = "mpi-pingpong", .sample = pingpong, .verify = verify_exchange},
    {.pattern = "mpi-posted-1000", .sample = latency_behind_others, .verify = verify_exchange},
    {.pattern = "mpi-bandwidth", .sample = windows, .verify = verify_window},
    {.pattern = "mpi-bibandwidth", .sample = windows, .verify = verify_window, .both_ways = 1},
    {.pattern = "mpi-rate", .sample = windows, .verify = verify_window},
    {.pattern = "mpi-compute-1ms", .sample = exchange_after_computing, .verify = verify_exchange},
    {.pattern = "mpi-rendezvous", .sample = rendezvous, .verify = verify_rendezvous, .is_single = 1},
    COLLECTIVE("mpi-barrier", barrier, check_nothing),
    COLLECTIVE("mpi-bcast", bcast, check_root),
    COLLECTIVE("mpi-gather", gather, check_at_root),
    COLLECTIVE("mpi-gatherv", gatherv, check_at_root),
    COLLECTIVE("mpi-scatter", scatter, check_own),
    COLLECTIVE("mpi-scatterv", scatterv, check_own),
    COLLECTIVE("mpi-allgather", allgather, check_everywhere),
    COLLECTIVE("mpi-allgatherv", allgatherv, check_everywhere),
    COLLECTIVE("mpi-alltoall", alltoall, check_all),
    COLLECTIVE("mpi-alltoallv", alltoallv, check_all),
    COLLECTIVE("mpi-alltoallw", alltoallw, check_all),
    REDUCTION("mpi-reduce", reduce, check_reduce),
    REDUCTION("mpi-allreduce", allreduce, check_allreduce),
    REDUCTION("mpi-reduce-scatter", reduce_scatter, check_reduce_scatter),
    REDUCTION("mpi-reduce-scatter-block", reduce_scatter_block, check_reduce_scatter_block),
    REDUCTION("mpi-scan", scan, check_scan),
    REDUCTION("mpi-exscan", exscan, check_exscan),
    {.pattern = "mpi-overlap", .sample = overlap, .verify = verify_call, .call = begin_and_wait,
        .check = check_allreduce, .is_of_floats = 1},
};

static void *reserve(size_t wanted)
{
    void *memory = aligned_alloc(4096, (wanted + 4095) / 4096 * 4096);

    if (memory == NULL)
        fail("there is not enough memory");
    memset(memory, 0, wanted);
    return memory;
}

static void tell(long rounds)
{
    for (int to = 1; to < size; to++)
        MPI_Send(&rounds, 1, MPI_LONG, to, CONTROL, MPI_COMM_WORLD);
}

static double run(const struct benchmark *of, long rounds)
{
    tell(rounds);
    return of->sample(of, rounds);
}

static long drive(const struct benchmark *of, const struct program *program, double *figures, long most)
{
    int64_t start_ns = now_ns(), sample_ns = (program->duration_ns - program->warm_ns) / 10;
    long rounds = 1, all = 0, found = 0;

    sample_ns = sample_ns > SAMPLE_NS ? SAMPLE_NS : sample_ns < 1 ? 1 : sample_ns;
    while (all == 0 || now_ns() - start_ns < program->warm_ns
        || (now_ns() - start_ns < 2 * program->warm_ns && now_ns() - start_ns < program->duration_ns / 2
            && all < WARM_MESSAGES)) {
        int64_t elapsed_ns, begin_ns = now_ns();
        run(of, rounds);
        elapsed_ns = now_ns() - begin_ns;
        all += rounds;
        if (of->is_single)
            continue;
        rounds = elapsed_ns < sample_ns / 2 ? 2 * rounds : (long)((double)rounds * sample_ns / elapsed_ns);
        rounds = rounds < 1 ? 1 : rounds;
    }
    while (now_ns() - start_ns < program->duration_ns || found < LEAST_SAMPLES) {
        double figure = run(of, rounds);
        if (found < most)
            figures[found++] = figure;
    }
    tell(0);
    return found;
}

static void follow(const struct benchmark *of)
{
    long rounds;

    for (;;) {
        MPI_Recv(&rounds, 1, MPI_LONG, 0, CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rounds == 0)
            return;
        of->sample(of, rounds);
    }
}

long wire_program(const struct program *program, double *figures, long most)
{
    const struct benchmark *of = NULL;
    size_t memory;
    long found = 0;

    for (size_t i = 0; i < sizeof benchmarks / sizeof benchmarks[0]; i++)
        if (strcmp(program->pattern, benchmarks[i].pattern) == 0)
            of = &benchmarks[i];
    if (of == NULL)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST_RANKS)
        fail("there are too many processes");
    bytes = (int)program->bytes;
    memory = program->bytes < sizeof(float) ? sizeof(float) : program->bytes;
    memory *= of->is_of_floats ? 1 : size;
    out = reserve(memory);
    in = reserve(memory);
    for (int i = 0; i < size; i++) {
        counts[i] = bytes;
        places[i] = i * bytes;
        types[i] = MPI_BYTE;
    }
    of->verify(of);
    if (rank == 0)
        found = drive(of, program, figures, most);
    else
        follow(of);
    of->verify(of);
    free(out);
    free(in);
    return found;
}
