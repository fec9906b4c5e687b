/*
 * A non-blocking datagram socket. A message is one datagram, a long one several. Nothing is repeated: a datagram that is
 * lost ends the measurement. So the sender keeps to a window that fits the receiver's socket: the receiver sends an empty
 * datagram whenever it has received half of it.
 */
#define _GNU_SOURCE
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define POLL_MS 30000
#define SOCKET_BYTES (1 << 20)
#define LONGEST_DATAGRAM 61440
#define WINDOW_BYTES (160 << 10) /* the system's default for a socket is 208 KiB, and it counts its own records */
#define RECORD_BYTES 1024

static const struct task *task;
static int peer = -1;
static size_t unacknowledged, owed; /* sent and not acknowledged; received and not acknowledged */

int wire_rank(int *argc, char ***argv, int rank)
{
    (void)argc;
    (void)argv;
    return rank;
}

void wire_open(const struct task *of)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int bytes = SOCKET_BYTES;
    char contact[64];

    task = of;
    peer = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(peer, (struct sockaddr *)&address, sizeof address) != 0
        || getsockname(peer, (struct sockaddr *)&address, &length) != 0)
        fail("bind");
    snprintf(contact, sizeof contact, "%d", ntohs(address.sin_port));
    exchange_contacts(contact, contact, sizeof contact);
    address.sin_port = htons(atoi(contact));
    if (connect(peer, (struct sockaddr *)&address, sizeof address) != 0 || fcntl(peer, F_SETFL, O_NONBLOCK) != 0)
        fail("connect");
}

static void wait_for(short events, long turn)
{
    struct pollfd one = {.fd = peer, .events = events};

    if ((errno != EAGAIN && errno != EINTR) || (idle(task, turn) && poll(&one, 1, POLL_MS) == 0))
        fail("a datagram was lost, or the other process has ended");
}

static void put(const void *data, size_t bytes)
{
    for (long turn = 0; send(peer, data, bytes, MSG_NOSIGNAL) < 0; turn++)
        wait_for(POLLOUT, turn);
}

/* Takes a datagram of data; an acknowledgement gives the window back. Returns 0 after one. */
static size_t take(void *data, size_t bytes)
{
    ssize_t count;

    for (long turn = 0; (count = recv(peer, data, bytes, MSG_TRUNC)) < 0; turn++)
        wait_for(POLLIN, turn);
    if (count == 0)
        unacknowledged -= WINDOW_BYTES / 2;
    return count;
}

void wire_send(const void *block, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < LONGEST_DATAGRAM ? bytes - done : LONGEST_DATAGRAM;
        while (unacknowledged + part + RECORD_BYTES > WINDOW_BYTES)
            if (take(NULL, 0) != 0)
                fail("a message came while this process waited for an acknowledgement");
        put((const char *)block + done, part);
        unacknowledged += part + RECORD_BYTES;
        done += part;
    }
}

void wire_receive(void *block, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < LONGEST_DATAGRAM ? bytes - done : LONGEST_DATAGRAM;
        size_t count = take((char *)block + done, part);
        if (count == 0)
            continue;
        if (count != part)
            fail("a datagram has the wrong size");
        done += part;
        for (owed += part + RECORD_BYTES; owed >= WINDOW_BYTES / 2; owed -= WINDOW_BYTES / 2)
            put(NULL, 0);
    }
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
