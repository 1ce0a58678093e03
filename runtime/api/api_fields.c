/* The fields of a body, with a reader for each. Texts are read in api_messages.c and
 * api_prompts.c. */
#include <string.h>

#include "runtime/api/api_reader.h"
#include "runtime/session/token_scores.h"
#include "runtime/text/format_text.h"

enum {
    CHAT = 1 << API_CHAT,
    CONTINUE = 1 << API_CONTINUE,
    BOTH = CHAT | CONTINUE,
    EMBED = 1 << API_EMBED
};

/* ---- numbers and words ----------------------------------------------------------------------- */

/* Write a bound as a whole number, or with two digits after the point. */
static const char *bound_text(char text[FORMAT_NUMBER_BYTES], double bound)
{
    int64_t hundredths = (int64_t)(bound * 100 + (bound < 0 ? -0.5 : 0.5));

    if (hundredths % 100 == 0) {
        (void)format_text(text, FORMAT_NUMBER_BYTES, "%lld", (long long)(hundredths / 100));
    } else {
        (void)format_text(text, FORMAT_NUMBER_BYTES, "%lld.%02lld", (long long)(hundredths / 100),
                          (long long)(hundredths % 100));
    }
    return text;
}

static bool wants_number(struct api_reader *r, const struct api_field *f)
{
    char least[FORMAT_NUMBER_BYTES], most[FORMAT_NUMBER_BYTES];

    return api_refuse(r->e, 400, f->name, NULL, "%s has to be a %snumber from %s to %s", f->name,
                      f->whole ? "whole " : "", bound_text(least, f->least),
                      bound_text(most, f->most));
}

static bool is_within(const struct api_field *f, const struct api_json *v)
{
    return api_json_is(v, JSON_NUMBER) && api_json_number(v) >= f->least &&
           api_json_number(v) <= f->most;
}

static bool is_whole(const struct api_field *f, const struct api_json *v)
{
    return is_within(f, v) && api_json_number(v) == (double)(int64_t)api_json_number(v);
}

static bool read_float(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (!is_within(f, v)) {
        return wants_number(r, f);
    }
    *(float *)((char *)&r->q->sampler + f->at) = (float)api_json_number(v);
    return true;
}

/* Read top_p; values below 1e-6 become 1e-6, which leaves only the most likely token. */
static bool read_top_p(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (!is_within(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.top_p = api_json_number(v) < 1e-6 ? 1e-6f : (float)api_json_number(v);
    return true;
}

static bool read_top_k(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.top_k = api_json_number(v) > 0 ? (uint32_t)api_json_number(v) : 0;
    return true;
}

/* Read repeat_last_n; -1 means all tokens. */
static bool read_repeat_last(struct api_reader *r, const struct api_field *f,
                             const struct api_json *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.repeat_last = api_json_number(v) >= 0 && api_json_number(v) < INGOT_MAX_CONTEXT
                                    ? (uint32_t)api_json_number(v)
                                    : INGOT_MAX_CONTEXT;
    return true;
}

/* Read an integer of up to 64 bits, with or without a minus; a double has too few bits for it.
 * Returns false for all other numbers. */
static bool read_digits(const struct api_json *v, uint64_t *value)
{
    size_t at = v->text[0] == '-';
    uint64_t n = 0;

    for (; at < v->bytes; at++) {
        unsigned digit = (unsigned)(v->text[at] - '0');

        if (digit > 9 || n > (UINT64_MAX - digit) / 10) {
            return false;
        }
        n = n * 10 + digit;
    }
    *value = v->text[0] == '-' ? 0 - n : n;
    return true;
}

/* Read an integer of 64 bits; -1 means any seed. */
static bool read_seed(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    double value = api_json_is(v, JSON_NUMBER) ? api_json_number(v) : 0.5;

    if (value < -9223372036854775808.0 || value > 18446744073709551616.0 ||
        (value > -0x1p53 && value < 0x1p53 && value != (double)(int64_t)value)) {
        return api_refuse(r->e, 400, f->name, NULL, "%s has to be a whole number of 64 bits",
                          f->name);
    }
    if (!read_digits(v, &r->q->sampler.seed)) {
        if (value < 0) {
            r->q->sampler.seed = (uint64_t)(int64_t)value;
        } else {
            r->q->sampler.seed = value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
        }
    }
    r->q->seeded = value > -1 || value < -1;
    return true;
}

/* Read the most tokens of a reply; -1 means until the model ends it. */
static bool read_most(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (!is_whole(f, v) || api_json_number(v) == 0) {
        return api_refuse(r->e, 400, f->name, NULL,
                          "%s has to be a whole number from 1 to %u, or -1 for no limit", f->name,
                          (unsigned)f->most);
    }
    r->q->n = api_json_number(v) > 0 ? (uint32_t)api_json_number(v) : 0;
    return true;
}

/* Read a field that asks for something that this server cannot do. Only values that do not ask for
 * it are accepted. */
static bool read_nothing(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    bool empty = api_json_is(v, JSON_FALSE) || (api_json_is(v, JSON_NUMBER) && is_within(f, v)) ||
                 ((api_json_is(v, JSON_LIST) || api_json_is(v, JSON_OBJECT)) && v->child == NULL) ||
                 (api_json_is(v, JSON_TEXT) &&
                  (strcmp(v->text, "none") == 0 || v->text[0] == '\0'));

    return empty || api_refuse(r->e, 400, f->name, "unsupported_parameter",
                               "%s is not supported by this server", f->name);
}

/* Refuse any value: for OpenAI, an empty object is a search with the default options. */
static bool read_search(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    (void)v;
    return api_refuse(r->e, 400, f->name, "unsupported_parameter",
                      "%s is not supported by this server", f->name);
}

static bool read_bool(struct api_reader *r, const char *name, const struct api_json *v, bool *out)
{
    *out = api_json_is(v, JSON_TRUE);
    return api_json_is_bool(v) || v == NULL || api_json_is(v, JSON_NULL) ||
           api_refuse(r->e, 400, name, NULL, "%s has to be true or false", name);
}

/* Read logprobs. A chat says whether it wants scores; a completion says how many tokens to list. */
static bool read_logprobs(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (r->q->kind == API_CHAT || api_json_is(v, JSON_FALSE)) {
        return read_bool(r, f->name, v, &r->q->wants_scores);
    }
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->wants_scores = true;
    r->q->n_likeliest = (uint32_t)api_json_number(v);
    return true;
}

static bool read_choices(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->n_choices = (uint32_t)api_json_number(v);
    return true;
}

static bool read_top_logprobs(struct api_reader *r, const struct api_field *f,
                              const struct api_json *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->n_likeliest = (uint32_t)api_json_number(v);
    return true;
}

/* Keep a field that constrains a reply. Such fields are read after all others. */
static bool keep(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    *(const struct api_json **)((char *)r + f->at) = v;
    return true;
}

static bool read_parallel(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return read_bool(r, f->name, v, &r->parallel);
}

static bool read_echo(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return read_bool(r, f->name, v, &r->q->echo);
}

static bool read_stream(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return read_bool(r, f->name, v, &r->q->stream);
}

static bool read_stream_options(struct api_reader *r, const struct api_field *f,
                                const struct api_json *v)
{
    static const char *const known[] = { "include_usage", "include_obfuscation",
                                         "continuous_usage_stats", NULL };

    if (!api_json_is(v, JSON_OBJECT)) {
        return api_refuse(r->e, 400, f->name, NULL, "%s has to be an object", f->name);
    }
    return api_members_known(r, v, f->name, known) &&
           read_bool(r, "stream_options.include_usage", api_json_get(v, "include_usage"),
                     &r->q->stream_usage);
}

static bool read_think(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    bool on;

    if (!read_bool(r, f->name, v, &on)) {
        return false;
    }
    r->q->no_thinking = !on;
    return true;
}

/* Read the model's name. Any name is accepted, because one model is loaded. */
static bool read_model(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return api_json_is(v, JSON_TEXT) ||
           api_refuse(r->e, 400, f->name, NULL, "model has to be a text");
}

static bool add_stop(struct api_reader *r, const char *text)
{
    size_t n = text != NULL ? strlen(text) : REPLY_TEXT_STOP_BYTES;

    if (n == 0) {
        return true; /* an empty stop text would end no reply */
    }
    if (n >= REPLY_TEXT_STOP_BYTES || r->q->n_stops == REPLY_TEXT_STOPS) {
        return api_refuse(r->e, 400, "stop", NULL, "stop takes up to %d texts of up to %d bytes",
                          REPLY_TEXT_STOPS, REPLY_TEXT_STOP_BYTES - 1);
    }
    memcpy(r->q->stops[r->q->n_stops++], text, n + 1);
    return true;
}

static bool read_stop(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    const struct api_json *one;

    (void)f;
    if (!api_json_is(v, JSON_LIST)) {
        return add_stop(r, api_json_text(v));
    }
    api_json_each(one, v)
    {
        if (!add_stop(r, api_json_text(one))) {
            return false;
        }
    }
    return true;
}

static bool read_encoding(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    const char *text = api_json_text(v);

    if (text == NULL || (strcmp(text, "float") != 0 && strcmp(text, "base64") != 0)) {
        return api_refuse(r->e, 400, f->name, NULL, "encoding_format has to be float or base64");
    }
    r->q->base64 = strcmp(text, "base64") == 0;
    return true;
}

static bool read_dimensions(struct api_reader *r, const struct api_field *f,
                            const struct api_json *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->dimensions = (uint32_t)api_json_number(v);
    return true;
}

/* Read the effort. "none" turns thoughts off; no template here uses the other
 * words. */
static bool read_effort(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    const char *word = api_json_text(v);

    if (word == NULL) {
        return api_refuse(r->e, 400, f->name, NULL,
                          "%s has to be none, minimal, low, medium or high", f->name);
    }
    if (strcmp(word, "none") == 0) {
        r->q->no_thinking = true;
    }
    return true;
}

static bool read_modalities(struct api_reader *r, const struct api_field *f,
                            const struct api_json *v)
{
    const struct api_json *one;

    if (!api_json_is(v, JSON_LIST)) {
        return api_refuse(r->e, 400, f->name, NULL, "%s has to be a list", f->name);
    }
    api_json_each(one, v)
    {
        if (!api_json_is(one, JSON_TEXT) || strcmp(one->text, "text") != 0) {
            return api_refuse(r->e, 400, f->name, "unsupported_parameter",
                              "%s: this server answers only with text", f->name);
        }
    }
    return true;
}

/* Read {"enable_thinking":false}, which other servers pass to a template. */
static bool read_template(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    const struct api_json *think = api_json_get(v, "enable_thinking");

    if (!api_json_is(v, JSON_OBJECT)) {
        return api_refuse(r->e, 400, f->name, NULL, "%s has to be an object", f->name);
    }
    if (api_json_is_bool(think)) {
        r->q->no_thinking = api_json_is(think, JSON_FALSE);
    }
    return true;
}

/* ---- the body -------------------------------------------------------------------------------- */

#define SAMPLER(member) offsetof(struct sampler_params, member)
#define WHOLE(field, of, reader, low, high) \
    { \
        .name = field, .kinds = of, .read = reader, .least = low, .most = high, .whole = true \
    }
/* A parameter of the sampler. `bit` is its ingot_sampling_field, or 0 if model files have no
 * default for it. */
#define SAMPLED(field, reader, member, low, high, bit) \
    { \
        .name = field, .kinds = BOTH, .read = reader, .at = SAMPLER(member), .least = low, \
        .most = high, .samples = bit \
    }
#define COUNTED(field, reader, bit) \
    { \
        .name = field, .kinds = BOTH, .read = reader, .least = -1, .most = TOKENS_MOST, \
        .whole = true, .samples = bit \
    }

#define MEMBER(member) offsetof(struct api_reader, member)
#define TOKENS_MOST 2147483647.0

static const struct api_field fields[] = {
    { .name = "model", .kinds = BOTH | EMBED, .read = read_model },
    { .name = "messages", .kinds = CHAT, .read = api_read_messages },
    { .name = "prompt", .kinds = CONTINUE, .read = api_read_prompt },
    { .name = "input", .kinds = EMBED, .read = api_read_input },
    { .name = "encoding_format", .kinds = EMBED, .read = read_encoding },
    { .name = "dimensions",
      .kinds = EMBED,
      .read = read_dimensions,
      .least = 1,
      .most = 1 << 20,
      .whole = true },
    { .name = "stream", .kinds = BOTH, .read = read_stream },
    { .name = "stream_options", .kinds = BOTH, .read = read_stream_options },
    WHOLE("max_tokens", BOTH, read_most, -1, TOKENS_MOST),
    WHOLE("max_completion_tokens", CHAT, read_most, -1, TOKENS_MOST),
    WHOLE("n_predict", BOTH, read_most, -1, TOKENS_MOST),
    SAMPLED("temperature", read_float, temp, 0, 100, INGOT_SAMPLES_TEMP),
    SAMPLED("top_p", read_top_p, top_p, 0, 1, INGOT_SAMPLES_TOP_P),
    SAMPLED("min_p", read_float, min_p, 0, 1, INGOT_SAMPLES_MIN_P),
    SAMPLED("repeat", read_float, repeat, 0.01, 100, INGOT_SAMPLES_REPEAT),
    SAMPLED("repeat_penalty", read_float, repeat, 0.01, 100, INGOT_SAMPLES_REPEAT),
    SAMPLED("repetition_penalty", read_float, repeat, 0.01, 100, INGOT_SAMPLES_REPEAT),
    SAMPLED("presence_penalty", read_float, presence, -2, 2, 0),
    SAMPLED("frequency_penalty", read_float, frequency, -2, 2, 0),
    COUNTED("repeat_last_n", read_repeat_last, INGOT_SAMPLES_REPEAT_LAST),
    COUNTED("top_k", read_top_k, INGOT_SAMPLES_TOP_K),
    { .name = "logit_bias", .kinds = BOTH, .read = api_read_bias },
    { .name = "seed", .kinds = BOTH, .read = read_seed },
    { .name = "stop", .kinds = BOTH, .read = read_stop },
    { .name = "response_format", .kinds = BOTH, .read = keep, .at = MEMBER(format) },
    { .name = "json_schema", .kinds = BOTH, .read = keep, .at = MEMBER(json_schema) },
    { .name = "grammar", .kinds = BOTH, .read = keep, .at = MEMBER(grammar) },
    { .name = "think", .kinds = CHAT, .read = read_think },
    { .name = "reasoning_effort", .kinds = CHAT, .read = read_effort },
    { .name = "chat_template_kwargs", .kinds = CHAT, .read = read_template },
    WHOLE("n", BOTH, read_choices, 1, API_CHOICES_MOST),
    { .name = "best_of", .kinds = CONTINUE, .read = keep, .at = MEMBER(best_of) },
    WHOLE("logprobs", BOTH, read_logprobs, 0, TOKEN_SCORES_MOST),
    WHOLE("top_logprobs", CHAT, read_top_logprobs, 0, TOKEN_SCORES_MOST),
    { .name = "echo", .kinds = CONTINUE, .read = read_echo },
    { .name = "suffix", .kinds = CONTINUE, .read = read_nothing },
    { .name = "tools", .kinds = CHAT, .read = keep, .at = MEMBER(tools) },
    { .name = "tool_choice", .kinds = CHAT, .read = keep, .at = MEMBER(tool_choice) },
    { .name = "parallel_tool_calls", .kinds = CHAT, .read = read_parallel },
    { .name = "functions", .kinds = CHAT, .read = read_nothing },
    { .name = "function_call", .kinds = CHAT, .read = read_nothing },
    { .name = "modalities", .kinds = CHAT, .read = read_modalities },
    { .name = "audio", .kinds = CHAT, .read = read_nothing },
    { .name = "web_search_options", .kinds = CHAT, .read = read_search },
};

bool api_field_read(struct api_reader *r, const struct api_json *member)
{
    bool good;

    if (api_json_is(member, JSON_NULL) || strncmp(member->key, "x_", 2) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if ((fields[i].kinds >> r->q->kind & 1) != 0 && strcmp(fields[i].name, member->key) == 0) {
            r->q->chosen |= (uint32_t)fields[i].samples;
            return fields[i].read(r, &fields[i], member);
        }
    }
    if (api_hint_read(r, member, &good)) {
        return good;
    }
    return api_refuse(r->e, 400, strlen(member->key) < API_PARAM_BYTES ? member->key : NULL,
                      "unknown_parameter", "this server does not know the field %.100s",
                      member->key);
}
