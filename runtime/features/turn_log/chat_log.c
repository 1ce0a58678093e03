/* Turns on their way to the log (turn_log.h). */
#include "runtime/chat/chat_private.h"

#include "runtime/chat/chat_turn.h"

void chat_log_begin(struct chat *c, const char *text, size_t bytes)
{
    const struct ingot_header *h = c->session->model->image.header;
    const struct options *o = c->options;
    struct turn_log_turn turn = { .model = c->name != NULL ? c->name : h->name,
                                  .model_crc = h->header_crc32c,
                                  .user = text,
                                  .user_bytes = bytes };

    if (c->log == NULL) {
        return;
    }
    if (options_given(o, OPTION_SYSTEM)) {
        turn.system = o->reply.system;
        turn.system_bytes = o->reply.system_bytes;
    }
    if (c->adapted != NULL && c->adapted[0] != '\0') {
        turn.adapter = c->adapted;
    }
    turn_log_begin(c->log, &turn);
}

void chat_log_text(struct chat *c, const char *text, size_t bytes)
{
    if (c->log != NULL) {
        turn_log_reply(c->log, text, bytes);
    }
}

void chat_log_end(struct chat *c, uint32_t own, const char *end)
{
    const struct session *s = c->session;
    struct turn_log_end e = { .end = end, .end_id = INGOT_NO_TOKEN };

    if (c->log == NULL || !c->log->begun) {
        return;
    }
    if (c->turns.n != 0) { /* turns that were dropped meanwhile have moved it */
        own = c->turns.list[c->turns.n - 1].start;
    }
    e.ids = s->ids + own;
    e.n = s->n_ids - own;
    e.start = own;
    e.reply = c->reply_start - own;
    if (c->template->n_stops != 0) {
        e.end_id = c->template->stops[0];
    }
    if (turn_log_end(c->log, &e) != ERR_OK) {
        console_printf(c->console, "error: the log ends: %s\n", c->log->problem);
        c->log = NULL;
        return;
    }
    c->logged = c->log->last_turn;
    if (c->turns.n != 0) {
        turns_mark_logged(&c->turns, c->logged);
    }
}

/* The record of the last turn; 0: there is none. */
static uint64_t last_logged(const struct chat *c)
{
    if (c->turns.n != 0) {
        return c->turns.logged[c->turns.n - 1];
    }
    return c->started ? c->logged : 0; /* a text without a template is no turn */
}

bool chat_log_rate(struct chat *c, const char *rating)
{
    return c->log != NULL && turn_log_rate(c->log, last_logged(c), rating) == ERR_OK;
}
