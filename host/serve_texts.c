/* What is said in a request: messages, or a prompt. */
#include <stdlib.h>
#include <string.h>

#include "host/serve_call.h"
#include "host/serve_request_private.h"

static struct serve_turn *add_turn(struct serve_reader *r)
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

/* A second message of the same person is a new paragraph of the first. */
static bool add_text(struct serve_reader *r, struct serve_text *to, const char *text, bool more)
{
    if ((more && !serve_text_add(to, "\n\n", 2)) || !serve_text_add(to, text, strlen(text))) {
        return serve_no_memory(r);
    }
    return true;
}

/* A text, or a list of parts that are texts. */
static bool read_content(struct serve_reader *r, const cJSON *content, struct serve_text *to,
                         bool more)
{
    const cJSON *part;

    if (cJSON_IsString(content)) {
        return add_text(r, to, content->valuestring, more);
    }
    if (!cJSON_IsArray(content)) {
        return serve_refuse(r->e, 400, "messages", NULL,
                            "a message's content has to be a text or a list of parts");
    }
    if (!add_text(r, to, "", more)) {
        return false;
    }
    cJSON_ArrayForEach(part, content)
    {
        const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "type"));
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "text"));

        if (type == NULL || strcmp(type, "text") != 0 || text == NULL) {
            return serve_refuse(r->e, 400, "messages", NULL,
                                "parts of a message have to be of the type text");
        }
        if (!add_text(r, to, text, false)) {
            return false;
        }
    }
    return true;
}

static bool add_system(struct serve_reader *r, const cJSON *content)
{
    bool more = r->q->has_system;

    if (r->q->n_turns != 0) {
        return serve_refuse(r->e, 400, "messages", NULL,
                            "the system's message has to stand before the others");
    }
    r->q->has_system = true;
    return read_content(r, content, &r->q->system, more);
}

/* Only the last message of a user is what a person asks for now. */
static bool add_user(struct serve_reader *r, const cJSON *content)
{
    struct serve_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = t != NULL && !t->replied;
    size_t before;

    for (uint32_t i = 0; i < r->q->n_turns; i++) {
        r->q->turns[i].said = 0;
    }
    if (!more) {
        t = add_turn(r);
    }
    if (t == NULL || (more && !add_text(r, &t->user, "", true))) {
        return false;
    }
    before = t->user.n;
    if (!read_content(r, content, &t->user, false)) {
        return false;
    }
    t->said = t->user.n - before;
    return true;
}

/* The calls of an assistant's message, in the form in which a model says them. */
static bool add_calls(struct serve_reader *r, const cJSON *calls, struct serve_text *to)
{
    const cJSON *call;

    cJSON_ArrayForEach(call, calls)
    {
        const cJSON *function = cJSON_GetObjectItemCaseSensitive(call, "function");
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(function, "name")),
                   *arguments = cJSON_GetStringValue(
                       cJSON_GetObjectItemCaseSensitive(function, "arguments"));
        cJSON *object = arguments != NULL ? cJSON_ParseWithOpts(arguments, NULL, true) : NULL;
        bool good = name != NULL && cJSON_IsObject(object);

        cJSON_Delete(object);
        if (!good) {
            return serve_refuse(r->e, 400, "messages", NULL,
                                "a call has to have function.name, and function.arguments that are "
                                "an object as a text of JSON");
        }
        if (!add_text(r, to, to->n != 0 ? "\n" : "", false) ||
            !(serve_call_add(to, name, arguments) || serve_no_memory(r))) {
            return false;
        }
    }
    return true;
}

static bool add_reply(struct serve_reader *r, const cJSON *m, const cJSON *content)
{
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(m, "tool_calls");
    bool calling = cJSON_IsArray(calls) && calls->child != NULL;
    struct serve_turn *t = r->q->n_turns != 0 ? &r->q->turns[r->q->n_turns - 1] : NULL;
    bool more = t != NULL && t->replied;

    if (t == NULL) {
        return serve_refuse(r->e, 400, "messages", NULL,
                            "an assistant's message has to come after a user's");
    }
    t->replied = true;
    r->calls = calling ? calls : NULL;
    if (calling && (content == NULL || cJSON_IsNull(content))) {
        return add_text(r, &t->reply, "", more) && add_calls(r, calls, &t->reply);
    }
    return read_content(r, content, &t->reply, more) &&
           (!calling || add_calls(r, calls, &t->reply));
}

static bool is_called(const cJSON *calls, const char *id)
{
    const cJSON *call;

    cJSON_ArrayForEach(call, calls)
    {
        const char *own = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(call, "id"));

        if (id != NULL && own != NULL && strcmp(own, id) == 0) {
            return true;
        }
    }
    return false;
}

/* What a call gave: the user's place in the conversation. */
static bool add_result(struct serve_reader *r, const cJSON *m, const cJSON *content)
{
    struct serve_turn *t;
    bool more;

    if (!is_called(r->calls,
                   cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "tool_call_id")))) {
        return serve_refuse(r->e, 400, "messages", NULL,
                            "a tool's message has to come after an assistant's whose tool_calls "
                            "have its tool_call_id");
    }
    t = &r->q->turns[r->q->n_turns - 1];
    more = !t->replied;
    if (!more) {
        t = add_turn(r);
    } else {
        t->said = 0; /* it does not end the turn any more */
    }
    return t != NULL && add_text(r, &t->user, "<tool_response>\n", more) &&
           read_content(r, content, &t->user, false) &&
           add_text(r, &t->user, "\n</tool_response>", false);
}

static bool add_message(struct serve_reader *r, const cJSON *m)
{
    const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "role"));
    const cJSON *content = cJSON_GetObjectItemCaseSensitive(m, "content");

    if (role != NULL && (strcmp(role, "system") == 0 || strcmp(role, "developer") == 0)) {
        return add_system(r, content);
    }
    if (role != NULL && strcmp(role, "user") == 0) {
        r->calls = NULL;
        return add_user(r, content);
    }
    if (role != NULL && strcmp(role, "assistant") == 0) {
        return add_reply(r, m, content);
    }
    if (role != NULL && strcmp(role, "tool") == 0) {
        return add_result(r, m, content);
    }
    return serve_refuse(r->e, 400, "messages", NULL,
                        "a message's role has to be system, developer, user, assistant or tool");
}

bool serve_read_messages(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const cJSON *m;

    if (!cJSON_IsArray(v) || r->q->n_turns != 0 || r->q->has_system) {
        return serve_refuse(r->e, 400, f->name, NULL, "messages has to be one list");
    }
    cJSON_ArrayForEach(m, v)
    {
        if (!add_message(r, m)) {
            return false;
        }
    }
    if (r->q->n_turns == 0 || r->q->turns[r->q->n_turns - 1].replied) {
        return serve_refuse(r->e, 400, f->name, NULL,
                            "the last message has to be the user's, or a tool's");
    }
    return true;
}

/* A text, or a list with one. */
bool serve_read_prompt(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    struct serve_turn *t;

    if (cJSON_IsArray(v) && v->child != NULL && v->child->next == NULL) {
        v = v->child;
    }
    if (!cJSON_IsString(v) || v->valuestring[0] == '\0' || r->q->n_turns != 0) {
        return serve_refuse(r->e, 400, f->name, NULL, "prompt has to be one text, not empty");
    }
    t = add_turn(r);
    return t != NULL && add_text(r, &t->user, v->valuestring, false);
}

static bool add_input(struct serve_reader *r, const cJSON *v)
{
    struct serve_turn *t;

    if (!cJSON_IsString(v) || v->valuestring[0] == '\0') {
        return serve_refuse(r->e, 400, "input", NULL,
                            "input has to be a text, or a list of texts, none of them empty");
    }
    t = add_turn(r);
    return t != NULL && add_text(r, &t->user, v->valuestring, false);
}

bool serve_read_input(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    const cJSON *one;

    if (r->q->n_turns != 0 || cJSON_GetArraySize(v) > SERVE_INPUTS_MOST) {
        return serve_refuse(r->e, 400, f->name, NULL, "input stands once, and has %d texts at most",
                            SERVE_INPUTS_MOST);
    }
    if (!cJSON_IsArray(v)) {
        return add_input(r, v);
    }
    cJSON_ArrayForEach(one, v)
    {
        if (!add_input(r, one)) {
            return false;
        }
    }
    return true;
}
