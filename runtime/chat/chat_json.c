#include "runtime/chat/chat_json.h"

#include <string.h>

#include "runtime/chat/chat_messages.h"
#include "runtime/chat/chat_json_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/wire/json_settings.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/features/feature.h"

_Static_assert(JSON_ID_BYTES <= (int)CONSOLE_ID_BYTES, "an id is repeated unchanged");

/* ---- output ---- */

static void end_with(struct console *c, const char *text, size_t bytes)
{
    console_write(c, text, bytes);
    console_event_end(c);
}

/* Without a model, fields about a model have no value. */
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
                        "'line_limit_bytes':%u",
                        INGOT_VERSION_TEXT, c->console->platform->name,
                        image_type_name(image_main_type(&m->image)),
                        plan_residency_text(m->plan.residency), (unsigned)s->context,
                        chat_has_template(c->template) ? "true" : "false", CHAT_LINE_BYTES - 1);
    chat_json_defaults(c->console, &m->image.header->sampling);
    console_event_more(c->console, ",'model':'");
    end_with(c->console, name, strlen(name));
}

enum { ENQUIRY = 5 }; /* A line with only ENQ: the program asks whether the board answers. */

static void say_ready(struct chat *c)
{
    if (c->session == NULL) {
        say_no_model(c);
    } else {
        say_model(c);
    }
    c->program.announced = true;
}

/* Send `ready`, once for each model. */
static void announce(struct chat *c)
{
    if (!c->program.announced) {
        say_ready(c);
    }
}

/* ---- input ---- */

/* Set an option for a request. */
struct setting {
    struct chat *chat;
    const char *field;
};

static void say_refused(void *context, bool refused, const char *error_message)
{
    const struct setting *s = context;

    if (refused) {
        chat_json_error(s->chat, "value", s->field, 0, error_message);
    }
}

static bool set_option(struct chat *c, struct json_request *r, enum json_field field)
{
    struct setting setting = { c, json_field_name(field) };
    const struct options_report report = { say_refused, &setting };

    return r->values[field] == NULL || json_request_set(r, field, c->options, &report) == ERR_OK;
}

/* Set all options of the request and, unless a guest sent it, the fields of features; or none if
 * one is refused. The system prompt is set last, because it cannot be undone; one that is too long
 * is refused first. */
static bool set_fields(struct chat *c, struct json_request *r, bool is_guest)
{
    struct options_kept before;
    bool good = r->bytes[JSON_FIELD_SYSTEM] < OPTIONS_SYSTEM_BYTES ||
                set_option(c, r, JSON_FIELD_SYSTEM);

    options_keep(&before, c->options);
    for (unsigned i = JSON_FIELD_OPTIONS; good && i < JSON_N_FIELDS; i++) {
        good = i == JSON_FIELD_SYSTEM || set_option(c, r, (enum json_field)i);
    }
    good = good && (is_guest || chat_json_set_fields(c, r)) && set_option(c, r, JSON_FIELD_SYSTEM);
    if (!good) {
        options_put_back(c->options, &before);
    }
    return good;
}

/* Apply the settings in the conversation that the request names. */
static void begin(struct chat *c, const struct json_request *r)
{
    c->sampler.params = c->options->sampler;
    c->sampler.params.biases = c->program.biases.list;
    c->sampler.params.n_biases = c->program.biases.n;
    if (r->values[JSON_FIELD_SEED] != NULL) {
        chat_restart_sampler(c);
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL) {
        c->program.messages.changed_system = false;
    }
    chat_json_enter_fields(c, r);
    if (r->values[JSON_FIELD_SYSTEM] != NULL || r->values[JSON_FIELD_RESET] != NULL) {
        chat_clear(c);
    }
}

/* ---- protocol 2 ---- */

static void say_hello(struct chat *c, const struct json_request *r)
{
    c->program.protocol = (uint32_t)(r->values[JSON_FIELD_HELLO][0] - '0');
    console_frames_set(&c->console->json.frames, r->values[JSON_FIELD_CHECK] != NULL);
    console_event_begin(c->console,
                        "'hello','protocol':%u,'protocols':2,'messages_limit':%u,'said':true,"
                        "'penalties':true",
                        (unsigned)c->program.protocol, (unsigned)CHAT_MESSAGES);
    console_event_end(c->console);
}

static bool apply_messages(struct chat *c)
{
    enum err e;

    chat_messages_set_system(c, &c->program.messages);
    e = chat_messages_put(c, &c->program.messages);
    if (e != ERR_OK) {
        chat_json_error(c, "failed", NULL, 0, err_text(e));
    }
    return e == ERR_OK;
}

/* Reply to the request's field that wants a reply. */
static void reply(struct chat *c, const struct json_request *r)
{
    if (r->values[JSON_FIELD_PROMPT] != NULL) {
        (void)chat_reply(c, r->values[JSON_FIELD_PROMPT], r->bytes[JSON_FIELD_PROMPT], true);
    } else if (r->values[JSON_FIELD_RAW] != NULL) {
        (void)chat_reply(c, r->values[JSON_FIELD_RAW], r->bytes[JSON_FIELD_RAW], false);
    } else if (r->values[JSON_FIELD_IDS] != NULL) {
        (void)chat_reply_ids(c, r->values[JSON_FIELD_IDS]);
    } else if (r->values[JSON_FIELD_MESSAGES] != NULL) {
        const struct chat_message *last = &c->program.messages.list[c->program.messages.n - 1];

        (void)chat_reply_said(c, last->text, last->bytes, true, last->said);
    }
}

/* Return true if the request was cancelled while it waited. */
static bool is_cancelled(struct chat *c, const struct json_request *r)
{
    return r->values[JSON_FIELD_ID] != NULL && r->values[JSON_FIELD_CANCEL] == NULL &&
           console_has_input(c->console) &&
           console_is_cancelled(c->console, r->values[JSON_FIELD_ID], r->id_is_text);
}

/* Returns true if the conversation ends. */
static bool answer(struct chat *c, struct json_request *r, const char **reason)
{
    *reason = "error";
    if (!chat_json_check(c, r)) {
        return false;
    }
    if (is_cancelled(c, r)) {
        *reason = "stopped";
        return false;
    }
    if (!set_fields(c, r, false)) {
        return false;
    }
    if (r->values[JSON_FIELD_HELLO] != NULL) {
        say_hello(c, r);
    }
    begin(c, r);
    if (r->values[JSON_FIELD_MESSAGES] != NULL && !apply_messages(c)) {
        return false;
    }
    *reason = "command";
    if (r->values[JSON_FIELD_COMMAND] != NULL) {
        return c->commands->run(c->commands->context, r->values[JSON_FIELD_COMMAND]);
    }
    if (!chat_json_ask(c, r, reason)) {
        reply(c, r);
    }
    return false;
}

/* Return true if a person typed the command that switches a line in JSON mode back. */
static bool is_way_back(const struct chat *c)
{
    return !c->console->json.frames.on && strcmp(c->line, "/mode chat") == 0;
}

static bool take_way_back(struct chat *c)
{
    bool ends = c->commands->run(c->commands->context, c->line);

    chat_json_done(c, NULL, "command");
    return ends;
}

/* Answer a line. Returns true if the conversation ends. */
static bool take_line(struct chat *c, enum err error, size_t bytes)
{
    const char *reason = "error";
    struct json_request r;
    bool ends = false;

    if (error == ERR_OK && bytes == 1 && c->line[0] == ENQUIRY) {
        say_ready(c);
        return false;
    }
    c->program.answered = false;
    if (error == ERR_OK && !console_frames_check(&c->console->json.frames, c->line, &bytes)) {
        chat_json_error(c, "check", NULL, 0,
                        "the line arrived damaged, or has no *hh: send it again");
    } else {
        c->line[bytes] = '\0';
        if (error == ERR_OK && is_way_back(c)) {
            return take_way_back(c);
        }
        json_request_read(&r, c->line, bytes);
        console_request_id(c->console, r.values[JSON_FIELD_ID], r.id_is_text);
        if (error == ERR_TOO_LONG) {
            chat_json_error(c, "line", NULL, 0, "it is longer than line_limit_bytes: shorten it");
        } else {
            ends = answer(c, &r, &reason);
            c->sampler.params.n_biases = 0; /* biases are for one request only */
        }
    }
    announce(c); /* another model */
    if (!c->program.answered) {
        chat_json_done(c, NULL, reason);
    }
    console_request_id(c->console, NULL, false);
    return ends;
}

/* The program that requested this mode is gone: give people a prompt again. */
void chat_json_leave(struct chat *c)
{
    c->options->line.mode = MODE_CHAT;
    c->options->line.silence_s = 0;
}

/* Handle a line that is not a request. Returns true if the conversation ends. */
static bool take_end(struct chat *c, enum err error)
{
    if (error == ERR_NO_DEVICE) {
        return chat_input_ends(c);
    }
    if (error == ERR_TIMEOUT) {
        chat_json_leave(c);
        return false;
    }
    console_frames_set(&c->console->json.frames, false); /* unknown to the program */
    say_ready(c); /* answers a Ctrl-C that has nothing to stop */
    return false;
}

bool chat_json_loop(struct chat *c, const struct chat_commands *commands)
{
    bool ends;

    announce(c);
    do {
        size_t bytes;
        enum err error;

        c->wait.is_shown = true;
        c->commands = commands; /* /model opens the chat again */
        console_set_silence(c->console, 1000 * c->options->line.silence_s);
        error = console_read_line(c->console, NULL, c->line, sizeof c->line, &bytes);
        if (error == ERR_NO_DEVICE || error == ERR_ABORTED || error == ERR_TIMEOUT) {
            ends = take_end(c, error);
        } else {
            ends = take_line(c, error, bytes);
        }
    } while (!ends && c->options->line.mode == MODE_JSON);
    console_set_silence(c->console, 0);
    return ends;
}

/* ---- a guest -------------------------------------------------------------------------------- */

/* The line's state, which is restored after a guest. */
struct host {
    struct console *console;
    struct options_kept settings;
    struct option_set given;
    struct sampler sampler;
    uint32_t protocol;
    bool announced, is_shown;
};

static void leave_host(struct chat *c, struct host *h, struct console *console)
{
    h->console = c->console;
    h->sampler = c->sampler;
    h->protocol = c->program.protocol;
    h->announced = c->program.announced;
    h->is_shown = c->wait.is_shown;
    options_keep(&h->settings, c->options);
    h->given = c->options->given;
    c->console = console;
    c->program.protocol = 2;
    c->program.announced = true;
    c->wait.is_shown = c->program.answered = false;
}

static void come_back(struct chat *c, const struct host *h)
{
    c->program.messages.system = NULL;
    chat_messages_set_system(c, &c->program.messages);
    options_put_back(c->options, &h->settings);
    c->options->given = h->given;
    c->console = h->console;
    c->sampler = h->sampler;
    c->program.protocol = h->protocol;
    c->program.announced = h->announced;
    c->wait.is_shown = h->is_shown;
    c->program.wants_scores = c->program.answered = false;
}

/* Switch to the guest's conversation. If there is room for only one conversation, empty it. */
static void enter_conversation(struct chat *c, const char *name)
{
    void *state;
    const struct feature_field *f =
        features_field(c->features, json_field_name(JSON_FIELD_CONVERSATION), &state);

    if (name != NULL && f != NULL) {
        f->enter(state, c, name);
    } else {
        chat_clear(c);
    }
}

/* Return true if a field would change more than the guest's conversation. */
static bool is_for_hosts(struct chat *c, const struct json_request *r)
{
    static const enum json_field fields[] = { JSON_FIELD_COMMAND, JSON_FIELD_LOAD,
                                              JSON_FIELD_RESEND };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (r->values[fields[i]] != NULL) {
            chat_json_error(c, "field", json_field_name(fields[i]), 0,
                            "only the serial line takes this field, not the network");
            return true;
        }
    }
    return false;
}

/* Answer a request that does not ask for a reply. */
static bool answer_question(struct chat *c, const struct json_request *r, const char **reason)
{
    bool asks = r->values[JSON_FIELD_MODELS] != NULL || r->values[JSON_FIELD_STATS] != NULL ||
                r->values[JSON_FIELD_PLAN] != NULL || r->values[JSON_FIELD_TOKENIZE] != NULL;

    *reason = "command";
    if (r->values[JSON_FIELD_HELLO] != NULL) {
        say_hello(c, r);
    }
    return asks ? chat_json_ask(c, r, reason) : r->values[JSON_FIELD_HELLO] != NULL;
}

/* Returns false if there was no reply; *reason says why. */
static bool answer_guest(struct chat *c, struct json_request *r, bool has_room, const char **reason)
{
    static char conversation[] = CHAT_GUEST_CONVERSATION;

    *reason = "error";
    if (!chat_json_check(c, r) || is_for_hosts(c, r) || answer_question(c, r, reason)) {
        return false;
    }
    *reason = "error";
    if (has_room) {
        r->values[JSON_FIELD_CONVERSATION] = conversation;
        r->bytes[JSON_FIELD_CONVERSATION] = sizeof conversation - 1;
    }
    if (!set_fields(c, r, true)) {
        return false;
    }
    begin(c, r);
    if (r->values[JSON_FIELD_EMBEDDING] != NULL) {
        chat_clear(c); /* the text needs the conversation's room */
        (void)chat_json_ask(c, r, reason);
    } else if (r->values[JSON_FIELD_MESSAGES] == NULL || apply_messages(c)) {
        reply(c, r);
    }
    return true;
}

void chat_json_guest(struct chat *c, struct console *console, const char *conversation, char *line,
                     size_t bytes)
{
    struct json_request r;
    const char *reason;
    struct host host;

    leave_host(c, &host, console);
    if (bytes == 1 && line[0] == ENQUIRY) {
        say_ready(c);
        come_back(c, &host);
        return;
    }
    json_request_read(&r, line, bytes);
    console_request_id(console, r.values[JSON_FIELD_ID], r.id_is_text);
    if (answer_guest(c, &r, conversation != NULL, &reason)) {
        enter_conversation(c, conversation);
    }
    if (!c->program.answered) {
        chat_json_done(c, NULL, reason);
    }
    come_back(c, &host);
}
