/* Bodies of Ollama's /api/chat, /api/generate, /api/embed and /api/embeddings are translated into
 * fields of chat completions, completions and embeddings. Replies are streams unless the request
 * says otherwise. */
#include <string.h>

#include "host/api/serve_dialect.h"

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static cJSON *copy(const cJSON *value)
{
    return value != NULL ? cJSON_Duplicate(value, true) : NULL;
}

static bool is_empty(const cJSON *v)
{
    return v == NULL || cJSON_IsNull(v) || (cJSON_IsString(v) && v->valuestring[0] == '\0') ||
           (cJSON_IsArray(v) && v->child == NULL);
}

static bool later(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)t;
    (void)name;
    (void)v;
    return true;
}

/* ---- options ----------------------------------------------------------------------------------- */

static const struct serve_dialect_fields options_fields;

static bool read_options(struct serve_translation *t, const char *name, const cJSON *v)
{
    if (!cJSON_IsObject(v)) {
        return serve_translate_refuse(t, name, "%s has to be an object", name);
    }
    return t->kind == API_EMBED || serve_translate(t, v, "options.", &options_fields);
}

/* Reads the number of tokens; -2 (until the context is full) means the same here as -1. */
static bool read_most(struct serve_translation *t, const char *name, const cJSON *v)
{
    bool full = cJSON_IsNumber(v) && v->valuedouble <= -2 && v->valuedouble >= -2;

    (void)name;
    serve_translate_put(t, t->to, "max_tokens", full ? cJSON_CreateNumber(-1) : copy(v));
    return true;
}

/* Reads settings of samplers that do not exist here. Only values that switch such a sampler off are
 * accepted. */
static bool read_off(struct serve_translation *t, const char *name, const cJSON *v)
{
    int off = strcmp(name, "options.mirostat") == 0 ? 0 : 1;

    if (cJSON_IsNumber(v) && v->valuedouble >= off && v->valuedouble <= off) {
        return true;
    }
    return api_refuse(t->e, 400, name, "unsupported_parameter",
                      "%s is not supported by this server: leave it out, or set it to %d", name,
                      off);
}

static const struct serve_dialect_field options_list[] = {
    { .name = "options.temperature", .to = "temperature" },
    { .name = "options.top_p", .to = "top_p" },
    { .name = "options.top_k", .to = "top_k" },
    { .name = "options.min_p", .to = "min_p" },
    { .name = "options.seed", .to = "seed" },
    { .name = "options.stop", .to = "stop" },
    { .name = "options.repeat_penalty", .to = "repeat_penalty" },
    { .name = "options.presence_penalty", .to = "presence_penalty" },
    { .name = "options.frequency_penalty", .to = "frequency_penalty" },
    { .name = "options.num_predict", .to = "max_tokens", .read = read_most },
    { .name = "options.typical_p", .read = read_off },
    { .name = "options.tfs_z", .read = read_off },
    { .name = "options.mirostat", .read = read_off },
    { .name = "options.mirostat_tau" },
    { .name = "options.mirostat_eta" },
    /* These fields say how to load a model; here the command line decides that. */
    { .name = "options.num_ctx" },
    { .name = "options.num_batch" },
    { .name = "options.num_gpu" },
    { .name = "options.main_gpu" },
    { .name = "options.num_thread" },
    { .name = "options.num_keep" },
    { .name = "options.numa" },
    { .name = "options.low_vram" },
    { .name = "options.f16_kv" },
    { .name = "options.vocab_only" },
    { .name = "options.use_mmap" },
    { .name = "options.use_mlock" },
    { .name = "options.logits_all" },
    { .name = "options.embedding_only" },
    { .name = "options.repeat_last_n", .to = "repeat_last_n" },
    { .name = "options.penalize_newline" },
    { .name = NULL },
};

static const struct serve_dialect_fields options_fields = { .list = options_list };

/* ---- fields of several pages ------------------------------------------------------------------- */

/* Reads "json", or a schema. */
static bool read_format(struct serve_translation *t, const char *name, const cJSON *v)
{
    cJSON *format;

    if (is_empty(v)) {
        return true;
    }
    if (cJSON_IsObject(v)) {
        serve_translate_schema(t, v, NULL, NULL);
        return true;
    }
    if (!cJSON_IsString(v) || strcmp(v->valuestring, "json") != 0) {
        return serve_translate_refuse(t, name, "%s has to be json or a schema", name);
    }
    format = cJSON_CreateObject();
    serve_translate_put(t, format, "type", cJSON_CreateString("json_object"));
    serve_translate_put(t, t->to, "response_format", format);
    return true;
}

/* Reads true, false, or an amount of thinking, such as "low": any amount means true. */
static bool read_think(struct serve_translation *t, const char *name, const cJSON *v)
{
    if (!cJSON_IsBool(v) && !cJSON_IsString(v)) {
        return serve_translate_refuse(t, name, "%s has to be true, false, low, medium or high",
                                      name);
    }
    if (!cJSON_IsTrue(get(t->from, "raw"))) {
        serve_translate_put(t, t->to, "think", cJSON_CreateBool(!cJSON_IsFalse(v)));
    }
    return true;
}

static bool end_stream(struct serve_translation *t)
{
    const cJSON *stream = get(t->from, "stream");

    if (is_empty(stream)) {
        serve_translate_put(t, t->to, "stream", cJSON_CreateTrue());
    }
    return true;
}

#define SHARED \
    { .name = "model", .to = "model" }, { .name = "stream", .to = "stream" }, \
        { .name = "keep_alive" }, { .name = "truncate" }, { .name = "shift" }, \
        { .name = "options", .read = read_options }, \
        { .name = "format", .to = "response_format", .read = read_format }, \
        { .name = "think", .to = "think", .read = read_think }, \
        { .name = "logprobs", .read = serve_translate_nothing }, \
    { \
        .name = "top_logprobs", .read = serve_translate_nothing \
    }

/* ---- /api/chat --------------------------------------------------------------------------------- */

/* Reads a message. A tool's message does not say which call it answers. */
static bool read_message(struct serve_translation *t, unsigned at, const cJSON *m)
{
    const char *role = cJSON_GetStringValue(get(m, "role"));
    const cJSON *calls = get(m, "tool_calls");
    cJSON *one;

    if (role == NULL) {
        return serve_translate_refuse(
            t, "messages",
            "messages[%u]: a message is an object with a role: system, user, assistant or tool",
            at);
    }
    if (!is_empty(get(m, "images"))) {
        return serve_translate_refuse(t, "messages",
                                      "messages[%u].images: this server reads texts, not images",
                                      at);
    }
    one = serve_translate_message(t, at, strcmp(role, "tool") == 0 ? "function" : role,
                                  copy(get(m, "content")));
    if (!is_empty(calls)) {
        serve_translate_put(t, one, "tool_calls", copy(calls));
    }
    return true;
}

static bool read_messages(struct serve_translation *t, const char *name, const cJSON *v)
{
    const cJSON *m;
    unsigned at = 0;

    if (!cJSON_IsArray(v) || t->messages != NULL) {
        return serve_translate_refuse(t, name, "messages has to be a list");
    }
    cJSON_ArrayForEach(m, v)
    {
        if (!read_message(t, at++, m)) {
            return false;
        }
    }
    return true;
}

/* A request without messages only asks for the model to be loaded, which it already is. */
static bool end_chat(struct serve_translation *t)
{
    t->loads = t->messages == NULL;
    return end_stream(t);
}

static const struct serve_dialect_field chat_list[] = {
    SHARED,
    { .name = "messages", .read = read_messages },
    { .name = "tools", .to = "tools" },
    { .name = "tool_choice", .to = "tool_choice" },
    { .name = "template", .read = serve_translate_nothing },
    { .name = NULL },
};

const struct serve_dialect_fields serve_ollama_chat_fields = {
    .list = chat_list, .inner = &options_fields, .end = end_chat, .said = "messages"
};

/* ---- /api/generate ----------------------------------------------------------------------------- */

static bool read_text(struct serve_translation *t, const char *name, const cJSON *v)
{
    return cJSON_IsString(v) || serve_translate_refuse(t, name, "%s has to be a text", name);
}

/* Turns the prompt into a user's message; a raw prompt stays unchanged. */
static bool end_generate(struct serve_translation *t)
{
    const cJSON *prompt = get(t->from, "prompt"), *system = get(t->from, "system");

    t->loads = is_empty(prompt);
    if (cJSON_IsTrue(get(t->from, "raw"))) {
        t->kind = API_CONTINUE;
        serve_translate_put(t, t->to, "prompt", prompt != NULL ? copy(prompt) : cJSON_CreateNull());
        return end_stream(t);
    }
    if (!is_empty(system)) {
        (void)serve_translate_message(t, 0, "system", copy(system));
    }
    if (!t->loads) {
        (void)serve_translate_message(t, 0, "user", copy(prompt));
    }
    return end_stream(t);
}

static const struct serve_dialect_field generate_list[] = {
    SHARED,
    { .name = "prompt", .to = "prompt", .read = read_text },
    { .name = "system", .read = read_text },
    { .name = "raw", .read = later },
    { .name = "suffix", .read = serve_translate_nothing },
    { .name = "images", .read = serve_translate_nothing },
    { .name = "template", .read = serve_translate_nothing },
    { .name = "context", .read = serve_translate_nothing },
    { .name = NULL },
};

const struct serve_dialect_fields serve_ollama_generate_fields = {
    .list = generate_list, .inner = &options_fields, .end = end_generate, .said = "prompt"
};

/* ---- /api/embed, and the older /api/embeddings ------------------------------------------------- */

static const struct serve_dialect_field embed_list[] = {
    { .name = "model", .to = "model" },
    { .name = "input", .to = "input" },
    { .name = "dimensions", .to = "dimensions" },
    { .name = "truncate" },
    { .name = "stream" },
    { .name = "keep_alive" },
    { .name = "options", .read = read_options },
    { .name = NULL },
};

static const struct serve_dialect_field embeddings_list[] = {
    { .name = "model", .to = "model" },
    { .name = "prompt", .to = "input" },
    { .name = "stream" },
    { .name = "keep_alive" },
    { .name = "options", .read = read_options },
    { .name = NULL },
};

const struct serve_dialect_fields serve_ollama_embed_fields = { .list = embed_list,
                                                                .said = "input" };
const struct serve_dialect_fields serve_ollama_embeddings_fields = { .list = embeddings_list,
                                                                     .said = "prompt" };
