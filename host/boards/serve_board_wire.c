#include "host/boards/serve_board_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"
#include "host/api/serve_scores.h"
#include "host/api/serve_text.h"
#include "runtime/api/api_line.h"
#include "runtime/text/base64.h"

/* ---- from the board -------------------------------------------------------------------------- */

static const char *text_of(const cJSON *root, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, name));
}

/* A whole number up to 2^52, exact in a double; 0: there is none. */
static uint64_t number_of(const cJSON *root, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, name);

    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= 0x1p52)) {
        return 0;
    }
    return (uint64_t)v->valuedouble;
}

static uint32_t count_of(const cJSON *root, const char *name)
{
    uint64_t n = number_of(root, name);

    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static enum board_event_kind kind_of(const char *event)
{
    static const struct {
        const char *name;
        enum board_event_kind kind;
    } kinds[] = { { "ready", BOARD_READY },         { "token", BOARD_TOKEN },
                  { "error", BOARD_ERROR },         { "usage", BOARD_USAGE },
                  { "embedding", BOARD_EMBEDDING }, { "done", BOARD_DONE },
                  { "plan", BOARD_PLAN },           { "stats", BOARD_STATS },
                  { "model", BOARD_MODEL },         { "hello", BOARD_HELLO } };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(event, kinds[i].name) == 0) {
            return kinds[i].kind;
        }
    }
    return BOARD_OTHER;
}

bool board_event_read(struct board_event *e, const char *line, size_t bytes)
{
    const char *event;

    memset(e, 0, sizeof *e);
    if (bytes == 0 || line[0] != '{') {
        return false;
    }
    e->root = cJSON_ParseWithLength(line, bytes);
    event = text_of(e->root, "event");
    if (event == NULL) {
        board_event_free(e);
        return false;
    }
    e->kind = kind_of(event);
    e->id = number_of(e->root, "id");
    e->text = text_of(e->root, "text");
    e->name = text_of(e->root, "name");
    e->model = text_of(e->root, "model");
    e->board = text_of(e->root, "board");
    e->reason = text_of(e->root, "reason");
    e->prompt_tokens = count_of(e->root, "prompt_tokens");
    e->cached_tokens = count_of(e->root, "cached_tokens");
    e->completion_tokens = count_of(e->root, "completion_tokens");
    e->passes = count_of(e->root, "decode_passes");
    e->line_limit = count_of(e->root, "line_limit_bytes");
    e->tokens = count_of(e->root, "tokens");
    e->knows_penalties = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e->root, "penalties"));
    e->knows_said = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e->root, "said"));
    return true;
}

void board_event_free(struct board_event *e)
{
    cJSON_Delete(e->root);
    memset(e, 0, sizeof *e);
}

void board_event_text(char text[SERVE_EVENT_BYTES], const struct board_event *e)
{
    if (!cJSON_PrintPreallocated(e->root, text, SERVE_EVENT_BYTES, false)) {
        text[0] = '\0';
    }
}

void board_model_add(char list[SERVE_EVENT_BYTES], const struct board_event *e)
{
    size_t n = list[0] != '\0' ? strlen(list) - 1 : 0; /* before the closing bracket */
    cJSON *one = cJSON_CreateObject();
    char text[SERVE_EVENT_BYTES];

    cJSON_AddStringToObject(one, "name", e->model != NULL ? e->model : "");
    cJSON_AddNumberToObject(one, "bytes", (double)number_of(e->root, "bytes"));
    if (e->model != NULL && strlen(e->model) < API_MODEL_BYTES &&
        cJSON_PrintPreallocated(one, text, sizeof text, false) &&
        n + strlen(text) + sizeof "[]" < SERVE_EVENT_BYTES) {
        list[n] = n == 0 ? '[' : ',';
        snprintf(list + n + 1, SERVE_EVENT_BYTES - n - 1, "%s]", text);
    }
    cJSON_Delete(one);
}

bool board_vector_read(struct api_text *out, const struct board_event *event)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(event->root, "values"), *v;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0) {
        return false;
    }
    cJSON_ArrayForEach(v, list)
    {
        float value = cJSON_IsNumber(v) ? (float)v->valuedouble : 0;

        if (!cJSON_IsNumber(v) || !serve_text_add(out, (const char *)&value, sizeof value)) {
            return false;
        }
    }
    return true;
}

/* Read an object with token, logprob and text. False: it is something else. */
static bool score_of(const cJSON *object, struct api_score *s)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(object, "token"),
                *logprob = cJSON_GetObjectItemCaseSensitive(object, "logprob");
    const char *text = text_of(object, "text");

    if (!cJSON_IsNumber(id) || text == NULL) {
        return false;
    }
    *s = (struct api_score){ .id = count_of(object, "token"),
                             .logprob = cJSON_IsNumber(logprob) ? logprob->valuedouble
                                                                : (double)__builtin_nanf(""),
                             .text = text,
                             .bytes = strlen(text) };
    return true;
}

void board_scores_read(struct api_text *out, const struct board_event *event)
{
    struct api_score taken, likeliest[API_SCORES_MOST];
    const cJSON *one;
    uint32_t n = 0;

    if (cJSON_GetObjectItemCaseSensitive(event->root, "logprob") == NULL ||
        !score_of(event->root, &taken)) {
        return;
    }
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(event->root, "top_logprobs"))
    {
        if (n != API_SCORES_MOST && score_of(one, &likeliest[n])) {
            n++;
        }
    }
    serve_text_grows(out);
    (void)api_scores_add(out, &taken, likeliest, n);
}

/* Names and bounds of a model's defaults. */
static const struct {
    const char *name;
    enum ingot_sampling_field bit;
    double least, most;
} defaults[] = {
    { "temp", INGOT_SAMPLES_TEMP, 0, 100 },
    { "top_p", INGOT_SAMPLES_TOP_P, 0, 1 },
    { "min_p", INGOT_SAMPLES_MIN_P, 0, 1 },
    { "repeat", INGOT_SAMPLES_REPEAT, 0.01, 100 },
    { "top_k", INGOT_SAMPLES_TOP_K, 0, INGOT_MAX_VOCAB },
    { "repeat_last_n", INGOT_SAMPLES_REPEAT_LAST, 0, INGOT_MAX_CONTEXT },
};

void board_defaults_read(struct ingot_sampling *s, const struct board_event *event)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(event->root, "defaults");

    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(all, defaults[i].name);
        double value = cJSON_IsNumber(v) ? v->valuedouble : -1;

        if (value >= defaults[i].least && value <= defaults[i].most) {
            const struct ingot_sampling one = { .given = (uint32_t)defaults[i].bit,
                                                .temp = (float)value,
                                                .top_p = (float)value,
                                                .min_p = (float)value,
                                                .repeat = (float)value,
                                                .top_k = (uint32_t)value,
                                                .repeat_last = (uint32_t)value };

            source_put_sampling(s, &one);
        }
    }
}

void board_defaults_put(struct api_request *q, const struct ingot_sampling *s)
{
    uint32_t takes = s->given & ~q->chosen;
    struct sampler_params *to = &q->sampler;

    to->temp = (takes & INGOT_SAMPLES_TEMP) != 0 ? s->temp : to->temp;
    to->top_p = (takes & INGOT_SAMPLES_TOP_P) != 0 ? s->top_p : to->top_p;
    to->min_p = (takes & INGOT_SAMPLES_MIN_P) != 0 ? s->min_p : to->min_p;
    to->repeat = (takes & INGOT_SAMPLES_REPEAT) != 0 ? s->repeat : to->repeat;
    to->top_k = (takes & INGOT_SAMPLES_TOP_K) != 0 ? s->top_k : to->top_k;
    to->repeat_last = (takes & INGOT_SAMPLES_REPEAT_LAST) != 0 ? s->repeat_last : to->repeat_last;
}

void board_error_read(struct api_error *e, const struct board_event *event)
{
    api_line_error(e, event->name, event->text, text_of(event->root, "field"));
}

/* ---- to the board ---------------------------------------------------------------------------- */

/* Write the object as a line, and free it. */
static void put(struct api_text *out, cJSON *object, size_t *longest)
{
    size_t before = out->n;

    serve_text_add_json(out, object);
    if (out->n - before > *longest) {
        *longest = out->n - before;
    }
    (void)serve_text_add(out, "\n", 1);
}

static cJSON *request_of(uint64_t id)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddNumberToObject(root, "id", (double)id);
    return root;
}

const char *board_penalty_of(const struct api_request *q)
{
    const struct sampler_params *s = &q->sampler;

    if (s->presence != 0) {
        return "presence_penalty";
    }
    if (s->frequency != 0) {
        return "frequency_penalty";
    }
    if (s->repeat != 1.0f && s->repeat_last != SAMPLER_REPEAT_LAST) {
        return "repeat_last_n";
    }
    return q->biases.n != 0 ? "logit_bias" : NULL;
}

void board_load_write(struct api_text *out, uint64_t id, const char *model)
{
    cJSON *root = request_of(id);
    size_t longest = 0;

    cJSON_AddStringToObject(root, "load", model);
    put(out, root, &longest);
}

void board_news_write(struct api_text *out, uint64_t id, bool anew)
{
    static const char *const fields[] = { "models", "plan", "stats" };
    size_t longest = 0;

    for (size_t i = anew ? 0 : 2; i < sizeof fields / sizeof fields[0]; i++) {
        cJSON *root = request_of(id);

        cJSON_AddTrueToObject(root, fields[i]);
        put(out, root, &longest);
    }
}

uint32_t board_grammar_write(struct api_text *out, const struct api_request *q, uint64_t id)
{
    enum { PIECE_BYTES = 4500 }; /* as text 6000 of a line's 8191 bytes */
    size_t longest = 0;
    uint32_t n = 0;

    if (q->grammar == NULL) {
        cJSON *root = request_of(id);

        cJSON_AddStringToObject(root, "grammar", "off");
        put(out, root, &longest);
        return 1;
    }
    for (size_t at = 0; at < q->grammar_bytes; at += PIECE_BYTES, n++) {
        size_t bytes = q->grammar_bytes - at < PIECE_BYTES ? q->grammar_bytes - at : PIECE_BYTES;
        const char *word = at + bytes == q->grammar_bytes ? "last:" : "piece:";
        char text[sizeof "piece:" + (PIECE_BYTES + 2) / 3 * 4];
        size_t length = strlen(word) + base64_length(bytes);
        cJSON *root = request_of(id);

        memcpy(text, word, strlen(word));
        base64_put(text + strlen(word), (const uint8_t *)q->grammar + at, bytes);
        text[length] = '\0';
        cJSON_AddStringToObject(root, "grammar", text);
        put(out, root, &longest);
    }
    return n;
}

/* A seed for a request that has none. */
static uint64_t seed_of(const struct api_request *q)
{
    uint32_t drawn = 0;

    if (!q->seeded && getrandom(&drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn) {
        return drawn;
    }
    return q->sampler.seed;
}

void board_request_write(struct api_text *out, const struct api_request *q, uint64_t id,
                         size_t *longest)
{
    uint32_t n = q->kind == API_EMBED ? q->n_turns : 1;

    *longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t before = out->n;

        serve_text_grows(out);
        api_line_put(out, q, i, id, seed_of(q));
        if (out->n - before > *longest) {
            *longest = out->n - before;
        }
        (void)serve_text_add(out, "\n", 1);
    }
}
