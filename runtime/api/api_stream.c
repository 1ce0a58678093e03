#include "runtime/api/api_stream.h"

#include "runtime/text/format_text.h"

/* ---- what a job has ---------------------------------------------------------------------------- */

struct api_call api_stream_call(const struct api_job *j)
{
    struct api_call c = { .content = j->text.n };

    if (j->request.may_call) {
        api_call_find(&c, api_text_shown(&j->text), j->text.n, j->done);
    }
    return c;
}

enum api_reason api_stream_reason(const struct api_job *j)
{
    if (api_stream_call(j).whole) {
        return API_CALLED;
    }
    return j->end == GENERATE_ENDED || j->end == GENERATE_STOP ? API_STOPPED : API_CUT;
}

uint32_t api_stream_tokens(const struct api_job *j)
{
    return j->reply_tokens + j->spent_tokens;
}

void api_stream_id(char id[API_ID_BYTES], const char *word, const struct api_answer *a,
                   uint32_t index, uint32_t i)
{
    (void)format_text(id, API_ID_BYTES, i == 0 ? "%.20s_%llx_%llu_%u" : "%.20s_%llx_%llu_%u_%u",
                      word, (unsigned long long)a->created, (unsigned long long)a->number,
                      (unsigned)index, (unsigned)i);
}

/* ---- pieces ------------------------------------------------------------------------------------ */

struct walk {
    const struct api_stream *s;
    api_say *say;
};

static void say(const struct walk *w, enum api_step step, enum api_item item, const char *bytes,
                size_t n)
{
    const struct api_piece p = {
        .step = step, .item = item, .number = w->s->at->items, .bytes = bytes, .n = n
    };

    w->say(w->s, &p);
}

/* End thoughts or text that are open. Calls are ended by the function that reads them. */
static void close_open(const struct walk *w)
{
    const struct api_job *j = w->s->j;
    struct api_events *at = w->s->at;

    if (at->open == API_THOUGHTS_ITEM) {
        say(w, API_CLOSES, at->open, api_text_shown(&j->thoughts) + at->from,
            at->thoughts - at->from);
    } else if (at->open == API_TEXT_ITEM) {
        say(w, API_CLOSES, at->open, api_text_shown(&j->text) + at->from, at->text - at->from);
    }
    at->items += at->open != API_NO_ITEM;
    at->open = API_NO_ITEM;
}

/* Send the first n bytes of a text except the *said bytes that were sent before. If an item of
 * another kind is open, a new item begins. */
static void grow(const struct walk *w, enum api_item item, const char *bytes, size_t n,
                 size_t *said)
{
    struct api_events *at = w->s->at;
    enum api_step step = at->open == item ? API_GROWS : API_OPENS;
    size_t from = *said;

    if (n <= from) {
        return;
    }
    if (step == API_OPENS) {
        close_open(w);
        at->open = item;
        at->from = from;
    }
    at->texted |= item == API_TEXT_ITEM;
    *said = n; /* set first, because the writer may read it */
    say(w, step, item, bytes + from, n - from);
}

static void say_of_call(const struct walk *w, enum api_step step, const struct api_call *c,
                        size_t from)
{
    const struct api_piece p = { .step = step,
                                 .item = API_CALL_ITEM,
                                 .number = w->s->at->items,
                                 .bytes = c->arguments + from,
                                 .n = c->arguments_bytes - from,
                                 .call = c,
                                 .call_number = w->s->at->calls };

    w->say(w->s, &p);
}

/* Send the part of the next call that has come so far. */
static void walk_call(const struct walk *w, const struct api_call *c)
{
    struct api_events *at = w->s->at;

    if (at->open != API_CALL_ITEM) {
        close_open(w);
        at->open = API_CALL_ITEM;
        say_of_call(w, API_OPENS, c, 0);
    } else if (c->arguments_bytes > at->arguments) {
        say_of_call(w, API_GROWS, c, at->arguments);
    }
    at->arguments = c->arguments_bytes;
    if (!c->whole && !w->s->j->done) {
        return;
    }
    say_of_call(w, API_CLOSES, c, 0);
    at->open = API_NO_ITEM;
    at->arguments = 0;
    at->items++;
    at->calls++;
}

/* Send the calls of a reply that were not sent completely. */
static void walk_calls(const struct walk *w, struct api_call c)
{
    const struct api_job *j = w->s->j;
    uint32_t i = 0;

    while (c.found) {
        if (i++ == w->s->at->calls) {
            walk_call(w, &c);
        }
        if (!c.whole || !api_call_next(&c, api_text_shown(&j->text), j->text.n)) {
            return;
        }
    }
}

void api_stream_walk(const struct api_stream *s, api_say *to)
{
    const struct walk w = { s, to };
    const struct api_job *j = s->j;
    struct api_events *at = s->at;
    struct api_call c = api_stream_call(j);

    if (at->ended) {
        return;
    }
    if (!at->begun) {
        say(&w, API_BEGINS, API_NO_ITEM, NULL, 0);
        at->begun = true;
    }
    if (s->a->kind == API_CHAT) {
        grow(&w, API_THOUGHTS_ITEM, j->thoughts.bytes, j->thoughts.n, &at->thoughts);
    }
    grow(&w, API_TEXT_ITEM, j->text.bytes, c.content, &at->text);
    if (j->done && j->error.status != 0) {
        at->ended = true;
        say(&w, API_FAILS, API_NO_ITEM, NULL, 0);
        return;
    }
    walk_calls(&w, c);
    if (j->done) {
        if (at->items == 0 && at->open == API_NO_ITEM) { /* an empty reply has an empty text */
            at->open = API_TEXT_ITEM;
            at->texted = true;
            say(&w, API_OPENS, API_TEXT_ITEM, "", 0);
        }
        close_open(&w);
        at->ended = true;
        say(&w, API_ENDS, API_NO_ITEM, NULL, 0);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

static const char *const names[API_N_FIGURES] = { "decode_tokens_per_s", "first_token_ms",
                                                  "card_mb_per_s",       "stalled_percent",
                                                  "temperature_c",       "context_tokens",
                                                  "context_limit_tokens" };

const char *api_figure_name(enum api_figure figure)
{
    return names[figure];
}

void api_job_take_result(struct api_job *j, const struct generate_result *r)
{
    j->reply_tokens = r->new_tokens;
    j->end = r->end;
    j->stop = r->end == GENERATE_STOP ? r->stop + 1 : 0;
}

void api_figures_clear(struct api_figures *f)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        f->list[i] = (double)__builtin_nanf("");
    }
}

void api_figures_put(struct api_text *out, const struct api_figures *f)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        double value = f->list[i];

        api_text_print(out, "%s'%s':", i != 0 ? "," : "", names[i]);
        if (value > -1e12 && value < 1e12) {
            api_text_decimal(out, value);
        } else {
            api_text_print(out, "null");
        }
    }
}
