/* Any bytes as one connection of a caller: requests, or frames of a WebSocket. Whole and in pieces, the site
 * sees the same and the same bytes go out; nothing is read or written out of bounds, and no step goes on for
 * ever. */
#include <stdlib.h>
#include <string.h>

#include "runtime/http/http_connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_BYTES = 1 << 16, OUT_BYTES = 1 << 18, MOST = 1 << 15 };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* A site that answers each request with what it saw of it, and a WebSocket's message with the
 * message. */
struct run {
    struct http_connection c;
    char seen[SEEN_BYTES]; /* (n_seen) what was asked, with marks between */
    size_t n_seen;
    char out[OUT_BYTES]; /* (n_out) what went out */
    size_t n_out;
    size_t left; /* bytes of the answer */
    char message[256];
    size_t n_message;
    bool says;
    bool inside; /* a message; its first byte: */
    char first;
};

static void see(struct run *r, const char *bytes, size_t n)
{
    n = n < SEEN_BYTES - r->n_seen ? n : SEEN_BYTES - r->n_seen;
    memcpy(r->seen + r->n_seen, bytes, n);
    r->n_seen += n;
}

static void on_head(void *user, const struct http_request *q)
{
    struct run *r = user;
    const struct http_answer early = { .status = 404, .type = "text/plain", .bytes = 5 };
    const char *error_message;
    size_t n;

    must(q->path[0] == '/' || strcmp(q->path, "*") == 0);
    must(q->authority_bytes <= HTTP_HEAD_BYTES && q->n <= HTTP_HEAD_BYTES);
    (void)http_connection_field(&r->c, "origin", &n);
    see(r, "<", 1);
    see(r, q->path, strlen(q->path));
    see(r, ">", 1);
    if (strcmp(q->path, "/ws") == 0 && http_connection_upgrade(&r->c, &error_message) == 0) {
        return;
    }
    if (q->path[1] == 'e') {
        r->left = early.bytes;
        http_connection_answer(&r->c, &early);
    }
}

static bool on_body(void *user, const char *bytes, size_t n)
{
    must(n != 0);
    see(user, bytes, n);
    return true;
}

static void on_whole(void *user)
{
    struct run *r = user;
    struct http_answer a = {
        .status = 200, .type = "text/plain", .fields = "x-a: b\r\n", .bytes = 700
    };

    a.streams = r->c.request.path[1] == 's';
    r->left = a.bytes;
    see(r, ".", 1);
    http_connection_answer(&r->c, &a);
}

static void on_wrong(void *user, int status, const char *error_message)
{
    struct run *r = user;
    const struct http_answer a = {
        .status = status, .type = "text/plain", .bytes = 3, .closes = true
    };

    must(status >= 400 && status < 600 && error_message != NULL);
    r->left = a.bytes;
    see(r, "!", 1);
    http_connection_answer(&r->c, &a);
}

static size_t on_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    struct run *r = user;
    size_t n = r->left < room ? r->left : room;

    *failed = false;
    memset(to, 'x', n);
    r->left -= n;
    *last = r->left == 0;
    return n;
}

static void on_over(void *user)
{
    see(user, ";", 1);
}

static void on_opened(void *user)
{
    see(user, "@", 1);
}

static uint16_t on_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    struct run *r = user;
    bool quits;

    if (!r->inside && n != 0) {
        r->first = bytes[0];
        r->inside = true;
    }
    see(r, bytes, n);
    see(r, last ? "/" : "", last);
    n = n < sizeof r->message - r->n_message ? n : sizeof r->message - r->n_message;
    if (!r->says) {
        memcpy(r->message + r->n_message, bytes, n);
        r->n_message += n;
        r->says = last;
    }
    if (!last) {
        return 0;
    }
    quits = text && r->inside && r->first == 'Q';
    r->inside = false;
    return quits ? HTTP_CLOSE_NORMAL : 0;
}

static const char *on_say(void *user, size_t *n)
{
    struct run *r = user;

    *n = r->n_message;
    return r->says ? r->message : NULL;
}

static void on_said(void *user)
{
    struct run *r = user;

    r->says = false;
    r->n_message = 0;
}

static const struct http_site site = {
    .head = on_head,
    .body = on_body,
    .whole = on_whole,
    .wrong = on_wrong,
    .more = on_more,
    .over = on_over,
    .opened = on_opened,
    .message = on_message,
    .say = on_say,
    .said = on_said,
};

/* Sends everything that can go out now. The room is exact, so that a byte beyond it is seen. */
static void drain(struct run *r)
{
    enum http_stage stage;
    size_t n;

    do {
        char *room = malloc(HTTP_FILL_BYTES);

        stage = r->c.stage;
        n = http_connection_fill(&r->c, room, HTTP_FILL_BYTES);
        must(n <= HTTP_FILL_BYTES);
        for (size_t i = 0; i < n && r->n_out < OUT_BYTES; i++) {
            r->out[r->n_out++] = room[i];
        }
        free(room);
    } while (n != 0 || stage != r->c.stage);
}

/* Sends the input in pieces of `step` bytes (0: at once). */
static void feed(struct run *r, const uint8_t *data, size_t size, size_t step)
{
    size_t at = 0;
    unsigned idle = 0;

    memset(r, 0, sizeof *r);
    http_connection_open(&r->c, &site, r);
    while (at < size && http_connection_wants(&r->c) && idle < 3) {
        size_t n = step != 0 && step < size - at ? step : size - at, used;
        char *part = malloc(n);

        memcpy(part, data + at, n);
        used = http_connection_take(&r->c, part, n);
        must(used <= n);
        free(part);
        at += used;
        idle = used == 0 ? idle + 1 : 0;
        drain(r);
    }
    must(idle < 3 || !http_connection_wants(&r->c));
    http_connection_close(&r->c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run whole, parts;
    size_t n = size < MOST ? size : MOST;

    feed(&whole, data, n, 0);
    if (whole.c.frames.wslay != NULL) {
        return 1;
    }
    for (size_t step = 1; step < 9; step += 3) {
        feed(&parts, data, n, step);
        /* The output of a WebSocket depends on how much comes at once; that of requests does not. */
        must(memchr(whole.seen, '@', whole.n_seen) != NULL ||
             (parts.n_out == whole.n_out && memcmp(parts.out, whole.out, whole.n_out) == 0));
        must(parts.n_seen == whole.n_seen && memcmp(parts.seen, whole.seen, whole.n_seen) == 0);
    }
    return 0;
}
