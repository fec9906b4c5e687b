/*
 * The two processes of a measurement in C: the same loops, requests, contents and orders as Driver, Responder, Contents
 * and ControlLine in io.madeleine.bench.measure. Between orders a process is blocked reading its control line.
 *
 *   PROGRAM RANK spin|adaptive|block pin|-
 */
#define _GNU_SOURCE
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MICROSECOND_NS 1000LL
#define MILLISECOND_NS 1000000LL
#define LATENCY_SAMPLE_NS (10 * MICROSECOND_NS)
#define STREAM_SAMPLE_NS (20 * MILLISECOND_NS)
#define ECHO_NS (50 * MILLISECOND_NS)
#define PATIENCE_NS (30000 * MILLISECOND_NS)
#define SPIN_NS (200 * MICROSECOND_NS)
#define SLEEP_AFTER_YIELDS 20
#define LEAST_SAMPLES 5
#define MOST_SAMPLES (1 << 20)
#define MOST_VALUES 256
#define WARM_MESSAGES 50000
#define VERIFIED_BYTES (4 << 20)
#define VERIFIED_MESSAGES 64
#define ROTATED_BYTES (64L << 20)
#define PAGE_BYTES 4096
#define LINE_BYTES 64
#define UNCHECKED (-1)
#define KEPT 128

#define WARM_ECHOES 1000

enum request { VERIFY, ECHO, STREAM, CHECK, END, COMPUTE, FILL, ANSWER };
enum pattern { LATENCY, OSU_LATENCY, BANDWIDTH, RATE, COMPUTE_1MS, COMPUTE_5MS, PATTERNS };
enum buffers { SAME, ROTATE, FRESH };

static const char *const pattern_names[PATTERNS] = {
    [LATENCY] = "latency",
    [OSU_LATENCY] = "osu-latency",
    [BANDWIDTH] = "bandwidth",
    [RATE] = "rate",
    [COMPUTE_1MS] = "compute-1ms",
    [COMPUTE_5MS] = "compute-5ms",
};

struct asked {
    int64_t request, bytes, count, number;
};

/* The blocks of one direction. */
struct ring {
    enum buffers kind;
    size_t bytes, stride;
    long blocks, last;
    char *memory;
    char *fresh[KEPT]; /* the newest messages; a library may still have them on the way */
};

struct order {
    enum pattern pattern; /* PATTERNS: the wire may know it by its name */
    char name[32];
    size_t bytes;
    int64_t duration_ns, warm_ns;
    enum buffers buffers;
    int usage;
};

struct usage {
    int64_t begin_ns, cpu_ns, switches;
};

static struct task task;
static FILE *control, *heard; /* what is said and what is heard over the control line */
static size_t memory_bytes;
static struct ring sent, received;
static int64_t number;
static int64_t durations[MOST_SAMPLES];
static long samples;
static struct usage spent;

__attribute__((weak)) long wire_program(const struct program *program, double *figures, long most)
{
    (void)program;
    (void)figures;
    (void)most;
    return -1;
}

/* ---- time and processor ------------------------------------------------------------------------------------------ */

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int idle(const struct task *of, long turn)
{
    static int64_t since_ns;
    static long yields;

    if (turn == 0) {
        yields = 0;
        since_ns = 0;
    }
    if (of->wait == WAIT_BLOCK)
        return 1;
    if (turn % 64 == 63) { /* a look at the clock is as dear as a few turns */
        int64_t now = now_ns();
        if (since_ns == 0)
            since_ns = now;
        if (now - since_ns > PATIENCE_NS)
            fail("nothing from the other process for 30 s");
        if (of->wait == WAIT_ADAPTIVE && now - since_ns > SPIN_NS) {
            sched_yield();
            return ++yields > SLEEP_AFTER_YIELDS;
        }
    }
    if (yields > SLEEP_AFTER_YIELDS)
        return 1;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    return 0;
}

static int64_t switches_now(void)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return now.ru_nvcsw + now.ru_nivcsw;
}

static int64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void reset_usage(void)
{
    spent.begin_ns = now_ns();
    spent.cpu_ns = cpu_now_ns();
    spent.switches = switches_now();
}

static double cpu_percent(void)
{
    return 100.0 * (cpu_now_ns() - spent.cpu_ns) / (now_ns() - spent.begin_ns + 1);
}

static void pin(int rank)
{
    cpu_set_t allowed, own;
    int at = 0, count;

    sched_getaffinity(0, sizeof allowed, &allowed);
    count = CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && at++ == rank % count) {
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            sched_setaffinity(0, sizeof own, &own);
            return;
        }
    }
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static uint64_t word(int64_t of, uint64_t index)
{
    uint64_t value = (uint64_t)(of + 1) * 0x9E3779B97F4A7C15ULL + index * 0xBF58476D1CE4E5B9ULL;
    return value ^ (value >> 29);
}

static void fill(char *block, size_t bytes, int64_t of)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t value = word(of, at / 8);
        memcpy(block + at, &value, bytes - at < 8 ? bytes - at : 8);
    }
}

static void check(const char *block, size_t bytes, int64_t of)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t value = word(of, at / 8);
        if (memcmp(block + at, &value, bytes - at < 8 ? bytes - at : 8) != 0)
            fail("a message does not hold what was sent");
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void *reserve(size_t bytes)
{
    void *memory = aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (memory == NULL)
        fail("there is not enough memory");
    memset(memory, 0, bytes);
    return memory;
}

static void lay(struct ring *ring, const struct order *order)
{
    if (ring->memory == NULL) {
        ring->memory = reserve(memory_bytes);
        if (wire_memory != NULL)
            wire_memory(ring->memory, memory_bytes);
    }
    ring->kind = order->buffers;
    ring->bytes = order->bytes;
    ring->stride = (order->bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    ring->stride = (ring->stride < PAGE_BYTES ? PAGE_BYTES : ring->stride) + LINE_BYTES;
    ring->blocks = ring->kind == ROTATE ? (long)(ROTATED_BYTES / ring->stride) : 1;
    if (ring->kind == ROTATE && ring->blocks < 2)
        ring->blocks = 2;
    ring->last = 0;
}

static void *next(void *of)
{
    struct ring *ring = of;
    if (ring->kind == FRESH) {
        ring->last = (ring->last + 1) % KEPT;
        free(ring->fresh[ring->last]);
        ring->fresh[ring->last] = malloc(ring->bytes);
        if (ring->fresh[ring->last] == NULL)
            fail("there is not enough memory");
        return ring->fresh[ring->last];
    }
    ring->last = ring->last + 1 == ring->blocks ? 0 : ring->last + 1;
    return ring->memory + ring->last * ring->stride;
}

static char *last(struct ring *ring)
{
    return ring->kind == FRESH ? ring->fresh[ring->last] : ring->memory + ring->last * ring->stride;
}

static void fill_all(struct ring *ring, int64_t of)
{
    for (long i = 0; i < ring->blocks; i++)
        fill(ring->memory + i * ring->stride, ring->bytes, of);
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* How long both processes compute before each exchange; 0 if they do not. */
static int64_t compute_ns(enum pattern of)
{
    return of == COMPUTE_1MS ? MILLISECOND_NS : of == COMPUTE_5MS ? 5 * MILLISECOND_NS : 0;
}

static int is_stream(enum pattern of)
{
    return of == BANDWIDTH || of == RATE;
}

/* What a process does that has something else to do than to communicate. */
static void compute_until(int64_t instant_ns)
{
    static volatile uint64_t kept = 88172645463325252ULL;
    uint64_t state = kept;

    while (now_ns() - instant_ns < 0) {
        for (int i = 0; i < 8; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    }
    kept = state;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void ask(enum request request, size_t bytes, long count, int64_t first)
{
    struct asked asked = {request, (int64_t)bytes, count, first};
    wire_send(&asked, sizeof asked);
}

static void answer(double cpu, int64_t switches)
{
    struct asked asked = {0, 0, switches, 0};
    memcpy(&asked.bytes, &cpu, sizeof cpu);
    wire_send(&asked, sizeof asked);
}

/* ---- responder --------------------------------------------------------------------------------------------------- */

static void respond(const struct order *order)
{
    struct asked asked;

    lay(&received, order);
    for (wire_receive(&asked, sizeof asked); asked.request != END; wire_receive(&asked, sizeof asked)) {
        size_t bytes = asked.bytes;
        switch (asked.request) {
        case VERIFY:
            for (long i = 0; i < asked.count; i++) {
                void *block = next(&received);
                wire_receive(block, bytes);
                check(block, bytes, asked.number + i);
                wire_send(block, bytes);
            }
            break;
        case ECHO:
            for (long i = 0; i < asked.count; i++) {
                void *block = next(&received);
                wire_receive(block, bytes);
                wire_send(block, bytes);
            }
            break;
        case COMPUTE: {
            void *block = next(&received);
            compute_until(asked.number);
            wire_receive(block, bytes);
            wire_send(block, bytes);
            break;
        }
        case FILL:
            lay(&sent, order);
            fill_all(&sent, asked.number);
            break;
        case ANSWER:
            for (long i = 0; i < asked.count; i++) {
                wire_receive(next(&received), bytes);
                wire_send(next(&sent), bytes);
            }
            break;
        case STREAM:
            wire_receive_all(bytes, asked.count, next, &received);
            answer(0, 0);
            break;
        case CHECK:
            if (asked.number != UNCHECKED)
                check(last(&received), bytes, asked.number);
            answer(cpu_percent(), switches_now() - spent.switches);
            reset_usage();
            break;
        default:
            fail("a message that should be a request is none");
        }
    }
}

/* ---- driver ------------------------------------------------------------------------------------------------------ */

static void verify(const struct order *order)
{
    long count = VERIFIED_BYTES / (long)order->bytes;

    count = count < 2 ? 2 : count > VERIFIED_MESSAGES ? VERIFIED_MESSAGES : count;
    ask(VERIFY, order->bytes, count, number + 1);
    for (long i = 0; i < count; i++) {
        char *block = next(&sent);
        fill(block, order->bytes, ++number);
        wire_send(block, order->bytes);
        block = next(&received);
        wire_receive(block, order->bytes);
        check(block, order->bytes, number);
    }
}

static void record(int64_t duration_ns)
{
    if (samples < MOST_SAMPLES)
        durations[samples++] = duration_ns < 1 ? 1 : duration_ns;
}

/* One untimed round trip, then samples of so many round trips each. */
static int64_t echo(enum pattern pattern, size_t bytes, long count, long batch)
{
    int64_t first_ns, begin_ns;

    ask(pattern == OSU_LATENCY ? ANSWER : ECHO, bytes, 1 + count * batch, 0);
    wire_send(next(&sent), bytes);
    wire_receive(next(&received), bytes);
    first_ns = begin_ns = now_ns();
    for (long sample = 0; sample < count; sample++) {
        int64_t end_ns;
        for (long i = 0; i < batch; i++) {
            wire_send(next(&sent), bytes);
            wire_receive(next(&received), bytes);
        }
        end_ns = now_ns();
        record(end_ns - begin_ns);
        begin_ns = end_ns;
    }
    return begin_ns - first_ns;
}

/* One message to and fro after both have computed; how long since the instant until which they did. */
static int64_t exchange_after_computing(enum pattern pattern, size_t bytes)
{
    void *to = next(&sent), *from = next(&received);
    int64_t instant_ns = now_ns() + compute_ns(pattern);

    ask(COMPUTE, bytes, 1, instant_ns);
    compute_until(instant_ns);
    wire_send(to, bytes);
    wire_receive(from, bytes);
    return now_ns() - instant_ns;
}

static int64_t stream(size_t bytes, long count)
{
    struct asked asked;
    int64_t begin_ns, elapsed_ns;

    ask(STREAM, bytes, count, 0);
    begin_ns = now_ns();
    wire_send_all(bytes, count, next, &sent);
    wire_receive(&asked, sizeof asked);
    elapsed_ns = now_ns() - begin_ns;
    record(elapsed_ns);
    return elapsed_ns;
}

static struct asked ask_check(const struct order *order)
{
    struct asked asked;
    ask(CHECK, order->bytes, 0, order->buffers == FRESH ? UNCHECKED : number);
    wire_receive(&asked, sizeof asked);
    return asked;
}

static int is_cold(const struct order *order, int64_t start_ns, long messages)
{
    int64_t elapsed_ns = now_ns() - start_ns;
    int64_t longest_ns = 2 * order->warm_ns < order->duration_ns / 2 ? 2 * order->warm_ns : order->duration_ns / 2;
    return messages == 0 || elapsed_ns < order->warm_ns || (elapsed_ns < longest_ns && messages < WARM_MESSAGES);
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static double figure(const struct order *order, int64_t duration_ns, double messages)
{
    switch (order->pattern) {
    case BANDWIDTH:
        return 1e3 * order->bytes * messages / duration_ns;
    case RATE:
        return 1e9 * messages / duration_ns;
    default:
        return duration_ns / (1e3 * messages);
    }
}

static int by_figure(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* What a wire measures with loops of its own. */
static void run_program(const struct order *order)
{
    static double figures[MOST_SAMPLES];
    struct program program = {order->name, order->bytes, order->duration_ns, order->warm_ns};
    long found = wire_program(&program, figures, MOST_SAMPLES);

    if (found < 0)
        fail("mad perf gave an order of a pattern that this program does not know");
    if (task.rank != 0)
        return;
    qsort(figures, found, sizeof figures[0], by_figure);
    fprintf(control, "round %ld %.9g %.9g %.9g NaN NaN NaN NaN ", found, figures[0], figures[found / 2],
        figures[found - 1]);
    for (long i = 0, count = found < MOST_VALUES ? found : MOST_VALUES; i < count; i++)
        fprintf(control, "%s%.9g", i > 0 ? "," : "", figures[(long)((i + 0.5) * found / count)]);
    fprintf(control, "\n");
    fflush(control);
}

/* The line that Round.parse reads. */
static void tell(const struct order *order, double messages, double cpu, struct asked there, double switches)
{
    int inverse = is_stream(order->pattern);
    long count = samples < MOST_VALUES ? samples : MOST_VALUES;
    double there_cpu;

    memcpy(&there_cpu, &there.bytes, sizeof there_cpu);
    qsort(durations, samples, sizeof durations[0], by_value);
    fprintf(control, "round %ld %.9g %.9g %.9g", samples,
        figure(order, durations[inverse ? samples - 1 : 0], messages), figure(order, durations[samples / 2], messages),
        figure(order, durations[inverse ? 0 : samples - 1], messages));
    if (order->usage)
        fprintf(control, " NaN %.9g %.9g %.9g ", cpu, there_cpu, switches);
    else
        fprintf(control, " NaN NaN NaN NaN ");
    for (long i = 0; i < count; i++) {
        long at = (long)((i + 0.5) * samples / count);
        fprintf(control, "%s%.9g", i > 0 ? "," : "",
            figure(order, durations[inverse ? samples - 1 - at : at], messages));
    }
    fprintf(control, "\n");
    fflush(control);
}

static long clamp(double value, long least, long most)
{
    return value < least ? least : value > most ? most : (long)value;
}

static void drive(const struct order *order)
{
    size_t bytes = order->bytes;
    int64_t start_ns = now_ns();
    int64_t left_ns = order->duration_ns - order->warm_ns, elapsed_ns, switches, last_number;
    double per_sample, counted = 0, cpu;
    long count = 1, batch = 1, messages = 0;
    struct asked there;

    lay(&sent, order);
    lay(&received, order);
    verify(order);
    last_number = ++number;
    fill_all(&sent, number);
    for (long i = 0; i < received.blocks; i++)
        memset(received.memory + i * received.stride, 0, bytes);

    if (order->pattern == OSU_LATENCY)
        ask(FILL, bytes, 0, ++last_number);

    if (compute_ns(order->pattern) > 0) {
        while (is_cold(order, start_ns, messages)) {
            echo(order->pattern, bytes, WARM_ECHOES, 1);
            exchange_after_computing(order->pattern, bytes);
            messages += WARM_ECHOES;
        }
        per_sample = 2;
    } else if (!is_stream(order->pattern)) {
        double round_trip_ns = 1;
        while (is_cold(order, start_ns, messages)) {
            samples = 0;
            elapsed_ns = echo(order->pattern, bytes, count, 1);
            round_trip_ns = elapsed_ns > count ? (double)elapsed_ns / count : 1;
            messages += count;
            count = elapsed_ns < ECHO_NS / 2 ? count * 2 : count;
        }
        batch = clamp(LATENCY_SAMPLE_NS / round_trip_ns + 1, 1, 1 << 20);
        count = clamp((left_ns / 10 < ECHO_NS ? left_ns / 10 : ECHO_NS) / (batch * round_trip_ns), 1, 1 << 20);
        per_sample = 2.0 * batch;
    } else {
        int64_t sample_ns = left_ns / 10 < STREAM_SAMPLE_NS ? left_ns / 10 : STREAM_SAMPLE_NS;
        while (is_cold(order, start_ns, messages)) {
            samples = 0;
            elapsed_ns = stream(bytes, count);
            messages += count;
            count = elapsed_ns < sample_ns / 2 ? count * 2 : clamp((double)count * sample_ns / elapsed_ns, 1, 1 << 30);
        }
        per_sample = count;
    }
    ask_check(order);
    samples = 0;
    reset_usage();
    do {
        if (compute_ns(order->pattern) > 0) {
            record(exchange_after_computing(order->pattern, bytes));
            counted += 2;
        } else if (!is_stream(order->pattern)) {
            echo(order->pattern, bytes, count, batch);
            counted += 2.0 * count * batch;
        } else {
            stream(bytes, count);
            counted += count;
        }
    } while (now_ns() - start_ns < order->duration_ns || samples < LEAST_SAMPLES);
    cpu = cpu_percent();
    switches = switches_now() - spent.switches;
    there = ask_check(order);
    if (order->buffers == FRESH)
        verify(order);
    else if (!is_stream(order->pattern))
        check(last(&received), bytes, last_number);
    ask(END, 0, 0, 0);
    tell(order, per_sample, cpu, there, (switches + there.count) / counted);
}

/* ---- control line ------------------------------------------------------------------------------------------------ */

void fail(const char *what)
{
    if (control != NULL) {
        fprintf(control, "failed %s%s%s\n", what, errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        fflush(control);
    } else {
        fprintf(stderr, "mad perf: %s\n", what);
    }
    _exit(1);
}

static void hear(const char *expected, char *rest, size_t bytes)
{
    char line[512];
    size_t length = strlen(expected);

    if (fgets(line, sizeof line, heard) == NULL || strncmp(line, expected, length) != 0)
        fail("mad perf did not say what was expected");
    line[strcspn(line, "\n")] = 0;
    snprintf(rest, bytes, "%s", line + length);
}

void exchange_contacts(const char *own, char *other, size_t bytes)
{
    fprintf(control, "contact %s\n", own);
    fflush(control);
    hear("contact ", other, bytes);
}

static void connect_control(int rank)
{
    const char *given = getenv("MADELEINE_PERF_CONTROL");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char token[128], memory[64];
    int port, descriptor = socket(AF_INET, SOCK_STREAM, 0);

    if (given == NULL || sscanf(given, "%d %127s", &port, token) != 2)
        fail("this program is started by mad perf");
    address.sin_port = htons(port);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
        fail("mad perf cannot be reached");
    control = fdopen(descriptor, "w");
    heard = fdopen(dup(descriptor), "r");
    if (control == NULL || heard == NULL)
        fail("mad perf cannot be reached");
    fprintf(control, "hello %s %d\n", token, rank);
    fflush(control);
    hear("memory ", memory, sizeof memory);
    memory_bytes = strtoull(memory, NULL, 10);
}

/* Returns 0 at the end. */
static int next_order(struct order *order)
{
    char line[512], buffers[32];
    long long bytes, duration_ns, warm_ns;

    errno = 0;
    if (fgets(line, sizeof line, heard) == NULL)
        return 0;
    if (sscanf(line, "measure %31s %lld %lld %lld %31s %d", order->name, &bytes, &duration_ns, &warm_ns, buffers,
            &order->usage) != 6)
        fail("mad perf gave an order that is none");
    order->pattern = LATENCY;
    while (order->pattern < PATTERNS && strcmp(order->name, pattern_names[order->pattern]) != 0)
        order->pattern++;
    order->buffers = buffers[0] == 'S' ? SAME : buffers[0] == 'R' ? ROTATE : FRESH;
    order->bytes = bytes;
    order->duration_ns = duration_ns;
    order->warm_ns = warm_ns;
    return 1;
}

int main(int argc, char **argv)
{
    struct order order;

    task.rank = wire_rank(&argc, &argv, argc > 1 ? atoi(argv[1]) : 0);
    task.wait = argc > 2 && argv[2][0] == 's' ? WAIT_SPIN : argc > 2 && argv[2][0] == 'b' ? WAIT_BLOCK : WAIT_ADAPTIVE;
    task.pin = argc > 3 && argv[3][0] == 'p';
    if (task.pin)
        pin(task.rank);
    connect_control(task.rank);
    wire_open(&task);
    fprintf(control, "ready\n");
    fflush(control);
    while (next_order(&order)) {
        if (order.pattern == PATTERNS)
            run_program(&order);
        else if (task.rank == 0)
            drive(&order);
        else
            respond(&order);
        if (task.rank != 0) {
            fprintf(control, "idle\n");
            fflush(control);
        }
    }
    wire_close();
    return 0;
}
