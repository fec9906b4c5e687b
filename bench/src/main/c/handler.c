/*
 * Messages through shared memory for a process that also handles them while it computes: a second thread sleeps, and who
 * sends while the first one does not poll rings for it. It takes the message, as a handler would, and leaves it to the first
 * thread. This is the least that such a handler takes: what an exchange after computing is bounded by.
 */
#define _GNU_SOURCE
#include "wire.h"
#include "shared.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_BYTES 64
#define CELL_BYTES 8192
#define CELLS 4
#define TURNS_BETWEEN_LOOKS (1 << 22)

struct cell {
    _Alignas(LINE_BYTES) _Atomic uint32_t full;
    char data[CELL_BYTES];
};

struct direction {
    _Alignas(LINE_BYTES) _Atomic uint32_t asleep; /* whether the receiver's second thread sleeps, and nobody polls */
    _Atomic uint32_t rings;
    struct cell cells[CELLS];
};

static const struct task *task;
static pid_t peer;
static struct direction *out, *in;
static unsigned cell_out, cell_in;

/* Which thread takes messages, and what the second one has taken: the cells are in order. */
static _Atomic int taking;
static char handled[CELLS][CELL_BYTES];
static _Atomic unsigned handled_count;
static unsigned used_count;

int wire_rank(int *argc, char ***argv, int rank)
{
    (void)argc;
    (void)argv;
    return rank;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static int take(void *data, size_t bytes)
{
    struct cell *cell = &in->cells[cell_in % CELLS];

    if (!atomic_load_explicit(&cell->full, memory_order_acquire))
        return 0;
    memcpy(data, cell->data, bytes);
    cell_in++;
    atomic_store_explicit(&cell->full, 0, memory_order_release);
    return 1;
}

static int has_next(void)
{
    return atomic_load(&in->cells[cell_in % CELLS].full) != 0;
}

static void take_for_first_thread(void)
{
    do {
        unsigned count = atomic_load(&handled_count);
        while (count - used_count < CELLS && take(handled[count % CELLS], CELL_BYTES))
            atomic_store(&handled_count, ++count);
        atomic_store(&in->asleep, 1);
    } while (has_next() && atomic_load(&handled_count) - used_count < CELLS && atomic_exchange(&in->asleep, 0));
}

static void *handle(void *unused)
{
    uint32_t seen = 0;

    for (;;) {
        futex(&in->rings, FUTEX_WAIT, seen);
        seen = atomic_load(&in->rings);
        if (atomic_exchange(&taking, 1) == 0) { /* else the first thread polls */
            take_for_first_thread();
            atomic_store(&taking, 0);
        }
    }
    return unused;
}

static void ring(struct direction *for_whom)
{
    if (atomic_load(&for_whom->asleep) && atomic_exchange(&for_whom->asleep, 0)) {
        atomic_fetch_add(&for_whom->rings, 1);
        futex(&for_whom->rings, FUTEX_WAKE, 1);
    }
}

void wire_open(const struct task *of)
{
    struct direction *both;
    pthread_t thread;

    task = of;
    both = map_shared(task, 2 * sizeof *both, &peer);
    out = &both[task->rank];
    in = &both[1 - task->rank];
    atomic_store(&in->asleep, 1);
    if (pthread_create(&thread, NULL, handle, NULL) != 0)
        fail("pthread_create");
}

static void wait_a_turn(long turn)
{
    idle(task, turn); /* it never sleeps */
    if (turn % TURNS_BETWEEN_LOOKS == TURNS_BETWEEN_LOOKS - 1 && kill(peer, 0) != 0)
        fail("the other process has ended");
}

void wire_send(const void *block, size_t bytes)
{
    struct cell *cell = &out->cells[cell_out++ % CELLS];

    for (long turn = 0; atomic_load_explicit(&cell->full, memory_order_acquire); turn++)
        wait_a_turn(turn);
    memcpy(cell->data, block, bytes);
    atomic_store(&cell->full, 1);
    ring(out);
}

void wire_receive(void *block, size_t bytes)
{
    for (long turn = 0; atomic_exchange(&taking, 1) != 0; turn++)
        wait_a_turn(turn);
    if (atomic_load(&handled_count) != used_count) {
        memcpy(block, handled[used_count++ % CELLS], bytes);
        atomic_store(&taking, 0);
        return;
    }
    atomic_store(&in->asleep, 0);
    for (long turn = 0; !take(block, bytes); turn++)
        wait_a_turn(turn);
    atomic_store(&taking, 0);
    atomic_store(&in->asleep, 1);
    if (has_next())
        ring(in); /* it came before the second thread could be rung for */
}

void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    for (long i = 0; i < count; i++)
        wire_send(block(at), bytes);
}

void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    for (long i = 0; i < count; i++)
        wire_receive(block(at), bytes);
}

void wire_close(void)
{
    munmap(task->rank == 0 ? out : in, 2 * sizeof *out); /* the second thread ends with the process */
}
