#include "host/serve/serve_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- what comes ------------------------------------------------------------------------------ */

/* Takes an id, which is a number of up to 16 digits or a text of up to 64 bytes, as JSON. */
static bool take_id(struct serve_line *l, const cJSON *id, struct api_error *e)
{
    char *text;
    bool good = cJSON_IsString(id) ? strlen(id->valuestring) <= 64 : cJSON_IsNumber(id);

    l->asked[0] = '\0';
    if (id == NULL) {
        return true;
    }
    text = good ? cJSON_PrintUnformatted(id) : NULL;
    good = text != NULL && strlen(text) < sizeof l->asked;
    if (good) {
        memcpy(l->asked, text, strlen(text) + 1);
    }
    free(text);
    return good ||
           api_refuse(e, 400, "id", NULL, "id has to be a text of up to 64 bytes, or a number");
}

/* Returns the name that a setting of a line has in a body; NULL: there is no such setting. */
static const char *name_of_body(const char *name)
{
    static const struct {
        const char *line, *body;
    } names[] = { { "temp", "temperature" },
                  { "n", "max_tokens" },
                  { "top_p", "top_p" },
                  { "top_k", "top_k" },
                  { "min_p", "min_p" },
                  { "repeat", "repeat" },
                  { "repeat_last_n", "repeat_last_n" },
                  { "presence_penalty", "presence_penalty" },
                  { "frequency_penalty", "frequency_penalty" },
                  { "logit_bias", "logit_bias" },
                  { "seed", "seed" },
                  { "stop", "stop" },
                  { "grammar", "grammar" } };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].line, name) == 0) {
            return names[i].body;
        }
    }
    return NULL;
}

static void add_message(cJSON *list, const char *role, const char *text)
{
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "role", role);
    cJSON_AddStringToObject(one, "content", text);
    cJSON_AddItemToArray(list, one);
}

static bool is_passed_over(const char *name)
{
    static const char *const others[] = { "id",       "hello",  "reset", "cancel",
                                          "messages", "prompt", "raw",   "system" };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i], name) == 0) {
            return true;
        }
    }
    return strncmp(name, "x_", 2) == 0;
}

/* Copies the settings of the request to those of a body. A line's n=0 (until the model ends) is
 * left out of the body. */
static bool add_settings(cJSON *body, const cJSON *root, struct api_error *e)
{
    const cJSON *v;

    cJSON_ArrayForEach(v, root)
    {
        const char *name = name_of_body(v->string);

        if (name != NULL && !(strcmp(v->string, "n") == 0 && v->valuedouble == 0) &&
            !(cJSON_IsString(v) && v->valuestring[0] == '\0')) {
            cJSON_AddItemToObject(body, name, cJSON_Duplicate(v, true));
        } else if (name == NULL && !is_passed_over(v->string)) {
            return api_refuse(e, 400, strlen(v->string) < API_PARAM_BYTES ? v->string : NULL,
                              "unknown_parameter", "a request at /ws has no such field");
        }
    }
    return true;
}

/* Writes the messages of the body: the given ones, or the history and the new message. */
static void add_messages(struct serve_line *l, cJSON *body, const cJSON *given, const char *prompt)
{
    if (given != NULL) {
        cJSON_AddItemToObject(body, "messages", cJSON_Duplicate(given, true));
        return;
    }
    if (l->history == NULL) {
        l->history = cJSON_CreateArray();
    }
    add_message(l->history, "user", prompt);
    cJSON_AddItemToObject(body, "messages", cJSON_Duplicate(l->history, true));
}

static bool read_body(const cJSON *body, enum api_kind kind, struct api_request *q,
                      const struct api_defaults *d, struct api_error *e)
{
    char *text = cJSON_PrintUnformatted(body);
    bool good = text != NULL ? serve_request_read(q, kind, text, strlen(text), d, e)
                             : api_refuse(e, 500, NULL, NULL, "out of memory");

    free(text);
    q->stream = true;
    return good;
}

static const char *text_of(const cJSON *root, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, name));
}

/* Removes a message from the history, because its request was refused. */
static void forget_last(struct serve_line *l)
{
    cJSON_DeleteItemFromArray(l->history, cJSON_GetArraySize(l->history) - 1);
}

static void begin_anew(struct serve_line *l, const char *system)
{
    cJSON_Delete(l->history);
    l->history = cJSON_CreateArray();
    if (system != NULL && system[0] != '\0') {
        add_message(l->history, "system", system);
    }
}

static enum serve_line_kind read_reply(struct serve_line *l, const cJSON *root,
                                       struct api_request *q, const struct api_defaults *d,
                                       struct api_error *e)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(root, "messages");
    const char *prompt = text_of(root, "prompt"), *raw = text_of(root, "raw");
    cJSON *body = cJSON_CreateObject();
    bool good = add_settings(body, root, e);

    l->keeps = raw == NULL && given == NULL;
    if (good && raw != NULL) {
        cJSON_AddStringToObject(body, "prompt", raw);
    } else if (good) {
        add_messages(l, body, given, prompt);
    }
    if (good) {
        good = read_body(body, raw != NULL ? API_CONTINUE : API_CHAT, q, d, e);
        if (!good && l->keeps) {
            forget_last(l);
        }
    }
    cJSON_Delete(body);
    memcpy(l->id, l->asked, sizeof l->id);
    return good ? SERVE_LINE_REPLY : SERVE_LINE_REFUSED;
}

static enum serve_line_kind read_root(struct serve_line *l, const cJSON *root, bool busy,
                                      struct api_request *q, const struct api_defaults *d,
                                      struct api_error *e)
{
    const char *system = text_of(root, "system");
    unsigned asks = 0;

    if (!take_id(l, cJSON_GetObjectItemCaseSensitive(root, "id"), e)) {
        return SERVE_LINE_REFUSED;
    }
    if (cJSON_GetObjectItemCaseSensitive(root, "cancel") != NULL) {
        return SERVE_LINE_CANCEL;
    }
    if (busy) {
        (void)api_refuse(e, 409, NULL, NULL, "a reply is running: cancel it, or wait");
        return SERVE_LINE_REFUSED;
    }
    asks += text_of(root, "prompt") != NULL;
    asks += text_of(root, "raw") != NULL;
    asks += cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "messages")) ? 1 : 0;
    if (asks > 1) {
        (void)api_refuse(e, 400, NULL, NULL, "give only one of prompt, messages and raw");
        return SERVE_LINE_REFUSED;
    }
    if (system != NULL || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "reset"))) {
        begin_anew(l, system);
    }
    return asks == 0 ? SERVE_LINE_NOTHING : read_reply(l, root, q, d, e);
}

enum serve_line_kind serve_line_take(struct serve_line *l, const char *text, size_t n, bool busy,
                                     struct api_request *q, const struct api_defaults *d,
                                     struct api_error *e)
{
    cJSON *root = cJSON_ParseWithLength(text, n);
    enum serve_line_kind kind = SERVE_LINE_REFUSED;

    if (cJSON_IsObject(root)) {
        kind = read_root(l, root, busy, q, d, e);
    } else {
        (void)api_refuse(e, 400, NULL, NULL, "a request is a JSON object");
    }
    cJSON_Delete(root);
    return kind;
}

void serve_line_free(struct serve_line *l)
{
    cJSON_Delete(l->history);
    memset(l, 0, sizeof *l);
}

/* ---- what goes ------------------------------------------------------------------------------- */

static cJSON *event(const char *id, const char *name)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "event", name);
    if (id[0] != '\0') {
        cJSON_AddRawToObject(root, "id", id);
    }
    return root;
}

static void put(struct api_text *out, cJSON *root)
{
    serve_text_add_json(out, root);
    (void)serve_text_add(out, "\n", 1);
}

void serve_line_ready(struct api_text *out, const char *model)
{
    cJSON *root = event("", "ready");

    cJSON_AddNumberToObject(root, "protocol", 2);
    cJSON_AddStringToObject(root, "version", INGOT_VERSION_TEXT);
    cJSON_AddStringToObject(root, "board", "serve");
    cJSON_AddStringToObject(root, "model", model);
    put(out, root);
}

static void say_done(struct api_text *out, const char *id, const char *reason)
{
    cJSON *root = event(id, "done");

    cJSON_AddStringToObject(root, "reason", reason);
    put(out, root);
}

void serve_line_done(struct api_text *out, const struct serve_line *l, const char *reason)
{
    say_done(out, l->asked, reason);
}

static void say_error(struct api_text *out, const char *id, const struct api_error *e)
{
    cJSON *root = event(id, "error");

    cJSON_AddStringToObject(root, "name", e->status >= 500 ? "failed" : "value");
    if (e->param[0] != '\0') {
        cJSON_AddStringToObject(root, "field", e->param);
    }
    cJSON_AddStringToObject(root, "text", e->text);
    put(out, root);
    say_done(out, id, "error");
}

void serve_line_error(struct api_text *out, const struct serve_line *l, const struct api_error *e)
{
    say_error(out, l->asked, e);
}

static const char *reason_of(const struct serve_job *j)
{
    if (j->cancelled) {
        return "stopped";
    }
    switch (j->of.end) {
    case GENERATE_ENDED: return "end";
    case GENERATE_STOP: return "stop";
    default: return "limit";
    }
}

static void say_end(struct api_text *out, struct serve_line *l, const struct serve_job *j)
{
    cJSON *usage = event(l->id, "usage"), *done;

    if (l->keeps) {
        add_message(l->history, "assistant", api_text_shown(&j->of.text));
    }
    cJSON_AddNumberToObject(usage, "prompt_tokens", j->of.prompt_tokens);
    cJSON_AddNumberToObject(usage, "cached_tokens", j->of.cached_tokens);
    cJSON_AddNumberToObject(usage, "completion_tokens", j->of.reply_tokens);
    put(out, usage);
    done = event(l->id, "done");
    cJSON_AddStringToObject(done, "reason", reason_of(j));
    cJSON_AddNumberToObject(done, "reply_tokens", j->of.reply_tokens);
    serve_figures_add(done, &j->of.figures);
    put(out, done);
}

void serve_line_events(struct api_text *out, struct serve_line *l, const struct serve_job *j,
                       struct api_events *at)
{
    if (j->of.text.n > at->text) {
        cJSON *root = event(l->id, "token");

        cJSON_AddStringToObject(root, "text", j->of.text.bytes + at->text);
        put(out, root);
        at->text = j->of.text.n;
    }
    if (!j->of.done || at->ended) {
        return;
    }
    at->ended = true;
    if (j->of.error.status != 0) {
        if (l->keeps) {
            forget_last(l);
        }
        say_error(out, l->id, &j->of.error);
    } else {
        say_end(out, l, j);
    }
}
