/*
 * Reliable datagrams of libfabric, whose provider is the program's fourth argument: the least that a network of libfabric
 * takes. Both processes first measure three ways for each power of two, for round trips and for streams, and then take the
 * fastest of a message's size: a send into the receive that is posted when the receiver asks; a write with immediate data
 * into a slot, which the receiver copies; a write with immediate data into the block that the receiver has granted.
 * The pattern "register" is measured by rank 0 alone: the time to register memory and to end the registration. If the
 * fifth argument is "mlock", the memory is locked meanwhile.
 *
 *   PROGRAM list             prints the providers that offer what is needed
 *   PROGRAM check PROVIDER   tells by its exit code whether that one does
 */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define API FI_VERSION(1, 14)
#define SLOTS 16
#define SLOT_BYTES (64 << 10)
#define GRANTS 64
#define WINDOW 32        /* operations under way in a stream */
#define OLD_SLOTS 4      /* so many slots that were read are given back together */
#define MOST_BYTES (1 << 20) /* of a message that the ways are compared with */
#define GRANT_FROM (4 << 10)
#define CLASSES 21       /* powers of two up to MOST_BYTES */
#define NAME_BYTES 64
#define READ_TOGETHER 16
#define NAP_US 50
#define TRIAL_BYTES (8 << 20) /* in a trial, at most */
#define COMPARING_NS 700000000LL
#define PASSES 6
#define TURNS_BEFORE_YIELD 256
#define REGISTERING_NS 100000LL /* a sample takes about so long */
#define LEAST_SAMPLES 5

enum way { SEND, SLOT, GRANTED, WAYS };
enum kind { FULL_SLOT = 1, FREE_SLOTS, GRANT, LANDED }; /* the upper byte of immediate data */

/* Where a block is registered. */
struct place {
    uint64_t address, key, bytes;
};

/* What the other process writes into. */
struct board {
    char slots[SLOTS][SLOT_BYTES];
    struct place grants[GRANTS];
};

/* An operation under way; libfabric may use the first field. */
struct operation {
    struct fi_context2 context;
    int done;
    struct fid_mr *registered; /* for this operation alone; may be NULL */
};

struct memory {
    char *begin;
    size_t bytes;
    struct fid_mr *mr;
};

static const struct task *task;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *addresses;
static struct fid_cq *queue;
static struct fid_ep *endpoint;
static fi_addr_t peer;
static int descriptor = -1; /* of the completion queue; -1 if there is none to sleep on */

static struct board *board;
static struct place theirs; /* their board */
static struct memory memories[4];
static int memory_count;
static uint64_t next_key;

static unsigned char full[SLOTS];
static unsigned slot_out, slot_in, free_slots = SLOTS, old_slots;
static unsigned grant_out, grant_in; /* grants used, grants given */
static unsigned char granted[GRANTS];
static uint64_t landed, taken;
static enum way ways[2][CLASSES];
static int streaming;
static int comparing; /* also on a machine without a processor to spare: others have to run meanwhile */

/* ---- finding a provider ------------------------------------------------------------------------------------------ */

static int is_of_software(const char *name)
{
    return strncmp(name, "tcp", 3) == 0 || strncmp(name, "udp", 3) == 0 || strncmp(name, "net", 3) == 0
        || strncmp(name, "sockets", 7) == 0;
}

static struct fi_info *find(const char *provider)
{
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    int loopback = provider != NULL && is_of_software(provider);

    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    if (provider != NULL)
        hints->fabric_attr->prov_name = strdup(provider);
    if (fi_getinfo(API, loopback ? "127.0.0.1" : NULL, NULL, loopback ? FI_SOURCE : 0, hints, &found) != 0)
        found = NULL;
    fi_freeinfo(hints);
    for (struct fi_info *next = found; next != NULL; next = next->next) {
        if (next->domain_attr->cq_data_size >= 4 && (provider == NULL || strcmp(next->fabric_attr->prov_name, provider) == 0))
            return next; /* what stands before it is never given back */
    }
    return NULL;
}

static void list(void)
{
    const char *last = "";

    for (struct fi_info *next = find(NULL); next != NULL; next = next->next) {
        const char *name = next->fabric_attr->prov_name;
        if (next->domain_attr->cq_data_size >= 4 && strcmp(name, last) != 0)
            printf("%s\n", name);
        last = name;
    }
    exit(0);
}

static const char *provider;
static int locks; /* whether memory that the pattern "register" registers is locked */

int wire_rank(int *argc, char ***argv, int rank)
{
    if (*argc == 2 && strcmp((*argv)[1], "list") == 0)
        list();
    if (*argc == 3 && strcmp((*argv)[1], "check") == 0)
        exit(find((*argv)[2]) != NULL ? 0 : 1);
    provider = *argc > 4 ? (*argv)[4] : "";
    locks = *argc > 5 && strcmp((*argv)[5], "mlock") == 0;
    return rank;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void check(long result, const char *what)
{
    char text[200];

    if (result >= 0)
        return;
    snprintf(text, sizeof text, "%s: %s (%s)", what, fi_strerror((int)-result), provider);
    errno = 0;
    fail(text);
}

static struct fid_mr *enter(void *memory, size_t bytes)
{
    struct fid_mr *mr;

    check(fi_mr_reg(domain, memory, bytes, FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
              ++next_key, 0, &mr, NULL),
        "fi_mr_reg");
    return mr;
}

void wire_memory(void *memory, size_t bytes)
{
    if (memory_count == sizeof memories / sizeof memories[0])
        return;
    memories[memory_count] = (struct memory){memory, bytes, enter(memory, bytes)};
    memory_count++;
}

static struct memory *memory_of(const void *block, size_t bytes)
{
    for (int i = 0; i < memory_count; i++) {
        struct memory *memory = &memories[i];
        if ((char *)block >= memory->begin && (char *)block + bytes <= memory->begin + memory->bytes)
            return memory;
    }
    return NULL;
}

static struct place place_of(const void *block, size_t bytes, char *begin, struct fid_mr *mr)
{
    int absolute = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    return (struct place){absolute ? (uintptr_t)block : (uintptr_t)((char *)block - begin), fi_mr_key(mr), bytes};
}

/* What an operation needs to touch local memory; may register it for that operation. */
static void *local(const void *block, size_t bytes, struct operation *operation)
{
    struct memory *memory;

    if ((info->domain_attr->mr_mode & FI_MR_LOCAL) == 0)
        return NULL;
    memory = memory_of(block, bytes);
    if (memory != NULL)
        return fi_mr_desc(memory->mr);
    operation->registered = enter((void *)block, bytes);
    return fi_mr_desc(operation->registered);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void to_hex(char *text, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    text[2 * count] = 0;
}

static size_t from_hex(unsigned char *bytes, const char *text)
{
    size_t count = strlen(text) / 2;

    for (size_t i = 0; i < count; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    return count;
}

static void open_queue(void)
{
    struct fi_cq_attr attributes = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD, .size = 1024};

    if (task->wait != WAIT_SPIN && fi_cq_open(domain, &attributes, &queue, NULL) == 0) {
        check(fi_control(&queue->fid, FI_GETWAIT, &descriptor), "FI_GETWAIT");
        return;
    }
    attributes.wait_obj = FI_WAIT_NONE;
    check(fi_cq_open(domain, &attributes, &queue, NULL), "fi_cq_open");
}

static void compare_ways(void);

void wire_open(const struct task *of)
{
    struct fi_av_attr vector = {.type = FI_AV_TABLE, .count = 4};
    unsigned char name[NAME_BYTES + sizeof theirs];
    size_t length = NAME_BYTES;
    char own[2 * sizeof name + 1], other[2 * sizeof name + 1];
    struct place place;

    task = of;
    info = find(provider);
    if (info == NULL)
        fail("libfabric does not have this provider here");
    if (info->tx_attr->size > 1024)
        info->tx_attr->size = 1024;
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_av_open(domain, &vector, &addresses, NULL), "fi_av_open");
    open_queue();
    check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
    check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &queue->fid, FI_SEND | FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint), "fi_enable");

    if (posix_memalign((void **)&board, 4096, sizeof *board) != 0)
        fail("there is not enough memory");
    memset(board, 0, sizeof *board);
    wire_memory(board, sizeof *board);
    place = place_of(board, sizeof *board, (char *)board, memories[0].mr);
    memcpy(name, &place, sizeof place);
    check(fi_getname(&endpoint->fid, name + sizeof place, &length), "fi_getname");
    to_hex(own, name, sizeof place + length);
    exchange_contacts(own, other, sizeof other);
    from_hex(name, other);
    memcpy(&theirs, name, sizeof theirs);
    if (fi_av_insert(addresses, name + sizeof theirs, 1, &peer, 0, NULL) != 1)
        fail("fi_av_insert");
    compare_ways();
}

/* ---- completions ------------------------------------------------------------------------------------------------- */

static void take_in(const struct fi_cq_data_entry *entry)
{
    unsigned value;

    if ((entry->flags & FI_REMOTE_CQ_DATA) == 0) {
        struct operation *operation = entry->op_context;
        if (operation != NULL) {
            if (operation->registered != NULL)
                fi_close(&operation->registered->fid);
            operation->done = 1;
        }
        return;
    }
    value = entry->data & 0xffffff;
    switch ((enum kind)(entry->data >> 24)) {
    case FULL_SLOT:
        full[value % SLOTS] = 1;
        break;
    case FREE_SLOTS:
        free_slots += value;
        break;
    case GRANT:
        granted[value % GRANTS] = 1;
        break;
    case LANDED:
        landed++;
        break;
    default:
        fail("immediate data that this program does not know");
    }
}

static int progress(void)
{
    struct fi_cq_data_entry entries[READ_TOGETHER];
    ssize_t count = fi_cq_read(queue, entries, READ_TOGETHER);

    if (count == -FI_EAGAIN)
        return 0;
    if (count == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(queue, &error, 0);
        check(-error.err, "an operation failed");
    }
    check(count, "fi_cq_read");
    for (ssize_t i = 0; i < count; i++)
        take_in(&entries[i]);
    return 1;
}

static void progress_or_wait(long turn)
{
    struct fid *wait = &queue->fid;

    if (progress())
        return;
    if (comparing && turn % TURNS_BEFORE_YIELD == TURNS_BEFORE_YIELD - 1)
        sched_yield();
    if (!idle(task, turn))
        return;
    if (descriptor < 0) {
        usleep(NAP_US);
    } else if (fi_trywait(fabric, &wait, 1) == 0) {
        struct pollfd one = {.fd = descriptor, .events = POLLIN};
        poll(&one, 1, 1);
    }
}

/* Until the condition holds; each turn reads the completion queue. */
#define AWAIT(condition) \
    for (long turn = 0; !(condition); turn++) \
    progress_or_wait(turn)

/* Repeats a call until the provider takes it. */
#define POST(call) \
    do { \
        ssize_t result; \
        for (long turn = 0; (result = (call)) == -FI_EAGAIN; turn++) \
            progress_or_wait(turn); \
        check(result, #call); \
    } while (0)

/* ---- writes ------------------------------------------------------------------------------------------------------ */

static uint64_t data_of(enum kind kind, unsigned value)
{
    return (uint64_t)kind << 24 | (value & 0xffffff);
}

static void start(struct operation *operation)
{
    operation->done = 0;
    operation->registered = NULL;
}

/* Writes; what is longer than inject_size belongs to libfabric until the operation is done. */
static void put(const void *block, size_t bytes, uint64_t address, uint64_t key, uint64_t data, struct operation *operation)
{
    start(operation);
    if (bytes <= info->tx_attr->inject_size) {
        POST(fi_inject_writedata(endpoint, block, bytes, data, peer, address, key));
        operation->done = 1;
    } else {
        void *description = local(block, bytes, operation);
        POST(fi_writedata(endpoint, block, bytes, description, data, peer, address, key, operation));
    }
}

/* A short word for the other process, written beside its kind. */
static void tell_them(const void *word, size_t bytes, size_t offset, uint64_t data)
{
    static struct operation operations[GRANTS];
    static struct place words[GRANTS];
    static unsigned at;
    struct operation *operation = &operations[at % GRANTS];

    if (at >= GRANTS)
        AWAIT(operation->done);
    memcpy(&words[at % GRANTS], word, bytes);
    put(&words[at++ % GRANTS], bytes, theirs.address + offset, theirs.key, data, operation);
}

static void give_slots_back(void)
{
    if (++old_slots == OLD_SLOTS) {
        uint64_t nothing = 0;
        tell_them(&nothing, sizeof nothing, offsetof(struct board, grants) + (GRANTS - 1) * sizeof(struct place),
            data_of(FREE_SLOTS, old_slots));
        old_slots = 0;
    }
}

/* ---- the three ways ---------------------------------------------------------------------------------------------- */

static void begin_send(enum way way, const void *block, size_t bytes, struct operation *operation)
{
    switch (way) {
    case SEND:
        start(operation);
        if (bytes <= info->tx_attr->inject_size) {
            POST(fi_inject(endpoint, block, bytes, peer));
            operation->done = 1;
        } else {
            void *description = local(block, bytes, operation);
            POST(fi_send(endpoint, block, bytes, description, peer, operation));
        }
        break;
    case SLOT: {
        unsigned slot = slot_out++ % SLOTS;
        AWAIT(free_slots > 0);
        free_slots--;
        put(block, bytes, theirs.address + slot * SLOT_BYTES, theirs.key, data_of(FULL_SLOT, slot), operation);
        break;
    }
    default: {
        unsigned at = grant_out++ % (GRANTS - 1);
        AWAIT(granted[at]);
        granted[at] = 0;
        put(block, bytes, board->grants[at].address, board->grants[at].key, data_of(LANDED, 0), operation);
    }
    }
}

static void begin_receive(enum way way, void *block, size_t bytes, struct operation *operation)
{
    start(operation);
    if (way == SEND) {
        void *description = local(block, bytes, operation);
        POST(fi_recv(endpoint, block, bytes, description, FI_ADDR_UNSPEC, operation));
    } else if (way == GRANTED) {
        struct memory *memory = memory_of(block, bytes);
        unsigned at = grant_in++ % (GRANTS - 1);
        struct place place;
        if (memory == NULL)
            operation->registered = enter(block, bytes);
        place = memory == NULL ? place_of(block, bytes, block, operation->registered)
                               : place_of(block, bytes, memory->begin, memory->mr);
        tell_them(&place, sizeof place, offsetof(struct board, grants) + at * sizeof place, data_of(GRANT, at));
    }
}

static void end_receive(enum way way, void *block, size_t bytes, struct operation *operation)
{
    if (way == SEND) {
        AWAIT(operation->done);
    } else if (way == SLOT) {
        unsigned slot = slot_in++ % SLOTS;
        AWAIT(full[slot]);
        full[slot] = 0;
        memcpy(block, board->slots[slot], bytes);
        give_slots_back();
    } else {
        AWAIT(landed > taken);
        taken++;
        if (operation->registered != NULL)
            fi_close(&operation->registered->fid);
    }
}

static enum way way_of(size_t bytes)
{
    int class = 0;

    while (class < CLASSES - 1 && (1UL << class) < bytes)
        class++;
    return ways[streaming][class];
}

void wire_send(const void *block, size_t bytes)
{
    struct operation operation;

    begin_send(way_of(bytes), block, bytes, &operation);
    AWAIT(operation.done);
}

void wire_receive(void *block, size_t bytes)
{
    struct operation operation;
    enum way way = way_of(bytes);

    begin_receive(way, block, bytes, &operation);
    end_receive(way, block, bytes, &operation);
}

static void send_all(enum way way, size_t bytes, long count, void *(*block)(void *at), void *at)
{
    static struct operation operations[WINDOW];

    for (long i = 0; i < count; i++) {
        struct operation *operation = &operations[i % WINDOW];
        if (i >= WINDOW)
            AWAIT(operation->done);
        begin_send(way, block(at), bytes, operation);
    }
    for (long i = 0; i < count && i < WINDOW; i++)
        AWAIT(operations[i].done);
}

static void receive_all(enum way way, size_t bytes, long count, void *(*block)(void *at), void *at)
{
    static struct operation operations[WINDOW];
    static void *blocks[WINDOW];
    long posted = 0;

    for (long i = 0; i < count; i++) {
        for (; posted < count && posted < i + WINDOW; posted++) {
            blocks[posted % WINDOW] = block(at);
            begin_receive(way, blocks[posted % WINDOW], bytes, &operations[posted % WINDOW]);
        }
        end_receive(way, blocks[i % WINDOW], bytes, &operations[i % WINDOW]);
    }
}

void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    streaming = 1;
    enum way way = way_of(bytes);
    streaming = 0;
    send_all(way, bytes, count, block, at);
}

void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    streaming = 1;
    enum way way = way_of(bytes);
    streaming = 0;
    receive_all(way, bytes, count, block, at);
}

/* ---- comparing the ways ------------------------------------------------------------------------------------------ */

static void *same(void *block)
{
    return block;
}

/* Rank 0 sends; returns how long it took. */
static int64_t trial(enum way way, size_t bytes, long count, int stream, char *block)
{
    int64_t begin_ns = now_ns();
    struct operation operation;

    for (long i = 0; i < (stream ? 1 : count); i++) {
        int sends = task->rank == 0;
        for (int leg = 0; leg < 2; leg++, sends = !sends) {
            long of_leg = stream && leg == 0 ? count : 1;
            if (stream && leg == 0 && sends) {
                send_all(way, bytes, of_leg, same, block);
            } else if (stream && leg == 0) {
                receive_all(way, bytes, of_leg, same, block);
            } else if (sends) {
                begin_send(way, block, bytes, &operation);
                AWAIT(operation.done);
            } else {
                begin_receive(way, block, bytes, &operation);
                end_receive(way, block, bytes, &operation);
            }
        }
    }
    return now_ns() - begin_ns;
}

static int has(enum way way, size_t bytes)
{
    return way == SEND || (way == SLOT ? bytes <= SLOT_BYTES : bytes >= GRANT_FROM);
}

/* What rank 1 is told before a trial; a count of 0 ends them. */
struct trial_order {
    int64_t way, bytes, count, stream;
};

static int64_t lead_trial(enum way way, size_t bytes, long count, int stream, char *block)
{
    struct trial_order order = {way, (int64_t)bytes, count, stream};

    wire_send(&order, sizeof order); /* ways[0] is SEND throughout so far */
    return trial(way, bytes, count, stream, block) / count;
}

static void follow_trials(char *block)
{
    struct trial_order order;

    for (wire_receive(&order, sizeof order); order.count > 0; wire_receive(&order, sizeof order))
        trial((enum way)order.way, order.bytes, order.count, (int)order.stream, block);
}

/* More and more messages, until the time is over; then the least time of each way counts. */
static void lead_trials(enum way found[2][CLASSES], char *block)
{
    static int64_t best_ns[2][CLASSES][WAYS];
    int64_t end_ns = now_ns() + COMPARING_NS;
    struct trial_order end = {0, 0, 0, 0};

    memset(best_ns, 0x7f, sizeof best_ns);
    for (int pass = 0; pass < PASSES && now_ns() < end_ns; pass++) {
        for (int at = 0; at < 2 * CLASSES * WAYS && now_ns() < end_ns; at++) {
            enum way way = at % WAYS;
            int class = at / WAYS % CLASSES, stream = at / WAYS / CLASSES;
            size_t bytes = 1UL << class;
            long most = (long)(TRIAL_BYTES / bytes), count = 8L << pass;
            if (has(way, bytes)) {
                int64_t took_ns = lead_trial(way, bytes, count < most ? count : most, stream, block);
                if (took_ns < best_ns[stream][class][way])
                    best_ns[stream][class][way] = took_ns;
            }
        }
    }
    wire_send(&end, sizeof end);
    for (int stream = 0; stream < 2; stream++)
        for (int class = 0; class < CLASSES; class++)
            for (enum way way = SLOT; way < WAYS; way++)
                if (best_ns[stream][class][way] < best_ns[stream][class][found[stream][class]])
                    found[stream][class] = way;
}

static void compare_ways(void)
{
    char *block = aligned_alloc(4096, MOST_BYTES);
    enum way found[2][CLASSES] = {{SEND}};

    memset(block, 0, MOST_BYTES);
    wire_memory(block, MOST_BYTES);
    comparing = 1;
    if (task->rank == 0) {
        lead_trials(found, block);
        wire_send(found, sizeof found);
    } else {
        follow_trials(block);
        wire_receive(found, sizeof found);
    }
    comparing = 0;
    memcpy(ways, found, sizeof ways);
    if (task->rank == 0 && getenv("MADELEINE_PERF_WAYS") != NULL) {
        for (int stream = 0; stream < 2; stream++)
            for (int class = 0; class < CLASSES; class++)
                fprintf(stderr, "%s %s %d B: %s\n", provider, stream ? "stream" : "round trip", 1 << class,
                    (const char *[]){"send", "slot", "granted"}[found[stream][class]]);
    }
}

/* ---- registering memory ------------------------------------------------------------------------------------------ */

/* As an owner lets others read and write memory; returns how long it took. */
static int64_t register_often(void *memory, size_t bytes, int64_t count)
{
    int64_t begin_ns = now_ns();

    for (int64_t i = 0; i < count; i++) {
        struct fid_mr *mr;
        if (locks && mlock(memory, bytes) != 0)
            fail("mlock (ulimit -l tells how much may be locked)");
        check(fi_mr_reg(domain, memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, ++next_key, 0, &mr, NULL),
            "fi_mr_reg");
        check(fi_close(&mr->fid), "fi_close");
        if (locks)
            munlock(memory, bytes);
    }
    return now_ns() - begin_ns;
}

long wire_program(const struct program *program, double *figures, long most)
{
    int64_t start_ns = now_ns(), count = 1;
    long found = 0;
    void *memory;

    if (strcmp(program->pattern, "register") != 0)
        return -1;
    if (task->rank != 0)
        return 0;
    if (posix_memalign(&memory, 4096, program->bytes) != 0)
        fail("there is not enough memory");
    memset(memory, 1, program->bytes);
    do {
        int64_t elapsed_ns = register_often(memory, program->bytes, count);
        count = elapsed_ns < REGISTERING_NS / 2 ? 2 * count : count * REGISTERING_NS / elapsed_ns;
        count = count < 1 ? 1 : count;
    } while (now_ns() - start_ns < program->warm_ns);
    while (now_ns() - start_ns < program->duration_ns || found < LEAST_SAMPLES) {
        double us = register_often(memory, program->bytes, count) / (1e3 * count);
        if (found < most)
            figures[found++] = us;
    }
    free(memory);
    return found;
}

void wire_close(void)
{
    fi_close(&endpoint->fid);
    for (int i = 0; i < memory_count; i++)
        fi_close(&memories[i].mr->fid);
    fi_close(&queue->fid);
    fi_close(&addresses->fid);
    fi_close(&domain->fid);
    fi_close(&fabric->fid);
}
