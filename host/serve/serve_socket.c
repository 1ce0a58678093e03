#ifdef INGOT_HTTP

#include "host/serve/serve_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/serve/serve_listen.h"
#include "host/serve/serve_sockets_private.h"

static struct sockets sockets;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- one connection -------------------------------------------------------------------------- */

static void close_connection(struct connection *k)
{
    sockets.setup.closed(k->user);
    http_connection_close(&k->http);
    close(k->fd);
    free(k);
}

/* Gives the waiting bytes of k->in, and bytes that k->http held back, to the request. True:
 * something changed. */
static bool give(struct connection *k)
{
    enum http_stage stage = k->http.stage;
    size_t used;

    if (!http_connection_wants(&k->http)) {
        return false;
    }
    used = http_connection_take(&k->http, k->in + k->in_at, k->in_bytes - k->in_at);
    k->in_at += used;
    if (k->in_at == k->in_bytes) {
        k->in_at = k->in_bytes = 0;
    }
    if (stage == HTTP_DROPS && k->http.stage != HTTP_DROPS) {
        k->begun = false; /* the next request starts its own clock */
    }
    if (used != 0 && !k->begun && http_connection_begun(&k->http)) {
        k->begun = true;
        k->began = sockets.now;
    }
    if (k->http.stage == HTTP_SOCKET && !k->http.frames.inside) {
        k->began = sockets.now; /* restart the clock for the next message */
    }
    return used != 0 || k->http.stage != stage;
}

/* Returns how many bytes the other side has taken since the last call. The number of sent bytes
 * would hide a slow reader for minutes, because the system buffers some megabytes and asks for more
 * only when a third of them has gone. */
static size_t count_taken(struct connection *k)
{
    uint64_t before = k->taken;
    int queued = 0;

    if (ioctl(k->fd, SIOCOUTQ, &queued) == 0 && queued >= 0 && (uint64_t)queued <= k->sent) {
        k->taken = k->sent - (uint64_t)queued;
    }
    return k->taken > before ? (size_t)(k->taken - before) : 0;
}

/* Sends as much as the system takes. True: something was sent, or the stage has changed. */
static bool send_some(struct connection *k)
{
    enum http_stage stage = k->http.stage;
    ssize_t sent;

    if (k->out_at == k->out_bytes) {
        k->out_at = 0;
        k->out_bytes = http_connection_fill(&k->http, k->out, sizeof k->out);
        if (k->out_bytes == 0) {
            return k->http.stage != stage;
        }
        serve_pace_wait(&k->pace, sockets.now);
    }
    sent = send(k->fd, k->out + k->out_at, k->out_bytes - k->out_at, MSG_NOSIGNAL);
    if (sent < 0) {
        k->broken = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
        return false;
    }
    k->out_at += (size_t)sent;
    k->sent += (uint64_t)sent;
    if (k->out_at == k->out_bytes) {
        serve_pace_take(&k->pace, sockets.now, count_taken(k), true);
    }
    return sent != 0;
}

/* Tells the other side that everything was sent. Bytes that still arrive are read and dropped,
 * because closing a socket with unread bytes would discard bytes of the answer. */
static void begin_lingering(struct connection *k)
{
    k->lingers = true;
    k->began = k->heard = sockets.now;
    (void)shutdown(k->fd, SHUT_WR);
    if (k->ended) {
        k->broken = true;
    }
}

/* Ends an answer: starts the clock for the rest of the request's body, or stops the clock. */
static void end_answer(struct connection *k)
{
    k->begun = k->http.stage == HTTP_DROPS;
    k->served = true;
    k->probed = false;
    k->heard = k->began = sockets.now;
}

/* Does all work that can be done now. */
static void advance(struct connection *k)
{
    bool more = true;

    while (more && !k->broken && !k->lingers) {
        enum http_stage before = k->http.stage;

        more = give(k);
        more = send_some(k) || more;
        if (before == HTTP_ANSWERS &&
            (k->http.stage == HTTP_READS || k->http.stage == HTTP_DROPS)) {
            end_answer(k);
        }
        if (k->http.stage == HTTP_BROKEN) {
            k->broken = true;
        }
        if (k->http.stage == HTTP_CLOSES && k->out_at == k->out_bytes && !more) {
            begin_lingering(k);
        }
    }
    /* The other side sends nothing more, and all its requests are answered. */
    if (k->ended && !k->broken && k->out_at == k->out_bytes && http_connection_wants(&k->http)) {
        k->broken = true;
    }
}

static void read_lingering(struct connection *k)
{
    char waste[16384];
    ssize_t n = recv(k->fd, waste, sizeof waste, 0);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        k->broken = true;
    } else if (n > 0) {
        k->heard = sockets.now;
        k->wasted += (size_t)n;
        k->broken = k->wasted > LINGER_BYTES;
    }
}

static void read_more(struct connection *k)
{
    ssize_t n;

    if (k->lingers) {
        read_lingering(k);
        return;
    }
    if (k->in_bytes == sizeof k->in && k->in_at != 0) {
        memmove(k->in, k->in + k->in_at, k->in_bytes - k->in_at);
        k->in_bytes -= k->in_at;
        k->in_at = 0;
    }
    n = recv(k->fd, k->in + k->in_bytes, sizeof k->in - k->in_bytes, 0);
    if (n > 0) {
        k->in_bytes += (size_t)n;
        k->heard = sockets.now;
        k->pinged = false;
    } else if (n == 0) {
        k->ended = true;
        k->broken = k->http.stage == HTTP_SOCKET;
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        k->broken = true;
    }
}

/* Handles the end of the other side's bytes. If that side is gone, a running request is useless: an
 * interim answer tests that. */
static void meet_end(struct connection *k)
{
    k->probed = true;
    http_connection_probe(&k->http);
}

static short wanted(const struct connection *k)
{
    short events = 0;

    if (k->lingers) {
        return POLLIN;
    }
    if (http_connection_wants(&k->http) && !k->ended && k->in_bytes - k->in_at < sizeof k->in) {
        events |= POLLIN;
    } else if (!k->ended && !k->probed) {
        events |= POLLRDHUP;
    }
    return k->out_at < k->out_bytes ? events | POLLOUT : events;
}

static void serve(struct connection *k, short events)
{
    if ((events & (POLLERR | POLLNVAL)) != 0 || ((events & POLLHUP) != 0 && k->lingers)) {
        k->broken = true;
        return;
    }
    if ((events & POLLHUP) != 0 && (events & POLLIN) == 0) {
        k->broken = true;
        return;
    }
    if ((events & POLLIN) != 0) {
        read_more(k);
    } else if ((events & POLLRDHUP) != 0) {
        meet_end(k);
    }
    advance(k);
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool passed(int64_t since, int64_t limit)
{
    return sockets.now - since > limit;
}

/* Ends a request that arrives too slowly: answers it if possible, and closes the connection. */
static void end_late_request(struct connection *k)
{
    if (!k->begun) {
        k->broken = true;
        return;
    }
    sockets.setup.late(k->user);
    advance(k);
    k->broken = k->broken || k->http.stage == HTTP_READS;
}

static void check_time(struct connection *k)
{
    bool busy = sockets.setup.is_busy(k->user);

    if (k->lingers) {
        k->broken = k->broken || passed(k->heard, LINGER_MS) || passed(k->began, QUIET_MS);
    } else if (k->out_at < k->out_bytes) {
        serve_pace_take(&k->pace, sockets.now, count_taken(k), false);
        k->broken = k->broken || serve_pace_delay(&k->pace, sockets.now) > STALL_MS;
    } else if (k->http.stage == HTTP_READS) {
        if (passed(k->heard, QUIET_MS) ||
            (k->begun &&
             passed(k->began, k->http.request.at == HTTP_AT_HEAD ? QUIET_MS : BODY_MS))) {
            end_late_request(k);
        }
    } else if (k->http.stage == HTTP_DROPS) {
        if (passed(k->heard, QUIET_MS) || passed(k->began, BODY_MS)) {
            begin_lingering(k);
        }
    } else if (k->http.stage == HTTP_SOCKET && !busy) {
        if (passed(k->heard, 2 * QUIET_MS) ||
            (k->http.frames.inside && passed(k->began, BODY_MS))) {
            k->broken = true;
        } else if (passed(k->heard, QUIET_MS) && !k->pinged) {
            k->pinged = k->http.frames.pings = true;
            advance(k);
        }
    }
}

/* ---- room for others ------------------------------------------------------------------------- */

static void drop_broken(void)
{
    size_t n = 0;

    for (size_t i = 0; i < sockets.n; i++) {
        if (sockets.all[i]->broken) {
            close_connection(sockets.all[i]);
        } else {
            sockets.all[n++] = sockets.all[i];
        }
    }
    sockets.n = n;
}

/* True if a caller may have one more connection. *few: it may only get short answers. */
static bool find_room(const unsigned char caller[SERVE_CALLER_BYTES], bool *few)
{
    *few = false;
    if (serve_room_count(&sockets, caller) >= sockets.most - sockets.most / 4 &&
        !serve_room_make(&sockets, caller)) {
        *few = true;
    }
    if (sockets.n >= sockets.most - FEW && !serve_room_make(&sockets, NULL)) {
        *few = true;
    }
    drop_broken();
    return sockets.n < sockets.most;
}

static void take_caller(int fd, const struct sockaddr_storage *a)
{
    unsigned char caller[SERVE_CALLER_BYTES];
    struct connection *k = NULL;
    int on = 1;
    bool few;

    serve_listen_caller(a, caller);
    if (find_room(caller, &few)) {
        k = calloc(1, sizeof *k + sockets.setup.user_bytes);
    }
    if (k == NULL) {
        close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    k->fd = fd;
    k->heard = sockets.now;
    k->user = k + 1;
    memcpy(k->caller, caller, sizeof caller);
    k->group = serve_room_group(&sockets, caller);
    http_connection_open(&k->http, sockets.setup.site, k->user);
    sockets.setup.opened(k->user, &k->http, few);
    sockets.all[sockets.n++] = k;
}

static void take_callers(void)
{
    for (unsigned i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage a = { 0 };
        socklen_t n = sizeof a;
        int fd = accept4(sockets.listener, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            take_caller(fd, &a);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            /* the process cannot open more files: give up a connection, or pause for a moment */
            sockets.rests = !serve_room_make(&sockets, NULL);
            drop_broken();
        }
        return;
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void hear_wake(void)
{
    char bytes[256];

    while (read(sockets.wake[0], bytes, sizeof bytes) == sizeof bytes) {
    }
    atomic_store(&sockets.woken, false);
    for (size_t i = 0; i < sockets.n; i++) {
        if (!sockets.all[i]->broken && !sockets.all[i]->lingers) {
            sockets.setup.woken(sockets.all[i]->user);
            advance(sockets.all[i]);
        }
    }
}

static void check_times(void)
{
    if (sockets.now - sockets.checked < TICK_MS) {
        return;
    }
    sockets.checked = sockets.now;
    sockets.rests = false;
    for (size_t i = 0; i < sockets.n; i++) {
        check_time(sockets.all[i]);
    }
}

static bool turn(void)
{
    size_t n = sockets.n;

    sockets.polled[0] = (struct pollfd){ .fd = sockets.wake[0], .events = POLLIN };
    sockets.polled[1] = (struct pollfd){ .fd = sockets.rests ? -1 : sockets.listener,
                                         .events = POLLIN };
    for (size_t i = 0; i < n; i++) {
        sockets.polled[2 + i] = (struct pollfd){ .fd = sockets.all[i]->fd,
                                                 .events = wanted(sockets.all[i]) };
    }
    if (poll(sockets.polled, (nfds_t)(2 + n), n != 0 || sockets.rests ? TICK_MS : -1) < 0 &&
        errno != EINTR) {
        fprintf(stderr, "ingot: the server's sockets failed: %s\n", strerror(errno));
        return false;
    }
    sockets.now = now_ms();
    for (size_t i = 0; i < n; i++) {
        if (sockets.polled[2 + i].revents != 0) {
            serve(sockets.all[i], sockets.polled[2 + i].revents);
        }
    }
    if (sockets.polled[0].revents != 0) {
        hear_wake();
    }
    check_times();
    drop_broken();
    if (sockets.polled[1].revents != 0) {
        take_callers();
    }
    return true;
}

bool serve_sockets_run(void)
{
    bool good = true;

    sockets.now = now_ms();
    while (good && !atomic_load(&sockets.ends)) {
        good = turn();
    }
    for (size_t i = 0; i < sockets.n; i++) {
        close_connection(sockets.all[i]);
    }
    sockets.n = 0;
    return good;
}

bool serve_sockets_open(const struct serve_sockets_setup *setup)
{
    sockets.setup = *setup;
    sockets.most = serve_room_most();
    sockets.all = calloc(sockets.most, sizeof *sockets.all);
    sockets.counts = calloc(sockets.most, sizeof *sockets.counts);
    sockets.polled = calloc(sockets.most + 2, sizeof *sockets.polled);
    if (sockets.all == NULL || sockets.counts == NULL || sockets.polled == NULL ||
        pipe2(sockets.wake, O_NONBLOCK | O_CLOEXEC) != 0) {
        fprintf(stderr, "ingot: out of memory or file descriptors\n");
        return false;
    }
    sockets.listener = serve_listen(setup->address, setup->port);
    return sockets.listener >= 0;
}

void serve_sockets_url(char *text, size_t bytes)
{
    serve_listen_url(sockets.listener, text, bytes);
}

/* Wakes the loop. However often this is called before the loop reads, one byte is written. */
void serve_sockets_wake(void)
{
    int error = errno;

    if (!atomic_exchange(&sockets.woken, true)) {
        ssize_t written = write(sockets.wake[1], "w", 1);

        (void)written; /* a full pipe wakes the loop too */
    }
    errno = error;
}

void serve_sockets_end(void)
{
    atomic_store(&sockets.ends, true);
    serve_sockets_wake();
}

void serve_sockets_close(void)
{
    close(sockets.listener);
    close(sockets.wake[0]);
    close(sockets.wake[1]);
    free(sockets.all);
    free(sockets.counts);
    free(sockets.polled);
}
#endif
