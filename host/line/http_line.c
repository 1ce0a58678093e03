#include "host/line/http_line.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "host/line/http_request.h"

enum {
    LINES_BYTES = 65536, /* bytes of lines that wait until the running line is answered */
    ANSWER_BYTES = 4096, /* bytes of a head, or of events that are read at once */
    CTRL_C = 3,
    ENQUIRY = 5,
    STEP_MS = 1000,
    BUSY_MS = 500, /* pause before a busy board is asked again */
    CONNECT_MS = 5000,
    ASK_MS = 20000, /* limit for the first answer */
};

struct http_line {
    char host[256], port[8], token[208];
    int pair; /* this file's end of the socket pair */
    char lines
        [LINES_BYTES]; /* (n) received bytes; the first `at_work` bytes are the line that is being answered */
    size_t n, at_work;
    int http;                /* connection for the running line; -1: none */
    char head[ANSWER_BYTES]; /* (n_head) the answer's head, until it is complete */
    size_t n_head;
    int status;    /* status of the answer, once its head is complete */
    char tail[64]; /* (n_tail) the start of the latest event */
    size_t n_tail;
};

bool http_line_is(const char *name)
{
    return strncmp(name, "http://", 7) == 0;
}

/* ---- the connection ---- */

static bool read_name(struct http_line *h, const char *name)
{
    const char *host = name + strlen("http://"), *token = getenv("INGOT_TOKEN");
    bool brackets = host[0] == '[';
    size_t n = strcspn(host + brackets, brackets ? "]" : ":/");
    const char *rest = host + brackets + n + (brackets && host[brackets + n] == ']');
    int used = 0;

    snprintf(h->port, sizeof h->port, "80");
    if (rest[0] == ':' && sscanf(rest, ":%5[0-9]%n", h->port, &used) == 1) {
        rest += used;
    }
    if (n == 0 || n >= sizeof h->host || (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0)) {
        return false;
    }
    snprintf(h->host, sizeof h->host, "%.*s", (int)n, host + brackets);
    snprintf(h->token, sizeof h->token, "%s", token != NULL ? token : "");
    return true;
}

/* True if fd connects within CONNECT_MS; otherwise it is closed. */
static bool connects(int fd, const struct addrinfo *to)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int error = 0;
    socklen_t bytes = sizeof error;

    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0) {
        return true;
    }
    if (errno == EINPROGRESS && poll(&p, 1, CONNECT_MS) == 1 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0) {
        return true;
    }
    error = error != 0 ? error : errno;
    close(fd);
    errno = error == EINPROGRESS ? ETIMEDOUT : error;
    return false;
}

static int connect_to(const struct http_line *h)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int fd = -1;

    if (getaddrinfo(h->host, h->port, &want, &found) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        fd = fd >= 0 && connects(fd, a) ? fd : -1;
    }
    freeaddrinfo(found);
    return fd;
}

/* Post a line with HTTP/1.0, so that events are not chunked, and the connection ends after them. */
static bool post(struct http_line *h, const char *line, size_t n)
{
    bool v6 = strchr(h->host, ':') != NULL;
    char head[1024];
    int bytes =
        snprintf(head, sizeof head,
                 "POST /line HTTP/1.0\r\nHost: %s%s%s:%s\r\nContent-Length: %zu\r\n%s%s%s\r\n",
                 v6 ? "[" : "", h->host, v6 ? "]" : "", h->port, n,
                 h->token[0] != '\0' ? "Authorization: Bearer " : "", h->token,
                 h->token[0] != '\0' ? "\r\n" : "");

    h->http = connect_to(h);
    h->n_head = h->n_tail = 0;
    h->status = 0;
    if (h->http >= 0 && http_put_all(h->http, head, (size_t)bytes) &&
        http_put_all(h->http, line, n)) {
        return true;
    }
    if (h->http >= 0) {
        close(h->http);
    }
    h->http = -1;
    return false;
}

/* ---- events ---- */

/* Return true if bytes[0, n) complete the event `done`. Keeps the start of the latest event. */
static bool end_with_done(struct http_line *h, const char *bytes, size_t n)
{
    static const char done[] = "{\"event\":\"done\"";
    bool ended = false;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            ended |= h->n_tail >= sizeof done - 1 && memcmp(h->tail, done, sizeof done - 1) == 0;
            h->n_tail = 0;
        } else if (h->n_tail < sizeof h->tail) {
            h->tail[h->n_tail++] = bytes[i];
        }
    }
    return ended;
}

/* Answer the running request in place of the board. */
static bool end_request(struct http_line *h, const char *name, const char *text, const char *reason)
{
    return http_request_end(h->pair, h->lines, h->at_work, name, text, reason);
}

/* Drop the running line, because it was answered. */
static void drop_line(struct http_line *h)
{
    if (h->http >= 0) {
        close(h->http);
    }
    h->http = -1;
    memmove(h->lines, h->lines + h->at_work, h->n - h->at_work);
    h->n -= h->at_work;
    h->at_work = 0;
}

/* End the request with the message in a body that is OpenAI's error object. */
static bool end_refused(struct http_line *h, const char *body)
{
    cJSON *root = cJSON_Parse(body);
    const char *why = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "error"),
                                         "message"));
    bool good = end_request(h, h->status == 413 ? "line" : "failed",
                            why != NULL ? why : "the board refused the request", "error");

    cJSON_Delete(root);
    return good;
}

static bool is_enquiry(const struct http_line *h)
{
    return h->at_work != 0 && h->lines[0] == ENQUIRY;
}

/* End the answer, because the connection has ended before its `done`. Returns false if the board is gone. */
static bool end_answer(struct http_line *h)
{
    bool good = true;

    if (h->status == 429 || h->status == 503) { /* the board is busy: try again */
        close(h->http);
        h->http = -1;
        h->at_work = 0;
        (void)poll(NULL, 0, BUSY_MS);
        return true;
    }
    if (h->status == 0) {
        return false;
    }
    if (h->status != 200) {
        h->head[h->n_head] = '\0';
        good = end_refused(h, h->head);
    } else if (!is_enquiry(h)) { /* the answer to an enquiry has no `done` */
        good = end_request(h, "failed", "the connection to the board broke", "error");
    }
    drop_line(h);
    return good;
}

/* Pass events to the caller. The line is answered with its `done`, before the connection ends. */
static bool pass_events(struct http_line *h, const char *events, size_t n)
{
    bool ended = end_with_done(h, events, n);

    if (!http_put_all(h->pair, events, n)) {
        return false;
    }
    if (ended) {
        drop_line(h);
    }
    return true;
}

/* Take the complete head. Events follow, or the body of an error, which is kept. */
static bool take_head(struct http_line *h)
{
    char *body;
    size_t n;

    h->head[h->n_head] = '\0';
    body = strstr(h->head, "\r\n\r\n");
    if (body == NULL) {
        return h->n_head + 1 < sizeof h->head;
    }
    if (sscanf(h->head, "HTTP/1.%*1[01] %3d", &h->status) != 1) {
        return false;
    }
    body += 4;
    n = h->n_head - (size_t)(body - h->head);
    if (h->status == 200) {
        return pass_events(h, body, n);
    }
    memmove(h->head, body, n);
    h->n_head = n;
    return true;
}

/* Take bytes of the answer that have arrived. Returns false if the board or the caller is gone. */
static bool take_answer(struct http_line *h)
{
    char events[ANSWER_BYTES];
    bool keeps = h->status != 200;
    char *to = keeps ? h->head + h->n_head : events;
    ssize_t n = recv(h->http, to, keeps ? sizeof h->head - 1 - h->n_head : sizeof events, 0);

    if (n < 0 && errno == EAGAIN) {
        return true;
    }
    if (n <= 0) {
        return end_answer(h);
    }
    if (keeps) {
        h->n_head += (size_t)n;
        return h->status != 0 || take_head(h);
    }
    return pass_events(h, events, (size_t)n);
}

/* ---- lines ---- */

static bool stop_request(struct http_line *h)
{
    bool good = end_request(h, NULL, NULL, "stopped");

    drop_line(h);
    return good;
}

/* Return true if a line that waits cancels the line that is about to begin. */
static bool is_cancelled(const struct http_line *h)
{
    const char *at = h->lines + h->at_work, *end = h->lines + h->n, *next;

    for (; (next = memchr(at, '\n', (size_t)(end - at))) != NULL; at = next + 1) {
        if (http_request_cancels(at, (size_t)(next - at), h->lines, h->at_work, false)) {
            return true;
        }
    }
    return false;
}

/* Send the next non-empty line to the board, unless it is cancelled. A cancelling line goes to the
 * board too, which answers it. */
static bool begin_line(struct http_line *h)
{
    while (h->at_work == 0) {
        const char *end = memchr(h->lines, '\n', h->n);

        if (end == NULL) {
            return true;
        }
        h->at_work = (size_t)(end - h->lines) + 1;
        if (h->at_work == 1) {
            drop_line(h);
        } else if (!is_cancelled(h)) {
            return post(h, h->lines, h->at_work - 1);
        } else if (!stop_request(h)) {
            return false;
        }
    }
    return true;
}

/* Return where the last line begins, which ends, or will end, at lines[end]. */
static size_t last_line(const struct http_line *h, size_t end)
{
    while (end > h->at_work && h->lines[end - 1] != '\n') {
        end--;
    }
    return end;
}

/* A line has ended: it may cancel the running one. */
static bool take_line(struct http_line *h)
{
    size_t end = h->n - 1, start = last_line(h, end);

    if (h->at_work != 0 &&
        http_request_cancels(h->lines + start, end - start, h->lines, h->at_work, true) &&
        !stop_request(h)) {
        return false;
    }
    return begin_line(h);
}

/* Take a byte from the caller. */
static bool take_byte(struct http_line *h, char byte)
{
    if (byte == CTRL_C && is_enquiry(h)) {
        return true; /* its answer comes */
    }
    if (byte == CTRL_C && h->at_work != 0) {
        return stop_request(h) && begin_line(h);
    }
    if (byte == CTRL_C) {
        h->n = last_line(h, h->n); /* drop the unfinished line */
        byte = ENQUIRY; /* ENQUIRY and an idle Ctrl-C both ask whether the board is there */
    } else if (byte == '\r' || h->n == sizeof h->lines) {
        return true;
    }
    h->lines[h->n++] = byte;
    if (byte == ENQUIRY && h->n < sizeof h->lines) {
        h->lines[h->n++] = byte = '\n';
    }
    return byte != '\n' || take_line(h);
}

static bool take_lines(struct http_line *h)
{
    char bytes[ANSWER_BYTES];
    ssize_t n = recv(h->pair, bytes, sizeof bytes, 0);

    for (ssize_t i = 0; i < n; i++) {
        if (!take_byte(h, bytes[i])) {
            return false;
        }
    }
    return n > 0;
}

static void *carry(void *context)
{
    struct http_line *h = context;
    bool good = true;

    while (good) {
        struct pollfd p[2] = { { .fd = h->pair, .events = POLLIN },
                               { .fd = h->http, .events = POLLIN } };

        if (!begin_line(h)) {
            break;
        }
        p[1].fd = h->http;
        (void)poll(p, 2, STEP_MS);
        good = (p[0].revents == 0 || take_lines(h)) &&
               (p[1].revents == 0 || h->http < 0 || take_answer(h));
    }
    if (h->http >= 0) {
        close(h->http);
    }
    close(h->pair);
    free(h);
    return NULL;
}

/* Send ENQUIRY; the status of the answer shows whether this is a board that accepts us. */
static bool is_board(struct http_line *h)
{
    static const char enquiry[] = { ENQUIRY };
    char answer[ANSWER_BYTES] = "";
    struct pollfd p;
    int status = 0;
    ssize_t n;

    if (!post(h, enquiry, sizeof enquiry)) {
        return false;
    }
    p = (struct pollfd){ .fd = h->http, .events = POLLIN };
    n = poll(&p, 1, ASK_MS) == 1 ? recv(h->http, answer, sizeof answer - 1, 0) : 0;
    close(h->http);
    h->http = -1;
    errno = n <= 0 ? ETIMEDOUT : EPROTO;
    if (n <= 0 || sscanf(answer, "HTTP/1.%*1[01] %3d", &status) != 1) {
        return false;
    }
    errno = status == 401 || status == 403 ? EACCES : EPROTO;
    return status == 200 || status == 429 || status == 503;
}

int http_line_open(const char *name)
{
    struct http_line *h = calloc(1, sizeof *h);
    int pair[2] = { -1, -1 };
    pthread_t thread;

    errno = ENOMEM;
    if (h == NULL) {
        return -1;
    }
    h->http = -1;
    errno = EINVAL;
    if (!read_name(h, name) || !is_board(h) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(h);
        return -1;
    }
    h->pair = pair[1];
    if (pthread_create(&thread, NULL, carry, h) != 0) {
        close(pair[0]);
        close(pair[1]);
        free(h);
        errno = EAGAIN;
        return -1;
    }
    pthread_detach(thread);
    return pair[0];
}
