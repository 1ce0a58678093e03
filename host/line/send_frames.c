#include "host/line/send_frames.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/source/map_file.h"
#include "runtime/base/crc32c.h"

enum {
    CTRL_C = 3,
    STEP_MS = 50,
    PING_MS = 200,
    MEET_MS = 3000, /* time limit to find the board at the new rate, then at the old rate */
    LOST_MS = 1500, /* least time without an answer after which bytes count as lost */
    LOST_MOST_MS = 15000,
    ASK_MS = 3000, /* time until an unanswered question is sent again */
    STOP_MS = 5000,
    SILENCE_MS = 40000,
    SHOW_MS = 500,  /* time between two reports of progress on a terminal ... */
    TELL_MS = 5000, /* ... and elsewhere */
};

static bool fail(struct send_frames *s, const char *why)
{
    snprintf(s->error_message, sizeof s->error_message, "%s", why);
    return false;
}

/* Record that the board has everything before `at`. */
static void move_to(struct send_frames *s, uint64_t at)
{
    uint64_t now = serial_millis(), waited = now - s->moved_ms;

    if (at <= s->acked || at > s->n) {
        return;
    }
    s->acked = at;
    s->moved_ms = now;
    s->slowest_ms = waited > s->slowest_ms ? waited : s->slowest_ms - s->slowest_ms / 64;
}

static void note(struct send_frames *s, const struct transfer_frame *f)
{
    switch (f->kind) {
    case TRANSFER_PING:
        s->pong = true;
        s->ponged = f->number;
        break;
    case TRANSFER_THERE:
        s->there = true;
        s->there_at = f->number;
        s->there_crc = (uint32_t)transfer_number(f->data, f->bytes);
        break;
    case TRANSFER_AGAIN: /* ignore an answer from before the latest ping */
        s->again = s->again || s->ponged == s->pings;
        move_to(s, f->number);
        break;
    case TRANSFER_NEXT: move_to(s, f->number); break;
    case TRANSFER_RESULT:
        s->has_result = true;
        s->good = f->number == 0;
        snprintf(s->error_message, sizeof s->error_message, "%.*s",
                 (int)(f->bytes < 500 ? f->bytes : 500), (const char *)f->data);
        break;
    default: break;
    }
}

static void take(void *context, char *bytes, size_t n)
{
    struct send_frames *s = context;
    struct transfer_frame f;

    for (size_t i = 0; i < n; i++) {
        if (transfer_take(&s->decoder, (uint8_t)bytes[i], &f) == TRANSFER_WHOLE) {
            note(s, &f);
        }
    }
}

/* Read what has arrived. False if the line is gone, or the user or the board has cancelled. */
static bool step(struct send_frames *s)
{
    if (*s->stopped != 0) {
        return fail(s, "stopped: the next try continues from here");
    }
    if (!serial_step(s->line, STEP_MS, NULL, take, s)) {
        return fail(s, s->line->error_message);
    }
    if (serial_millis() - s->line->heard_ms > SILENCE_MS) {
        return fail(s, "the board is silent: the next try continues from here");
    }
    return !s->has_result || s->good;
}

static bool say(struct send_frames *s, enum transfer_kind kind, uint64_t number,
                const uint8_t *data, size_t bytes)
{
    struct transfer_frame f = { (uint8_t)kind, number, data, bytes };
    uint8_t out[TRANSFER_WIRE_BYTES];
    size_t n = transfer_put(out, &f);

    return serial_send(s->line, (const char *)out, n);
}

/* ---- the rate -------------------------------------------------------------------------------- */

static bool is_understood(struct send_frames *s)
{
    uint64_t start = serial_millis(), asked = 0;

    s->pong = false;
    while (!s->pong && serial_millis() - start < MEET_MS) {
        if (serial_millis() - asked >= PING_MS) {
            asked = serial_millis();
            (void)say(s, TRANSFER_PING, ++s->pings, NULL, 0);
        }
        if (!step(s)) {
            return false;
        }
    }
    s->ponged = s->pings;
    return s->pong;
}

static bool meet(struct send_frames *s)
{
    if (s->baud != 0) {
        if (!serial_set_baud(s->line, s->baud)) {
            return fail(s, s->line->error_message);
        }
        if (is_understood(s)) {
            return true;
        }
        if (*s->stopped != 0 || !serial_set_baud(s->line, s->slow)) {
            return false;
        }
        fprintf(stderr, "(%u baud does not work: continuing at %u)\n", (unsigned)s->baud,
                (unsigned)s->slow);
    }
    return is_understood(s) || is_understood(s) ||
           (s->error_message[0] == '\0' && fail(s, "the board does not answer: try --fast 0"));
}

/* ---- what has already arrived ---------------------------------------------------------------- */

/* Ask whether the board already has these bytes; *same is the answer. */
static bool compare(struct send_frames *s, uint64_t at, uint64_t bytes, bool *same)
{
    uint64_t asked = 0;
    uint8_t length[8];

    transfer_put_number(length, bytes, sizeof length);
    s->there = false;
    while (!s->there || s->there_at != at) {
        uint64_t now = serial_millis();

        if (asked == 0 || (now - asked > ASK_MS && now - s->line->heard_ms > ASK_MS)) {
            asked = now;
            (void)say(s, TRANSFER_QUERY, at, length, sizeof length);
        }
        if (!step(s)) {
            return false;
        }
    }
    *same = s->there_crc == crc32c(0, s->bytes + at, (size_t)bytes);
    return true;
}

/* Find how much of the file an earlier attempt has sent: ask about larger and larger pieces, then
 * about smaller and smaller ones. */
static bool find_start(struct send_frames *s, uint64_t *start)
{
    uint64_t piece = TRANSFER_STEP_BYTES;
    bool grows = true;

    *start = 0;
    while (*start < s->n) {
        uint64_t bytes = piece < s->n - *start ? piece : s->n - *start;
        bool same = false;

        if (!compare(s, *start, bytes, &same)) {
            return false;
        }
        if (same) {
            *start += bytes;
        } else if (piece == TRANSFER_STEP_BYTES) {
            break;
        }
        grows = grows && same;
        piece = grows ? 2 * piece : piece > TRANSFER_STEP_BYTES ? piece / 2 : TRANSFER_STEP_BYTES;
    }
    *start -= *start % TRANSFER_STEP_BYTES;
    return true;
}

/* ---- the bytes ------------------------------------------------------------------------------- */

static void show(struct send_frames *s, bool ends)
{
    uint64_t now = serial_millis(), ms = now - s->began_ms + 1;
    bool terminal = isatty(2);
    double rate = (double)(s->acked - s->resumed_at) * 1000 / (double)ms;
    unsigned left = rate > 0 ? (unsigned)((double)(s->n - s->acked) / rate) : 0;

    if (s->quiet || (!ends && now - s->said_ms < (terminal ? SHOW_MS : TELL_MS))) {
        return;
    }
    s->said_ms = now;
    fprintf(stderr, "%s%3u %%, %.2f of %.2f MiB, %.1f kB/s, %u:%02u left%s", terminal ? "\r" : "",
            (unsigned)(100 * s->acked / s->n), (double)s->acked / 1048576, (double)s->n / 1048576,
            rate / 1000, left / 60, left % 60, terminal && !ends ? "  " : "\n");
}

/* Send frames up to the window's end, as fast as the line takes them. */
static uint64_t fill(struct send_frames *s, uint64_t next)
{
    while (next < s->n && next - s->acked < s->window &&
           sizeof s->line->out - s->line->n_out > TRANSFER_WIRE_BYTES) {
        size_t bytes = s->n - next < s->frame ? (size_t)(s->n - next) : s->frame;

        (void)say(s, TRANSFER_DATA, next, s->bytes + next, bytes);
        next += bytes;
    }
    return next;
}

/* Drop bytes that have not been sent yet. A ping separates new bytes from those that are already on
 * their way. */
static void rewind_to(struct send_frames *s)
{
    s->again = false;
    s->moved_ms = serial_millis();
    s->line->n_out = 0;
    (void)say(s, TRANSFER_PING, ++s->pings, NULL, 0);
}

/* True if bytes seem lost: the board has been silent for several times its longest delay. */
static bool is_lost(const struct send_frames *s)
{
    uint64_t limit = 4 * s->slowest_ms;

    limit = limit < LOST_MS ? LOST_MS : limit > LOST_MOST_MS ? LOST_MOST_MS : limit;
    return serial_millis() - s->moved_ms > limit;
}

static bool send_bytes(struct send_frames *s)
{
    uint64_t next = s->acked;

    s->moved_ms = serial_millis();
    while (s->acked < s->n) {
        if (mapping_check(s->error_message, sizeof s->error_message) != ERR_OK) {
            return false;
        }
        next = fill(s, next);
        if (!step(s)) {
            return false;
        }
        if (s->again || is_lost(s)) {
            rewind_to(s);
            next = s->acked;
        }
        next = next < s->acked ? s->acked : next;
        show(s, false);
    }
    return true;
}

static bool start_at(struct send_frames *s, uint64_t at)
{
    uint64_t asked = 0;

    s->acked = 0;
    s->resumed_at = at;
    if (at != 0 && !s->quiet) {
        fprintf(stderr, "(%.2f MiB are there from an earlier try)\n", (double)at / 1048576);
    }
    do {
        if (asked == 0 || serial_millis() - asked > ASK_MS) {
            asked = serial_millis();
            (void)say(s, TRANSFER_START, at, NULL, 0);
        }
        if (!step(s)) {
            return false;
        }
    } while (s->acked < at);
    return true;
}

/* Finish: the board reads the whole file back before it confirms. */
static bool finish(struct send_frames *s)
{
    uint64_t asked = 0;
    uint8_t crc[4];

    if (mapping_check(s->error_message, sizeof s->error_message) != ERR_OK) {
        return false;
    }
    transfer_put_number(crc, crc32c(0, s->bytes, (size_t)s->n), sizeof crc);
    while (!s->has_result) {
        uint64_t now = serial_millis();

        if (asked == 0 || (now - asked > ASK_MS && now - s->line->heard_ms > ASK_MS)) {
            asked = now;
            (void)say(s, TRANSFER_END, s->n, crc, sizeof crc);
        }
        if (!step(s) && !s->has_result) {
            return false;
        }
        if (s->again) { /* the board still lacks some bytes */
            s->again = false;
            if (!send_bytes(s)) {
                return false;
            }
            asked = 0;
        }
    }
    return s->good;
}

/* Cancel: tell the board, which confirms. */
static void stop(struct send_frames *s)
{
    static const char ctrl_c = CTRL_C;
    uint64_t start = serial_millis();
    char error_message[sizeof s->error_message];

    memcpy(error_message, s->error_message, sizeof error_message);
    (void)serial_send(s->line, &ctrl_c, 1);
    while (!s->has_result && serial_millis() - start < STOP_MS &&
           serial_step(s->line, STEP_MS, NULL, take, s)) {
    }
    memcpy(s->error_message, error_message, sizeof error_message);
}

bool send_frames(struct send_frames *s)
{
    uint64_t start;
    bool good;

    s->line->raw = true;
    s->line->heard_ms = serial_millis();
    good = meet(s) && find_start(s, &start);
    s->began_ms = serial_millis();
    good = good && start_at(s, start) && send_bytes(s);
    if (good) {
        show(s, true);
    }
    good = good && finish(s);
    if (*s->stopped != 0) {
        stop(s);
    }
    s->line->raw = false;
    s->line->n_in = 0;
    if (s->has_result) {
        (void)say(s, TRANSFER_BYE, 0, NULL, 0);
    }
    if (s->baud != 0) {
        (void)serial_set_baud(s->line, s->slow);
    }
    return good;
}
