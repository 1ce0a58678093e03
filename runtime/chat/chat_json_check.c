/* Check whether a request of mode=json can be run, before it changes anything. */
#include "runtime/chat/chat_json_private.h"

#include <string.h>

#include "runtime/chat/chat_messages.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/wire/json_ids.h"
#include "runtime/console/console.h"
#include "runtime/features/feature.h"
#include "runtime/session/token_scores.h"

/* Let the features check their own fields. */
static bool check_fields(struct chat *c, const struct json_request *r)
{
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        const char *name = json_field_name((enum json_field)i), *error_message = NULL;
        void *state;
        const struct feature_field *f = r->values[i] == NULL
                                            ? NULL
                                            : features_field(c->features, name, &state);

        if (f != NULL && f->check != NULL) {
            error_message = f->check(state, c, r->values[i]);
        }
        if (error_message != NULL) {
            chat_json_error(c, "value", name, 0, error_message);
            return false;
        }
    }
    return true;
}

static const char locked_text[] =
    "the line is locked, and takes only prompts, messages and sampling settings: "
    "the command /unlock PIN opens it";

static bool read_messages(struct chat *c, const struct json_request *r)
{
    struct chat_messages *m = &c->program.messages;

    if (!chat_has_template(c->template)) {
        chat_json_error(c, "value", "messages", 0,
                        "the model has no chat template for messages: raw continues a text");
        return false;
    }
    if (!chat_messages_read(m, r->values[JSON_FIELD_MESSAGES], r->bytes[JSON_FIELD_MESSAGES])) {
        chat_json_error(c, "messages", "messages", 0, m->error_message);
        return false;
    }
    if (m->system != NULL && c->options->line.locked) {
        chat_json_error(c, "locked", "messages", 0, locked_text);
        return false;
    }
    return true;
}

static bool read_logprobs(struct chat *c, const char *value)
{
    uint32_t n = 0;
    size_t at = 0;

    c->program.wants_scores = value != NULL;
    c->program.n_likeliest = 0;
    if (value == NULL) {
        return true;
    }
    for (; at < 2 && value[at] >= '0' && value[at] <= '9'; at++) {
        n = 10 * n + (uint32_t)(value[at] - '0');
    }
    if (at == 0 || value[at] != '\0' || n > TOKEN_SCORES_MOST) {
        chat_json_error(c, "value", "logprobs", 0,
                        "logprobs takes a number of likeliest tokens: 0 to 20");
        return false;
    }
    c->program.n_likeliest = n;
    return true;
}

static bool read_biases(struct chat *c, const struct json_request *r)
{
    char *list = r->values[JSON_FIELD_LOGIT_BIAS];
    const char *error_message;

    c->program.biases.n = 0;
    if (list == NULL) {
        return true;
    }
    if (c->session == NULL) {
        chat_say_no_model(c->console);
        return false;
    }
    error_message = json_biases_read(&c->program.biases, list, r->bytes[JSON_FIELD_LOGIT_BIAS],
                                     c->session);
    if (error_message != NULL) {
        chat_json_error(c, "value", "logit_bias", 0, error_message);
    }
    return error_message == NULL;
}

static bool check_ids(struct chat *c, const char *list)
{
    const struct session *s = c->session;
    uint32_t n;
    const char *error_message = list == NULL
                                    ? NULL
                                    : json_ids_check(list, s->model->image.header->params.vocab,
                                                     s->context, &n);

    if (error_message != NULL) {
        chat_json_error(c, "value", "ids", 0, error_message);
    }
    return error_message == NULL;
}

/* Check that there is a model if the request needs one. */
static bool has_model(struct chat *c, const struct json_request *r)
{
    static const enum json_field of_models[] = { JSON_FIELD_PROMPT,       JSON_FIELD_RAW,
                                                 JSON_FIELD_MESSAGES,     JSON_FIELD_IDS,
                                                 JSON_FIELD_TOKENIZE,     JSON_FIELD_EMBEDDING,
                                                 JSON_FIELD_CONVERSATION, JSON_FIELD_PLAN };

    for (size_t i = 0; i < sizeof of_models / sizeof of_models[0]; i++) {
        if (r->values[of_models[i]] != NULL && c->session == NULL) {
            chat_say_no_model(c->console);
            return false;
        }
    }
    return true;
}

/* Return true if a request on a locked line (lock=) may have this field. Commands are checked when
 * they run, by their own list. */
static bool is_of_locked(enum json_field field)
{
    static const uint64_t fields =
        UINT64_C(1) << JSON_FIELD_ID | UINT64_C(1) << JSON_FIELD_PROMPT |
        UINT64_C(1) << JSON_FIELD_COMMAND | UINT64_C(1) << JSON_FIELD_RESET |
        UINT64_C(1) << JSON_FIELD_MESSAGES | UINT64_C(1) << JSON_FIELD_HELLO |
        UINT64_C(1) << JSON_FIELD_CHECK | UINT64_C(1) << JSON_FIELD_STATS |
        UINT64_C(1) << JSON_FIELD_CANCEL | UINT64_C(1) << JSON_FIELD_RESEND |
        UINT64_C(1) << JSON_FIELD_LOGPROBS | UINT64_C(1) << JSON_FIELD_STOP |
        UINT64_C(1) << JSON_FIELD_N | UINT64_C(1) << JSON_FIELD_TEMP |
        UINT64_C(1) << JSON_FIELD_REPEAT_LAST | UINT64_C(1) << JSON_FIELD_PRESENCE |
        UINT64_C(1) << JSON_FIELD_FREQUENCY | UINT64_C(1) << JSON_FIELD_LOGIT_BIAS |
        UINT64_C(1) << JSON_FIELD_TOP_P | UINT64_C(1) << JSON_FIELD_TOP_K |
        UINT64_C(1) << JSON_FIELD_MIN_P | UINT64_C(1) << JSON_FIELD_REPEAT |
        UINT64_C(1) << JSON_FIELD_SEED;

    return (fields >> field & 1) != 0;
}

/* Return true if a locked line may send this request, judged by its fields; if not, sends the
 * error. */
static bool is_allowed(struct chat *c, const struct json_request *r)
{
    if (!c->options->line.locked) {
        return true;
    }
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        if (r->values[i] != NULL && !is_of_locked((enum json_field)i)) {
            chat_json_error(c, "locked", json_field_name((enum json_field)i), 0, locked_text);
            return false;
        }
    }
    return true;
}

/* Return the text of a field that wants a reply, as chat_check_fits() takes it. */
static struct chat_said said_of(const struct chat *c, const struct json_request *r,
                                enum json_field field)
{
    const struct chat_messages *m = &c->program.messages;

    if (field == JSON_FIELD_MESSAGES) {
        const struct chat_message *last = &m->list[m->n - 1];
        struct chat_said said = { .text = last->text, .bytes = last->bytes, .as_turn = true };

        chat_messages_tell_system(m, &said);
        return said;
    }
    return (struct chat_said){ .text = r->values[field],
                               .bytes = r->bytes[field],
                               .as_turn = field == JSON_FIELD_PROMPT &&
                                          chat_has_template(c->template),
                               .system = r->values[JSON_FIELD_SYSTEM],
                               .system_bytes = r->bytes[JSON_FIELD_SYSTEM] };
}

/* Return true if the text fits; changes nothing. Called before a conversation is dropped or started
 * anew for this text. */
static bool fits(struct chat *c, const struct json_request *r)
{
    static const enum json_field fields[] = { JSON_FIELD_PROMPT, JSON_FIELD_RAW,
                                              JSON_FIELD_MESSAGES };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct chat_said said;

        if (r->values[fields[i]] == NULL) {
            continue;
        }
        said = said_of(c, r, fields[i]);
        if (chat_check_fits(c, &said) == ERR_TOO_LONG) { /* the reply reports
                                                          * other errors */
            chat_say_too_long(c, json_field_name(fields[i]));
            return false;
        }
    }
    return true;
}

bool chat_json_check(struct chat *c, const struct json_request *r)
{
    const char *command = r->values[JSON_FIELD_COMMAND], *hello = r->values[JSON_FIELD_HELLO];

    if (r->error != NULL) {
        chat_json_error(c, r->error, r->field, r->column, r->text);
        return false;
    }
    if (!is_allowed(c, r)) {
        return false;
    }
    if (command != NULL && !chat_is_command(command, strlen(command))) {
        chat_json_error(c, "value", "command", 0, "a command begins with a slash, as /help does");
        return false;
    }
    if (r->values[JSON_FIELD_CHECK] != NULL && r->values[JSON_FIELD_HELLO] == NULL) {
        chat_json_error(c, "field", "check", 0, "check is a field of hello");
        return false;
    }
    if (hello != NULL && strcmp(hello, "1") != 0 && strcmp(hello, "2") != 0) {
        chat_json_error(c, "value", "hello", 0, "hello takes the protocol: 1 or 2");
        return false;
    }
    if (!has_model(c, r)) {
        return false;
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL && c->session != NULL &&
        !chat_has_template(c->template)) {
        chat_json_error(c, "value", "system", 0, "the model has no chat template for system");
        return false;
    }
    return (r->values[JSON_FIELD_MESSAGES] == NULL || read_messages(c, r)) &&
           check_ids(c, r->values[JSON_FIELD_IDS]) &&
           read_logprobs(c, r->values[JSON_FIELD_LOGPROBS]) && read_biases(c, r) &&
           check_fields(c, r) && fits(c, r);
}
