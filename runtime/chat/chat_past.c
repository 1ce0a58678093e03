/* How a finished reply becomes part of the past: later turns see it without thoughts. */
#include "runtime/chat/chat_private.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/features/feature.h"

static bool is_line_feeds(const struct chat *c, uint32_t id)
{
    size_t bytes;
    const char *text = tokenizer_piece(&c->session->model->tokenizer, id, INGOT_NO_TOKEN, &bytes);

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '\n') {
            return false;
        }
    }
    return bytes != 0;
}

/* Return the offset of the reply's text after its thoughts, or the reply's start if it has none. */
static uint32_t after_thoughts(const struct chat *c)
{
    const struct session *s = c->session;
    uint32_t from = c->reply_start;

    if (c->think_end == INGOT_NO_TOKEN) {
        return from;
    }
    for (uint32_t i = c->reply_start; i < s->n_ids; i++) {
        if (s->ids[i] == c->think_end) {
            from = i + 1;
        }
    }
    while (from != c->reply_start && from < s->n_ids && is_line_feeds(c, s->ids[from])) {
        from++;
    }
    return from;
}

/* Drop thoughts, which are not part of the conversation: cut at the start of the last reply, and
 * make the text after the thoughts pending. */
static void forget_thoughts(struct chat *c, uint32_t from)
{
    struct session *s = c->session;
    uint32_t end = s->n_ids;

    (void)session_cut(s, c->reply_start); /* the ids stay in memory */
    (void)session_put(s, s->ids + from, end - from);
}

/* Return true if a past turn has other tokens than when its reply was made: because of marks of
 * thoughts, or of a system prompt that only the last turn has. */
static bool tells_past(const struct chat *c)
{
    const struct ingot_chat *t = c->template;

    return *ingot_chat_bytes(t, INGOT_CHAT_REPLY_START) != 0 ||
           (t->flags & INGOT_CHAT_SYSTEM_LAST) != 0 ||
           (t->bytes[INGOT_CHAT_NO_THINKING] != 0 &&
            (c->options->reply.think == THINK_OFF || features_is_quiet(c->features, false)));
}

/* Return by how many tokens a turn, with the opening of its reply, may be longer than its form as a
 * past turn. A system prompt that was set after the reply is not included. */
static uint32_t most_of_start(const struct chat *c)
{
    const struct ingot_chat *t = c->template;

    if ((t->flags & INGOT_CHAT_SYSTEM_LAST) != 0) {
        return UINT32_MAX;
    }
    return max_u32(*ingot_chat_bytes(t, INGOT_CHAT_REPLY_START), t->bytes[INGOT_CHAT_NO_THINKING]) +
           1;
}

/* Encode the last turn again as a past turn, followed by its reply from `from` on. Returns false if
 * the turn stays unchanged. */
static bool tell_past(struct chat *c, uint32_t from)
{
    struct session *s = c->session;
    struct turn *last = &c->turns.list[c->turns.n - 1];
    uint32_t end = s->n_ids, kept = end - from, same = 0, room, *ids = session_room(s, &room);
    size_t n;

    if (chat_encode_past(c, c->turns.text + last->text, last->bytes, last->start == 0, ids, room,
                         &n) != ERR_OK ||
        n + kept > room) {
        return false;
    }
    while (same < n && last->start + same < c->reply_start &&
           s->ids[last->start + same] == ids[same]) {
        same++;
    }
    if (c->reply_start - (last->start + same) > most_of_start(c)) {
        return false;
    }
    memcpy(ids + n, s->ids + from, kept * sizeof *ids);
    (void)session_cut(s, last->start + same); /* the ids stay in memory */
    (void)session_put(s, ids + same, n - same + kept);
    last->reply = c->reply_start = last->start + (uint32_t)n;
    return true;
}

void chat_settle_reply(struct chat *c)
{
    bool keeps = (c->template->flags & INGOT_CHAT_KEEPS_THOUGHTS) != 0;
    uint32_t from;

    if (!c->started) {
        return;
    }
    from = after_thoughts(c);
    if (keeps && from != c->reply_start) {
        return;
    }
    if (c->turns.n != 0 && !keeps && (tells_past(c) || from != c->reply_start) &&
        tell_past(c, from)) {
        return;
    }
    if (from != c->reply_start) {
        forget_thoughts(c, from);
    }
}
