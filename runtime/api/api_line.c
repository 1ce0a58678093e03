#include "runtime/api/api_line.h"

#include <string.h>

#include "flash_image/format/format.h"
#include "runtime/api/api_scores.h"

static void put_text(struct api_text *out, const char *name, const struct api_text *text)
{
    api_text_print(out, ",'%s':", name);
    api_text_quoted(out, api_text_shown(text), text->n);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void begin_message(struct api_text *out, const char *role, bool first)
{
    api_text_print(out, "%s{'role':'%s','content':'", first ? "" : ",", role);
}

/* Write a turn. A board has one system prompt, so later instructions become a paragraph before the
 * person's words. A conversation ends with the user, whose words may be empty. */
static void put_turn(struct api_text *out, const struct api_turn *t, bool unmarked, bool first)
{
    if (t->spoken || t->instructed || !t->replied) {
        begin_message(out, "user", first);
        if (t->instructed) {
            api_text_escaped(out, api_text_shown(&t->system), t->system.n);
            api_text_escaped(out, "\n\n", t->user.n != 0 ? 2 : 0);
        }
        api_text_escaped(out, api_text_shown(&t->user), t->user.n);
        api_text_put(out, "\"", 1);
        if (t->said != 0 && !unmarked) { /* the last bytes are a person's own words */
            api_text_print(out, ",'said':%lu", (unsigned long)t->said);
        }
        api_text_put(out, "}", 1);
        first = false;
    }
    if (t->replied) {
        begin_message(out, "assistant", first);
        api_text_escaped(out, api_text_shown(&t->reply), t->reply.n);
        api_text_print(out, "'}");
    }
}

static void put_messages(struct api_text *out, const struct api_request *q)
{
    api_text_print(out, ",'messages':[");
    if (q->has_system) {
        begin_message(out, "system", true);
        api_text_escaped(out, api_text_shown(&q->system), q->system.n);
        api_text_print(out, "'}");
    }
    for (uint32_t i = 0; i < q->n_turns; i++) {
        put_turn(out, &q->turns[i], q->unmarked, i == 0 && !q->has_system);
    }
    api_text_put(out, "]", 1);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void put_decimal(struct api_text *out, const char *name, float value)
{
    api_text_print(out, ",'%s':", name);
    api_text_decimal(out, (double)value);
}

static void put_settings(struct api_text *out, const struct api_request *q, uint64_t seed)
{
    const struct sampler_params *s = &q->sampler;

    api_text_print(out, ",'seed':%llu,'n':%u", (unsigned long long)seed,
                   (unsigned)(q->n < INGOT_MAX_CONTEXT ? q->n : INGOT_MAX_CONTEXT));
    put_decimal(out, "temp", s->temp);
    put_decimal(out, "top_p", s->top_p);
    put_decimal(out, "min_p", s->min_p);
    put_decimal(out, "repeat", s->repeat);
    if (!q->plain_sampler) {
        api_text_print(out, ",'repeat_last_n':%u", (unsigned)s->repeat_last);
        put_decimal(out, "presence_penalty", s->presence);
        put_decimal(out, "frequency_penalty", s->frequency);
    }
    if (!q->plain_sampler && q->biases.n != 0) {
        api_text_print(out, ",'logit_bias':");
        api_text_put(out, q->biases.bytes, q->biases.n);
    }
    api_text_print(out, ",'top_k':%u,'think':'%s','stop':[", (unsigned)s->top_k,
                   q->no_thinking ? "off" : "hide");
    for (uint32_t i = 0; i < q->n_stops; i++) {
        api_text_put(out, ",", i != 0);
        api_text_quoted(out, q->stops[i], strlen(q->stops[i]));
    }
    api_text_put(out, "]", 1);
}

/* Write a text to continue, or the numbers of its tokens. */
static void put_prompt(struct api_text *out, const struct api_turn *t)
{
    uint32_t id;

    if (t->tokens.n == 0) {
        put_text(out, "raw", &t->user);
        return;
    }
    api_text_print(out, ",'ids':[");
    for (size_t at = 0; at < t->tokens.n; at += sizeof id) {
        memcpy(&id, t->tokens.bytes + at, sizeof id);
        api_text_print(out, "%s%lu", at != 0 ? "," : "", (unsigned long)id);
    }
    api_text_put(out, "]", 1);
}

void api_line_put(struct api_text *out, const struct api_request *q, uint32_t i, uint64_t id,
                  uint64_t seed)
{
    api_text_print(out, "{'id':%llu", (unsigned long long)id);
    if (q->kind == API_EMBED) {
        put_text(out, "embedding", &q->turns[i].user);
        api_text_put(out, "}", 1);
        return;
    }
    if (q->wants_scores) {
        api_text_print(out, ",'logprobs':%u", (unsigned)q->n_likeliest);
    }
    put_settings(out, q, seed);
    if (q->kind == API_CHAT) {
        put_messages(out, q);
    } else {
        api_text_print(out, ",'reset':true");
        put_prompt(out, &q->turns[q->prompt]);
    }
    api_text_put(out, "}", 1);
}

const char *api_line_param(const char *field)
{
    static const struct {
        char line[20], request[20];
    } names[] = {
        { "temp", "temperature" }, { "repeat", "repeat_penalty" }, { "raw", "prompt" },
        { "ids", "prompt" },       { "embedding", "input" },       { "n", "max_tokens" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].line, field) == 0) {
            return names[i].request;
        }
    }
    return field;
}

void api_line_error(struct api_error *e, const char *name, const char *text, const char *field)
{
    bool failed = name == NULL || name[0] == '\0' || strcmp(name, "failed") == 0;
    bool too_long = !failed && (strcmp(name, "line") == 0 || strcmp(name, "context") == 0);

    (void)api_refuse(e, failed ? 500 : 400, field != NULL ? api_line_param(field) : NULL,
                     too_long ? "context_length_exceeded" : NULL, "%s",
                     text != NULL ? text : "the board reports an error without a reason");
}

/* ---- events ---------------------------------------------------------------------------------- */

uint64_t api_line_number(const struct api_json *event, const char *name)
{
    double n = api_json_number(api_json_get(event, name));

    return n >= 0 && n <= 0x1p52 ? (uint64_t)n : 0;
}

uint32_t api_line_count(const struct api_json *event, const char *name)
{
    uint64_t n = api_line_number(event, name);

    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Reads an object with token, logprob and text. Returns false if the object has no score. */
static bool score_of(const struct api_json *object, struct api_score *s)
{
    const struct api_json *text = api_json_get(object, "text");

    if (!api_json_is(api_json_get(object, "token"), JSON_NUMBER) || !api_json_is(text, JSON_TEXT)) {
        return false;
    }
    *s = (struct api_score){ .id = api_line_count(object, "token"),
                             .logprob = api_json_number(api_json_get(object, "logprob")),
                             .text = text->text,
                             .bytes = text->bytes };
    return true;
}

bool api_line_scores(struct api_text *scores, const struct api_json *event)
{
    struct api_score taken, likeliest[API_SCORES_MOST];
    const struct api_json *one;
    uint32_t n = 0;

    if (api_json_get(event, "logprob") == NULL || !score_of(event, &taken)) {
        return true;
    }
    api_json_each(one, api_json_get(event, "top_logprobs"))
    {
        if (n != API_SCORES_MOST && score_of(one, &likeliest[n])) {
            n++;
        }
    }
    return api_scores_add(scores, &taken, likeliest, n);
}

void api_line_figures(struct api_figures *f, const struct api_json *event)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        double value = api_json_number(api_json_get(event, api_figure_name((enum api_figure)i)));

        f->list[i] = value >= -1e15 && value <= 1e15 ? value : (double)__builtin_nanf("");
    }
}
