/*
 * Memory that two processes share: a file in /dev/shm that rank 0 makes and that has no name once both have opened it.
 */
#ifndef SHARED_H
#define SHARED_H

#include "wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* Maps so many bytes, all zero at first, in both processes; tells the other's process id. */
static void *map_shared(const struct task *task, size_t bytes, pid_t *peer)
{
    char own[64], other[64], name[64];
    void *both;
    int file;

    snprintf(own, sizeof own, "%d", getpid());
    if (task->rank == 0) {
        snprintf(name, sizeof name, "/mad-perf-%d", getpid());
        file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0 || posix_fallocate(file, 0, bytes) != 0)
            fail("shm_open");
        exchange_contacts(own, other, sizeof other);
    } else {
        exchange_contacts(own, other, sizeof other);
        snprintf(name, sizeof name, "/mad-perf-%d", atoi(other));
        file = shm_open(name, O_RDWR, 0);
        shm_unlink(name);
    }
    *peer = atoi(other);
    both = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (both == MAP_FAILED)
        fail("mmap");
    close(file);
    return both;
}

#endif
