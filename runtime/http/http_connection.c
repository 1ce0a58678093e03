#include "runtime/http/http_connection.h"

#include <string.h>

#include "runtime/http/http_accept.h"
#include "runtime/http/http_fields.h"
#include "runtime/text/format_text.h"

/* Bytes before a chunk (its size in four digits, CRLF), bytes after a chunk (CRLF), and bytes of
 * the last chunk. */
enum { CHUNK_HEAD = 6, CHUNK_END = 2, LAST_CHUNK = 5 };

static void next_request(struct http_connection *c)
{
    http_request_reset(&c->request);
    c->answered = c->drains = c->upgrades = c->held = false;
    c->dropped = 0;
    c->stage = HTTP_READS;
}

void http_connection_open(struct http_connection *c, const struct http_site *site, void *user)
{
    c->site = site;
    c->user = user;
    c->held = false;
    c->head_bytes = c->head_at = 0;
    c->frames.wslay = NULL;
    next_request(c);
}

void http_connection_close(struct http_connection *c)
{
    http_frames_close(&c->frames);
    c->stage = HTTP_BROKEN;
}

/* Return true if the next bytes belong to the request. */
static bool reads_request(const struct http_connection *c)
{
    return (c->stage == HTTP_READS && !c->held) || c->stage == HTTP_DROPS ||
           (c->stage == HTTP_ANSWERS && c->drains);
}

bool http_connection_wants(const struct http_connection *c)
{
    return reads_request(c) || (c->stage == HTTP_SOCKET && !c->held && !c->frames.ended);
}

bool http_connection_begun(const struct http_connection *c)
{
    return c->stage != HTTP_READS || http_request_begun(&c->request);
}

/* ---- for the site ---------------------------------------------------------------------------- */

static bool may_have_body(const struct http_connection *c, int status)
{
    return c->request.method != HTTP_IS_HEAD && status != 204 && status >= 200;
}

/* Return true if the request's end has not come yet and can still be read. */
static bool is_unread(const struct http_connection *c)
{
    return c->stage == HTTP_READS && c->request.at != HTTP_AT_END && c->request.at != HTTP_AT_ERROR;
}

/* Return true if the connection ends after an answer. If the body has not come yet, the connection
 * ends if the body is too long to be dropped, or if the client waits for 100 Continue: such a
 * client may or may not send the body, so nobody knows where the next request begins. */
static bool ends_after(const struct http_connection *c, const struct http_answer *a)
{
    const struct http_request *r = &c->request;

    if (a->closes || !r->keeps || (a->streams && r->is_1_0) || r->at == HTTP_AT_ERROR) {
        return true;
    }
    return is_unread(c) && (r->expects_continue || r->body_bytes > HTTP_DROPPED_BYTES);
}

void http_connection_answer(struct http_connection *c, const struct http_answer *a)
{
    /* Only the first answer counts: a site that fails halfway may try a second one. */
    if (c->answered || (c->stage != HTTP_READS && c->stage != HTTP_WORKS)) {
        return;
    }
    c->answered = true;
    c->has_body = may_have_body(c, a->status) && (a->streams || a->bytes != 0);
    c->streams = a->streams;
    /* HTTP/1.0 has no chunks: the end of the connection ends the body. */
    c->chunked = a->streams && !c->request.is_1_0;
    c->left = a->bytes;
    c->last_out = false;
    c->ends_after = ends_after(c, a);
    /* Read the rest of the request; otherwise the reset (RST) of a closed socket could destroy
     * the answer. */
    c->drains = is_unread(c);
    c->stage = HTTP_ANSWERS;
    http_answer_write(c, a);
}

const char *http_connection_field(const struct http_connection *c, const char *name, size_t *bytes)
{
    return http_field(c->request.text, c->request.n, name, 0, bytes);
}

/* The request must be as in RFC 6455, section 4.2.1. */
int http_connection_upgrade(struct http_connection *c, const char **error_message)
{
    const char *head = c->request.text;
    size_t n = c->request.n, bytes;
    char accept[HTTP_ACCEPT_BYTES];
    const char *value;

    /* 4.2.1, items 1 to 4: GET, at least HTTP/1.1, Upgrade and Connection. */
    if (c->request.method != HTTP_IS_GET || c->request.is_1_0 ||
        !http_field_has(head, n, "upgrade", "websocket") ||
        !http_field_has(head, n, "connection", "upgrade")) {
        *error_message = "this page is a WebSocket: the request has to ask for one";
        return 426;
    }
    /* A field that comes twice is refused, because two parties may read different ones. */
    if (http_field(head, n, "sec-websocket-version", 1, &bytes) != NULL ||
        http_field(head, n, "sec-websocket-key", 1, &bytes) != NULL) {
        *error_message = "a request has one Sec-WebSocket-Version and one Sec-WebSocket-Key";
        return 400;
    }
    value = http_field(head, n, "sec-websocket-version", 0, &bytes);
    if (value == NULL || !http_same(value, bytes, "13")) {
        *error_message = "the only Sec-WebSocket-Version here is 13";
        return 426;
    }
    value = http_field(head, n, "sec-websocket-key", 0, &bytes);
    if (value == NULL || !http_is_key(value, bytes) || c->request.at != HTTP_AT_END) {
        *error_message = "Sec-WebSocket-Key has to be 16 bytes in base64";
        return 400;
    }
    if (!http_frames_open(&c->frames)) {
        *error_message = "out of memory";
        return 500;
    }
    /* 4.2.2, item 5: the hash proves that we know the protocol. */
    http_accept_key(value, accept);
    c->head_bytes += format_text(c->head + c->head_bytes, sizeof c->head - c->head_bytes,
                                 "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
                                 "connection: Upgrade\r\nsec-websocket-accept: %s\r\n\r\n",
                                 accept);
    c->upgrades = true;
    return 0;
}

/* Write an interim answer, if the memory for heads is not in use. */
static void put_continue(struct http_connection *c)
{
    if (!c->request.is_1_0 && c->head_bytes == 0) {
        c->head_bytes = format_text(c->head, sizeof c->head, "HTTP/1.1 100 Continue\r\n\r\n");
    }
}

void http_connection_probe(struct http_connection *c)
{
    if (c->stage == HTTP_WORKS) {
        put_continue(c);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static void begin(struct http_connection *c)
{
    c->site->head(c->user, &c->request);
    /* A client that has its final answer is not asked for the body any more. */
    if (!c->answered && c->request.expects_continue && c->request.at != HTTP_AT_END) {
        put_continue(c);
    }
}

/* Stop reading the rest of a request that has its answer. */
static void stop_draining(struct http_connection *c)
{
    c->drains = false;
    c->ends_after = true;
    if (c->stage == HTTP_DROPS) {
        c->stage = HTTP_CLOSES;
    }
}

static void end(struct http_connection *c)
{
    /* The answer is sent and the rest has come: the next request may begin. */
    if (c->stage == HTTP_DROPS) {
        next_request(c);
    } else if (c->answered) {
        /* Everything has come, and the answer is still being sent. */
        c->drains = false;
    } else if (c->upgrades) {
        /* From here on bytes are frames. */
        c->stage = HTTP_SOCKET;
        c->site->opened(c->user);
    } else {
        c->stage = HTTP_WORKS;
        c->site->whole(c->user);
    }
}

/* Take a piece of the body. A piece that comes after the answer is dropped, up to a limit. */
static void take_piece(struct http_connection *c, const char *piece, size_t n)
{
    if (!c->answered) {
        c->stage = c->site->body(c->user, piece, n) ? c->stage : HTTP_BROKEN;
        return;
    }
    c->dropped += n;
    if (c->dropped > HTTP_DROPPED_BYTES) {
        stop_draining(c);
    }
}

/* Take one step of a request. Returns false if more bytes are needed. */
static bool step(struct http_connection *c, const char *bytes, size_t n, size_t *used)
{
    const char *piece;
    size_t piece_bytes;

    switch (http_request_take(&c->request, bytes, n, used, &piece, &piece_bytes)) {
    case HTTP_GOT_HEAD: begin(c); break;
    case HTTP_GOT_BODY: take_piece(c, piece, piece_bytes); break;
    case HTTP_GOT_ALL: end(c); break;
    case HTTP_GOT_ERROR:
        /* The client has its answer, and would take another as the answer to its next request. */
        if (c->answered) {
            stop_draining(c);
        } else {
            c->site->wrong(c->user, c->request.status, c->request.error_message);
        }
        break;
    case HTTP_GOT_PART:
    default: return false;
    }
    return true;
}

static void take_frames(struct http_connection *c)
{
    enum http_frames_event event = HTTP_FRAMES_DATA;
    bool last = false, text = false;
    const char *piece = NULL;
    size_t n = 0;

    while (event == HTTP_FRAMES_DATA && !c->held) {
        event = http_frames_next(&c->frames, &piece, &n, &last, &text);
        if (event == HTTP_FRAMES_DATA) {
            uint16_t code = c->site->message(c->user, piece, n, last, text);

            /* 0 means continue; any other code is the status in the closing frame (RFC 6455,
             * section 7.4). */
            if (code == HTTP_CLOSE_AT_ONCE) {
                c->stage = HTTP_BROKEN;
                return;
            }
            if (code != 0) {
                http_frames_end(&c->frames, code);
            }
        }
    }
}

size_t http_connection_take(struct http_connection *c, const char *bytes, size_t n)
{
    size_t at = 0;

    while (reads_request(c)) {
        size_t used;
        bool more = step(c, bytes + at, n - at, &used);

        at += used;
        if (!more) {
            return at;
        }
    }
    /* Take frames that came in the same packet as the request, too. */
    if (c->stage == HTTP_SOCKET && !c->held) {
        http_frames_give(&c->frames, bytes + at, n - at);
        take_frames(c);
        at = n - c->frames.in_bytes;
        http_frames_give(&c->frames, NULL, 0);
    }
    return at;
}

/* ---- output ---------------------------------------------------------------------------------- */

static size_t fill_head(struct http_connection *c, char *to, size_t room)
{
    size_t n = c->head_bytes - c->head_at;

    n = n < room ? n : room;
    memcpy(to, c->head + c->head_at, n);
    c->head_at += n;
    if (c->head_at == c->head_bytes) {
        c->head_at = c->head_bytes = 0;
    }
    return n;
}

static void finish(struct http_connection *c)
{
    bool ends = c->ends_after;

    c->site->over(c->user);
    /* The connection stays open, but the end of this request has not come yet. */
    if (c->drains && !ends) {
        c->stage = HTTP_DROPS;
        return;
    }
    next_request(c);
    if (ends) {
        c->stage = HTTP_CLOSES;
    }
}

/* Write the next chunk, and after it the last chunk if the body ends. */
static size_t fill_chunk(struct http_connection *c, char *to, size_t room, bool *failed)
{
    size_t at = 0, n;
    char size[FORMAT_NUMBER_BYTES];

    n = c->site->more(c->user, to + CHUNK_HEAD, room - CHUNK_HEAD - CHUNK_END - LAST_CHUNK,
                      &c->last_out, failed);
    if (n != 0) {
        (void)format_text(size, sizeof size, "%04zx\r\n", n);
        memcpy(to, size, CHUNK_HEAD);
        memcpy(to + CHUNK_HEAD + n, "\r\n", CHUNK_END);
        at = CHUNK_HEAD + n + CHUNK_END;
    }
    if (c->last_out) {
        memcpy(to + at, "0\r\n\r\n", LAST_CHUNK);
        at += LAST_CHUNK;
    }
    return at;
}

static size_t fill_body(struct http_connection *c, char *to, size_t room)
{
    bool failed = false;
    size_t n = 0;

    if (!c->has_body) {
        c->last_out = true;
    } else if (c->chunked) {
        n = fill_chunk(c, to, room, &failed);
    } else {
        n = c->site->more(c->user, to, c->streams || c->left > room ? room : (size_t)c->left,
                          &c->last_out, &failed);
        if (!c->streams) {
            c->left -= n;
            c->last_out = c->left == 0;
        }
    }
    /* The head has been sent, so only the end of the connection can show the failure. */
    if (failed) {
        c->stage = HTTP_BROKEN;
        return 0;
    }
    if (c->last_out) {
        finish(c);
    }
    return n;
}

static size_t fill_frames(struct http_connection *c, char *to, size_t room)
{
    size_t n = 0, sent;
    const char *message = c->site->say(c->user, &n);
    bool whole;

    sent = http_frames_fill(&c->frames, message, n, to, room, &whole);
    if (whole) {
        c->site->said(c->user);
    }
    /* RFC 6455, section 7.1.1: the server closes the TCP connection first. */
    if (c->frames.end_sent) {
        c->stage = HTTP_CLOSES;
    }
    return sent;
}

size_t http_connection_fill(struct http_connection *c, char *to, size_t room)
{
    if (c->stage == HTTP_BROKEN) {
        return 0;
    }
    if (c->head_bytes != 0) {
        return fill_head(c, to, room);
    }
    if (c->stage == HTTP_ANSWERS) {
        return fill_body(c, to, room);
    }
    return c->stage == HTTP_SOCKET ? fill_frames(c, to, room) : 0;
}
