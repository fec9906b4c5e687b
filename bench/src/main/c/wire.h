/* What a measured wire has to offer to the loops in measure.c. Both ends know the size of each message. */
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>
#include <stdint.h>

enum wait_mode { WAIT_SPIN, WAIT_ADAPTIVE, WAIT_BLOCK };

/* What a program was told. */
struct task {
    int rank; /* 0 drives, 1 responds */
    enum wait_mode wait;
    int pin; /* whether to take a processor for itself */
};

/* What a program has to provide. */
int wire_rank(int *argc, char ***argv, int rank); /* the rank, which may be known only to the library */
void wire_open(const struct task *task);
void wire_send(const void *block, size_t bytes);
void wire_receive(void *block, size_t bytes);
/* Many messages of the same size; block(at) is where the next one is. */
void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at);
void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at);
void wire_close(void);
/* Memory in which blocks will be, all of them or but for fresh ones. A wire that need not know does without it. */
void wire_memory(void *memory, size_t bytes) __attribute__((weak));
/*
 * A pattern that the wire measures with loops of its own, in all processes. Rank 0 gets the figures of up to so many
 * samples; returns how many, or -1 if the wire does not know the pattern. Most wires have none.
 */
struct program {
    const char *pattern;
    size_t bytes;
    int64_t duration_ns, warm_ns;
};
long wire_program(const struct program *program, double *figures, long most);

/* What the program can use. */
void fail(const char *what); /* tells mad perf and ends */
void exchange_contacts(const char *own, char *other, size_t bytes);
int64_t now_ns(void);
/* One turn of a wait that has lasted for so many turns: returns 1 when it is time to sleep in the kernel. */
int idle(const struct task *task, long turn);

#endif
