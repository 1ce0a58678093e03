#include "host/line/send_http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "host/line/serial_line.h"
#include "runtime/base/crc32c.h"

enum {
    RANGE_BYTES = 4 << 20, /* bytes of a request: whole blocks of a card, sent in about a
                    second */
    ANSWER_BYTES = 16384,
    STEP_MS = 200,
    SILENCE_MS = 60000, /* time for the answer to a range */
    LAST_SILENCE_MS =
        900000, /* time for the answer to the last range, for which the board reads back the whole
                   file */
    SHOW_MS = 500,
    TRIES = 10, /* attempts without progress */
    PAUSE_MS = 1000,
};

struct reply {
    int status; /* 0: none came */
    uint64_t have;
    char body[ANSWER_BYTES];
};

bool send_http_is(const char *to)
{
    return strncmp(to, "http://", 7) == 0;
}

static bool fail(struct send_http *s, const char *why)
{
    snprintf(s->error_message, sizeof s->error_message, "%s", why);
    return false;
}

/* Read http://HOST[:PORT][/]; an IPv6 host has brackets. */
static bool read_url(struct send_http *s)
{
    const char *host = s->to + strlen("http://");
    size_t n = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":/");
    const char *rest = host + n + (host[n] == ']'), *name = host + (host[0] == '[');
    size_t bytes = n - (size_t)(host[0] == '['), digits = 0;

    snprintf(s->port, sizeof s->port, "80");
    if (rest[0] == ':') {
        digits = strspn(rest + 1, "0123456789");
        snprintf(s->port, sizeof s->port, "%.*s", digits < 6 ? (int)digits : 0, rest + 1);
        rest += 1 + digits;
    }
    if (bytes == 0 || bytes >= sizeof s->host || s->port[0] == '\0' ||
        (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0)) {
        return fail(s, "a board on the network is http://HOST or http://HOST:PORT");
    }
    snprintf(s->host, sizeof s->host, "%.*s", (int)bytes, name);
    return true;
}

static int connect_to(struct send_http *s)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int fd = -1, error = getaddrinfo(s->host, s->port, &want, &found);

    if (error != 0) {
        (void)fail(s, gai_strerror(error));
        return -1;
    }
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            (void)fail(s, strerror(errno));
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

static void show(struct send_http *s, uint64_t at, bool ends)
{
    uint64_t now = serial_millis(), ms = now - s->began_ms + 1;
    bool terminal = isatty(2);

    if (s->quiet || (!ends && (!terminal || now - s->said_ms < SHOW_MS))) {
        return;
    }
    s->said_ms = now;
    fprintf(stderr, "%s%3u %%, %.2f of %.2f MiB, %.1f kB/s%s", terminal ? "\r" : "",
            (unsigned)(100 * at / s->n), (double)at / 1048576, (double)s->n / 1048576,
            (double)(at - s->resumed_at) / (double)ms, terminal && !ends ? "  " : "\n");
}

/* Wait until the socket can be written or read. Returns false if the board was silent for too
 * long, or the user cancels. */
static bool await(const struct send_http *s, int fd, short events, int ms)
{
    struct pollfd p = { .fd = fd, .events = events };

    for (int waited = 0; waited < ms && *s->stopped == 0; waited += STEP_MS) {
        if (poll(&p, 1, STEP_MS) > 0) {
            return true;
        }
    }
    return false;
}

/* Send bytes until an answer comes; an early answer means that the board refuses them. */
static bool put(struct send_http *s, int fd, const void *bytes, size_t n, bool shows)
{
    const uint8_t *from = bytes;
    size_t at = 0;

    while (at < n) {
        struct pollfd back = { .fd = fd, .events = POLLIN };
        ssize_t sent;

        if (poll(&back, 1, 0) > 0) {
            return true;
        }
        if (!await(s, fd, POLLOUT, SILENCE_MS)) {
            return fail(s, "the board accepts no more data");
        }
        sent = send(fd, from + at, n - at < 65536 ? n - at : 65536, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) {
            return fail(s, strerror(errno));
        }
        at += sent > 0 ? (size_t)sent : 0;
        if (shows) {
            show(s, s->have + at, false);
        }
    }
    return true;
}

static bool read_reply(struct send_http *s, int fd, int silence_ms, struct reply *r)
{
    char text[ANSWER_BYTES];
    size_t n = 0;
    const char *field, *body;

    while (n + 1 < sizeof text && await(s, fd, POLLIN, silence_ms)) {
        ssize_t came = recv(fd, text + n, sizeof text - 1 - n, 0);

        if (came <= 0) {
            break;
        }
        n += (size_t)came;
    }
    text[n] = '\0';
    body = strstr(text, "\r\n\r\n");
    if (body == NULL || sscanf(text, "HTTP/1.%*1[01] %3d", &r->status) != 1) {
        r->status = 0;
        return fail(s, "the board did not answer");
    }
    field = strstr(text, "\r\nrange: bytes=0-");
    if (field != NULL && field < body) {
        r->have = strtoull(field + strlen("\r\nrange: bytes=0-"), NULL, 10) + 1;
    }
    snprintf(r->body, sizeof r->body, "%s", body + 4);
    return true;
}

/* Make a request over a new connection. what: method and path; fields: additional header lines with
 * their line ends. */
static bool request(struct send_http *s, const char *what, const char *fields, const void *body,
                    size_t n, int silence_ms, struct reply *r)
{
    char head[2048];
    bool v6 = strchr(s->host, ':') != NULL, good;
    int fd = connect_to(s);

    *r = (struct reply){ 0 };
    if (fd < 0) {
        return false;
    }
    snprintf(
        head, sizeof head,
        "%.300s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\nContent-Length: %llu\r\n%.200s"
        "%s%.1000s%s\r\n",
        what, v6 ? "[" : "", s->host, v6 ? "]" : "", s->port, (unsigned long long)n, fields,
        s->token != NULL ? "Authorization: Bearer " : "", s->token != NULL ? s->token : "",
        s->token != NULL ? "\r\n" : "");
    good = put(s, fd, head, strlen(head), false) && put(s, fd, body, n, true) &&
           read_reply(s, fd, silence_ms, r);
    close(fd);
    return good;
}

/* Send the n bytes of the file from `have` on or, if n is 0, ask what the board has. */
static bool ask(struct send_http *s, uint64_t n, struct reply *r)
{
    char what[256], fields[160], range[80];

    if (n == 0) {
        snprintf(range, sizeof range, "*");
    } else {
        snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)s->have,
                 (unsigned long long)(s->have + n - 1));
    }
    snprintf(what, sizeof what, "PUT /%.200s", s->path);
    snprintf(fields, sizeof fields, "Content-Range: bytes %s/%llu\r\nX-CRC32C: %08x\r\n", range,
             (unsigned long long)s->n, (unsigned)s->crc);
    return request(s, what, fields, s->bytes + s->have, n,
                   s->have + n == s->n ? LAST_SILENCE_MS : SILENCE_MS, r);
}

/* Take the error message from OpenAI's error object. */
static bool refused(struct send_http *s, const struct reply *r)
{
    cJSON *root = cJSON_Parse(r->body);
    const char *why = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "error"),
                                         "message"));

    if (why != NULL) {
        (void)fail(s, why);
    } else {
        snprintf(s->error_message, sizeof s->error_message,
                 "the answer has the status %d: is this a board with a network?", r->status);
    }
    cJSON_Delete(root);
    return false;
}

/* True for a status after which the same request is repeated. */
static bool is_passing(int status)
{
    return status == 0 || status == 408 || status == 409 || status == 429;
}

static void rest(const struct send_http *s)
{
    for (int ms = 0; ms < PAUSE_MS && *s->stopped == 0; ms += STEP_MS) {
        (void)poll(NULL, 0, STEP_MS);
    }
}

/* Send one range or, after an error, ask what the board has. *done: the board has everything.
 * False: give up. */
static bool send_range(struct send_http *s, bool *asks, unsigned *tries, bool *done)
{
    static struct reply r;
    uint64_t left = s->n - s->have, before = s->have;

    (void)ask(s, *asks ? 0 : left < RANGE_BYTES ? left : RANGE_BYTES, &r);
    if (*s->stopped != 0) {
        return fail(s, "stopped: the received part is kept, and the next try continues");
    }
    *done = r.status == 201 && !*asks;
    if (*done) {
        s->have = s->n;
    } else if (r.status == 308 && r.have <= s->n) {
        s->have = r.have;
        s->resumed_at = *asks && *tries == 0 ? s->have : s->resumed_at;
        *tries = s->have > before ? 0 : *tries + !*asks;
        *asks = false;
    } else if (is_passing(r.status)) {
        *asks = true;
        ++*tries;
        rest(s);
    } else {
        return refused(s, &r);
    }
    return *tries < TRIES;
}

bool send_http(struct send_http *s)
{
    bool asks = true, done = false;
    unsigned tries = 0;

    if (!read_url(s)) {
        return false;
    }
    s->crc = crc32c(0, s->bytes, s->n);
    s->have = s->resumed_at = s->said_ms = 0;
    s->began_ms = serial_millis();
    (void)fail(s, "the board does not continue");
    while (!done) {
        if (!send_range(s, &asks, &tries, &done)) {
            return false;
        }
    }
    show(s, s->n, true);
    return true;
}

bool send_http_load(struct send_http *s, const char *name)
{
    static struct reply r;
    cJSON *root = cJSON_CreateObject();
    char *body;
    bool asked;

    cJSON_AddStringToObject(root, "model", name);
    body = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (!read_url(s) || body == NULL) {
        free(body);
        return false;
    }
    s->quiet = true; /* no progress is shown, because no file is sent */
    asked = request(s, "POST /v1/models/load", "Content-Type: application/json\r\n", body,
                    strlen(body), LAST_SILENCE_MS, &r);
    free(body);
    if (*s->stopped != 0) {
        return fail(s, "stopped: the board loads the model nevertheless");
    }
    return asked && (r.status == 200 || refused(s, &r));
}
