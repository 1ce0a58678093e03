/* Reads the fields of a request from its body. serve_texts.c reads its texts. */
#include "host/api/serve_request_private.h"
#include "host/api/serve_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum {
    CHAT = 1 << SERVE_CHAT,
    CONTINUE = 1 << SERVE_CONTINUE,
    BOTH = CHAT | CONTINUE,
    EMBED = 1 << SERVE_EMBED
};

/* ---- numbers and words ----------------------------------------------------------------------- */

static bool wants_number(struct serve_reader *r, const struct serve_field *f)
{
    return serve_refuse(r->e, 400, f->name, NULL, "%s has to be a %snumber from %.10g to %.16g",
                        f->name, f->whole ? "whole " : "", f->least, f->most);
}

static bool is_within(const struct serve_field *f, const cJSON *v)
{
    return cJSON_IsNumber(v) && v->valuedouble >= f->least && v->valuedouble <= f->most;
}

static bool is_whole(const struct serve_field *f, const cJSON *v)
{
    return is_within(f, v) && v->valuedouble == (double)(int64_t)v->valuedouble;
}

static bool read_float(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_within(f, v)) {
        return wants_number(r, f);
    }
    *(float *)((char *)&r->q->sampler + f->at) = (float)v->valuedouble;
    return true;
}

/* The lower end switches it off, and so does a value below. */
static bool read_top_p(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_within(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.top_p = v->valuedouble < 1e-6 ? 1e-6f : (float)v->valuedouble;
    return true;
}

static bool read_top_k(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.top_k = v->valuedouble > 0 ? (uint32_t)v->valuedouble : 0;
    return true;
}

/* -1: all there are. */
static bool read_repeat_last(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.repeat_last = v->valuedouble >= 0 && v->valuedouble < INGOT_MAX_CONTEXT
                                    ? (uint32_t)v->valuedouble
                                    : INGOT_MAX_CONTEXT;
    return true;
}

/* Reads an integer of 64 bits, all of which count, so it is not read as a double; -1 is any. */
static bool read_seed(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    double value = cJSON_IsNumber(v) ? v->valuedouble : 0.5;
    char text[24] = "";

    if (value != floor(value) || value < -9223372036854775808.0 || value > 18446744073709551616.0) {
        return serve_refuse(r->e, 400, f->name, NULL, "%s has to be a whole number of 64 bits",
                            f->name);
    }
    if (serve_body_number(r->body, f->name, text, sizeof text) &&
        text[strspn(text, "-0123456789")] == '\0') {
        r->q->sampler.seed = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10)
                                            : strtoull(text, NULL, 10);
    } else if (value < 0) {
        r->q->sampler.seed = (uint64_t)(int64_t)value;
    } else {
        r->q->sampler.seed = value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
    }
    r->q->seeded = value > -1 || value < -1;
    return true;
}

/* -1: until the model ends. */
static bool read_most(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v) || v->valuedouble == 0) {
        return wants_number(r, f);
    }
    r->q->n = v->valuedouble > 0 ? (uint32_t)v->valuedouble : 0;
    return true;
}

/* Reads a field that is accepted with one value only, which asks for nothing. */
static bool read_nothing(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    bool empty = cJSON_IsFalse(v) || (cJSON_IsNumber(v) && is_within(f, v)) ||
                 ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL) ||
                 (cJSON_IsString(v) &&
                  (strcmp(v->valuestring, "none") == 0 || v->valuestring[0] == '\0'));

    return empty || serve_refuse(r->e, 400, f->name, "unsupported_parameter",
                                 "%s is not supported by this server", f->name);
}

static bool read_bool(struct serve_reader *r, const char *name, const cJSON *v, bool *out)
{
    *out = cJSON_IsTrue(v);
    return cJSON_IsBool(v) || v == NULL || cJSON_IsNull(v) ||
           serve_refuse(r->e, 400, name, NULL, "%s has to be true or false", name);
}

/* Reads whether a chat wants scores; for a text, how many other tokens to list. */
static bool read_logprobs(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (r->q->kind == SERVE_CHAT || cJSON_IsFalse(v)) {
        return read_bool(r, f->name, v, &r->q->wants_scores);
    }
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->wants_scores = true;
    r->q->n_likeliest = (uint32_t)v->valuedouble;
    return true;
}

static bool read_choices(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->n_choices = (uint32_t)v->valuedouble;
    return true;
}

static bool read_top_logprobs(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->n_likeliest = (uint32_t)v->valuedouble;
    return true;
}

/* Fields that constrain a reply are read after all other fields. */
static bool keep(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    *(const cJSON **)((char *)r + f->at) = v;
    return true;
}

static bool read_parallel(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_bool(r, f->name, v, &r->parallel);
}

static bool read_echo(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_bool(r, f->name, v, &r->q->echo);
}

static bool read_stream(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_bool(r, f->name, v, &r->q->stream);
}

static bool read_stream_options(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    static const char *const known[] = { "include_usage", "include_obfuscation",
                                         "continuous_usage_stats", NULL };

    if (!cJSON_IsObject(v)) {
        return serve_refuse(r->e, 400, f->name, NULL, "%s has to be an object", f->name);
    }
    return serve_members_known(r, v, f->name, known) &&
           read_bool(r, "stream_options.include_usage",
                     cJSON_GetObjectItemCaseSensitive(v, "include_usage"), &r->q->stream_usage);
}

static bool read_think(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    bool on;

    if (!read_bool(r, f->name, v, &on)) {
        return false;
    }
    r->q->no_thinking = !on;
    return true;
}

/* Any name is accepted, because one model is loaded. */
static bool read_model(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return cJSON_IsString(v) || serve_refuse(r->e, 400, f->name, NULL, "model has to be a text");
}

static bool add_stop(struct serve_reader *r, const char *text)
{
    size_t n = text != NULL ? strlen(text) : REPLY_TEXT_STOP_BYTES;

    if (n == 0) {
        return true; /* an empty stop would end nothing */
    }
    if (n >= REPLY_TEXT_STOP_BYTES || r->q->n_stops == REPLY_TEXT_STOPS) {
        return serve_refuse(r->e, 400, "stop", NULL, "stop takes up to %d texts of up to %d bytes",
                            REPLY_TEXT_STOPS, REPLY_TEXT_STOP_BYTES - 1);
    }
    memcpy(r->q->stops[r->q->n_stops++], text, n + 1);
    return true;
}

static bool read_stop(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const cJSON *one;

    (void)f;
    if (!cJSON_IsArray(v)) {
        return add_stop(r, cJSON_GetStringValue(v));
    }
    cJSON_ArrayForEach(one, v)
    {
        if (!add_stop(r, cJSON_GetStringValue(one))) {
            return false;
        }
    }
    return true;
}

static bool read_encoding(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const char *text = cJSON_GetStringValue(v);

    if (text == NULL || (strcmp(text, "float") != 0 && strcmp(text, "base64") != 0)) {
        return serve_refuse(r->e, 400, f->name, NULL, "encoding_format has to be float or base64");
    }
    r->q->base64 = strcmp(text, "base64") == 0;
    return true;
}

static bool read_dimensions(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->dimensions = (uint32_t)v->valuedouble;
    return true;
}

/* Reads the effort: none is without thoughts, and the other words have no meaning in a template
 * here. */
static bool read_effort(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const char *word = cJSON_GetStringValue(v);

    if (word == NULL) {
        return serve_refuse(r->e, 400, f->name, NULL,
                            "%s has to be none, minimal, low, medium or high", f->name);
    }
    if (strcmp(word, "none") == 0) {
        r->q->no_thinking = true;
    }
    return true;
}

static bool read_modalities(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const cJSON *one;

    if (!cJSON_IsArray(v)) {
        return serve_refuse(r->e, 400, f->name, NULL, "%s has to be a list", f->name);
    }
    cJSON_ArrayForEach(one, v)
    {
        if (!cJSON_IsString(one) || strcmp(one->valuestring, "text") != 0) {
            return serve_refuse(r->e, 400, f->name, "unsupported_parameter",
                                "%s: this server answers with text alone", f->name);
        }
    }
    return true;
}

/* Reads {"enable_thinking":false}, which other servers pass to a template. */
static bool read_template(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const cJSON *think = cJSON_GetObjectItemCaseSensitive(v, "enable_thinking");

    if (!cJSON_IsObject(v)) {
        return serve_refuse(r->e, 400, f->name, NULL, "%s has to be an object", f->name);
    }
    if (cJSON_IsBool(think)) {
        r->q->no_thinking = cJSON_IsFalse(think);
    }
    return true;
}

/* ---- the body -------------------------------------------------------------------------------- */

#define SAMPLER(member) offsetof(struct sampler_params, member)
#define WHOLE(field, of, reader, low, high) \
    { \
        .name = field, .kinds = of, .read = reader, .least = low, .most = high, .whole = true \
    }
/* A parameter of the sampler. bit: its ingot_sampling_field; 0: a file has no default for it. */
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

#define MEMBER(member) offsetof(struct serve_reader, member)
#define TOKENS_MOST 2147483647.0

static const struct serve_field fields[] = {
    { .name = "model", .kinds = BOTH | EMBED, .read = read_model },
    { .name = "messages", .kinds = CHAT, .read = serve_read_messages },
    { .name = "prompt", .kinds = CONTINUE, .read = serve_read_prompt },
    { .name = "input", .kinds = EMBED, .read = serve_read_input },
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
    { .name = "logit_bias", .kinds = BOTH, .read = serve_read_bias },
    { .name = "seed", .kinds = BOTH, .read = read_seed },
    { .name = "stop", .kinds = BOTH, .read = read_stop },
    { .name = "response_format", .kinds = BOTH, .read = keep, .at = MEMBER(format) },
    { .name = "json_schema", .kinds = BOTH, .read = keep, .at = MEMBER(json_schema) },
    { .name = "grammar", .kinds = BOTH, .read = keep, .at = MEMBER(grammar) },
    { .name = "think", .kinds = CHAT, .read = read_think },
    { .name = "reasoning_effort", .kinds = CHAT, .read = read_effort },
    { .name = "chat_template_kwargs", .kinds = CHAT, .read = read_template },
    WHOLE("n", BOTH, read_choices, 1, SERVE_CHOICES_MOST),
    { .name = "best_of", .kinds = CONTINUE, .read = keep, .at = MEMBER(best_of) },
    WHOLE("logprobs", BOTH, read_logprobs, 0, SERVE_SCORES_MOST),
    WHOLE("top_logprobs", CHAT, read_top_logprobs, 0, SERVE_SCORES_MOST),
    { .name = "echo", .kinds = CONTINUE, .read = read_echo },
    { .name = "suffix", .kinds = CONTINUE, .read = read_nothing },
    { .name = "tools", .kinds = CHAT, .read = keep, .at = MEMBER(tools) },
    { .name = "tool_choice", .kinds = CHAT, .read = keep, .at = MEMBER(tool_choice) },
    { .name = "parallel_tool_calls", .kinds = CHAT, .read = read_parallel },
    { .name = "functions", .kinds = CHAT, .read = read_nothing },
    { .name = "function_call", .kinds = CHAT, .read = read_nothing },
    { .name = "modalities", .kinds = CHAT, .read = read_modalities },
    { .name = "audio", .kinds = CHAT, .read = read_nothing },
    { .name = "web_search_options", .kinds = CHAT, .read = read_nothing },
};

static bool read_field(struct serve_reader *r, const cJSON *member)
{
    bool good;

    if (cJSON_IsNull(member) || strncmp(member->string, "x_", 2) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if ((fields[i].kinds >> r->q->kind & 1) != 0 &&
            strcmp(fields[i].name, member->string) == 0) {
            r->q->chosen |= (uint32_t)fields[i].samples;
            return fields[i].read(r, &fields[i], member);
        }
    }
    if (serve_hint_read(r, member, &good)) {
        return good;
    }
    return serve_refuse(r->e, 400,
                        strlen(member->string) < SERVE_PARAM_BYTES ? member->string : NULL,
                        "unknown_parameter", "this server does not know the field %.100s",
                        member->string);
}

/* Reads fields that depend on others. */
static bool check_fields(struct serve_reader *r)
{
    const struct serve_request *q = r->q;
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    if (q->n_likeliest != 0 && !q->wants_scores) {
        return serve_refuse(r->e, 400, "top_logprobs", NULL, "top_logprobs wants logprobs");
    }
    if (r->best_of != NULL && !(cJSON_IsNumber(r->best_of) && r->best_of->valuedouble == n)) {
        return serve_refuse(
            r->e, 400, "best_of", "unsupported_parameter",
            "best_of has to equal n, which is %u: this server returns every reply that it makes",
            (unsigned)n);
    }
    if (q->echo && q->wants_scores) {
        return serve_refuse(
            r->e, 400, "echo", "unsupported_parameter",
            "echo cannot be combined with logprobs: this server has none for a prompt");
    }
    for (uint32_t i = 0; i < q->n_turns && q->echo; i++) {
        if (q->turns[i].tokens.n != 0) {
            return serve_refuse(r->e, 400, "echo", "unsupported_parameter",
                                "echo needs prompts that are texts, not token numbers");
        }
    }
    return true;
}

static bool read_fields(struct serve_reader *r, const cJSON *root)
{
    const cJSON *member;

    if (!cJSON_IsObject(root)) {
        return serve_refuse(r->e, 400, NULL, NULL, "the body is not a JSON object");
    }
    cJSON_ArrayForEach(member, root)
    {
        if (!read_field(r, member)) {
            return false;
        }
    }
    if (r->q->n_turns == 0) {
        static const char *const names[SERVE_N_KINDS] = { "messages", "prompt", "input" };
        const char *name = names[r->q->kind];

        return serve_refuse(r->e, 400, name, NULL, "the field %s is missing", name);
    }
    return check_fields(r);
}

bool serve_request_read_json(struct serve_request *q, enum serve_kind kind, const cJSON *root,
                             const char *body, const struct serve_defaults *d,
                             struct serve_error *e)
{
    struct serve_reader r = { .q = q, .d = d, .e = e, .body = body };

    q->kind = kind;
    q->sampler = d->sampler;
    q->chosen = d->chosen;
    q->seeded = d->seeded;
    q->n = d->n;
    q->no_thinking = d->no_thinking;
    if (!read_fields(&r, root)) {
        return false;
    }
    if (kind == SERVE_CHAT && !q->has_system && d->system != NULL) {
        q->has_system = true;
        if (!serve_text_add(&q->system, d->system, strlen(d->system))) {
            return serve_no_memory(&r);
        }
    }
    return kind == SERVE_EMBED || serve_tools_use(&r);
}

bool serve_request_read(struct serve_request *q, enum serve_kind kind, const char *body,
                        size_t bytes, const struct serve_defaults *d, struct serve_error *e)
{
    cJSON *root;
    bool good;

    q->kind = kind;
    root = serve_body_parse(body, bytes, e);
    good = root != NULL && serve_request_read_json(q, kind, root, body, d, e);
    cJSON_Delete(root);
    return good;
}
