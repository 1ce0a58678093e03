#include "flash_image/chat/chat_derive.h"

#include <ctype.h>
#include <string.h>

#include "flash_image/chat/chat_cut.h"
#include "flash_image/jinja/jinja_text.h"

/* Texts for the probes; no template contains them. */
#define SYSTEM "zqSystem0qz"
#define USER1 "zqUser1qz"
#define USER2 "zqUser2qz"
#define REPLY1 "zqReply1qz"
#define THOUGHT "zqThought3qz"

struct derivation {
    struct prober *p;
    struct chat_derived *d;
    struct jinja_text one, two;    /* output for one and two turns, without a system prompt */
    struct jinja_text head, tail;  /* output for one turn, before and after the user's text */
    struct jinja_text past;        /* output between a past turn's text and its reply */
    struct jinja_text seam;        /* output between a reply and the next turn's text */
    struct jinja_text system_head; /* before the system prompt */
    struct jinja_text system_tail; /* output between the system prompt and the first turn's text */
};

/* ---- probes ---------------------------------------------------------------------------------- */

static const struct probe plain = { .users = 1,
                                    .user = { USER1, USER2, "zqUser3qz" },
                                    .reply = { REPLY1, "zqReply2qz", "zqReply3qz" } };

/* Cut t into the text before the first `what` and the text after it. False: `what` is not in t. */
static bool cut(struct jinja_text t, const char *what, struct jinja_text *before,
                struct jinja_text *after)
{
    size_t n = strlen(what), at = jinja_find(t, jinja_text(what), 0);

    if (at == SIZE_MAX) {
        return false;
    }
    *before = chat_part(t, 0, at);
    *after = chat_part(t, at + n, t.bytes);
    return true;
}

static bool fail(struct derivation *v, const char *wrong)
{
    v->d->wrong = wrong;
    return false;
}

/* Render the first probe. The values of `tools` are tried in the order of enum probe_tools. */
static bool render_first(struct derivation *v)
{
    for (unsigned i = 0; i < PROBE_N_TOOLS; i++) {
        v->p->tools = (enum probe_tools)i;
        if (probe_render(v->p, &plain, &v->one)) {
            return true;
        }
    }
    v->p->tools = PROBE_TOOLS_NONE; /* report the error that Transformers would report */
    return probe_render(v->p, &plain, &v->one);
}

static bool render_turns(struct derivation *v)
{
    struct probe two = plain;
    struct jinja_text rest, before;

    two.users = 2;
    two.replies = 1;
    if (!render_first(v) || !probe_render(v->p, &two, &v->two)) {
        return false;
    }
    if (!cut(v->one, USER1, &v->head, &v->tail) || !cut(v->two, USER1, &before, &rest)) {
        return fail(v, "it does not write the user's text");
    }
    if (!cut(rest, REPLY1, &v->past, &rest)) {
        return fail(v, "it does not write the replies of earlier turns");
    }
    if (!cut(rest, USER2, &v->seam, &rest)) {
        return fail(v, "it does not write the second turn after the first");
    }
    return true;
}

/* ---- between a text and a reply -------------------------------------------------------------- */

/* Find the output after the last user's text if no thoughts are wanted. False: nothing found. */
static bool tail_without_thoughts(struct derivation *v, struct jinja_text *tail)
{
    struct probe off = plain;
    struct jinja_text text, head;

    off.thinking = PROBE_NOT_THINKING;
    return probe_render(v->p, &off, &text) && cut(text, USER1, &head, tail) &&
           jinja_text_equal(head, v->head);
}

static bool thinking_changes(struct derivation *v)
{
    struct probe on = plain;
    struct jinja_text text;

    on.thinking = PROBE_THINKING;
    return probe_render(v->p, &on, &text) && !jinja_text_equal(text, v->one);
}

/* Return the length of the user's suffix, which the template writes even if no reply follows. */
static size_t user_suffix(struct derivation *v, struct jinja_text common)
{
    struct probe closed = plain;
    struct jinja_text text, head, tail;

    closed.no_reply_to_come = true;
    if (!probe_render(v->p, &closed, &text) || !cut(text, USER1, &head, &tail)) {
        return common.bytes;
    }
    return chat_whole_head(common, chat_common_head(common, tail));
}

static void derive_reply(struct derivation *v)
{
    struct jinja_text *s = v->d->strings, off, common;
    bool knows = tail_without_thoughts(v, &off);
    size_t n = chat_common_head(v->tail, v->past);

    if (knows) {
        size_t with = chat_common_head(v->tail, off);

        n = with < n ? with : n;
        n = chat_whole_head(off, n);
    }
    n = chat_whole_head(v->past, chat_whole_head(v->tail, n));
    common = chat_part(v->tail, 0, n);
    s[INGOT_CHAT_USER_SUFFIX] = chat_part(common, 0, user_suffix(v, common));
    s[INGOT_CHAT_REPLY_PREFIX] = chat_without_head(common, s[INGOT_CHAT_USER_SUFFIX]);
    s[INGOT_CHAT_REPLY_START] = chat_part(v->tail, n, v->tail.bytes);
    s[INGOT_CHAT_PAST_START] = chat_part(v->past, n, v->past.bytes);
    if (knows && (!jinja_text_equal(off, v->tail) || thinking_changes(v))) {
        s[INGOT_CHAT_NO_THINKING] = chat_part(off, n, off.bytes);
    }
}

/* ---- between a reply and a text -------------------------------------------------------------- */

/* Find the length of the suffix of a conversation's last reply. True if, in a longer conversation,
 * only a user's prefix follows this suffix. */
static bool suffix_at_end(struct derivation *v, size_t *bytes)
{
    struct probe ended = plain;
    struct jinja_text text, before, after;

    ended.replies = 1;
    ended.no_reply_to_come = true;
    if (!probe_render(v->p, &ended, &text) || !cut(text, REPLY1, &before, &after) ||
        after.bytes >= v->seam.bytes || !chat_begins_with(v->seam, after)) {
        return false;
    }
    *bytes = after.bytes;
    return chat_ends_with(v->head, chat_without_head(v->seam, after));
}

static void derive_user(struct derivation *v)
{
    struct jinja_text *s = v->d->strings;
    size_t at;

    if (!suffix_at_end(v, &at)) {
        at = v->seam.bytes - chat_whole_tail(v->seam, chat_common_tail(v->seam, v->head));
        while (at < v->seam.bytes && isspace((unsigned char)v->seam.data[at])) {
            at++;
        }
    }
    s[INGOT_CHAT_REPLY_SUFFIX] = chat_part(v->seam, 0, at);
    s[INGOT_CHAT_USER_PREFIX] = chat_part(v->seam, at, v->seam.bytes);
}

/* ---- the system prompt ----------------------------------------------------------------------- */

/* Return the length of the bos at the start of the output, or 0 if every turn starts with a bos,
 * which then belongs to the turn. */
static size_t leading_bos(struct derivation *v, struct jinja_text a, struct jinja_text b)
{
    struct jinja_text bos = v->p->bos;

    bool turns = chat_begins_with(v->d->strings[INGOT_CHAT_USER_PREFIX], bos);

    return chat_begins_with(a, bos) && chat_begins_with(b, bos) && !turns ? bos.bytes : 0;
}

/* If a template has no place for a system prompt, or drops it, the prompt becomes a paragraph
 * before the first user's text. */
static bool no_system(struct derivation *v)
{
    struct jinja_text *s = v->d->strings;

    s[INGOT_CHAT_OPENING] = chat_without_tail(v->head, s[INGOT_CHAT_USER_PREFIX]);
    s[INGOT_CHAT_SYSTEM_SUFFIX] = jinja_text("\n\n");
    v->d->flags |= INGOT_CHAT_SYSTEM_IN_USER;
    v->d->no_system = true;
    return true;
}

/* The system prompt is between the user's prefix and the user's text. */
static bool system_inside(struct derivation *v)
{
    struct jinja_text *s = v->d->strings;
    struct jinja_text user = s[INGOT_CHAT_USER_PREFIX], head = v->system_head;
    size_t at = jinja_find(head, user, 0);

    if (at == SIZE_MAX) {
        return fail(v, "its system prompt is neither before the first turn nor inside it");
    }
    s[INGOT_CHAT_OPENING] = chat_part(head, 0, at);
    s[INGOT_CHAT_SYSTEM_PREFIX] = chat_part(head, at + user.bytes, head.bytes);
    s[INGOT_CHAT_SYSTEM_SUFFIX] = v->system_tail;
    v->d->flags |= INGOT_CHAT_SYSTEM_IN_USER;
    if (v->head.bytes > at + user.bytes &&
        chat_begins_with(v->head, chat_part(head, 0, at + user.bytes))) {
        s[INGOT_CHAT_SYSTEM] = chat_part(v->head, at + user.bytes, v->head.bytes);
        if (chat_begins_with(v->head, head) && chat_ends_with(v->head, v->system_tail) &&
            v->head.bytes > head.bytes + v->system_tail.bytes) {
            s[INGOT_CHAT_SYSTEM] = chat_without_tail(chat_without_head(v->head, head),
                                                     v->system_tail);
        } else {
            v->d->flags |= INGOT_CHAT_SYSTEM_WHOLE;
        }
    }
    return true;
}

/* Separate the opening from the default system block in `head`. The template writes this block
 * before the first user's prefix if no system prompt is given. */
static void own_system(struct derivation *v, struct jinja_text head)
{
    struct jinja_text *s = v->d->strings;
    struct jinja_text before = v->system_head, after = s[INGOT_CHAT_SYSTEM_SUFFIX];
    size_t bos = leading_bos(v, before, head);
    bool around = chat_begins_with(head, before) && head.bytes >= before.bytes + after.bytes &&
                  chat_ends_with(head, after);

    if (chat_begins_with(before, head)) {
        bos = head.bytes; /* no block: all of `head` opens the conversation */
    }
    s[INGOT_CHAT_OPENING] = chat_part(before, 0, bos);
    s[INGOT_CHAT_SYSTEM_PREFIX] = chat_part(before, bos, before.bytes);
    if (bos == head.bytes) {
        return;
    }
    if (around && head.bytes == before.bytes + after.bytes) {
        v->d->flags |= INGOT_CHAT_SYSTEM_ALWAYS;
    } else if (around) {
        s[INGOT_CHAT_SYSTEM] = chat_without_tail(chat_without_head(head, before), after);
    } else {
        s[INGOT_CHAT_SYSTEM] = chat_part(head, bos, head.bytes);
        v->d->flags |= INGOT_CHAT_SYSTEM_WHOLE;
    }
}

static bool is_in_last_turn(struct derivation *v)
{
    struct probe two = plain;
    struct jinja_text text;

    two.users = 2;
    two.replies = 1;
    two.system = SYSTEM;
    return probe_render(v->p, &two, &text) && jinja_find(text, jinja_text(SYSTEM), 0) != SIZE_MAX &&
           jinja_find(text, jinja_text(SYSTEM), 0) > jinja_find(text, jinja_text(REPLY1), 0);
}

static bool derive_system(struct derivation *v)
{
    struct jinja_text *s = v->d->strings, text, rest;
    struct jinja_text user = s[INGOT_CHAT_USER_PREFIX];
    struct probe given = plain;

    given.system = SYSTEM;
    if (!chat_ends_with(v->head, user)) {
        return fail(v, "its first turn begins differently from later ones");
    }
    if (!probe_render(v->p, &given, &text) || !cut(text, SYSTEM, &v->system_head, &rest)) {
        return no_system(v);
    }
    if (!cut(rest, USER1, &v->system_tail, &rest)) {
        return fail(v, "its system prompt comes after the first turn");
    }
    if (is_in_last_turn(v)) {
        v->d->flags |= INGOT_CHAT_SYSTEM_LAST;
    }
    if (!chat_ends_with(v->system_tail, user) || (v->d->flags & INGOT_CHAT_SYSTEM_LAST) != 0) {
        return system_inside(v);
    }
    s[INGOT_CHAT_SYSTEM_SUFFIX] = chat_without_tail(v->system_tail, user);
    own_system(v, chat_without_tail(v->head, user));
    return true;
}

/* ---- white space and thoughts ---------------------------------------------------------------- */

static bool keeps(struct jinja_text t, const char *what)
{
    return jinja_find(t, jinja_text(what), 0) != SIZE_MAX;
}

/* White space that no template writes itself. */
#define SPACED(word) " \t" word "\t "

/* Find the flags of the last reply's white space. */
static void derive_reply_trim(struct derivation *v)
{
    struct probe spaced = plain;
    struct jinja_text text;

    spaced.users = 2;
    spaced.replies = 1;
    spaced.reply[0] = SPACED(REPLY1);
    if (probe_render(v->p, &spaced, &text) && !keeps(text, "\t" REPLY1) &&
        !keeps(text, REPLY1 "\t")) {
        v->d->flags |= INGOT_CHAT_TRIM_REPLY;
    }
}

static void derive_trim(struct derivation *v)
{
    struct probe spaced = plain;
    struct jinja_text text;

    spaced.user[0] = SPACED(USER1);
    if (probe_render(v->p, &spaced, &text) && !keeps(text, spaced.user[0])) {
        v->d->flags |= INGOT_CHAT_TRIM_USER;
    }
    if (v->d->no_system) { /* the prompt is a part of the user's text */
        v->d->flags |= (v->d->flags & INGOT_CHAT_TRIM_USER) != 0 ? INGOT_CHAT_TRIM_SYSTEM : 0u;
        return;
    }
    spaced.user[0] = USER1;
    spaced.system = SPACED(SYSTEM);
    if (probe_render(v->p, &spaced, &text) && !keeps(text, spaced.system)) {
        v->d->flags |= keeps(text, "\t" SYSTEM) ? INGOT_CHAT_TRIM_SYSTEM_END
                                                : INGOT_CHAT_TRIM_SYSTEM;
    }
}

/* Return the first <...> or [...] of a text or, if letters follow it, the whole text without
 * spaces. */
static struct jinja_text first_marker(struct jinja_text t)
{
    size_t at = 0, end;

    while (t.bytes != 0 && isspace((unsigned char)t.data[0])) {
        t = chat_part(t, 1, t.bytes);
    }
    while (t.bytes != 0 && isspace((unsigned char)t.data[t.bytes - 1])) {
        t.bytes--;
    }
    while (at < t.bytes && t.data[at] != '<' && t.data[at] != '[') {
        at++;
    }
    if (at == t.bytes || chat_marker_around(t, at + 1, &end) != at) {
        return t;
    }
    return end < t.bytes && isalnum((unsigned char)t.data[end]) ? t : chat_part(t, at, end);
}

/* Find the output between the last reply's thoughts and its text. False: there is no such
 * output. */
static bool after_thoughts(struct derivation *v, enum probe_thinking thinking,
                           struct jinja_text *out)
{
    struct probe ended = plain;
    struct jinja_text text, before, rest;

    ended.replies = 1;
    ended.no_reply_to_come = true;
    ended.reasoning = THOUGHT;
    ended.thinking = thinking;
    return probe_render(v->p, &ended, &text) && cut(text, THOUGHT, &before, &rest) &&
           cut(rest, REPLY1, out, &before) && out->bytes != 0;
}

/* True if the output still has the thoughts of a past turn's reply. */
static bool past_keeps(struct derivation *v, bool in_content)
{
    struct probe two = plain;
    struct jinja_text text;

    two.users = 2;
    two.replies = 1;
    if (in_content) {
        two.reply[0] = "<think>\n" THOUGHT "\n</think>\n\n" REPLY1;
    } else {
        two.reasoning = THOUGHT;
    }
    return !probe_render(v->p, &two, &text) || keeps(text, THOUGHT);
}

static bool opens_thoughts(struct jinja_text t)
{
    return jinja_find(t, jinja_text("<think>"), 0) != SIZE_MAX ||
           jinja_find(t, jinja_text("</think>"), 0) != SIZE_MAX;
}

static void derive_thoughts(struct derivation *v)
{
    struct jinja_text *s = v->d->strings, between;

    if (after_thoughts(v, PROBE_AS_IT_IS, &between) ||
        after_thoughts(v, PROBE_THINKING, &between)) {
        s[INGOT_CHAT_THINK_END] = first_marker(between);
        if (past_keeps(v, false)) {
            v->d->flags |= INGOT_CHAT_KEEPS_THOUGHTS;
        }
    } else if (!past_keeps(v, true)) {
        s[INGOT_CHAT_THINK_END] = jinja_text("</think>");
    } else if (opens_thoughts(s[INGOT_CHAT_REPLY_START]) ||
               opens_thoughts(s[INGOT_CHAT_NO_THINKING])) {
        s[INGOT_CHAT_THINK_END] = jinja_text("</think>");
        v->d->flags |= INGOT_CHAT_KEEPS_THOUGHTS;
    }
    if (s[INGOT_CHAT_THINK_END].bytes != 0 && !past_keeps(v, true)) {
        v->d->flags |= INGOT_CHAT_DROPS_WRITTEN;
    }
}

bool chat_derive(struct prober *p, struct chat_derived *d)
{
    struct derivation v = { .p = p, .d = d };

    p->error_message = "";
    for (unsigned i = 0; i < INGOT_CHAT_STRINGS; i++) {
        d->strings[i] = jinja_text("");
    }
    d->flags = 0;
    d->no_system = false;
    d->wrong = NULL;
    if (!render_turns(&v)) {
        return false;
    }
    derive_reply(&v);
    derive_user(&v);
    if (!derive_system(&v)) {
        return false;
    }
    derive_trim(&v);
    derive_reply_trim(&v);
    derive_thoughts(&v);
    return true;
}
