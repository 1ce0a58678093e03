/* The texts of a request's messages. Histories from other servers are accepted as they are:
 * calls whose arguments are cut or empty, contents that are null, instructions in the middle. */
#include <string.h>

#include "runtime/api/api_call.h"
#include "runtime/api/api_reader.h"

enum { TURNS_FIRST = 4 };

/* Make room for twice as many turns; the old turns stay unused in the request's memory. */
static bool make_room(struct api_reader *r)
{
    struct api_request *q = r->q;
    uint32_t room = q->turns_room != 0 ? 2 * q->turns_room : TURNS_FIRST;
    struct api_turn *turns = api_memory_take(q->memory, room * sizeof *turns);

    if (turns == NULL) {
        return api_no_memory(r);
    }
    if (q->n_turns != 0) {
        memcpy(turns, q->turns, q->n_turns * sizeof *turns);
    }
    q->turns = turns;
    q->turns_room = room;
    return true;
}

struct api_turn *api_add_turn(struct api_reader *r)
{
    struct api_request *q = r->q;
    struct api_turn *t;

    if (q->n_turns == q->turns_room && !make_room(r)) {
        return NULL;
    }
    t = &q->turns[q->n_turns++];
    memset(t, 0, sizeof *t);
    api_memory_text(q->memory, &t->user);
    api_memory_text(q->memory, &t->reply);
    api_memory_text(q->memory, &t->system);
    api_memory_text(q->memory, &t->tokens);
    return t;
}

static const struct api_json *get(const struct api_json *object, const char *name)
{
    return api_json_get(object, name);
}

static const char *text_of(const struct api_json *object, const char *name)
{
    return api_json_text(get(object, name));
}

/* Refuse the message that is being read. */
#define REFUSE(r, ...) api_refuse_message(r, __VA_ARGS__)

/* Add a text. With `more` the text is a new paragraph of the same person's earlier message. */
static bool add_text(struct api_reader *r, struct api_text *to, const char *text, bool more)
{
    if ((more && !api_text_put(to, "\n\n", 2)) || !api_text_put(to, text, strlen(text))) {
        return api_no_memory(r);
    }
    return true;
}

/* ---- contents ---------------------------------------------------------------------------------- */

/* Return the member that has the text of a part of this type, or NULL if this server does not take
 * the type. A refusal counts as the assistant's text. */
static const char *member_of_part(const char *type)
{
    if (type == NULL || strcmp(type, "text") == 0 || strcmp(type, "input_text") == 0 ||
        strcmp(type, "output_text") == 0) {
        return "text";
    }
    return strcmp(type, "refusal") == 0 ? "refusal" : NULL;
}

/* Add the text of part i of a content. */
static bool add_part(struct api_reader *r, const struct api_json *part, unsigned i,
                     struct api_text *to)
{
    const char *type = text_of(part, "type"), *member = member_of_part(type);
    const char *text = api_json_is(part, JSON_TEXT) ? part->text : NULL;

    if (text == NULL && member == NULL) {
        return REFUSE(r,
                      "part %u of its content has the type %.40s: this server takes parts of "
                      "the type text only",
                      i, type);
    }
    if (text == NULL) {
        text = text_of(part, member);
    }
    return text != NULL ? add_text(r, to, text, false)
                        : REFUSE(r, "part %u of its content has no text", i);
}

/* Read a text, or a list of parts that are texts. */
static bool read_content(struct api_reader *r, const struct api_json *content, struct api_text *to,
                         bool more)
{
    const struct api_json *part;
    unsigned i = 0;

    if (api_json_is(content, JSON_TEXT)) {
        return add_text(r, to, content->text, more);
    }
    if (!api_json_is(content, JSON_LIST)) {
        return REFUSE(r, "its content has to be a text or a list of parts");
    }
    if (!add_text(r, to, "", more)) {
        return false;
    }
    api_json_each(part, content)
    {
        if (!add_part(r, part, i++, to)) {
            return false;
        }
    }
    return true;
}

/* Read content; if it is null or absent, the text is empty. */
static bool read_some(struct api_reader *r, const struct api_json *content, struct api_text *to,
                      bool more)
{
    return content == NULL || api_json_is(content, JSON_NULL) ? add_text(r, to, "", more)
                                                              : read_content(r, content, to, more);
}

/* ---- who says it ------------------------------------------------------------------------------- */

/* Add instructions. Instructions before all other messages are the system prompt. Later
 * instructions go to the current turn, or to a new turn if the current turn has a reply. */
static bool add_system(struct api_reader *r, const struct api_json *content)
{
    struct api_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = r->q->has_system;

    if (t == NULL) {
        r->q->has_system = true;
        return read_content(r, content, &r->q->system, more);
    }
    if (t->replied) {
        t = api_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    more = t->instructed;
    t->instructed = true;
    return read_content(r, content, &t->system, more);
}

/* Add a user's message. Only the last message of a user is what a person asks now. */
static bool add_user(struct api_reader *r, const struct api_json *content)
{
    struct api_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    size_t before;

    for (uint32_t i = 0; i < r->q->n_turns; i++) {
        r->q->turns[i].said = 0;
    }
    if (t == NULL || t->replied) {
        t = api_add_turn(r);
    }
    if (t == NULL || (t->spoken && !add_text(r, &t->user, "", true))) {
        return false;
    }
    t->spoken = true;
    before = t->user.n;
    if (!read_content(r, content, &t->user, false)) {
        return false;
    }
    t->said = t->user.n - before;
    return true;
}

/* Write a call in the form in which a model writes it, even if its arguments are not valid JSON:
 * a model may have written them. */
static bool add_call(struct api_reader *r, const struct api_json *function, struct api_text *to)
{
    const struct api_json *arguments = get(function, "arguments");
    const char *name = text_of(function, "name"), *text = api_json_text(arguments);

    if (name == NULL) {
        return REFUSE(r, "a call has to have function.name");
    }
    if (api_json_is(arguments, JSON_OBJECT) || api_json_is(arguments, JSON_LIST)) {
        text = api_print(r, arguments);
        if (text == NULL) {
            return false;
        }
    }
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0') {
        text = "{}";
    }
    return add_text(r, to, to->n != 0 ? "\n" : "", false) &&
           (api_call_add(to, name, text) || api_no_memory(r));
}

static bool add_calls(struct api_reader *r, const struct api_json *calls, struct api_text *to)
{
    const struct api_json *call;

    api_json_each(call, calls)
    {
        const struct api_json *function = get(call, "function");

        if (!add_call(r, function != NULL ? function : call, to)) {
            return false;
        }
    }
    return true;
}

static bool add_reply(struct api_reader *r, const struct api_json *m)
{
    const struct api_json *calls = get(m, "tool_calls"), *content = get(m, "content"),
                          *old = get(m, "function_call");
    const char *refusal = text_of(m, "refusal");
    struct api_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = t != NULL && t->replied;

    if (t == NULL) { /* a greeting before a person has written anything */
        t = api_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    if (calls != NULL && !api_json_is(calls, JSON_NULL) && !api_json_is(calls, JSON_LIST)) {
        return REFUSE(r, "its tool_calls have to be a list");
    }
    t->replied = true;
    r->calls = api_json_is(calls, JSON_LIST) && calls->child != NULL ? calls : NULL;
    r->called = r->calls != NULL || api_json_is(old, JSON_OBJECT);
    if (!read_some(r, content, &t->reply, more)) {
        return false;
    }
    if (refusal != NULL && (content == NULL || api_json_is(content, JSON_NULL)) &&
        !add_text(r, &t->reply, refusal, false)) {
        return false;
    }
    return (r->calls == NULL || add_calls(r, calls, &t->reply)) &&
           (!api_json_is(old, JSON_OBJECT) || add_call(r, old, &t->reply));
}

static bool is_called(const struct api_json *calls, const char *id)
{
    const struct api_json *call;

    api_json_each(call, calls)
    {
        const char *own = text_of(call, "id");

        if (id != NULL && own != NULL && strcmp(own, id) == 0) {
            return true;
        }
    }
    return false;
}

/* Add the result of a call, which takes the user's place in the conversation. */
static bool add_result(struct api_reader *r, const struct api_json *m, bool named)
{
    struct api_turn *t;
    bool more;

    if (!r->called || (!named && !is_called(r->calls, text_of(m, "tool_call_id")))) {
        return REFUSE(r, "a tool's message needs the tool_call_id of a call in the assistant's "
                         "message before it");
    }
    t = &r->q->turns[r->q->n_turns - 1];
    if (t->replied) {
        t = api_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    t->said = 0; /* the person's message no longer ends the turn */
    more = t->spoken;
    t->spoken = true;
    return add_text(r, &t->user, "<tool_response>\n", more) &&
           read_some(r, get(m, "content"), &t->user, false) &&
           add_text(r, &t->user, "\n</tool_response>", false);
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* Check a message's members. Members that clients store for themselves or for other servers are
 * ignored. */
static bool check_members(struct api_reader *r, const struct api_json *m)
{
    static const char *const known[] = { "role",
                                         "content",
                                         "name",
                                         "tool_calls",
                                         "tool_call_id",
                                         "refusal",
                                         "parsed", /* kept by OpenAI's packages after parse() */
                                         "function_call",
                                         "annotations",
                                         "reasoning_content",
                                         "reasoning",
                                         "thinking",
                                         "reasoning_details",
                                         "id",
                                         "type",
                                         "status",
                                         "audio",
                                         "metadata",
                                         "cache_control",
                                         "tool_name",
                                         "images",
                                         "timestamp",
                                         "created_at",
                                         "weight",
                                         "additional_kwargs",
                                         NULL };

    return api_members_known(r, m, "messages", known);
}

static bool add_message(struct api_reader *r, const struct api_json *m)
{
    const char *role = text_of(m, "role");
    const struct api_json *content = get(m, "content");

    if (role == NULL || !api_json_is(m, JSON_OBJECT)) {
        return REFUSE(r,
                      "a message is an object with a role: system, developer, user, assistant or "
                      "tool");
    }
    if (!check_members(r, m)) {
        return false;
    }
    if (strcmp(role, "system") == 0 || strcmp(role, "developer") == 0) {
        return add_system(r, content);
    }
    if (strcmp(role, "user") == 0) {
        r->calls = NULL;
        r->called = false;
        return add_user(r, content);
    }
    if (strcmp(role, "assistant") == 0) {
        return add_reply(r, m);
    }
    if (strcmp(role, "tool") == 0 || strcmp(role, "function") == 0) {
        return add_result(r, m, role[0] == 'f');
    }
    return REFUSE(r, "its role is %.40s: it has to be system, developer, user, assistant or tool",
                  role);
}

bool api_read_messages(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    const struct api_json *m;

    if (!api_json_is(v, JSON_LIST) || r->q->n_turns != 0 || r->q->has_system) {
        return api_refuse(r->e, 400, f->name, NULL, "messages has to be one list");
    }
    r->message = 0;
    api_json_each(m, v)
    {
        if (!add_message(r, m)) {
            return false;
        }
        r->message++;
    }
    if (r->message == 0) {
        return api_refuse(r->e, 400, f->name, NULL, "messages has no message");
    }
    if (r->q->n_turns == 0) { /* instructions alone */
        return api_add_turn(r) != NULL;
    }
    if (r->q->turns[r->q->n_turns - 1].replied) {
        return api_refuse(r->e, 400, f->name, NULL,
                          "the last message has to be the user's, or a tool's");
    }
    return true;
}
