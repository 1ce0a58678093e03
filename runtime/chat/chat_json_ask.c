/* Programs' requests that do not ask for a reply. */
#include "runtime/chat/chat_json_private.h"

#include <string.h>

#include "runtime/chat/chat_json.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_float.h"

enum { MODEL_COMMAND_BYTES = 256 };

/* ---- a text's tokens ---- */

/* Encode a text to session_room(). If `bos` is true and the model wants BOS, BOS comes first.
 * Returns false if an error was printed. */
static bool encode(struct chat *c, const struct json_request *r, enum json_field field, bool bos,
                   size_t *n)
{
    uint32_t room, *ids;
    enum err e;

    session_forget_guesses(c->session);
    ids = session_room(c->session, &room);
    *n = 0;
    if (bos) {
        e = chat_encode(c, r->values[field], r->bytes[field], false, true, ids, room, n);
    } else {
        e = chat_encode_alone(c, r->values[field], r->bytes[field], ids, room, n);
    }
    if (e == ERR_TOO_LONG) {
        chat_json_error(c, "value", json_field_name(field), 0,
                        "the text has more tokens than the context has room for: shorten it, "
                        "begin with a reset, or raise ctx=");
    } else if (e != ERR_OK) {
        chat_json_error(c, "failed", json_field_name(field), 0, err_text(e));
    }
    return e == ERR_OK;
}

static const char *tokenize(struct chat *c, const struct json_request *r)
{
    uint32_t room;
    size_t n;

    if (!encode(c, r, JSON_FIELD_TOKENIZE, false, &n)) {
        return "error";
    }
    console_event_begin(c->console, "'tokens','tokens':%lu,'ids':[", (unsigned long)n);
    for (size_t i = 0; i < n; i++) {
        console_event_more(c->console, "%s%lu", i == 0 ? "" : ",",
                           (unsigned long)session_room(c->session, &room)[i]);
    }
    console_event_more(c->console, "]");
    console_event_end(c->console);
    return "command";
}

static void say_vector(struct chat *c, size_t tokens, const float *v, uint32_t dim)
{
    char number[FORMAT_NUMBER_BYTES];

    console_event_begin(c->console, "'embedding','tokens':%lu,'dim':%u,'values':[",
                        (unsigned long)tokens, (unsigned)dim);
    for (uint32_t i = 0; i < dim; i++) {
        console_event_more(c->console, "%s%s", i == 0 ? "" : ",", format_float(number, v[i]));
    }
    console_event_more(c->console, "]");
    console_event_end(c->console);
}

static const char *embed(struct chat *c, const struct json_request *r)
{
    struct stop stop = { chat_wait_stop, c };
    const float *mean;
    size_t n;
    enum err e;

    if (!encode(c, r, JSON_FIELD_EMBEDDING, true, &n)) {
        return "error";
    }
    if (n == 0) {
        chat_json_error(c, "value", "embedding", 0,
                        "the text has no token, so it has no "
                        "embedding");
        return "error";
    }
    c->session->error_message[0] = '\0';
    chat_wait_begin(c, "text", (uint32_t)n);
    e = session_embed(c->session, (uint32_t)n, &stop, &mean);
    console_progress_end(c->console);
    if (e == ERR_ABORTED) {
        return "stopped";
    }
    if (e != ERR_OK) {
        chat_json_error(c, "failed", NULL, 0,
                        c->session->error_message[0] != '\0' ? c->session->error_message
                                                             : err_text(e));
        return "error";
    }
    say_vector(c, n, mean, c->session->model->image.header->params.dim);
    return "command";
}

/* ---- models and figures ---- */

static void say_model(void *context, const char *name, uint64_t bytes)
{
    struct chat *c = context;
    bool loaded = c->session != NULL && c->name != NULL && strcmp(c->name, name) == 0;

    console_event_begin(c->console, "'model','bytes':%llu,'loaded':%s,'model':'",
                        (unsigned long long)bytes, loaded ? "true" : "false");
    console_write(c->console, name, strlen(name));
    console_event_end(c->console);
}

static const char *list_models(struct chat *c)
{
    const char *error_message = c->commands->list(c->commands->context, say_model, c);

    if (error_message != NULL) {
        chat_json_error(c, "failed", "models", 0, error_message);
        return "error";
    }
    return "command";
}

static const char *load_model(struct chat *c, const struct json_request *r)
{
    char command[MODEL_COMMAND_BYTES];

    if (format_text(command, sizeof command, "/model %s", r->values[JSON_FIELD_LOAD]) >=
        sizeof command) {
        chat_json_error(c, "value", "load", 0, "the name is too long for a model");
        return "error";
    }
    (void)c->commands->run(c->commands->context, command);
    return "command";
}

void chat_json_stats(struct console *c, const struct chat_totals *totals, const struct session *s)
{
    struct board_health health = { .temperature = BOARD_NO_TEMPERATURE };
    const struct platform_health *p = &c->platform->health;
    char warm[FORMAT_NUMBER_BYTES];

    if (p->read != NULL) {
        p->read(p->context, &health);
    }
    console_event_begin(
        c,
        "'stats','up_ms':%llu,'turns':%u,'prompt_tokens':%llu,'reply_tokens':%llu,"
        "'context_tokens':%u,'context_limit_tokens':%u,'streamed_bytes':%llu,'temperature_c':%s",
        (unsigned long long)console_millis(c), (unsigned)totals->turns,
        (unsigned long long)totals->prompt_tokens, (unsigned long long)totals->new_tokens,
        s != NULL ? (unsigned)s->n_ids : 0, s != NULL ? (unsigned)s->context : 0,
        s != NULL ? (unsigned long long)s->model->stream.stats.bytes_streamed : 0,
        health.temperature == BOARD_NO_TEMPERATURE ? "null"
                                                   : report_temperature(warm, health.temperature));
    for (int i = 0; s != NULL && i < ARENA_N_REGIONS; i++) {
        const struct arena_region *region = &s->model->arena.regions[i];

        console_event_more(c, "%s{'name':'%s','used_bytes':%llu,'bytes':%llu}%s",
                           i == 0 ? ",'memory':[" : ",",
                           arena_region_text((enum arena_region_name)i),
                           (unsigned long long)region->high_water,
                           (unsigned long long)region->bytes, i + 1 == ARENA_N_REGIONS ? "]" : "");
    }
    console_event_end(c);
}

/* ---- events once more ---- */

static uint32_t number_of(const char *text)
{
    uint32_t n = 0;

    for (; *text >= '0' && *text <= '9' && n < UINT32_MAX / 10; text++) {
        n = n * 10 + (uint32_t)(*text - '0');
    }
    return *text == '\0' ? n : 0;
}

static const char *resend(struct chat *c, const struct json_request *r)
{
    if (!console_resend(c->console, number_of(r->values[JSON_FIELD_RESEND]))) {
        chat_json_error(c, "value", "resend", 0,
                        "that event does not exist, or is no longer kept: send its request again");
        return "error";
    }
    return "command";
}

bool chat_json_ask(struct chat *c, const struct json_request *r, const char **reason)
{
    if (r->values[JSON_FIELD_TOKENIZE] != NULL) {
        *reason = tokenize(c, r);
    } else if (r->values[JSON_FIELD_EMBEDDING] != NULL) {
        *reason = embed(c, r);
    } else if (r->values[JSON_FIELD_MODELS] != NULL) {
        *reason = list_models(c);
    } else if (r->values[JSON_FIELD_LOAD] != NULL) {
        *reason = load_model(c, r);
    } else if (r->values[JSON_FIELD_STATS] != NULL) {
        chat_json_stats(c->console, &c->totals, c->session);
    } else if (r->values[JSON_FIELD_PLAN] != NULL) {
        chat_json_plan(c->console, c->session->model);
    } else if (r->values[JSON_FIELD_RESEND] != NULL) {
        *reason = resend(c, r);
    } else {
        return false;
    }
    return true;
}
