/*
 * A non-blocking datagram socket, one datagram per message. Nothing is repeated: a datagram that is lost ends the
 * measurement. That is why only round trips are measured, of which there is one at a time.
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

static const struct task *task;
static int peer = -1;

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

void wire_send(const void *block, size_t bytes)
{
    for (long turn = 0; send(peer, block, bytes, MSG_NOSIGNAL) < 0; turn++)
        wait_for(POLLOUT, turn);
}

void wire_receive(void *block, size_t bytes)
{
    ssize_t count;

    for (long turn = 0; (count = recv(peer, block, bytes, MSG_TRUNC)) < 0; turn++)
        wait_for(POLLIN, turn);
    if ((size_t)count != bytes)
        fail("a datagram has the wrong size");
}

void wire_send_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    (void)bytes;
    (void)count;
    (void)block;
    (void)at;
    fail("streams of datagrams are not measured");
}

void wire_receive_all(size_t bytes, long count, void *(*block)(void *at), void *at)
{
    wire_send_all(bytes, count, block, at);
}

void wire_close(void)
{
    close(peer);
}
