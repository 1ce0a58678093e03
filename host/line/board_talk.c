#include "host/line/board_talk.h"

#include <stdio.h>
#include <string.h>

#include "host/line/serial_events.h"

enum {
    STEP_MS = 100,
    ASK_MS = 1500,   /* time between two attempts to ask whether the board is there ... */
    FIRST_MS = 1500, /* ... and before the first attempt: the board may be starting, and
                        silent */
    QUIET_MS = 700,  /* silence before a question */
    WAIT_MS = 60000,
    REPLY_MS = 300000, /* time without an event in a reply */
    LEAVE_MS = 5000,
    LEAVE_ID = 1, /* id that only the last request has */
    REQUEST_BYTES = 16384,
};

static bool fail(const struct board_talk *t, const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", t->name, why);
    return false;
}

static void take_line(void *context, char *line, size_t bytes)
{
    struct board_talk *t = context;
    struct board_event e;

    if (!board_event_read(&e, line, bytes)) {
        return;
    }
    t->ready = t->ready || (e.kind == BOARD_READY && (!t->needs_model || e.model != NULL));
    if (e.kind == BOARD_ERROR) {
        t->failed = true;
        fprintf(stderr, "error: %s\n",
                e.text != NULL ? e.text : "the board reports an error without a reason");
    }
    t->done = t->done || e.kind == BOARD_DONE;
    t->left = t->left || (e.kind == BOARD_DONE && e.id == LEAVE_ID);
    if (t->take != NULL) {
        t->take(t->context, &e);
    }
    board_event_free(&e);
}

/* Ask, after a silence, whether the board is ready. A board at a prompt is switched to
 * programs. */
static void ask_whether_there(struct board_talk *t)
{
    char mode[32];

    if (strstr(t->line->in, "> ") != NULL) {
        t->was_to_people = true;
        (void)serial_send(t->line, mode, serial_mode_line(mode, t->silence_s, t->n_mode++));
    } else {
        serial_ask(t->line);
    }
}

/* Wait for one of the flags; false if nothing arrives for most_ms. */
static bool wait_for(struct board_talk *t, const bool *flag, const bool *other, uint64_t most_ms,
                     bool asks)
{
    uint64_t since = serial_millis(), asked = since + FIRST_MS - ASK_MS;

    while (!*flag && !*other) {
        uint64_t now = serial_millis();

        if (t->stopped != NULL && *t->stopped != 0) {
            return fail(t, "stopped");
        }
        if (!serial_step(t->line, STEP_MS, NULL, take_line, t)) {
            return fail(t, t->is_program ? "the model ended" : t->line->error_message);
        }
        if (now - since > most_ms && now - t->line->heard_ms > most_ms) {
            return fail(t, "the board is silent: check its power, and that TX is at RX");
        }
        if (asks && now > asked + ASK_MS && now - t->line->heard_ms > QUIET_MS) {
            asked = now;
            ask_whether_there(t);
        }
    }
    return true;
}

bool board_talk_greet(struct board_talk *t)
{
    return wait_for(t, &t->ready, &t->ready, WAIT_MS, !t->is_program);
}

bool board_talk_wait(struct board_talk *t, const bool *flag)
{
    return wait_for(t, flag, &t->done, REPLY_MS, false);
}

bool board_talk_send(struct board_talk *t, const char *line)
{
    if (line != NULL) {
        t->done = t->failed = false;
    }
    if (line != NULL && !serial_send(t->line, line, strlen(line))) {
        return fail(t, "the board accepts no more data");
    }
    return board_talk_wait(t, &t->done);
}

bool board_talk_leave(struct board_talk *t)
{
    static const char chat[] = "{\"id\":1,\"command\":\"/mode chat\"}\n";
    uint64_t start = serial_millis();

    if (!t->was_to_people) {
        return true;
    }
    t->left = false;
    if (!t->done) { /* the board has a request, or a part of one */
        (void)serial_send(t->line, "\3", 1);
    }
    (void)serial_send(t->line, chat, sizeof chat - 1);
    while (!t->left && serial_millis() - start < LEAVE_MS) {
        if (!serial_step(t->line, STEP_MS, NULL, take_line, t)) {
            return false;
        }
    }
    return t->left || fail(t, "the board did not confirm that it is back in chat mode");
}

void board_talk_stay(struct board_talk *t)
{
    if (t->was_to_people && serial_millis() - t->stayed_ms >= SERIAL_STAY_MS) {
        t->stayed_ms = serial_millis();
        (void)serial_send(t->line, "\n", 1);
    }
    (void)serial_step(t->line, 0, NULL, take_line, t);
}

bool board_talk_ask(struct board_talk *t, const char *key, const char *text, size_t bytes)
{
    char out[REQUEST_BYTES];

    if (serial_request(out, sizeof out, key, text, bytes) == 0) {
        return fail(t, "the text is too long");
    }
    return board_talk_send(t, out);
}
