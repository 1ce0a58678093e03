#include "runtime/api/api_load.h"

#include <string.h>

#include "runtime/api/api.h"
#include "runtime/chat/chat_json.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

/* Return true if there is a token. Without a token loading is refused, because it changes the model
 * for everybody at this board. */
static bool may_load(const struct api *a)
{
    return a->setup.load != NULL && a->setup.token != NULL;
}

bool api_load_may(struct api_client *k)
{
    if (may_load(k->api)) {
        return true;
    }
    api_answer_error(k, 403,
                     "loading a model needs a token: start this board with "
                     "token=SECRET",
                     "", "closed");
    return false;
}

/* Copy the model's name, because another client may take this client's slot while the model is
 * loaded. Returns false if the client has been answered. */
static bool read_name(struct api_client *k, char name[API_NAME_BYTES])
{
    struct json_value v;
    struct json j;
    enum json_kind kind;

    name[0] = '\0';
    json_open(&j, k->body, k->body_bytes);
    while ((kind = json_member(&j, &v)) > JSON_END) {
        if (strcmp(v.key, "model") != 0) {
            api_answer_error(k, 400, "this request takes only the field model", v.key, "");
            return false;
        }
        if (v.kind == JSON_TEXT && v.bytes < API_NAME_BYTES) {
            memcpy(name, v.text, v.bytes + 1);
        }
    }
    if (kind == JSON_BAD) {
        api_answer_error(k, 400, j.error_message, "", "");
        return false;
    }
    if (name[0] == '\0') {
        api_answer_error(k, 400, "model has to be the name of a file on the card", "model", "");
    }
    return name[0] != '\0';
}

void api_load_serve(struct api *a)
{
    struct api_client *k = a->work->client;
    char name[API_NAME_BYTES];
    const char *why;
    struct api_text t;
    int status = 500;

    if (!read_name(k, name)) {
        return;
    }
    why = a->setup.load(a->setup.context, name, &status);
    if (api_is_gone(a)) {
        return;
    }
    if (why != NULL) {
        api_answer_error(k, status, why, status == 404 ? "model" : "",
                         status == 404 ? "model_not_found" : "");
        return;
    }
    api_text_open(&t, a->text, sizeof a->text);
    api_text_print(&t, "{'success':true,'model':");
    api_text_quoted(&t, name, strlen(name));
    api_text_print(&t, "}\n");
    api_answer(k, 200, "application/json", NULL, t.bytes, t.n);
}

/* ---- as a line ---- */

struct load_line {
    char name[API_NAME_BYTES], id[CONSOLE_ID_BYTES];
    bool has_id, id_is_text;
};

/* Read a line (n bytes), which is overwritten. Returns false if it does not ask for a model. */
static bool read_line(struct load_line *l, char *line, size_t n)
{
    struct json_value v;
    struct json j;

    memset(l, 0, sizeof *l);
    json_open(&j, line, n);
    while (json_member(&j, &v) > JSON_END) {
        if (strcmp(v.key, "load") == 0 && v.kind == JSON_TEXT && v.bytes < sizeof l->name) {
            memcpy(l->name, v.text, v.bytes + 1);
        } else if (strcmp(v.key, "id") == 0 && v.text != NULL && v.bytes < sizeof l->id) {
            memcpy(l->id, v.text, v.bytes + 1);
            l->has_id = true;
            l->id_is_text = v.kind == JSON_TEXT;
        }
    }
    return j.error_message == NULL && l->name[0] != '\0';
}

bool api_load_line(struct api *a, struct chat *c)
{
    const struct api_client *k = a->work->client;
    char enquiry[] = "\5"; /* the byte that asks for `ready` */
    struct load_line l;
    const char *why;
    int status;

    memcpy(a->line, k->body, k->body_bytes + 1);
    if (!may_load(a) || !read_line(&l, a->line, k->body_bytes)) {
        return false;
    }
    why = a->setup.load(a->setup.context, l.name, &status);
    api_open_console(a);
    console_request_id(&a->console, l.has_id ? l.id : NULL, l.id_is_text);
    if (why == NULL) {
        chat_json_guest(c, &a->console, NULL, enquiry, 1);
    } else {
        console_event_begin(&a->console, "'error','name':'failed','field':'load','text':'");
        console_write(&a->console, why, strlen(why));
        console_event_end(&a->console);
    }
    console_event_begin(&a->console, "'done','reason':'%s'", why == NULL ? "command" : "error");
    console_event_end(&a->console);
    api_event_end(a);
    return true;
}
