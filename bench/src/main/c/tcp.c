/*
 * A socket, non-blocking unless the program's fourth argument is "blocking": then the kernel waits, whatever the wait mode. Small messages are read through a buffer, so that a stream of them does not take one call each;
 * each message is written by a call of its own.
 */
#define _GNU_SOURCE
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define BUFFER_BYTES (64 << 10)
#define SMALL_BYTES (BUFFER_BYTES / 4)
#define POLL_MS 30000

static const struct task *task;
static int blocking;
static int peer = -1;
static char ahead[BUFFER_BYTES];
static size_t from, to;

int wire_rank(int *argc, char ***argv, int rank)
{
    blocking = *argc > 4 && strcmp((*argv)[4], "blocking") == 0;
    return rank;
}

void wire_open(const struct task *of)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char contact[64];
    int on = 1;

    task = of;
    if (task->rank == 0) {
        exchange_contacts("-", contact, sizeof contact);
        address.sin_port = htons(atoi(contact));
        peer = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(peer, (struct sockaddr *)&address, sizeof address) != 0)
            fail("connect");
    } else {
        socklen_t length = sizeof address;
        int server = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(server, (struct sockaddr *)&address, sizeof address) != 0 || listen(server, 1) != 0
            || getsockname(server, (struct sockaddr *)&address, &length) != 0)
            fail("listen");
        snprintf(contact, sizeof contact, "%d", ntohs(address.sin_port));
        exchange_contacts(contact, contact, sizeof contact);
        peer = accept(server, NULL, NULL);
        close(server);
    }
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (blocking) {
        struct timeval patience = {.tv_sec = POLL_MS / 1000};
        if (setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0
            || setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
            fail("setsockopt");
    } else if (peer < 0 || fcntl(peer, F_SETFL, O_NONBLOCK) != 0) {
        fail("accept");
    }
}

static void wait_for(short events, long turn)
{
    struct pollfd one = {.fd = peer, .events = events};

    if ((errno != EAGAIN && errno != EINTR) || (blocking && errno == EAGAIN) || (idle(task, turn) && poll(&one, 1, POLL_MS) == 0))
        fail("nothing from the other process");
}

void wire_send(const void *block, size_t bytes)
{
    long turn = 0;

    for (size_t at = 0; at < bytes;) {
        ssize_t count = send(peer, (const char *)block + at, bytes - at, MSG_NOSIGNAL);
        if (count < 0) {
            wait_for(POLLOUT, turn++);
        } else {
            at += count;
            turn = 0;
        }
    }
}

static size_t take(char *target, size_t most)
{
    for (long turn = 0;; turn++) {
        ssize_t count = recv(peer, target, most, 0);
        if (count > 0)
            return count;
        if (count == 0) {
            errno = 0;
            fail("the other process has closed the connection");
        }
        wait_for(POLLIN, turn);
    }
}

void wire_receive(void *block, size_t bytes)
{
    size_t at = to - from < bytes ? to - from : bytes;

    if (bytes <= SMALL_BYTES) {
        while (to - from < bytes) {
            memmove(ahead, ahead + from, to - from);
            to -= from;
            from = 0;
            to += take(ahead + to, BUFFER_BYTES - to);
        }
        at = bytes;
    }
    memcpy(block, ahead + from, at);
    from += at;
    while (at < bytes)
        at += take((char *)block + at, bytes - at);
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
    close(peer);
}
