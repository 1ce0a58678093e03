#include "host/api/serve_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- what a job has ---------------------------------------------------------------------------- */

struct serve_call serve_stream_call(const struct serve_job *j)
{
    struct serve_call c = { .content = j->text.n };

    if (j->request.may_call) {
        serve_call_find(&c, serve_text_shown(&j->text), j->text.n, j->done);
    }
    return c;
}

enum serve_reason serve_stream_reason(const struct serve_job *j)
{
    if (serve_stream_call(j).whole) {
        return SERVE_CALLED;
    }
    return j->end == GENERATE_ENDED || j->end == GENERATE_STOP ? SERVE_STOPPED : SERVE_CUT;
}

uint32_t serve_stream_tokens(const struct serve_job *j)
{
    return j->reply_tokens + j->spent_tokens;
}

void serve_stream_id(char id[SERVE_ID_BYTES], const char *word, const struct serve_answer *a,
                     uint32_t index, uint32_t i)
{
    snprintf(id, SERVE_ID_BYTES, i == 0 ? "%.20s_%llx_%llu_%u" : "%.20s_%llx_%llu_%u_%u", word,
             (unsigned long long)a->created, (unsigned long long)a->number, (unsigned)index,
             (unsigned)i);
}

cJSON *serve_stream_text(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    cJSON *value;

    if (copy == NULL) {
        return NULL;
    }
    if (n != 0) { /* bytes may be NULL then */
        memcpy(copy, bytes, n);
    }
    copy[n] = '\0';
    value = cJSON_CreateString(copy);
    free(copy);
    return value;
}

void serve_stream_warnings(cJSON *object, const struct serve_request *q)
{
    struct serve_text list = { .n = 0 };

    if (q->warnings.n == 0) {
        return;
    }
    (void)serve_text_say(&list, "[");
    (void)serve_text_add(&list, q->warnings.bytes, q->warnings.n);
    (void)serve_text_say(&list, "]");
    cJSON_AddRawToObject(object, "warnings", serve_text_shown(&list));
    serve_text_free(&list);
}

cJSON *serve_stream_figures(const struct serve_job *j)
{
    cJSON *figures = cJSON_CreateObject();

    if (j->line != NULL) {
        cJSON_AddStringToObject(figures, "line", j->line);
    } else {
        cJSON_AddNullToObject(figures, "line");
    }
    serve_figures_add(figures, &j->figures);
    return figures;
}

/* ---- pieces ------------------------------------------------------------------------------------ */

struct walk {
    const struct serve_stream *s;
    serve_say *say;
};

static void say(const struct walk *w, enum serve_step step, enum serve_item item, const char *bytes,
                size_t n)
{
    const struct serve_piece p = {
        .step = step, .item = item, .number = w->s->at->items, .bytes = bytes, .n = n
    };

    w->say(w->s, &p);
}

/* Ends thoughts or text that are open. A call ends where it is read. */
static void close_open(const struct walk *w)
{
    const struct serve_job *j = w->s->j;
    struct serve_events *at = w->s->at;

    if (at->open == SERVE_THOUGHTS_ITEM) {
        say(w, SERVE_CLOSES, at->open, serve_text_shown(&j->thoughts) + at->from,
            at->thoughts - at->from);
    } else if (at->open == SERVE_TEXT_ITEM) {
        say(w, SERVE_CLOSES, at->open, serve_text_shown(&j->text) + at->from, at->text - at->from);
    }
    at->items += at->open != SERVE_NO_ITEM;
    at->open = SERVE_NO_ITEM;
}

/* Takes the first n bytes of a text, of which *said were sent. If another kind is open, it begins a
 * new item. */
static void grow(const struct walk *w, enum serve_item item, const char *bytes, size_t n,
                 size_t *said)
{
    struct serve_events *at = w->s->at;
    enum serve_step step = at->open == item ? SERVE_GROWS : SERVE_OPENS;
    size_t from = *said;

    if (n <= from) {
        return;
    }
    if (step == SERVE_OPENS) {
        close_open(w);
        at->open = item;
        at->from = from;
    }
    *said = n; /* before: the piece may be the last that a writer sends */
    say(w, step, item, bytes + from, n - from);
}

static void say_of_call(const struct walk *w, enum serve_step step, const struct serve_call *c,
                        size_t from)
{
    const struct serve_piece p = { .step = step,
                                   .item = SERVE_CALL_ITEM,
                                   .number = w->s->at->items,
                                   .bytes = c->arguments + from,
                                   .n = c->arguments_bytes - from,
                                   .call = c,
                                   .call_number = w->s->at->calls };

    w->say(w->s, &p);
}

/* Sends the part of the next call that has come. */
static void walk_call(const struct walk *w, const struct serve_call *c)
{
    struct serve_events *at = w->s->at;

    if (at->open != SERVE_CALL_ITEM) {
        close_open(w);
        at->open = SERVE_CALL_ITEM;
        say_of_call(w, SERVE_OPENS, c, 0);
    } else if (c->arguments_bytes > at->arguments) {
        say_of_call(w, SERVE_GROWS, c, at->arguments);
    }
    at->arguments = c->arguments_bytes;
    if (!c->whole && !w->s->j->done) {
        return;
    }
    say_of_call(w, SERVE_CLOSES, c, 0);
    at->open = SERVE_NO_ITEM;
    at->arguments = 0;
    at->items++;
    at->calls++;
}

/* Sends the calls of a reply that were not sent completely. */
static void walk_calls(const struct walk *w, struct serve_call c)
{
    const struct serve_job *j = w->s->j;
    uint32_t i = 0;

    while (c.found) {
        if (i++ == w->s->at->calls) {
            walk_call(w, &c);
        }
        if (!c.whole || !serve_call_next(&c, serve_text_shown(&j->text), j->text.n)) {
            return;
        }
    }
}

void serve_stream_walk(const struct serve_stream *s, serve_say *to)
{
    const struct walk w = { s, to };
    const struct serve_job *j = s->j;
    struct serve_events *at = s->at;
    struct serve_call c = serve_stream_call(j);

    if (at->ended) {
        return;
    }
    if (!at->begun) {
        say(&w, SERVE_BEGINS, SERVE_NO_ITEM, NULL, 0);
        at->begun = true;
    }
    if (s->a->kind == SERVE_CHAT) {
        grow(&w, SERVE_THOUGHTS_ITEM, j->thoughts.bytes, j->thoughts.n, &at->thoughts);
    }
    grow(&w, SERVE_TEXT_ITEM, j->text.bytes, c.content, &at->text);
    if (j->done && j->error.status != 0) {
        at->ended = true;
        say(&w, SERVE_FAILS, SERVE_NO_ITEM, NULL, 0);
        return;
    }
    walk_calls(&w, c);
    if (j->done) {
        if (at->items == 0 && at->open == SERVE_NO_ITEM) { /* an empty reply is an empty text */
            at->open = SERVE_TEXT_ITEM;
            say(&w, SERVE_OPENS, SERVE_TEXT_ITEM, "", 0);
        }
        close_open(&w);
        at->ended = true;
        say(&w, SERVE_ENDS, SERVE_NO_ITEM, NULL, 0);
    }
}

void serve_stream_all(const struct serve_answer *a, const struct serve_job *j, serve_say *to,
                      void *context)
{
    struct serve_events at = { .index = 0 };
    const struct serve_stream s = { .a = a, .j = j, .at = &at, .context = context };

    serve_stream_walk(&s, to);
}
