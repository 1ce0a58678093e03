/* Functions that a reply may call: described in the system prompt, and enforced by a grammar of
 * the calls. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/api/serve_call.h"
#include "host/serve/serve_hold.h"

enum { TOOLS_MOST = SERVE_HELD_MOST - 1, NAME_MOST = 64 };

/* The fields that are read from a function. */
struct tool {
    const cJSON *function;
    const char *name;
    char *schema; /* of its parameters */
    bool strict;
    bool allowed; /* by tool_choice */
};

struct tools {
    struct serve_reader *r;
    struct tool list[TOOLS_MOST];
    unsigned n;
    struct serve_format format;
};

/* ---- the list -------------------------------------------------------------------------------- */

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_name(const char *name)
{
    size_t n = name != NULL ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789_-.:")
                            : 0;

    return n != 0 && n <= NAME_MOST && name[n] == '\0';
}

static struct tool *tool_named(struct tools *t, const char *name)
{
    for (unsigned i = 0; i < t->n && name != NULL; i++) {
        if (strcmp(t->list[i].name, name) == 0) {
            return &t->list[i];
        }
    }
    return NULL;
}

static bool is_object_type(const cJSON *type)
{
    const cJSON *one;

    if (type == NULL || cJSON_IsNull(type)) {
        return true;
    }
    cJSON_ArrayForEach(one, type)
    {
        if (cJSON_IsString(one) && strcmp(one->valuestring, "object") == 0) {
            return true;
        }
    }
    return cJSON_IsString(type) && strcmp(type->valuestring, "object") == 0;
}

/* Arguments are an object, even if the schema does not say so. Without parameters it is empty. */
static bool read_parameters(struct tools *t, struct tool *one, const cJSON *parameters)
{
    if (parameters == NULL || cJSON_IsNull(parameters) ||
        (cJSON_IsObject(parameters) && parameters->child == NULL)) {
        one->schema = strdup("{\"type\":\"object\",\"properties\":{}}");
    } else if (cJSON_IsObject(parameters) && is_object_type(get(parameters, "type"))) {
        one->schema = cJSON_PrintUnformatted(parameters);
    } else {
        return serve_refuse(t->r->e, 400, "tools", NULL,
                            "tools, function %s: its parameters have to be a schema of the type "
                            "object",
                            one->name);
    }
    return one->schema != NULL || serve_no_memory(t->r);
}

/* {"type":"function","function":{"name",...}}, or the function's members next to the type. */
static bool add_tool(struct tools *t, const cJSON *v)
{
    static const char
        *const outer[] = { "type", "function", "id", "cache_control", "strict", NULL },
               *const inner[] = { "name",        "description",  "parameters",  "strict",
                                  "type",        "title",        "annotations", "cache_control",
                                  "inputSchema", "outputSchema", "return",      NULL };
    const char *type = cJSON_GetStringValue(get(v, "type"));
    struct tool *one = &t->list[t->n];
    bool flat = get(v, "function") == NULL;

    if (type == NULL || strcmp(type, "function") != 0) {
        return serve_refuse(t->r->e, 400, "tools", NULL,
                            "tools[%u] is of the type %.40s: tools have to be of the type function",
                            t->n, type != NULL ? type : "(none)");
    }
    one->function = flat ? v : get(v, "function");
    one->name = cJSON_GetStringValue(get(one->function, "name"));
    if (!is_name(one->name)) {
        return serve_refuse(
            t->r->e, 400, "tools", NULL,
            "tools[%u] has to have a function.name of 1 to %d letters, digits, _, -, "
            ". and :",
            t->n, NAME_MOST);
    }
    if (tool_named(t, one->name) != NULL) {
        return serve_refuse(t->r->e, 400, "tools", NULL, "tools: there are two %s", one->name);
    }
    if ((!flat && !serve_members_known(t->r, v, "tools", outer)) ||
        !serve_members_known(t->r, one->function, "tools", inner)) {
        return false;
    }
    one->strict = cJSON_IsTrue(get(one->function, "strict"));
    one->allowed = true;
    t->n++;
    return read_parameters(t, one, get(one->function, "parameters"));
}

static bool read_list(struct tools *t, const cJSON *list)
{
    const cJSON *v;

    if (list == NULL) {
        return true;
    }
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > TOOLS_MOST) {
        return serve_refuse(t->r->e, 400, "tools", NULL, "tools has to be a list of up to %d",
                            TOOLS_MOST);
    }
    cJSON_ArrayForEach(v, list)
    {
        if (!add_tool(t, v)) {
            return false;
        }
    }
    return true;
}

/* ---- which may be called --------------------------------------------------------------------- */

enum choice { MAY, MUST_NOT, MUST };

static bool refuse_choice(struct tools *t)
{
    return serve_refuse(t->r->e, 400, "tool_choice", NULL,
                        "tool_choice has to be auto, none, required, a function of the tools, or "
                        "allowed_tools");
}

/* Reads auto, none, required; other servers call the last one any. */
static bool read_word(struct tools *t, const char *word, enum choice *choice)
{
    static const struct {
        const char *word;
        enum choice choice;
    } words[] = { { "auto", MAY }, { "none", MUST_NOT }, { "required", MUST }, { "any", MUST } };

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].word) == 0) {
            *choice = words[i].choice;
            return t->n != 0 || *choice != MUST ||
                   serve_refuse(t->r->e, 400, "tool_choice", NULL,
                                "tool_choice is %s, and there are no tools", word);
        }
    }
    return refuse_choice(t);
}

static void allow(struct tools *t, bool all)
{
    for (unsigned i = 0; i < t->n; i++) {
        t->list[i].allowed = all;
    }
}

/* Returns the name in {"function":{"name"}} or {"name"}. */
static bool allow_one(struct tools *t, const cJSON *v)
{
    const cJSON *function = get(v, "function");
    const char *name = cJSON_GetStringValue(get(function != NULL ? function : v, "name"));
    struct tool *one = tool_named(t, name);

    if (one == NULL) {
        return serve_refuse(t->r->e, 400, "tool_choice", NULL,
                            "tool_choice: the function %.64s is not among the tools",
                            name != NULL ? name : "(without a name)");
    }
    one->allowed = true;
    return true;
}

/* Reads {"type":"allowed_tools","allowed_tools":{"mode","tools"}}, or mode and tools beside the
 * type. */
static bool read_allowed(struct tools *t, const cJSON *v, enum choice *choice)
{
    const cJSON *inner = get(v, "allowed_tools"), *one, *list;
    const char *mode;

    inner = inner != NULL ? inner : v;
    list = get(inner, "tools");
    mode = cJSON_GetStringValue(get(inner, "mode"));
    if (!cJSON_IsArray(list) || list->child == NULL) {
        return serve_refuse(t->r->e, 400, "tool_choice", NULL,
                            "tool_choice.allowed_tools has to have a list of tools");
    }
    allow(t, false);
    cJSON_ArrayForEach(one, list)
    {
        if (!allow_one(t, one)) {
            return false;
        }
    }
    return read_word(t, mode != NULL ? mode : "auto", choice);
}

static bool read_choice(struct tools *t, const cJSON *v, enum choice *choice)
{
    const char *word = cJSON_GetStringValue(v), *type = cJSON_GetStringValue(get(v, "type"));

    *choice = MAY;
    if (v == NULL) {
        return true;
    }
    if (word != NULL) {
        return read_word(t, word, choice);
    }
    if (type == NULL && get(v, "function") == NULL) {
        return refuse_choice(t);
    }
    if (type != NULL && strcmp(type, "allowed_tools") == 0) {
        return read_allowed(t, v, choice);
    }
    if (type == NULL || strcmp(type, "function") == 0 || strcmp(type, "tool") == 0) {
        *choice = MUST;
        allow(t, false);
        return allow_one(t, v);
    }
    return read_word(t, type, choice);
}

/* ---- the description for the model ----------------------------------------------------------- */

static bool add_text(struct serve_reader *r, struct serve_text *to, const char *text)
{
    return serve_text_add(to, text, strlen(text)) || serve_no_memory(r);
}

/* {"name":...,"description":...,"parameters":...} */
static bool tell_one(struct tools *t, const struct tool *one)
{
    const cJSON *description = get(one->function, "description");
    cJSON *object = cJSON_CreateObject();
    char *text;
    bool good;

    cJSON_AddStringToObject(object, "name", one->name);
    if (cJSON_IsString(description)) {
        cJSON_AddStringToObject(object, "description", description->valuestring);
    }
    cJSON_AddRawToObject(object, "parameters", one->schema);
    text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    good = text != NULL ? add_text(t->r, &t->r->q->system, text) : serve_no_memory(t->r);
    free(text);
    return good && add_text(t->r, &t->r->q->system, "\n");
}

static bool tell(struct tools *t)
{
    struct serve_text *to = &t->r->q->system;
    bool good = add_text(t->r, to, t->r->q->has_system && to->n != 0 ? "\n\n" : "") &&
                add_text(t->r, to, "Functions that you can call:\n");

    t->r->q->has_system = true;
    for (unsigned i = 0; i < t->n && good; i++) {
        good = tell_one(t, &t->list[i]);
    }
    return good && add_text(t->r, to, "To call one, write:\n") &&
           (serve_call_add(to, "NAME", "{...}") || serve_no_memory(t->r));
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* Makes the grammar of a call, or of the answer of response_format unless a call is required. */
static bool hold(struct tools *t, bool must)
{
    struct serve_held list[SERVE_HELD_MOST] = { { .name = NULL } };
    unsigned n = 0;

    for (unsigned i = 0; i < t->n; i++) {
        if (t->list[i].allowed) {
            list[n++] = (struct serve_held){ .name = t->list[i].name,
                                             .schema = t->list[i].schema,
                                             .strict = t->list[i].strict };
        }
    }
    if (t->format.wanted && !must) {
        list[n++] = (struct serve_held){ .schema = t->format.schema != NULL
                                                       ? t->format.schema
                                                       : "{\"type\":\"object\"}",
                                         .strict = t->format.strict };
    }
    return serve_hold(t->r, list, n, must, t->r->parallel ? SERVE_CALLS_MOST : 1);
}

static bool use(struct tools *t)
{
    struct serve_reader *r = t->r;
    enum choice choice;
    bool callable;

    if (!read_list(t, r->tools) || !read_choice(t, r->tool_choice, &choice) ||
        !serve_format_read(r, &t->format)) {
        return false;
    }
    callable = t->n != 0 && choice != MUST_NOT;
    if (r->grammar != NULL && (callable || t->format.wanted)) {
        return serve_refuse(
            r->e, 400, callable ? "tools" : "response_format", NULL,
            "a grammar cannot be combined with response_format, or with tools that may be called");
    }
    if (r->grammar != NULL) {
        return serve_grammar_use(r, r->grammar);
    }
    if (!callable) {
        return serve_format_use(r, &t->format);
    }
    r->q->may_call = true;
    return hold(t, choice == MUST) && tell(t);
}

bool serve_tools_use(struct serve_reader *r)
{
    struct tools *t = calloc(1, sizeof *t);
    bool good;

    if (t == NULL) {
        return serve_no_memory(r);
    }
    t->r = r;
    good = use(t);
    for (unsigned i = 0; i < t->n; i++) {
        free(t->list[i].schema);
    }
    free(t->format.schema);
    free(t);
    return good;
}
