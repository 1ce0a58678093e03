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
    int status;      /* status of the answer, once its head is complete */
    bool ends_clean; /* the latest event was `done`, or an answer to ENQUIRY */
    char tail[64];   /* (n_tail) the start of the latest event */
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

static bool put_all(int fd, const char *bytes, size_t n)
{
    while (n != 0) {
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent < 0 && (errno != EAGAIN || poll(&p, 1, ASK_MS) != 1)) {
            return false;
        }
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
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
    h->ends_clean = n == 1 && line[0] == ENQUIRY;
    if (h->http >= 0 && put_all(h->http, head, (size_t)bytes) && put_all(h->http, line, n)) {
        return true;
    }
    if (h->http >= 0) {
        close(h->http);
    }
    h->http = -1;
    return false;
}

/* ---- events ---- */

/* Note the start of the latest event, which tells whether the answer is complete. */
static void note(struct http_line *h, const char *bytes, size_t n)
{
    static const char done[] = "{\"event\":\"done\"";

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            h->ends_clean |= h->n_tail >= sizeof done - 1 &&
                             memcmp(h->tail, done, sizeof done - 1) == 0;
            h->n_tail = 0;
        } else if (h->n_tail < sizeof h->tail) {
            h->tail[h->n_tail++] = bytes[i];
        }
    }
}

/* Answer the running request in place of the board: send the event `error` with this text, unless
 * it is NULL, then the event `done` with this reason. */
static bool end_request(struct http_line *h, const char *name, const char *text, const char *reason)
{
    cJSON *request = cJSON_ParseWithLength(h->lines, h->at_work);
    cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
    char *shown = id != NULL ? cJSON_PrintUnformatted(id) : NULL;
    cJSON *said = cJSON_CreateString(text != NULL ? text : "");
    char *quoted = cJSON_PrintUnformatted(said), out[1024];
    int n = 0;

    if (text != NULL) {
        n = snprintf(out, sizeof out,
                     "\n{\"event\":\"error\"%s%.64s,\"name\":\"%s\",\"text\":%.500s}\n",
                     shown != NULL ? ",\"id\":" : "", shown != NULL ? shown : "", name,
                     quoted != NULL ? quoted : "\"\"");
    }
    n += snprintf(out + n, sizeof out - (size_t)n,
                  "\n{\"event\":\"done\"%s%.64s,\"reason\":\"%s\"}\n",
                  shown != NULL ? ",\"id\":" : "", shown != NULL ? shown : "", reason);
    cJSON_free(shown);
    cJSON_free(quoted);
    cJSON_Delete(said);
    cJSON_Delete(request);
    return put_all(h->pair, out, (size_t)n);
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

/* End the answer, because the connection has ended. Returns false if the board is gone. */
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
    } else if (!h->ends_clean) {
        good = end_request(h, "failed", "the connection to the board broke", "error");
    }
    drop_line(h);
    return good;
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
        note(h, body, n);
        return put_all(h->pair, body, n);
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
    note(h, events, (size_t)n);
    return put_all(h->pair, events, (size_t)n);
}

/* ---- lines ---- */

static bool stop_request(struct http_line *h)
{
    bool good = end_request(h, NULL, NULL, "stopped");

    drop_line(h);
    return good;
}

/* True for {"cancel":ID}, which stops the running request, whatever the ID: few requests wait. */
static bool is_cancel(const char *line, size_t n)
{
    return n > 10 && memcmp(line, "{\"cancel\":", 10) == 0;
}

/* Take a byte from the caller. */
static bool take_byte(struct http_line *h, char byte)
{
    size_t start = h->n;

    if (byte == CTRL_C && h->at_work != 0) {
        return stop_request(h);
    }
    if (byte == CTRL_C) {
        byte = ENQUIRY; /* ENQUIRY and an idle Ctrl-C both ask whether the board is there */
    } else if (byte == '\r' || h->n == sizeof h->lines) {
        return true;
    }
    h->lines[h->n++] = byte;
    if (byte == ENQUIRY && h->n < sizeof h->lines) {
        h->lines[h->n++] = '\n';
        return true;
    }
    while (byte == '\n' && start > h->at_work && h->lines[start - 1] != '\n') {
        start--;
    }
    if (byte == '\n' && is_cancel(h->lines + start, h->n - start)) {
        h->n = start;
        return h->at_work == 0 || stop_request(h);
    }
    return true;
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

/* Send the next non-empty line to the board. */
static bool begin_line(struct http_line *h)
{
    const char *end = memchr(h->lines, '\n', h->n);

    while (end == h->lines) {
        memmove(h->lines, h->lines + 1, --h->n);
        end = memchr(h->lines, '\n', h->n);
    }
    if (end == NULL) {
        return true;
    }
    h->at_work = (size_t)(end - h->lines) + 1;
    return post(h, h->lines, h->at_work - 1);
}

static void *carry(void *context)
{
    struct http_line *h = context;
    bool good = true;

    while (good) {
        struct pollfd p[2] = { { .fd = h->pair, .events = POLLIN },
                               { .fd = h->http, .events = POLLIN } };

        if (h->at_work == 0 && !begin_line(h)) {
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
