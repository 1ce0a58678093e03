/* Lines of any bytes as a board's events for `ingot serve`, bodies as requests that are written to a board, and bodies that choose a model: a line is an event with
 * texts and numbers within their types, or none; a request is lines of JSON that hold no control character. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/boards/serve_board_past.h"
#include "host/boards/serve_board_wire.h"
#include "host/serve/serve_load.h"
#include "runtime/api/api_line.h"
#include "host/api/serve_scores.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

enum { CJSON_LONGEST = 63 }; /* cJSON reads no number with more characters */

static bool has_long_number(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strspn(text, "+-0123456789.eE") > CJSON_LONGEST) {
            return true;
        }
    }
    return false;
}

/* The kept part is JSON on one line that says the same, or nothing; its figures are numbers or
 * unknown. */
static void take_news(const struct board_event *e)
{
    struct api_figures figures;
    char text[SERVE_EVENT_BYTES];
    cJSON *again, *object = cJSON_CreateObject();

    board_event_text(text, e);
    must(strlen(text) < sizeof text && strchr(text, '\n') == NULL);
    again = cJSON_Parse(text);
    must(text[0] == '\0' || cJSON_IsObject(again) || has_long_number(text));
    cJSON_Delete(again);
    api_line_figures(&figures, e->root);
    must(isnan(figures.list[API_TEMPERATURE_C]) || fabs(figures.list[API_TEMPERATURE_C]) <= 1e15);
    serve_figures_add(object, &figures);
    must(cJSON_GetArraySize(object) == 7);
    cJSON_Delete(object);
}

/* Adds models to the end of a list, which stays a list, until there is no room. */
static void take_model(const struct board_event *e)
{
    char list[SERVE_EVENT_BYTES] = "";
    int n = 0;

    for (int i = 0; i < 200; i++) {
        cJSON *again;

        board_model_add(list, e);
        must(strlen(list) < sizeof list && strchr(list, '\n') == NULL);
        again = cJSON_Parse(list);
        must(list[0] == '\0' || (cJSON_IsArray(again) && cJSON_GetArraySize(again) >= n));
        n = cJSON_GetArraySize(again);
        cJSON_Delete(again);
    }
}

/* Random parameters become numbers within their bounds, and nothing else changes. */
static void take_defaults(const struct board_event *e)
{
    struct ingot_sampling s;
    struct api_request q = { .sampler = { .temp = 7, .top_k = 7 }, .chosen = INGOT_SAMPLES_TOP_K };

    board_defaults_read(&s, e);
    must((s.given & ~(uint32_t)INGOT_ALL_SAMPLING) == 0);
    board_defaults_put(&q, &s);
    must(q.sampler.temp >= 0 && q.sampler.temp <= 100 && q.sampler.top_p >= 0 &&
         q.sampler.top_p <= 1 && q.sampler.min_p >= 0 && q.sampler.min_p <= 1);
    must(q.sampler.top_k == 7 && q.sampler.repeat_last <= INGOT_MAX_CONTEXT &&
         q.sampler.repeat <= 100 && q.sampler.presence == 0);
}

static void check_json(const struct api_text *text)
{
    cJSON *root = cJSON_ParseWithOpts(api_text_shown(text), NULL, 1);

    must(root != NULL);
    cJSON_Delete(root);
}

static void take_event(const char *line, size_t bytes)
{
    struct api_error error = { .status = 0 };
    struct api_text scores = { .n = 0 }, lists = { .n = 0 };
    struct api_scores_at at = { .bytes = 0 };
    struct board_event e;

    if (!board_event_read(&e, line, bytes)) {
        must(e.root == NULL);
        return;
    }
    must(line[0] == '{' && e.id <= 1ull << 52);
    must(e.text == NULL || strlen(e.text) <= bytes);
    board_error_read(&error, &e);
    must(error.status == 400 || error.status == 500);
    board_scores_read(&scores, &e);
    serve_text_grows(&lists);
    api_scores_put(&lists, API_CONTINUE, &scores, &at);
    must(!scores.failed && at.bytes == scores.n);
    check_json(&lists);
    at.bytes = 0;
    cJSON_Delete(serve_scores_answer(&scores, &at));
    serve_text_free(&lists);
    serve_text_free(&scores);
    take_news(&e);
    take_defaults(&e);
    if (e.kind == BOARD_MODEL) {
        take_model(&e);
    }
    board_event_free(&e);
}

/* Each line that is written is an object, and no byte of it is a key. */
static void check_lines(const char *text, size_t n, size_t longest)
{
    size_t most = 0;

    while (n != 0) {
        const char *end = memchr(text, '\n', n);
        size_t bytes;
        cJSON *root;

        must(end != NULL);
        bytes = (size_t)(end - text);
        root = cJSON_ParseWithLength(text, bytes);
        must(cJSON_IsObject(root));
        cJSON_Delete(root);
        for (size_t i = 0; i < bytes; i++) {
            must((uint8_t)text[i] >= 0x20 && text[i] != 0x7f);
        }
        most = bytes > most ? bytes : most;
        n -= bytes + 1;
        text = end + 1;
    }
    must(most == longest);
}

static void write_request(enum api_kind kind, const char *body, size_t bytes)
{
    static const struct api_defaults defaults = { .model = "m.ingot", .sampler = { .repeat = 1 } };
    struct api_request q = { .kind = kind };
    struct api_error e = { .status = 0 };
    struct api_text out = { .n = 0 };
    struct board_past past;
    size_t longest;

    if (serve_request_read(&q, kind, body, bytes, &defaults, &e)) {
        board_request_write(&out, &q, 2, &longest);
        must(!out.failed);
        check_lines(out.bytes, out.n, longest);
        board_past_of(&past, &q);
        must(past.n > 1 && past.n <= BOARD_PAST_MARKS && board_past_shared(&past, &past) == past.n);
    }
    serve_text_free(&out);
    serve_request_free(&q);
}

static const char *loaded; /* the name that a body asked for; NULL: none */

static void load(void *context, const char *model)
{
    (void)context;
    must(strcmp(model, "a.ingot") == 0 || strcmp(model, "b") == 0);
    loaded = model;
}

/* One board, with two models. */
static bool look(void *context, uint32_t i, struct serve_look *l)
{
    (void)context;
    memset(l, 0, sizeof *l);
    l->board.there = true;
    strcpy(l->board.model, "a.ingot");
    strcpy(l->models, "[{\"name\":\"a.ingot\",\"bytes\":5},{\"name\":\"b\",\"bytes\":5}]");
    return i == 0;
}

/* Takes a body that chooses a model: a model of the list is loaded, or the error says why not. */
static void choose(const char *body, size_t bytes)
{
    const struct serve_backend backend = { .look = look, .load = load };
    struct api_text in = { .n = 0 }, out = { .n = 0 };
    struct api_error e = { .status = 0 };
    char model[API_MODEL_BYTES];
    bool good;

    loaded = NULL;
    must(serve_text_add(&in, body, bytes));
    good = serve_load(&out, &backend, &in, model, &e);
    must(good == (loaded != NULL) && good == (e.status == 0));
    serve_text_free(&in);
    serve_text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0 || size > 1 << 16) {
        return 0;
    }
    text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 3 == 0) {
        take_event(text, size - 1);
    } else if (data[0] == 254) {
        choose(text, size - 1);
    } else {
        write_request((enum api_kind)(data[0] / 3 % API_N_KINDS), text, size - 1);
    }
    free(text);
    return 0;
}
