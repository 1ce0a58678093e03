/* Write turns to the log. If a line cannot be written, an error is printed and the log ends. */
#include "runtime/features/turn_log/chat_log.h"

#include "runtime/app/app_files.h"
#include "runtime/chat/chat_private.h"
#include "runtime/features/adapters/app_adapters.h"

/* Write the facts known before the reply. */
static void begin(void *state, struct feature_turn *t)
{
    struct turn_log_state *l = state;
    const struct chat *c = t->chat;
    const struct ingot_header *h = c->session->model->image.header;
    const struct options *o = c->options;
    struct turn_log_turn turn = { .model = c->name != NULL ? c->name : h->name,
                                  .model_crc = h->header_crc32c,
                                  .user = t->text,
                                  .user_bytes = t->bytes };

    if (options_given(o, OPTION_SYSTEM)) {
        turn.system = o->reply.system;
        turn.system_bytes = o->reply.system_bytes;
    }
    if (adapters_of(c)->adapted[0] != '\0') {
        turn.adapter = adapters_of(c)->adapted;
    }
    turn_log_begin(&l->log, &turn);
}

/* Pass on the reply's text as it comes, and log it unless it is a thought. */
static void write_text(void *state, const char *text, size_t bytes)
{
    struct turn_log_state *l = state;

    if (!l->turn->thinks) {
        turn_log_reply(&l->log, text, bytes);
    }
    l->next.write(l->next.context, text, bytes);
}

static void show(void *state, struct feature_turn *t, struct feature_text *to)
{
    struct turn_log_state *l = state;

    l->turn = t;
    l->next = *to;
    *to = (struct feature_text){ write_text, l };
}

static void give_up(struct turn_log_state *l, struct chat *c, const char *why)
{
    l->log.begun = false;
    console_printf(c->console, "error: turns are no longer logged: %s\n", why);
    features_switch(c->features, FEATURE_turn_log, false);
}

/* Return true if the log may be written. Call this before every write. */
static bool is_in_place(struct turn_log_state *l, struct chat *c)
{
    const struct app_files *files = l->files;

    if (files->check_place == NULL ||
        files->check_place(files->context, l->log.ring.file) == ERR_OK) {
        return true;
    }
    give_up(l, c, files->error_message(files->context));
    return false;
}

/* Write the facts known after the reply. */
static void end(void *state, struct feature_turn *t, const char *reason)
{
    struct turn_log_state *l = state;
    struct chat *c = t->chat;
    const struct session *s = c->session;
    uint32_t own = t->own;
    struct turn_log_end e = { .end = reason, .end_id = INGOT_NO_TOKEN };

    if (!l->log.begun || !is_in_place(l, c)) {
        return;
    }
    if (c->turns.n != 0) { /* the turn may have moved, because earlier turns were dropped */
        own = c->turns.list[c->turns.n - 1].start;
    }
    e.ids = s->ids + own;
    e.n = s->n_ids - own;
    e.start = own;
    e.reply = c->reply_start - own;
    if (c->template->n_stops != 0) {
        e.end_id = c->template->stops[0];
    }
    if (turn_log_end(&l->log, &e) != ERR_OK) {
        give_up(l, c, l->log.error_message);
        return;
    }
    l->logged = l->log.last_turn;
    if (c->turns.n != 0) {
        turns_mark_logged(&c->turns, l->logged);
    }
}

/* ---- judgements ------------------------------------------------------------------------------ */

/* Return the number of the last turn's record, or 0 if there is no record. */
static uint64_t last_logged(const struct turn_log_state *l, const struct chat *c)
{
    if (c->turns.n != 0) {
        return c->turns.logged[c->turns.n - 1];
    }
    return c->started ? l->logged : 0; /* without a template a reply is not in `turns` */
}

static const char *rate(void *state, struct chat *c, enum feature_rating rating)
{
    struct turn_log_state *l = state;
    const char *word = rating == FEATURE_GOOD ? "good" : "bad";

    if (last_logged(l, c) == 0 || !is_in_place(l, c)) {
        return NULL;
    }
    return turn_log_rate(&l->log, last_logged(l, c), word) == ERR_OK ? "in the log" : NULL;
}

static void undo(void *state, struct chat *c)
{
    struct turn_log_state *l = state;

    for (unsigned i = chat_question(c); i < c->turns.n && is_in_place(l, c); i++) {
        (void)turn_log_rate(&l->log, c->turns.logged[i], "undone");
    }
}

/* Forget the last record, which does not belong to this conversation. */
static void forget(void *state, struct chat *c)
{
    (void)c;
    ((struct turn_log_state *)state)->logged = 0;
}

static void reset(void *state, struct chat *c)
{
    forget(state, c);
    features_switch(c->features, FEATURE_turn_log, false);
}

const struct feature feature_turn_log = {
    .name = "turn_log",
    .state_bytes = sizeof(struct turn_log_state),
    .loaded = app_open_log,
    .reset = reset,
    .cleared = forget,
    .changed = forget,
    .undone = undo,
    .rated = rate,
    .shows = show,
    .reply_begins = begin,
    .turn_ended = end,
};
