#include "host/boards/serve_board_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"
#include "host/api/serve_text.h"
#include "runtime/api/api_line.h"
#include "runtime/text/base64.h"

/* ---- from the board -------------------------------------------------------------------------- */

void board_event_text(char text[SERVE_EVENT_BYTES], const struct board_event *e)
{
    struct api_text t;

    api_text_open(&t, text, SERVE_EVENT_BYTES);
    api_json_put(&t, e->root);
    if (t.failed) {
        text[0] = '\0';
    }
}

void board_model_add(char list[SERVE_EVENT_BYTES], const struct board_event *e)
{
    size_t n = list[0] != '\0' ? strlen(list) - 1 : 0; /* before the closing bracket */
    cJSON *one = cJSON_CreateObject();
    char text[SERVE_EVENT_BYTES];

    cJSON_AddStringToObject(one, "name", e->model != NULL ? e->model : "");
    cJSON_AddNumberToObject(one, "bytes", (double)api_line_number(e->root, "bytes"));
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
    const struct api_json *list = api_json_get(event->root, "values"), *v;

    if (!api_json_is(list, JSON_LIST) || list->n == 0) {
        return false;
    }
    api_json_each(v, list)
    {
        float value = (float)api_json_number(v);

        if (!api_json_is(v, JSON_NUMBER) ||
            !serve_text_add(out, (const char *)&value, sizeof value)) {
            return false;
        }
    }
    return true;
}

void board_scores_read(struct api_text *out, const struct board_event *event)
{
    serve_text_grows(out);
    (void)api_line_scores(out, event->root);
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
    const struct api_json *all = api_json_get(event->root, "defaults");

    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        double value = api_json_number(api_json_get(all, defaults[i].name));

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
    api_line_error(e, event->name, event->text, api_json_text_of(event->root, "field"));
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
    enum { PIECE_BYTES = 4500 }; /* 6000 bytes in base64; a line has at most 8191 */
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

/* Return the request's seed, or a random one if the request has none. */
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
