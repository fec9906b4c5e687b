/*
 * MPI point to point. Streams are windows of non-blocking sends and receives, as in the usual MPI benchmarks. MPI knows
 * how to wait by itself.
 */
#include "wire.h"

#include <mpi.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE is no array */
#endif

#define WINDOW 64
#define WINDOW_BYTES (16L << 20)
#define TAG 7

static int peer;

int wire_rank(int *argc, char ***argv, int rank)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    return rank;
}

void wire_open(const struct task *task)
{
    char contact[16];

    (void)task;
    exchange_contacts("-", contact, sizeof contact);
    MPI_Barrier(MPI_COMM_WORLD);
}

void wire_send(const void *block, size_t bytes)
{
    MPI_Send(block, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
}

void wire_receive(void *block, size_t bytes)
{
    MPI_Recv(block, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int window(size_t bytes, long count)
{
    long fits = WINDOW_BYTES / (long)bytes;

    fits = fits < 2 ? 2 : fits > WINDOW ? WINDOW : fits;
    return (int)(count < fits ? count : fits);
}

void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    MPI_Request requests[WINDOW];

    while (count > 0) {
        int now = window(bytes, count);
        for (int i = 0; i < now; i++)
            MPI_Isend(block(at), (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(now, requests, MPI_STATUSES_IGNORE);
        count -= now;
    }
}

void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    MPI_Request requests[WINDOW];

    while (count > 0) {
        int now = window(bytes, count);
        for (int i = 0; i < now; i++)
            MPI_Irecv(block(at), (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(now, requests, MPI_STATUSES_IGNORE);
        count -= now;
    }
}

void wire_close(void)
{
    MPI_Finalize();
}
