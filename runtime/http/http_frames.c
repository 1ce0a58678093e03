#include "runtime/http/http_frames.h"

#include <string.h>

#include <wslay/wslay.h>

#include "runtime/text/utf8.h"

/* ---- received frames ------------------------------------------------------------------------- */

static ssize_t give_wslay(uint8_t *to, size_t room, int flags, void *user)
{
    struct http_frames *f = user;
    size_t n = f->in_bytes < room ? f->in_bytes : room;

    (void)flags;
    /* wslay takes -1 as "would block" and keeps its state for the next call. */
    if (n == 0) {
        return -1;
    }
    memcpy(to, f->in, n);
    f->in += n;
    f->in_bytes -= n;
    return (ssize_t)n;
}

bool http_frames_open(struct http_frames *f)
{
    const struct wslay_frame_callbacks callbacks = { .recv_callback = give_wslay };

    memset(f, 0, sizeof *f);
    return wslay_frame_context_init(&f->wslay, &callbacks, f) == 0;
}

void http_frames_close(struct http_frames *f)
{
    if (f->wslay != NULL) {
        wslay_frame_context_free(f->wslay);
        f->wslay = NULL;
    }
}

void http_frames_give(struct http_frames *f, const char *bytes, size_t n)
{
    f->in = bytes;
    f->in_bytes = n;
}

void http_frames_end(struct http_frames *f, uint16_t code)
{
    f->ended = true;
    if (f->code == 0) {
        f->code = code;
    }
}

static enum http_frames_event break_off(struct http_frames *f, uint16_t code)
{
    http_frames_end(f, code);
    return HTTP_FRAMES_END;
}

/* Begin a frame whose head is in io. Returns 0, or a code if the frame breaks a rule. */
static uint16_t begin_frame(struct http_frames *f, const struct wslay_frame_iocb *io)
{
    bool control = wslay_is_ctrl_frame(io->opcode);

    /* RFC 6455, sections 5.1 and 5.2: clients mask, and no extension was agreed that uses a
     * reserved bit. */
    if (!io->mask || io->rsv != 0 || io->opcode > WSLAY_PONG ||
        (!control && io->opcode > WSLAY_BINARY_FRAME)) {
        return HTTP_CLOSE_PROTOCOL;
    }
    f->in_frame = true;
    f->left = io->payload_length;
    f->opcode = io->opcode;
    /* Section 5.5: a control frame is short and whole, and may come between the parts of a
     * message. */
    if (control) {
        f->control_bytes = 0;
        return io->fin && io->payload_length <= HTTP_CONTROL_BYTES ? 0 : HTTP_CLOSE_PROTOCOL;
    }
    /* Section 5.4: a message that has begun must end before another begins. */
    if ((io->opcode == WSLAY_CONTINUATION_FRAME) != f->inside) {
        return HTTP_CLOSE_PROTOCOL;
    }
    if (io->payload_length > HTTP_FRAME_BYTES) {
        return HTTP_CLOSE_TOO_LONG;
    }
    if (!f->inside) {
        f->is_text = io->opcode == WSLAY_TEXT_FRAME;
    }
    f->inside = true;
    f->final = io->fin;
    return 0;
}

/* Return true for the codes that an end frame may have (RFC 6455, section 7.4). */
static bool is_code(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

/* Handle a complete control frame. */
static enum http_frames_event take_control(struct http_frames *f)
{
    unsigned code = HTTP_CLOSE_NORMAL;

    /* Section 5.5.3: only the latest ping has to be answered, so one place is enough. */
    if (f->opcode == WSLAY_PING) {
        memcpy(f->pong, f->control, f->control_bytes);
        f->pong_bytes = (uint8_t)f->control_bytes;
        f->pongs = true;
    }
    if (f->opcode != WSLAY_CONNECTION_CLOSE) {
        return HTTP_FRAMES_WANT;
    }
    /* Section 5.5.1: a code in two bytes, then a reason in UTF-8; both may be missing. */
    if (f->control_bytes >= 2) {
        code = (unsigned)f->control[0] << 8 | f->control[1];
    }
    if (f->control_bytes == 1 || !is_code(code)) {
        return break_off(f, HTTP_CLOSE_PROTOCOL);
    }
    if (f->control_bytes > 2 &&
        utf8_whole_bytes(f->control + 2, f->control_bytes - 2) != f->control_bytes - 2) {
        return break_off(f, HTTP_CLOSE_NOT_TEXT);
    }
    return break_off(f, (uint16_t)code);
}

enum http_frames_event http_frames_next(struct http_frames *f, const char **piece, size_t *n,
                                        bool *last, bool *text)
{
    while (!f->ended) {
        struct wslay_frame_iocb io = { 0 };
        ssize_t got = wslay_frame_recv(f->wslay, &io);
        uint16_t code;

        if (got == WSLAY_ERR_WANT_READ) {
            return HTTP_FRAMES_WANT;
        }
        code = got < 0 ? HTTP_CLOSE_PROTOCOL : f->in_frame ? 0 : begin_frame(f, &io);
        if (code != 0 || io.data_length > f->left) {
            return break_off(f, code != 0 ? code : HTTP_CLOSE_PROTOCOL);
        }
        /* A frame may come in many pieces: `left` counts its missing bytes. */
        f->left -= io.data_length;
        f->in_frame = f->left != 0;
        /* Data is passed on at once; control frames are gathered first. */
        if (!wslay_is_ctrl_frame(f->opcode)) {
            *piece = io.data_length != 0 ? (const char *)io.data : "";
            *n = io.data_length;
            *last = f->final && f->left == 0;
            *text = f->is_text;
            f->inside = !*last;
            return HTTP_FRAMES_DATA;
        }
        if (io.data_length != 0) {
            memcpy(f->control + f->control_bytes, io.data, io.data_length);
            f->control_bytes += io.data_length;
        }
        if (f->left == 0 && take_control(f) == HTTP_FRAMES_END) {
            return HTTP_FRAMES_END;
        }
    }
    return HTTP_FRAMES_END;
}

/* ---- sent frames ----------------------------------------------------------------------------- */

/* Write the head of a frame, which has no mask because a server sends it. Returns the head's
 * length. */
static uint8_t put_head(uint8_t *to, unsigned opcode, size_t n)
{
    uint8_t at = 2;

    /* RFC 6455, section 5.2: the final part of a message, then the length in 1, 3 or 9 bytes. */
    to[0] = (uint8_t)(0x80 | opcode);
    if (n < 126) {
        to[1] = (uint8_t)n;
        return at;
    }
    to[1] = n < 65536 ? 126 : 127;
    for (int shift = n < 65536 ? 8 : 56; shift >= 0; shift -= 8) {
        to[at++] = (uint8_t)((uint64_t)n >> shift);
    }
    return at;
}

static size_t put_control(char *to, unsigned opcode, const uint8_t *bytes, size_t n)
{
    uint8_t head[10];
    size_t head_bytes = put_head(head, opcode, n);

    memcpy(to, head, head_bytes);
    if (n != 0) {
        memcpy(to + head_bytes, bytes, n);
    }
    return head_bytes + n;
}

/* Write one waiting control frame and return its length, or 0 if none waits. The end frame is
 * written only if `last` says that nothing else waits. */
static size_t fill_control(struct http_frames *f, char *to, bool last)
{
    /* A pong comes first, because the other end is waiting for it. */
    if (f->pongs) {
        f->pongs = false;
        return put_control(to, WSLAY_PONG, f->pong, f->pong_bytes);
    }
    if (f->pings && !f->ended) {
        f->pings = false;
        return put_control(to, WSLAY_PING, NULL, 0);
    }
    if (f->ended && !f->end_sent && last) {
        uint8_t code[2] = { (uint8_t)(f->code >> 8), (uint8_t)f->code };

        f->end_sent = true;
        return put_control(to, WSLAY_CONNECTION_CLOSE, code, sizeof code);
    }
    return 0;
}

size_t http_frames_fill(struct http_frames *f, const char *message, size_t n, char *to, size_t room,
                        bool *sent)
{
    size_t at = 0, more;

    *sent = false;
    if (f->sends && message == NULL) { /* the rest of the message comes later */
        return 0;
    }
    /* Control frames go between messages, never inside a message, because the head of the message
     * has announced its length. */
    if (!f->sends) {
        at = fill_control(f, to, message == NULL);
        if (at != 0 || f->end_sent || message == NULL) {
            return at;
        }
        f->head_bytes = put_head(f->head, WSLAY_TEXT_FRAME, n);
        f->head_at = 0;
        f->sent_bytes = 0;
        f->sends = true;
    }
    /* The room may end in the middle of the head; head_at remembers where. */
    while (at < room && f->head_at < f->head_bytes) {
        to[at++] = (char)f->head[f->head_at++];
    }
    more = n - f->sent_bytes < room - at ? n - f->sent_bytes : room - at;
    if (more != 0) {
        memcpy(to + at, message + f->sent_bytes, more);
    }
    f->sent_bytes += more;
    *sent = f->head_at == f->head_bytes && f->sent_bytes == n;
    f->sends = !*sent;
    return at + more;
}
