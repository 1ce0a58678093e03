#include "host/serve/serve_state.h"
#include "runtime/text/shown_text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- for Prometheus -------------------------------------------------------------------------- */

static void put_head(struct api_text *out, const char *name, const char *type, const char *help)
{
    (void)serve_text_say(out, "# HELP ingot_%s %s\n# TYPE ingot_%s %s\n", name, help, name, type);
}

static void metric(struct api_text *out, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    put_head(out, name, type, help);
    (void)serve_text_say(out, "ingot_%s %llu\n", name, (unsigned long long)value);
}

/* Adds name="value"; the value may be any text, so it is escaped. */
static void put_label(struct api_text *out, const char *name, const char *value, const char *end)
{
    char shown[1024];

    (void)serve_text_say(out, "%s=\"", name);
    for (const char *c = shown_name(shown, sizeof shown, value); *c != '\0'; c++) {
        (void)serve_text_add(out, "\\", *c == '\\' || *c == '"');
        (void)serve_text_add(out, c, 1);
    }
    (void)serve_text_say(out, "\"%s", end);
}

static void put_boards(struct api_text *out, const struct serve_stats *s)
{
    put_head(out, "board", "gauge",
             "1 if the board answers; the labels are its machine and its model.");
    for (uint32_t i = 0; i < s->boards; i++) {
        (void)serve_text_say(out, "ingot_board{");
        put_label(out, "line", s->board[i].line, ",");
        put_label(out, "machine", s->board[i].machine, ",");
        put_label(out, "model", s->board[i].model, "} ");
        (void)serve_text_say(out, "%u\n", (unsigned)s->board[i].there);
    }
    put_head(out, "board_replies_total", "counter", "Requests that a board answered.");
    for (uint32_t i = 0; i < s->boards; i++) {
        (void)serve_text_say(out, "ingot_board_replies_total{");
        put_label(out, "line", s->board[i].line, "} ");
        (void)serve_text_say(out, "%llu\n", (unsigned long long)s->board[i].replies);
    }
}

/* Figures of each board's latest reply. Unknown figures, and those of boards that are gone, are not
 * written. Units are base units, as Prometheus requires. */
static const struct figure {
    const char *name, *help;
    enum api_figure figure;
    double unit;
} figures[] = {
    { "board_temperature_celsius", "The temperature of a board.", API_TEMPERATURE_C, 1 },
    { "board_decode_tokens_per_second", "Decode speed of the board's latest reply.",
      API_DECODE_TOKENS_PER_S, 1 },
    { "board_first_token_seconds", "Time from the latest request to its first token.",
      API_FIRST_TOKEN_MS, 1e-3 },
    { "board_card_bytes_per_second", "The card's rate while it was read for the latest reply.",
      API_CARD_MB_PER_S, 1e6 },
    { "board_card_stalled_ratio",
      "Share of the latest reply's time in which cores waited for the card.", API_STALLED_PERCENT,
      1e-2 },
};

static void put_figure(struct api_text *out, const struct serve_stats *s, const struct figure *f)
{
    bool begun = false;

    for (uint32_t i = 0; i < s->boards; i++) {
        double value = s->board[i].figures.list[f->figure];

        if (!s->board[i].there || isnan(value)) {
            continue;
        }
        if (!begun) {
            put_head(out, f->name, "gauge", f->help);
            begun = true;
        }
        (void)serve_text_say(out, "ingot_%s{", f->name);
        put_label(out, "line", s->board[i].line, "} ");
        (void)serve_text_say(out, "%.10g\n", value * f->unit);
    }
}

void serve_state_metrics(struct api_text *out, const struct serve_stats *s)
{
    metric(out, "requests_total", "counter", "Finished requests.", s->requests);
    metric(out, "requests_failed_total", "counter", "Requests that ended with an error.",
           s->failed);
    metric(out, "requests_cancelled_total", "counter", "Requests whose caller left.", s->cancelled);
    metric(out, "prompt_tokens_total", "counter", "Tokens of prompts.", s->prompt_tokens);
    metric(out, "prompt_tokens_cached_total", "counter",
           "Prompt tokens that were not computed again.", s->cached_tokens);
    metric(out, "reply_tokens_total", "counter", "Tokens of replies that ended.", s->reply_tokens);
    metric(out, "passes_total", "counter", "Passes through the model.", s->passes);
    metric(out, "requests_running", "gauge", "Requests in the passes.", s->running);
    metric(out, "requests_waiting", "gauge", "Requests in the queue.", s->waiting);
    if (s->boards != 0) {
        metric(out, "boards", "gauge", "Boards that the server was given.", s->boards);
        metric(out, "boards_there", "gauge", "Boards that answer.", s->boards_there);
        put_boards(out, s);
        for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
            put_figure(out, s, &figures[i]);
        }
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void add_text(cJSON *root, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        cJSON_AddStringToObject(root, name, text);
    } else {
        cJSON_AddNullToObject(root, name);
    }
}

/* Adds an event unchanged, because it is JSON. */
static void add_event(cJSON *root, const char *name, const char *event)
{
    if (event[0] != '\0') {
        cJSON_AddRawToObject(root, name, event);
    } else {
        cJSON_AddNullToObject(root, name);
    }
}

static cJSON *board_of(const struct serve_look *l)
{
    cJSON *root = cJSON_CreateObject();

    add_text(root, "line", l->board.line);
    add_text(root, "machine", l->board.machine);
    add_text(root, "model", l->board.model);
    cJSON_AddBoolToObject(root, "there", l->board.there);
    cJSON_AddNumberToObject(root, "replies", (double)l->board.replies);
    serve_figures_add(cJSON_AddObjectToObject(root, "figures"), &l->board.figures);
    add_event(root, "plan", l->plan);
    add_event(root, "stats", l->stats);
    return root;
}

void serve_state_boards(struct api_text *out, const struct serve_backend *b)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "boards");
    struct serve_look l;

    for (uint32_t i = 0; b->look(b->context, i, &l); i++) {
        cJSON_AddItemToArray(list, board_of(&l));
    }
    serve_text_add_json(out, root);
    (void)serve_text_add(out, "\n", 1);
}
