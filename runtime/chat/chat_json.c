#include "runtime/chat/chat_json.h"

#include <string.h>

#include "runtime/chat/chat_messages.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/chat/json_request.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"

_Static_assert(JSON_ID_BYTES <= (int)CONSOLE_ID_BYTES, "an id is said as it came");

/* ---- out ---- */

static void end_with(struct console *c, const char *text, size_t bytes)
{
    console_write(c, text, bytes);
    console_event_end(c);
}

/* Fields of a model that is not there have no value. */
static void say_no_model(const struct chat *c)
{
    console_event_begin(c->console,
                        "'ready','protocol':1,'version':'%s','board':'%s','model':null,"
                        "'weights':null,'residency':null,'context_limit_tokens':null,"
                        "'turns':null,'line_limit_bytes':%u",
                        INGOT_VERSION_TEXT, c->console->platform->name, CHAT_LINE_BYTES - 1);
    console_event_end(c->console);
}

static void say_model(const struct chat *c)
{
    const struct session *s = c->session;
    const struct model *m = s->model;
    const char *name = m->image.header->name;

    if (c->name != NULL) {
        name = c->name;
    }
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

static void say_ready(struct chat *c)
{
    if (c->session == NULL) {
        say_no_model(c);
    } else {
        say_model(c);
    }
    c->announced = true;
}

/* Once for each model. */
static void announce(struct chat *c)
{
    if (!c->announced) {
        say_ready(c);
    }
}

static void say_error(struct chat *c, const char *name, size_t column, const char *text)
{
    console_event_begin(c->console, "'error','name':'%s','column':%lu,'text':'", name,
                        (unsigned long)column);
    end_with(c->console, text, strlen(text));
}

/* ---- in ---- */

static void say_refused(void *context, bool refused, const char *sentence)
{
    if (refused) {
        say_error(context, "value", 0, sentence);
    }
}

/* What a request may set. */
struct settings {
    struct sampler_params sampler;
    uint32_t n, think, overflow, n_stops;
    char stop[OPTIONS_STOPS][OPTIONS_STOP_BYTES];
};

static void keep_settings(struct settings *kept, const struct options *o)
{
    kept->sampler = o->sampler;
    kept->n = o->reply.n;
    kept->think = o->reply.think;
    kept->overflow = o->reply.overflow;
    kept->n_stops = o->reply.n_stops;
    memcpy(kept->stop, o->reply.stop, sizeof kept->stop);
}

static void restore_settings(const struct settings *kept, struct options *o)
{
    o->sampler = kept->sampler;
    o->reply.n = kept->n;
    o->reply.think = kept->think;
    o->reply.overflow = kept->overflow;
    o->reply.n_stops = kept->n_stops;
    memcpy(o->reply.stop, kept->stop, sizeof kept->stop);
}

/* A stop string takes the place of all there were; "" is none. */
static enum err set_option(struct chat *c, enum json_field field, const char *value)
{
    const struct options_report report = { say_refused, c };

    if (field == JSON_FIELD_STOP) {
        c->options->reply.n_stops = 0;
        if (value[0] == '\0') {
            return ERR_OK;
        }
    }
    return options_set(c->options, json_field_name(field), value, &report);
}

/* All of them or, where one is refused, none. */
static bool apply_options(struct chat *c, const struct json_request *r)
{
    struct settings before;

    keep_settings(&before, c->options);
    for (unsigned i = JSON_N_FIELDS; i-- > JSON_FIELD_SYSTEM;) { /* the system prompt at last */
        if (r->values[i] != NULL && set_option(c, (enum json_field)i, r->values[i]) != ERR_OK) {
            restore_settings(&before, c->options);
            return false;
        }
    }
    c->sampler.params = c->options->sampler;
    if (r->values[JSON_FIELD_SEED] != NULL) {
        sampler_init(&c->sampler, &c->options->sampler);
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL) {
        c->messages.changed_system = false;
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL || r->values[JSON_FIELD_RESET] != NULL) {
        chat_clear(c);
    }
    return true;
}

/* Adapters and grammars first: they may not be there, and then nothing is set. */
static bool apply(struct chat *c, const struct json_request *r, enum json_field field,
                  const char *(*use)(void *context, const char *value))
{
    const char *problem = NULL, *value = r->values[field];

    if (value != NULL && c->session == NULL) {
        chat_say_no_model(c->console);
        return false;
    }
    if (value != NULL) {
        problem = use(c->commands->context, value);
    }
    if (problem != NULL) {
        say_error(c, json_field_name(field), 0, problem);
    }
    return problem == NULL;
}

/* ---- protocol 2 ---- */

static bool says_hello(struct chat *c, const char *wanted)
{
    if (strcmp(wanted, "1") != 0 && strcmp(wanted, "2") != 0) {
        say_error(c, "value", 0, "hello is the protocol that is wanted: 1 or 2");
        return false;
    }
    c->protocol = (uint32_t)(wanted[0] - '0');
    console_event_begin(c->console, "'hello','protocol':%u,'protocols':2,'messages_limit':%u",
                        (unsigned)c->protocol, (unsigned)CHAT_MESSAGES);
    console_event_end(c->console);
    return true;
}

static bool apply_messages(struct chat *c)
{
    enum err e;

    chat_messages_set_system(c, &c->messages);
    e = chat_messages_put(c, &c->messages);
    if (e == ERR_TOO_LONG) {
        say_error(c, "value", 0, "a message does not fit the context: shorten it, or raise ctx=");
    } else if (e != ERR_OK) {
        say_error(c, "failed", 0, err_text(e));
    }
    return e == ERR_OK;
}

static bool read_messages(struct chat *c, const struct json_request *r)
{
    struct chat_messages *m = &c->messages;

    if (!chat_has_template(c->template)) {
        say_error(c, "value", 0,
                  "the model has no chat template for messages: raw continues a text");
        return false;
    }
    if (!chat_messages_read(m, r->values[JSON_FIELD_MESSAGES], r->prompt_bytes)) {
        say_error(c, "messages", 0, m->problem);
        return false;
    }
    return true;
}

/* Whether the request can be obeyed, as far as that shows before anything is set. */
static bool check_request(struct chat *c, const struct json_request *r)
{
    const char *command = r->values[JSON_FIELD_COMMAND];

    if (r->error != NULL) {
        say_error(c, r->error, r->column, r->text);
        return false;
    }
    if (command != NULL && !chat_is_command(command, strlen(command))) {
        say_error(c, "value", 0, "a command begins with a slash, as /help does");
        return false;
    }
    if ((r->values[JSON_FIELD_PROMPT] != NULL || r->values[JSON_FIELD_RAW] != NULL ||
         r->values[JSON_FIELD_MESSAGES] != NULL) &&
        c->session == NULL) {
        chat_say_no_model(c->console);
        return false;
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL && c->session != NULL &&
        !chat_has_template(c->template)) {
        say_error(c, "value", 0, "the model has no chat template for it");
        return false;
    }
    return true;
}

/* True: the conversation ends here. */
static bool answer(struct chat *c, size_t bytes, const char **reason)
{
    struct json_request r;

    json_request_read(&r, c->line, bytes);
    console_request_id(c->console, r.values[JSON_FIELD_ID], r.id_is_text);
    *reason = "error";
    if (!check_request(c, &r) || (r.values[JSON_FIELD_MESSAGES] != NULL && !read_messages(c, &r)) ||
        (r.values[JSON_FIELD_HELLO] != NULL && !says_hello(c, r.values[JSON_FIELD_HELLO])) ||
        !apply(c, &r, JSON_FIELD_ADAPTER, c->commands->adapt) ||
        !apply(c, &r, JSON_FIELD_GRAMMAR, c->commands->hold) || !apply_options(c, &r) ||
        (r.values[JSON_FIELD_MESSAGES] != NULL && !apply_messages(c))) {
        return false;
    }
    *reason = "command";
    if (r.values[JSON_FIELD_COMMAND] != NULL) {
        return c->commands->run(c->commands->context, r.values[JSON_FIELD_COMMAND]);
    }
    if (r.values[JSON_FIELD_PROMPT] != NULL) {
        (void)chat_reply(c, r.values[JSON_FIELD_PROMPT], r.prompt_bytes, true);
    } else if (r.values[JSON_FIELD_RAW] != NULL) {
        (void)chat_reply(c, r.values[JSON_FIELD_RAW], r.prompt_bytes, false);
    } else if (r.values[JSON_FIELD_MESSAGES] != NULL) {
        const struct chat_message *last = &c->messages.list[c->messages.n - 1];

        (void)chat_reply(c, last->text, last->bytes, true);
    }
    return false;
}

/* A line is answered. True: the conversation ends here. */
static bool take_line(struct chat *c, enum err error, size_t bytes)
{
    const char *reason = "error";
    bool ends = false;

    c->answered = false;
    if (error == ERR_TOO_LONG) {
        say_error(c, "line", 0, "it is longer than line_limit_bytes: shorten it");
    } else {
        ends = answer(c, bytes, &reason);
    }
    announce(c); /* another model */
    if (!c->answered) {
        chat_json_done(c, NULL, reason);
    }
    console_request_id(c->console, NULL, false);
    return ends;
}

/* What came in the place of a request. True: the conversation ends here. */
static bool take_end(struct chat *c, enum err error)
{
    if (error == ERR_NO_DEVICE) {
        return chat_input_ends(c);
    }
    say_ready(c); /* Ctrl-C with nothing to stop: it asks whether we are there */
    return false;
}

bool chat_json_loop(struct chat *c, const struct chat_commands *commands)
{
    bool ends;

    announce(c);
    do {
        size_t bytes;
        enum err error;

        c->talks = true;
        c->commands = commands; /* /model opens the chat anew */
        error = console_read_line(c->console, NULL, c->line, sizeof c->line, &bytes);
        if (error == ERR_NO_DEVICE || error == ERR_ABORTED) {
            ends = take_end(c, error);
        } else {
            ends = take_line(c, error, bytes);
        }
    } while (!ends && c->options->line.mode == MODE_JSON);
    return ends;
}
