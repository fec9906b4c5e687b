/*
 * The least that memory shared by two processes takes: what messages there are bounded by. Small messages go through short
 * cells, each with its state in front, in one cache line if they fit. Larger ones go by two copies, piece by piece through
 * large cells, so that the receiver copies while the sender does; or, if asked for, by a single copy: the sender says where
 * they lie, and the receiver reads them there with process_vm_readv. Of two copies, the receiver's may be one with streaming
 * stores, which do not read what they overwrite into the caches, nor leave there what they write.
 */
#define _GNU_SOURCE
#include "wire.h"
#include "shared.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE_BYTES 64
#define SHORT_BYTES 8192
#define SHORT_CELLS 64
#define PIECE_BYTES (64 << 10)
#define MIN_PIECE_BYTES (8 << 10)
#define PIECES 8
#define SINGLE_FROM_BYTES (32 << 10)
#define TURNS_BETWEEN_LOOKS (1 << 22)

struct short_cell {
    _Alignas(LINE_BYTES) _Atomic uint64_t full; /* whether what follows is there */
    char data[SHORT_BYTES];
};

struct piece {
    _Alignas(2 * LINE_BYTES) _Atomic uint64_t full;
    _Alignas(LINE_BYTES) char data[PIECE_BYTES];
};

struct direction {
    struct short_cell cells[SHORT_CELLS];
    struct piece pieces[PIECES];
};

static const struct task *task;
static int single_copy, streaming;
static pid_t peer;
static struct direction *out, *in;
static unsigned cell_out, cell_in, piece_out, piece_in;

int wire_rank(int *argc, char ***argv, int rank)
{
    single_copy = *argc > 4 && strcmp((*argv)[4], "single-copy") == 0;
    streaming = *argc > 4 && strcmp((*argv)[4], "streaming") == 0;
#ifndef __SSE2__
    if (streaming)
        fail("streaming stores: written for processors with SSE2 only");
#endif
    return rank;
}

void wire_open(const struct task *of)
{
    struct direction *both;

    task = of;
    both = map_shared(task, 2 * sizeof *both, &peer);
    out = &both[task->rank];
    in = &both[1 - task->rank];
}

static void await(_Atomic uint64_t *word, int full)
{
    for (long turn = 0; (atomic_load_explicit(word, memory_order_acquire) != 0) != full; turn++) {
        idle(task, turn); /* there is nothing to sleep on */
        if (turn % TURNS_BETWEEN_LOOKS == TURNS_BETWEEN_LOOKS - 1 && kill(peer, 0) != 0)
            fail("the other process has ended");
    }
}

static struct short_cell *put_short(const void *data, size_t bytes)
{
    struct short_cell *cell = &out->cells[cell_out++ % SHORT_CELLS];

    await(&cell->full, 0);
    memcpy(cell->data, data, bytes);
    atomic_store_explicit(&cell->full, 1, memory_order_release);
    return cell;
}

static void take_short(void *data, size_t bytes, void (*use)(void *data))
{
    struct short_cell *cell = &in->cells[cell_in++ % SHORT_CELLS];

    await(&cell->full, 1);
    memcpy(data, cell->data, bytes);
    if (use != NULL)
        use(data);
    atomic_store_explicit(&cell->full, 0, memory_order_release);
}

/* A piece begins at a whole line of a block that does. */
static void copy_piece(char *to, const char *from, size_t bytes)
{
    size_t done = 0;

#ifdef __SSE2__
    if (streaming && (uintptr_t)to % sizeof(__m128i) == 0) {
        for (; done + LINE_BYTES <= bytes; done += LINE_BYTES) {
            const __m128i *source = (const __m128i *)(from + done);
            __m128i *target = (__m128i *)(to + done);
            __m128i first = _mm_loadu_si128(source), second = _mm_loadu_si128(source + 1);
            __m128i third = _mm_loadu_si128(source + 2), fourth = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, first);
            _mm_stream_si128(target + 1, second);
            _mm_stream_si128(target + 2, third);
            _mm_stream_si128(target + 3, fourth);
        }
        _mm_sfence();
    }
#endif
    memcpy(to + done, from + done, bytes - done);
}

static size_t piece_bytes(size_t bytes)
{
    size_t even = (bytes / PIECES + 4095) / 4096 * 4096;

    return even < MIN_PIECE_BYTES ? MIN_PIECE_BYTES : even > PIECE_BYTES ? PIECE_BYTES : even;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sends a message, or says where it lies; the cell then says when it has been read. */
static struct short_cell *send_or_lend(const void *block, size_t bytes)
{
    if (single_copy && bytes >= SINGLE_FROM_BYTES) {
        struct iovec where = {.iov_base = (void *)block, .iov_len = bytes};
        return put_short(&where, sizeof where);
    }
    if (bytes <= SHORT_BYTES) {
        put_short(block, bytes);
        return NULL;
    }
    for (size_t at = 0, step = piece_bytes(bytes); at < bytes; at += step) {
        struct piece *piece = &out->pieces[piece_out++ % PIECES];
        await(&piece->full, 0);
        memcpy(piece->data, (const char *)block + at, least(step, bytes - at));
        atomic_store_explicit(&piece->full, 1, memory_order_release);
    }
    return NULL;
}

static void await_reading(struct short_cell *lent)
{
    if (lent != NULL)
        await(&lent->full, 0);
}

void wire_send(const void *block, size_t bytes)
{
    await_reading(send_or_lend(block, bytes));
}

static char *reading_to;

static void read_there(void *data)
{
    struct iovec *where = data;

    for (size_t at = 0; at < where->iov_len;) {
        struct iovec from = {.iov_base = (char *)where->iov_base + at, .iov_len = where->iov_len - at};
        struct iovec to = {.iov_base = reading_to + at, .iov_len = from.iov_len};
        ssize_t count = process_vm_readv(peer, &to, 1, &from, 1, 0);
        if (count <= 0)
            fail("process_vm_readv");
        at += count;
    }
}

void wire_receive(void *block, size_t bytes)
{
    if (single_copy && bytes >= SINGLE_FROM_BYTES) {
        struct iovec where;
        reading_to = block;
        take_short(&where, sizeof where, read_there);
    } else if (bytes <= SHORT_BYTES) {
        take_short(block, bytes, NULL);
    } else {
        for (size_t at = 0, step = piece_bytes(bytes); at < bytes; at += step) {
            struct piece *piece = &in->pieces[piece_in++ % PIECES];
            await(&piece->full, 1);
            copy_piece((char *)block + at, piece->data, least(step, bytes - at));
            atomic_store_explicit(&piece->full, 0, memory_order_release);
        }
    }
}

void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    struct short_cell *lent[SHORT_CELLS / 2] = {NULL};

    for (long i = 0; i < count; i++) {
        struct short_cell **oldest = &lent[i % (SHORT_CELLS / 2)];
        await_reading(*oldest);
        *oldest = send_or_lend(block(at), bytes);
    }
    for (int i = 0; i < SHORT_CELLS / 2; i++)
        await_reading(lent[i]);
}

void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    for (long i = 0; i < count; i++)
        wire_receive(block(at), bytes);
}

void wire_close(void)
{
    munmap(task->rank == 0 ? out : in, 2 * sizeof *out);
}
