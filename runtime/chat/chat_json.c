#include "runtime/chat/chat_json.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

/* ---- out ---- */

static void end_with(struct console *c, const char *text, size_t bytes)
{
    console_write(c, text, bytes);
    console_event_end(c);
}

static void say_model(const struct chat *c)
{
    const struct session *s = c->session;
    const struct model *m = s->model;
    const char *name = m->image.header->name;

    console_event_begin(c->console,
                        "'ready','protocol':1,'version':'%s','board':'%s','weights':'%s',"
                        "'residency':'%s','context_limit_tokens':%u,'turns':%s,"
                        "'line_limit_bytes':%u,'model':'",
                        INGOT_VERSION_TEXT, c->console->platform->name,
                        image_type_name(image_main_type(&m->image)),
                        plan_residency_text(m->plan.residency), (unsigned)s->context,
                        chat_has_template(c->template) ? "true" : "false", CHAT_LINE_BYTES - 1);
    end_with(c->console, name, strlen(name));
}

static void say_ready(const struct chat *c)
{
    if (c->session == NULL) {
        chat_say_no_model(c->console);
        return;
    }
    say_model(c);
}

static void say_error(struct chat *c, const char *name, size_t column, const char *text)
{
    console_event_begin(c->console, "'error','name':'%s','column':%lu,'text':'", name,
                        (unsigned long)column);
    end_with(c->console, text, strlen(text));
}

/* ---- in ---- */

enum field {
    FIELD_PROMPT,
    FIELD_COMMAND,
    FIELD_RESET,
    FIELD_SYSTEM, /* it and what follows are names of options */
    FIELD_THINK,
    FIELD_STOP,
    FIELD_N, /* it and what follows are numbers */
    FIELD_TEMP,
    FIELD_TOP_P,
    FIELD_TOP_K,
    FIELD_MIN_P,
    FIELD_REPEAT,
    FIELD_SEED,
    FIELD_COUNT
};

static const char names[FIELD_COUNT][8] = {
    "prompt", "command", "reset", "system", "think",  "stop", "n",
    "temp",   "top_p",   "top_k", "min_p",  "repeat", "seed",
};

struct request {
    const char *values[FIELD_COUNT]; /* NULL: not there */
    char *command;
    size_t prompt_bytes;
};

static bool take_member(struct chat *c, struct request *r, const struct json_value *v)
{
    enum json_kind wanted;
    unsigned i = 0;
    char text[80];

    while (i < FIELD_COUNT && strcmp(names[i], v->key) != 0) {
        i++;
    }
    wanted = i == FIELD_RESET ? JSON_TRUE : i >= FIELD_N ? JSON_NUMBER : JSON_TEXT;
    if (i == FIELD_COUNT || v->kind != wanted) {
        format_text(text, sizeof text,
                    i == FIELD_COUNT   ? "there is no field %.32s"
                    : i == FIELD_RESET ? "%s has to be true"
                    : i >= FIELD_N     ? "%s has to be a number"
                                       : "%s has to be a text",
                    v->key);
        say_error(c, "field", v->column, text);
        return false;
    }
    r->values[i] = v->text != NULL ? v->text : "";
    r->prompt_bytes = i == FIELD_PROMPT ? v->bytes : r->prompt_bytes;
    r->command = i == FIELD_COMMAND ? v->text : r->command;
    return true;
}

static bool read_request(struct chat *c, struct request *r, char *line, size_t bytes)
{
    struct json j;
    struct json_value v;

    memset(r, 0, sizeof *r);
    json_open(&j, line, bytes);
    while (json_member(&j, &v) != JSON_END) {
        if (v.kind == JSON_BAD) {
            say_error(c, "json", j.column, j.problem);
            return false;
        }
        if (!take_member(c, r, &v)) {
            return false;
        }
    }
    if (r->values[FIELD_PROMPT] != NULL && r->command != NULL) {
        say_error(c, "field", 0, "prompt and command do not go together");
        return false;
    }
    return true;
}

static void say_refused(void *context, bool fatal, const char *sentence)
{
    if (fatal) {
        say_error(context, "value", 0, sentence);
    }
}

/* All of them or, where one is refused, none. */
static bool apply_options(struct chat *c, struct request *r)
{
    const struct options_report report = { say_refused, c };
    struct options *o = c->options;
    struct sampler_params sampler = o->sampler;
    uint32_t n = o->reply.n, think = o->reply.think, n_stops = o->reply.n_stops;

    if (r->values[FIELD_SYSTEM] != NULL && !chat_has_template(c->template)) {
        say_error(c, "value", 0, "the model has no chat template for it");
        return false;
    }
    if (r->values[FIELD_STOP] != NULL && r->values[FIELD_STOP][0] == '\0') { /* as /set stop */
        o->reply.n_stops = 0;
        r->values[FIELD_STOP] = NULL;
    }
    for (unsigned i = FIELD_COUNT; i-- > FIELD_SYSTEM;) { /* the system prompt at last */
        if (r->values[i] != NULL && options_set(o, names[i], r->values[i], &report) != ERR_OK) {
            o->sampler = sampler;
            o->reply.n = n;
            o->reply.think = think;
            o->reply.n_stops = n_stops;
            return false;
        }
    }
    c->sampler.params = o->sampler;
    if (r->values[FIELD_SEED] != NULL) {
        sampler_init(&c->sampler, &o->sampler);
    }
    if (r->values[FIELD_SYSTEM] != NULL || r->values[FIELD_RESET] != NULL) {
        chat_clear(c);
    }
    return true;
}

/* True: the conversation ends here. */
static bool answer(struct chat *c, size_t bytes, const char **reason)
{
    struct request r;

    *reason = "error";
    if (!read_request(c, &r, c->line, bytes)) {
        return false;
    }
    if (c->session == NULL && r.command == NULL) {
        chat_say_no_model(c->console);
        return false;
    }
    if (c->session != NULL && !apply_options(c, &r)) {
        return false;
    }
    if (r.command != NULL && !chat_is_command(r.command, strlen(r.command))) {
        say_error(c, "value", 0, "a command begins with a slash, as /help does");
        return false;
    }
    *reason = "command";
    if (r.command != NULL) {
        return c->commands->run(c->commands->context, r.command);
    }
    if (r.values[FIELD_PROMPT] != NULL) {
        (void)chat_reply(c, r.values[FIELD_PROMPT], r.prompt_bytes, true);
    }
    return false;
}

void chat_json_loop(struct chat *c, const struct chat_commands *commands)
{
    enum err error = ERR_OK;
    bool ends = false;

    while (!ends) {
        const char *reason = "error";
        size_t bytes;

        if (c->commands == NULL || error == ERR_ABORTED) { /* the chat is open, maybe anew */
            say_ready(c);
        }
        c->talks = true;
        c->commands = commands;
        c->answered = false;
        error = console_read_line(c->console, NULL, c->line, sizeof c->line, &bytes);
        if (error == ERR_NO_DEVICE) {
            return;
        }
        if (error == ERR_ABORTED) { /* nothing to stop: it asks whether we are ready */
            continue;
        }
        if (error == ERR_TOO_LONG) {
            say_error(c, "line", 0, "it is longer than line_limit_bytes: shorten it");
        } else {
            ends = answer(c, bytes, &reason);
        }
        if (!c->answered) {
            chat_json_done(c, NULL, reason);
        }
    }
}
