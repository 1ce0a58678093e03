#include "runtime/features/fabric/chat_fabric.h"

#include <string.h>

#include "runtime/features/fabric/chat_fabric_private.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/fabric/chat_recall.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { BACKGROUND_TOKENS = 16 /* tokens of a text without a prompt */ };

/* ---- time ----------------------------------------------------------------------------------- */

uint64_t chat_fabric_now(const struct chat *c)
{
    return fabric_of(c)->epoch + console_millis(c->console) / 1000;
}

void chat_fabric_set_time(struct chat *c, uint64_t seconds)
{
    bool first = chat_fabric_now(c) < FABRIC_SET_CLOCK;

    fabric_set_clock(&fabric_of(c)->fabric, chat_fabric_now(c));
    fabric_of(c)->epoch = seconds - console_millis(c->console) / 1000;
    if (first) {
        lessons_correct_clock(&lessons_of(c)->lessons, fabric_of(c)->fabric.clock, seconds);
        fabric_correct_clock(&fabric_of(c)->fabric, seconds);
    } else {
        fabric_set_clock(&fabric_of(c)->fabric, seconds);
    }
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Return the turn's first position after the opening of all conversations, which is often computed
 * already. */
static uint32_t first_of_turn(struct chat *c, uint32_t own)
{
    size_t n = own == 0 ? chat_encode_opening(c) : 0;

    return n > own ? (uint32_t)n : own;
}

void fabric_turn_built(void *state, struct feature_turn *t)
{
    struct fabric *f = &((struct fabric_state *)state)->fabric;

    if (!t->as_turn || t->looks_back) {
        return;
    }
    if (f->n_notes != 0 && ((struct fabric_state *)state)->recall.by_heart) {
        fabric_set_clock(f, chat_fabric_now(t->chat));
        fabric_watch(f, first_of_turn(t->chat, t->own));
    }
}

const char *fabric_told(void *state, struct feature_turn *t, size_t *bytes)
{
    (void)state;
    return chat_recall(t->chat, t->text, t->bytes, bytes);
}

void fabric_reply_begins(void *state, struct feature_turn *t)
{
    (void)t;
    fabric_hold(&((struct fabric_state *)state)->fabric);
}

void fabric_reply_ends(void *state, struct feature_turn *t, enum err error)
{
    struct fabric *f = &((struct fabric_state *)state)->fabric;

    (void)error;
    if (!t->looks_back) {
        fabric_needed(f);
        fabric_leave(f);
    }
}

/* ---- what the model says without a memory ---------------------------------------------------- */

/* Let the model write some texts without a prompt. Gates must stay shut for such texts. */
static enum err look_around(struct chat *c)
{
    struct session *s = c->session;
    unsigned seed = 3;
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < FABRIC_BACKGROUND && e == ERR_OK; i++) {
        size_t n;

        session_clear(s);
        e = chat_learn_begin_text(c, &n);
        if (n == 0) {
            break;
        }
        fabric_watch(&fabric_of(c)->fabric, (uint32_t)n);
        for (uint32_t k = 0; k < BACKGROUND_TOKENS && e == ERR_OK && s->n_ids < s->context; k++) {
            uint32_t id = chat_learn_draw(c, s->logits, &seed);

            chat_learn_tell(c, "preparing for memories", i * BACKGROUND_TOKENS + k,
                            FABRIC_BACKGROUND * BACKGROUND_TOKENS);
            e = console_aborted(c->console) ? ERR_ABORTED : session_append(s, &id, 1, NULL);
        }
        fabric_add_background(&fabric_of(c)->fabric);
        fabric_leave(&fabric_of(c)->fabric);
    }
    session_clear(s);
    return e;
}

/* ---- remembering ---------------------------------------------------------------------------- */

/* The start of the answer and the length of the question in "QUESTION = ANSWER". */
struct split {
    const char *answer;
    size_t question, answer_bytes;
};

static bool is_end(char c)
{
    return c == ' ' || c == '.' || c == '!' || c == '?';
}

static struct split split_text(const char *text, size_t bytes)
{
    const char *answer = fabric_answer_of(text, bytes);
    struct split s = { answer, bytes, bytes - (size_t)(answer - text) };

    if (answer != text) {
        s.question = (size_t)(answer - text) - (sizeof " = " - 1);
    } else { /* in a sentence, everything except the last word is the question */
        while (s.question > 0 && is_end(text[s.question - 1])) {
            s.question--;
        }
        while (s.question > 0 && text[s.question - 1] != ' ') {
            s.question--;
        }
    }
    while (s.question > 0 && text[s.question - 1] == ' ') {
        s.question--;
    }
    return s;
}

struct collect {
    struct chat *chat;
    const uint32_t *ids; /* the tokens of the text */
    uint32_t first, n, end;
};

static void visit_example(void *context, uint32_t position, const float *logits)
{
    const struct collect *k = context;
    struct fabric *f = &fabric_of(k->chat)->fabric;
    uint32_t i = position - k->first + 1;

    (void)logits;
    fabric_add_example(f, f->last, i < k->n ? k->ids[i] : k->end);
}

/* Compute the question except its last token. The answer is learnt from ids (n), which begin with
 * that token. */
static enum err ask(struct chat *c, const char *text, const struct split *split, struct collect *k,
                    uint32_t *ids)
{
    struct session *s = c->session;
    size_t n;
    enum err e;

    fabric_watch(&fabric_of(c)->fabric, first_of_turn(c, 0));
    e = chat_learn_put_answer(c, text, split->question, split->answer, split->answer_bytes, ids,
                              &n);
    if (e != ERR_OK) {
        return e;
    }
    k->ids = ids;
    k->first = s->n_ids;
    k->n = (uint32_t)n;
    return session_append(s, ids, 1, NULL);
}

/* Replace a note that the new note contradicts. The new note keeps the old text. */
static void replace(struct chat *c, uint32_t old, enum fabric_name space, const char *text,
                    size_t bytes, const struct split *split)
{
    struct fabric *f = &fabric_of(c)->fabric;
    struct fabric_note *n, *replaced = &fabric_of(c)->replaced;

    *replaced = f->notes[old];
    fabric_drop(f, old);
    n = fabric_add_note(f, space, text, bytes, split->question);
    memcpy(n->before, replaced->text, replaced->bytes);
    n->before_bytes = replaced->bytes;
}

/* Add a note, with the mean hidden state of its question. Each token of the answer becomes an
 * example while there is room. */
static enum err add_note(struct chat *c, enum fabric_name space, const char *text, size_t bytes,
                         struct chat_lesson *lesson)
{
    struct split split = split_text(text, bytes);
    struct fabric *f = &fabric_of(c)->fabric;
    uint32_t ids[CHAT_LEARN_ANSWER_TOKENS], old, opening = chat_recall_opening(c);
    struct collect k = { .chat = c, .end = chat_learn_end(c) };
    enum err e;

    old = chat_recall_replaced(c, space, text, bytes, split.question);
    if (old == f->n_notes && fabric_is_full(f)) {
        return ERR_NO_SPACE;
    }
    e = ask(c, text, &split, &k, ids);
    if (e != ERR_OK) {
        return e;
    }
    fabric_renew(f, space);
    lesson->replaces = old < f->n_notes;
    if (lesson->replaces) {
        replace(c, old, space, text, bytes, &split);
    } else {
        (void)fabric_add_note(f, space, text, bytes, split.question);
    }
    f->notes[f->n_notes - 1].opening = opening;
    fabric_leave(f);
    (void)session_cut(c->session, k.first);
    lesson->by_words = k.n > fabric_free_examples(f);
    return lesson->by_words ? ERR_OK
                            : session_append_visit(c->session, ids, k.n, visit_example, &k);
}

/* Turn the latest note back into the note that it replaced, which is found by its words. */
static void put_replaced_back(struct fabric *f, const struct fabric_note *replaced)
{
    struct fabric_note *last = &f->notes[f->n_notes - 1];
    uint16_t first = last->first;

    fabric_drop_examples(f, f->n_notes - 1);
    f->spaces[last->space].notes--;
    f->spaces[replaced->space].notes++;
    *last = *replaced;
    last->first = first;
    last->n_examples = 0;
    last->wins = false;
    f->that = 0;
}

/* Drop the latest note, or bring back the note that it replaced, and make the gates again. */
static void take_back(struct chat *c, uint32_t n_notes, bool replaced)
{
    struct fabric *f = &fabric_of(c)->fabric;

    if (!replaced && f->n_notes == n_notes) {
        return;
    }
    if (replaced) {
        put_replaced_back(f, &fabric_of(c)->replaced);
    } else {
        fabric_drop(f, f->n_notes - 1);
    }
    (void)fabric_make_gates(f);
}

static enum err remember(struct chat *c, enum fabric_name space, const char *text, size_t bytes,
                         struct chat_lesson *lesson)
{
    struct fabric *f = &fabric_of(c)->fabric;
    uint32_t n_notes;
    enum err e = f->n_background == 0 ? look_around(c) : ERR_OK;

    if (e != ERR_OK) {
        fabric_clear(f); /* nothing was known before */
        return e;
    }
    n_notes = f->n_notes;
    e = add_note(c, space, text, bytes, lesson);
    if (e == ERR_OK && lesson->by_words) { /* no weight has changed, so no practice is needed */
        lesson->apart = fabric_make_gates(f);
    } else if (e == ERR_OK) {
        e = chat_fabric_learn_latest(c, lesson);
    }
    fabric_leave(f);
    if (e != ERR_OK) {
        take_back(c, n_notes, lesson->replaces);
    }
    return e;
}

/* The current conversation, which is restored afterwards. */
struct kept {
    struct session_hash hash;
    uint32_t n_ids;
};

static struct kept keep(struct chat *c)
{
    struct session *s = c->session;
    struct kept k = { s->hash, s->n_ids };

    session_forget_guesses(s);
    memcpy(lessons_of(c)->kept_ids, s->ids, s->n_ids * sizeof *s->ids);
    session_clear(s);
    fabric_set_clock(&fabric_of(c)->fabric, chat_fabric_now(c));
    return k;
}

static void put_back(struct chat *c, const struct kept *k)
{
    session_take_back(c->session, lessons_of(c)->kept_ids, k->n_ids, &k->hash);
}

/* Check a text before the preparation, which takes long. */
static enum err check_text(struct chat *c, const char *text, size_t bytes)
{
    struct split split = split_text(text, bytes);
    uint32_t ids[CHAT_LEARN_ANSWER_TOKENS];
    size_t n;

    if (bytes > FABRIC_TEXT_BYTES) {
        return ERR_TOO_LONG;
    }
    if (split.question == 0 || split.answer_bytes == 0) {
        return ERR_BAD_ARGUMENT;
    }
    return chat_learn_encode_answer(c, split.answer, split.answer_bytes, ids, &n);
}

enum err chat_fabric_remember(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, struct chat_lesson *lesson)
{
    enum err e = check_text(c, text, bytes);
    struct kept kept;

    memset(lesson, 0, sizeof *lesson);
    if (e != ERR_OK) {
        return e;
    }
    kept = keep(c);
    e = remember(c, space, text, bytes, lesson);
    put_back(c, &kept);
    return e;
}

size_t chat_fabric_add_to_list(struct chat *c, enum fabric_name space, const char *text,
                               char list[FABRIC_TEXT_BYTES + 1])
{
    static const char sign[] = " += ";
    const char *at = text, *more, *had;
    const struct fabric_note *n;
    size_t bytes, had_bytes;
    uint32_t i;

    while (*at != '\0' && strncmp(at, sign, sizeof sign - 1) != 0) {
        at++;
    }
    if (*at == '\0') {
        return 0;
    }
    more = at + sizeof sign - 1;
    bytes = format_text(list, FABRIC_TEXT_BYTES + 1, "%.*s = %s", (int)(at - text), text, more);
    if (bytes > FABRIC_TEXT_BYTES) {
        return bytes;
    }
    i = chat_recall_replaced(c, space, list, bytes, (size_t)(at - text));
    if (i == fabric_of(c)->fabric.n_notes) {
        return bytes;
    }
    n = &fabric_of(c)->fabric.notes[i];
    had = fabric_answer(n);
    had_bytes = (size_t)(n->text + n->bytes - had);
    while (had_bytes > 0 && is_end(had[had_bytes - 1])) {
        had_bytes--;
    }
    return format_text(list, FABRIC_TEXT_BYTES + 1, "%.*s = %.*s, %s", (int)(at - text), text,
                       (int)had_bytes, had, more);
}

enum err chat_fabric_forget(struct chat *c, uint32_t i, struct chat_lesson *lesson)
{
    enum fabric_name space = (enum fabric_name)fabric_of(c)->fabric.notes[i].space;

    memset(lesson, 0, sizeof *lesson);
    fabric_set_clock(&fabric_of(c)->fabric, chat_fabric_now(c));
    fabric_forget(&fabric_of(c)->fabric, i);
    return chat_fabric_learn(c, space, lesson);
}

enum err chat_fabric_promote(struct chat *c, enum fabric_name dst, enum fabric_name src,
                             struct chat_lesson *lesson)
{
    memset(lesson, 0, sizeof *lesson);
    fabric_set_clock(&fabric_of(c)->fabric, chat_fabric_now(c));
    fabric_promote(&fabric_of(c)->fabric, dst, src);
    return chat_fabric_learn(c, dst, lesson);
}

void chat_fabric_forget_space(struct chat *c, enum fabric_name space)
{
    fabric_forget_space(&fabric_of(c)->fabric, space);
    (void)fabric_make_gates(&fabric_of(c)->fabric);
}

void chat_fabric_clear(struct chat *c)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        fabric_forget_space(&fabric_of(c)->fabric, (enum fabric_name)i);
    }
}
