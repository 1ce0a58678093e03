/* The texts of a request's messages. Histories from other servers are accepted as they are:
 * calls whose arguments are cut or empty, contents that are null, instructions in the middle. */
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_call.h"
#include "host/api/serve_request_private.h"

struct serve_turn *serve_add_turn(struct serve_reader *r)
{
    struct serve_request *q = r->q;
    struct serve_turn *more = realloc(q->turns, (q->n_turns + 1) * sizeof *more);

    if (more == NULL) {
        (void)serve_no_memory(r);
        return NULL;
    }
    q->turns = more;
    memset(&more[q->n_turns], 0, sizeof *more);
    return &more[q->n_turns++];
}

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(get(object, name));
}

/* The message being read, for errors. */
#define REFUSE(r, ...) serve_refuse_message(r, __VA_ARGS__)

/* A second message of the same person becomes a new paragraph of the first. */
static bool add_text(struct serve_reader *r, struct serve_text *to, const char *text, bool more)
{
    if ((more && !serve_text_add(to, "\n\n", 2)) || !serve_text_add(to, text, strlen(text))) {
        return serve_no_memory(r);
    }
    return true;
}

/* ---- contents ---------------------------------------------------------------------------------- */

/* A part's text; NULL: it has none. A refusal counts as what the assistant said. */
static const char *text_of_part(const cJSON *part)
{
    const char *type = text_of(part, "type");

    if (cJSON_IsString(part)) {
        return part->valuestring;
    }
    if (type == NULL || strcmp(type, "text") == 0 || strcmp(type, "input_text") == 0 ||
        strcmp(type, "output_text") == 0) {
        return text_of(part, "text");
    }
    return strcmp(type, "refusal") == 0 ? text_of(part, "refusal") : NULL;
}

/* Reads a text, or a list of parts that are texts. */
static bool read_content(struct serve_reader *r, const cJSON *content, struct serve_text *to,
                         bool more)
{
    const cJSON *part;
    unsigned i = 0;

    if (cJSON_IsString(content)) {
        return add_text(r, to, content->valuestring, more);
    }
    if (!cJSON_IsArray(content)) {
        return REFUSE(r, "its content has to be a text or a list of parts");
    }
    if (!add_text(r, to, "", more)) {
        return false;
    }
    cJSON_ArrayForEach(part, content)
    {
        const char *text = text_of_part(part), *type = text_of(part, "type");

        if (text == NULL) {
            return REFUSE(r,
                          "part %u of its content has the type %.40s: parts are texts here, of "
                          "the type text",
                          i, type != NULL ? type : "(none)");
        }
        if (!add_text(r, to, text, false)) {
            return false;
        }
        i++;
    }
    return true;
}

/* null and absent contents are not text. */
static bool read_some(struct serve_reader *r, const cJSON *content, struct serve_text *to,
                      bool more)
{
    return content == NULL || cJSON_IsNull(content) ? add_text(r, to, "", more)
                                                    : read_content(r, content, to, more);
}

/* ---- who says it ------------------------------------------------------------------------------- */

/* Instructions before all other messages are the system prompt; later ones become part of the
 * turn that follows them, or of the current one. */
static bool add_system(struct serve_reader *r, const cJSON *content)
{
    struct serve_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = r->q->has_system;

    if (t == NULL) {
        r->q->has_system = true;
        return read_content(r, content, &r->q->system, more);
    }
    if (t->replied) {
        t = serve_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    more = t->instructed;
    t->instructed = true;
    return read_content(r, content, &t->system, more);
}

/* Only a user's last message is what a person asks for now. */
static bool add_user(struct serve_reader *r, const cJSON *content)
{
    struct serve_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    size_t before;

    for (uint32_t i = 0; i < r->q->n_turns; i++) {
        r->q->turns[i].said = 0;
    }
    if (t == NULL || t->replied) {
        t = serve_add_turn(r);
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

/* Writes a call in the form in which a model writes it, whatever its arguments are: a model may
 * have written invalid JSON. */
static bool add_call(struct serve_reader *r, const cJSON *function, struct serve_text *to)
{
    const cJSON *arguments = get(function, "arguments");
    const char *name = text_of(function, "name"), *text = cJSON_GetStringValue(arguments);
    char *printed = NULL;
    bool good;

    if (name == NULL) {
        return REFUSE(r, "a call has to have function.name");
    }
    if (cJSON_IsObject(arguments) || cJSON_IsArray(arguments)) {
        printed = cJSON_PrintUnformatted(arguments);
        text = printed;
    }
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0') {
        text = "{}";
    }
    good = add_text(r, to, to->n != 0 ? "\n" : "", false) &&
           (serve_call_add(to, name, text) || serve_no_memory(r));
    free(printed);
    return good;
}

static bool add_calls(struct serve_reader *r, const cJSON *calls, struct serve_text *to)
{
    const cJSON *call;

    cJSON_ArrayForEach(call, calls)
    {
        const cJSON *function = get(call, "function");

        if (!add_call(r, function != NULL ? function : call, to)) {
            return false;
        }
    }
    return true;
}

static bool add_reply(struct serve_reader *r, const cJSON *m)
{
    const cJSON *calls = get(m, "tool_calls"), *content = get(m, "content"),
                *old = get(m, "function_call");
    const char *refusal = text_of(m, "refusal");
    struct serve_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = t != NULL && t->replied;

    if (t == NULL) { /* a greeting: nobody has said anything before */
        t = serve_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    if (calls != NULL && !cJSON_IsNull(calls) && !cJSON_IsArray(calls)) {
        return REFUSE(r, "its tool_calls have to be a list");
    }
    t->replied = true;
    r->calls = cJSON_IsArray(calls) && calls->child != NULL ? calls : NULL;
    r->called = r->calls != NULL || cJSON_IsObject(old);
    if (!read_some(r, content, &t->reply, more)) {
        return false;
    }
    if (refusal != NULL && (content == NULL || cJSON_IsNull(content)) &&
        !add_text(r, &t->reply, refusal, false)) {
        return false;
    }
    return (r->calls == NULL || add_calls(r, calls, &t->reply)) &&
           (!cJSON_IsObject(old) || add_call(r, old, &t->reply));
}

static bool is_called(const cJSON *calls, const char *id)
{
    const cJSON *call;

    cJSON_ArrayForEach(call, calls)
    {
        const char *own = text_of(call, "id");

        if (id != NULL && own != NULL && strcmp(own, id) == 0) {
            return true;
        }
    }
    return false;
}

/* The result of a call: it takes the user's place in the conversation. */
static bool add_result(struct serve_reader *r, const cJSON *m, bool named)
{
    struct serve_turn *t;
    bool more;

    if (!r->called || (!named && !is_called(r->calls, text_of(m, "tool_call_id")))) {
        return REFUSE(r, "a tool's message has to come after an assistant's whose tool_calls have "
                         "its tool_call_id");
    }
    t = &r->q->turns[r->q->n_turns - 1];
    if (t->replied) {
        t = serve_add_turn(r);
    }
    if (t == NULL) {
        return false;
    }
    t->said = 0; /* it no longer ends the turn */
    more = t->spoken;
    t->spoken = true;
    return add_text(r, &t->user, "<tool_response>\n", more) &&
           read_some(r, get(m, "content"), &t->user, false) &&
           add_text(r, &t->user, "\n</tool_response>", false);
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* Members that clients keep for themselves or for other servers are ignored. */
static bool check_members(struct serve_reader *r, const cJSON *m)
{
    static const char *const known[] = { "role",
                                         "content",
                                         "name",
                                         "tool_calls",
                                         "tool_call_id",
                                         "refusal",
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

    return serve_members_known(r, m, "messages", known);
}

static bool add_message(struct serve_reader *r, const cJSON *m)
{
    const char *role = text_of(m, "role");
    const cJSON *content = get(m, "content");

    if (role == NULL || !cJSON_IsObject(m)) {
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

bool serve_read_messages(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const struct serve_turn *last;
    const cJSON *m;

    if (!cJSON_IsArray(v) || r->q->n_turns != 0 || r->q->has_system) {
        return serve_refuse(r->e, 400, f->name, NULL, "messages has to be one list");
    }
    r->message = 0;
    cJSON_ArrayForEach(m, v)
    {
        if (!add_message(r, m)) {
            return false;
        }
        r->message++;
    }
    last = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    if (last == NULL || last->replied || !(last->spoken || last->instructed)) {
        return serve_refuse(r->e, 400, f->name, NULL,
                            "the last message has to be the user's, or a tool's");
    }
    return true;
}
