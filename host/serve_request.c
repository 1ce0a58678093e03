/* A request from its body: its fields. What is said in it: serve_texts.c. */
#include "host/serve_request_private.h"
#include "host/serve_scores.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "runtime/text/utf8.h"

enum {
    CHAT = 1 << SERVE_CHAT,
    CONTINUE = 1 << SERVE_CONTINUE,
    BOTH = CHAT | CONTINUE,
    EMBED = 1 << SERVE_EMBED
};

/* ---- numbers and words ----------------------------------------------------------------------- */

static bool wants_number(struct serve_reader *r, const struct serve_field *f)
{
    return serve_refuse(r->e, 400, f->name, NULL, "%s has to be a number from %g to %.15g", f->name,
                        f->least, f->most);
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

static bool read_top_k(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.top_k = (uint32_t)v->valuedouble;
    return true;
}

static bool read_seed(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->sampler.seed = (uint64_t)v->valuedouble;
    r->q->seeded = true;
    return true;
}

static bool read_most(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!is_whole(f, v)) {
        return wants_number(r, f);
    }
    r->q->n = (uint32_t)v->valuedouble;
    return true;
}

/* Fields that have one value here, the one that asks for nothing. */
static bool read_nothing(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    bool empty = cJSON_IsFalse(v) || (cJSON_IsNumber(v) && is_within(f, v)) ||
                 ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL) ||
                 (cJSON_IsString(v) &&
                  (strcmp(v->valuestring, "none") == 0 || v->valuestring[0] == '\0'));

    return empty || serve_refuse(r->e, 400, f->name, "unsupported_parameter",
                                 "%s is not supported by this server", f->name);
}

static bool pass_over(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    (void)r;
    (void)f;
    (void)v;
    return true;
}

static bool read_bool(struct serve_reader *r, const char *name, const cJSON *v, bool *out)
{
    *out = cJSON_IsTrue(v);
    return cJSON_IsBool(v) || v == NULL ||
           serve_refuse(r->e, 400, name, NULL, "%s has to be true or false", name);
}

/* Whether scores are wanted, of a chat; of a text how many others are told. */
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

/* Tools are read once all other fields are. */
static bool read_tools(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    (void)f;
    r->tools = v;
    return true;
}

static bool read_tool_choice(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    (void)f;
    r->tool_choice = v;
    return true;
}

static bool read_stream(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_bool(r, f->name, v, &r->q->stream);
}

static bool read_stream_options(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    if (!cJSON_IsObject(v)) {
        return serve_refuse(r->e, 400, f->name, NULL, "%s has to be an object", f->name);
    }
    return read_bool(r, f->name, cJSON_GetObjectItemCaseSensitive(v, "include_usage"),
                     &r->q->stream_usage);
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

static bool read_model(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const char *own = r->d->model, *name = cJSON_GetStringValue(v);
    size_t n = strlen(own), ending = strlen(".ingot");

    if (name == NULL) {
        return serve_refuse(r->e, 400, f->name, NULL, "model has to be a text");
    }
    if (strcmp(name, own) == 0 ||
        (n > ending && strcmp(own + n - ending, ".ingot") == 0 && strlen(name) == n - ending &&
         memcmp(name, own, n - ending) == 0)) {
        return true;
    }
    return serve_refuse(r->e, 404, f->name, "model_not_found",
                        "there is no such model here; /v1/models lists what there is");
}

static bool add_stop(struct serve_reader *r, const char *text)
{
    size_t n = text != NULL ? strlen(text) : 0;

    if (n == 0 || n >= REPLY_TEXT_STOP_BYTES || r->q->n_stops == REPLY_TEXT_STOPS) {
        return serve_refuse(r->e, 400, "stop", NULL, "stop takes up to %d texts of 1 to %d bytes",
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

static bool read_format(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    (void)f;
    return serve_grammar_of_format(r->q, v, r->e);
}

static bool read_grammar(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    (void)f;
    return serve_grammar_of_text(r->q, v, r->e);
}

/* ---- the body -------------------------------------------------------------------------------- */

#define SAMPLER(member) offsetof(struct sampler_params, member)

static const struct serve_field fields[] = {
    { .name = "model", .kinds = BOTH | EMBED, .read = read_model },
    { .name = "messages", .kinds = CHAT, .read = serve_read_messages },
    { .name = "prompt", .kinds = CONTINUE, .read = serve_read_prompt },
    { .name = "input", .kinds = EMBED, .read = serve_read_input },
    { .name = "encoding_format", .kinds = EMBED, .read = read_encoding },
    { .name = "stream", .kinds = BOTH, .read = read_stream },
    { .name = "stream_options", .kinds = BOTH, .read = read_stream_options },
    { .name = "max_tokens", .kinds = BOTH, .read = read_most, .least = 1, .most = 1 << 20 },
    { .name = "max_completion_tokens",
      .kinds = CHAT,
      .read = read_most,
      .least = 1,
      .most = 1 << 20 },
    { .name = "temperature", .kinds = BOTH, .read = read_float, .at = SAMPLER(temp), .most = 100 },
    { .name = "top_p",
      .kinds = BOTH,
      .read = read_float,
      .at = SAMPLER(top_p),
      .least = 1e-6,
      .most = 1 },
    { .name = "min_p", .kinds = BOTH, .read = read_float, .at = SAMPLER(min_p), .most = 1 },
    { .name = "repeat",
      .kinds = BOTH,
      .read = read_float,
      .at = SAMPLER(repeat),
      .least = 0.01,
      .most = 100 },
    { .name = "top_k", .kinds = BOTH, .read = read_top_k, .most = 1 << 20 },
    { .name = "seed", .kinds = BOTH, .read = read_seed, .most = 9007199254740991.0 },
    { .name = "stop", .kinds = BOTH, .read = read_stop },
    { .name = "response_format", .kinds = BOTH, .read = read_format },
    { .name = "grammar", .kinds = BOTH, .read = read_grammar },
    { .name = "think", .kinds = CHAT, .read = read_think },
    { .name = "n", .kinds = BOTH, .read = read_choices, .least = 1, .most = SERVE_CHOICES_MOST },
    { .name = "best_of", .kinds = CONTINUE, .read = read_nothing, .least = 1, .most = 1 },
    { .name = "presence_penalty", .kinds = BOTH, .read = read_nothing },
    { .name = "frequency_penalty", .kinds = BOTH, .read = read_nothing },
    { .name = "logit_bias", .kinds = BOTH, .read = read_nothing },
    { .name = "logprobs", .kinds = BOTH, .read = read_logprobs, .most = SERVE_SCORES_MOST },
    { .name = "top_logprobs", .kinds = CHAT, .read = read_top_logprobs, .most = SERVE_SCORES_MOST },
    { .name = "echo", .kinds = CONTINUE, .read = read_nothing },
    { .name = "suffix", .kinds = CONTINUE, .read = read_nothing },
    { .name = "tools", .kinds = CHAT, .read = read_tools },
    { .name = "tool_choice", .kinds = CHAT, .read = read_tool_choice },
    { .name = "parallel_tool_calls", .kinds = CHAT, .read = pass_over },
    { .name = "user", .kinds = BOTH | EMBED, .read = pass_over },
    { .name = "metadata", .kinds = BOTH, .read = pass_over },
    { .name = "store", .kinds = BOTH, .read = pass_over },
};

static bool read_field(struct serve_reader *r, const cJSON *member)
{
    if (cJSON_IsNull(member) || strncmp(member->string, "x_", 2) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if ((fields[i].kinds >> r->q->kind & 1) != 0 &&
            strcmp(fields[i].name, member->string) == 0) {
            return fields[i].read(r, &fields[i], member);
        }
    }
    return serve_refuse(r->e, 400,
                        strlen(member->string) < SERVE_PARAM_BYTES ? member->string : NULL,
                        "unknown_parameter", "this server does not know the field");
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
    if (r->q->n_likeliest != 0 && !r->q->wants_scores) {
        return serve_refuse(r->e, 400, "top_logprobs", NULL, "top_logprobs wants logprobs");
    }
    if (r->q->n_turns == 0) {
        static const char *const names[SERVE_N_KINDS] = { "messages", "prompt", "input" };
        const char *name = names[r->q->kind];

        return serve_refuse(r->e, 400, name, NULL, "the field %s is missing", name);
    }
    return true;
}

/* UTF-8, and no \u0000, which would end a text before its end. */
static bool is_text(const char *body, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        int n = utf8_check((const uint8_t *)body + at, bytes - at);

        if (n < 1 || body[at] == '\0') {
            return false;
        }
        if (body[at] == '\\' && bytes - at >= 6 && memcmp(body + at, "\\u0000", 6) == 0) {
            return false;
        }
        at += body[at] == '\\' && bytes - at > 1 ? 2
                                                 : (size_t)n; /* a second backslash is no escape */
    }
    return true;
}

bool serve_request_read(struct serve_request *q, enum serve_kind kind, const char *body,
                        size_t bytes, const struct serve_defaults *d, struct serve_error *e)
{
    struct serve_reader r = { .q = q, .d = d, .e = e };
    cJSON *root;
    bool good;

    q->kind = kind;
    q->sampler = d->sampler;
    q->seeded = d->seeded;
    q->n = d->n;
    q->no_thinking = d->no_thinking;
    if (!is_text(body, bytes)) {
        return serve_refuse(e, 400, NULL, NULL, "the body is not UTF-8 without \\u0000");
    }
    root = cJSON_ParseWithOpts(body, NULL, 1);
    if (root == NULL) {
        return serve_refuse(e, 400, NULL, NULL, "the body is not JSON");
    }
    good = read_fields(&r, root);
    if (good && kind == SERVE_CHAT && !q->has_system && d->system != NULL) {
        q->has_system = true;
        good = serve_text_add(&q->system, d->system, strlen(d->system)) || serve_no_memory(&r);
    }
    if (good && kind == SERVE_CHAT) {
        good = serve_tools_use(&r, r.tools, r.tool_choice);
    }
    cJSON_Delete(root);
    return good;
}

void serve_request_free(struct serve_request *q)
{
    for (uint32_t i = 0; i < q->n_turns; i++) {
        serve_text_free(&q->turns[i].user);
        serve_text_free(&q->turns[i].reply);
    }
    free(q->turns);
    serve_text_free(&q->system);
    free(q->grammar);
    memset(q, 0, sizeof *q);
}
