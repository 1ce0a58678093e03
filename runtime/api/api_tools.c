/* Functions that a reply may call: described in the system prompt, and enforced by a grammar of
 * the calls. */
#include <string.h>

#include "runtime/api/api_call.h"
#include "runtime/api/api_reader.h"

enum { TOOLS_MOST = API_HELD_MOST - 1, NAME_MOST = 64 };

/* The fields of a function that are used here. */
struct tool {
    const struct api_json *function;
    const char *name;
    const char *schema; /* the schema of the function's parameters */
    bool strict;
    bool allowed; /* by tool_choice */
};

struct tools {
    struct api_reader *r;
    struct tool *list; /* (n) */
    unsigned n;
    struct api_format format;
};

/* ---- the list -------------------------------------------------------------------------------- */

static const struct api_json *get(const struct api_json *object, const char *name)
{
    return api_json_get(object, name);
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

static bool is_object_type(const struct api_json *type)
{
    const struct api_json *one;

    if (type == NULL || api_json_is(type, JSON_NULL)) {
        return true;
    }
    api_json_each(one, type)
    {
        if (api_json_is(one, JSON_TEXT) && strcmp(one->text, "object") == 0) {
            return true;
        }
    }
    return api_json_is(type, JSON_TEXT) && strcmp(type->text, "object") == 0;
}

/* Read the parameters. Arguments are an object even if the schema does not say so. A function
 * without parameters gets {}. */
static bool read_parameters(struct tools *t, struct tool *one, const struct api_json *parameters)
{
    if (parameters == NULL || api_json_is(parameters, JSON_NULL) ||
        (api_json_is(parameters, JSON_OBJECT) && parameters->child == NULL)) {
        one->schema = "{\"type\":\"object\",\"properties\":{}}";
    } else if (api_json_is(parameters, JSON_OBJECT) && is_object_type(get(parameters, "type"))) {
        one->schema = api_print(t->r, parameters);
    } else {
        return api_refuse(t->r->e, 400, "tools", NULL,
                          "tools, function %s: its parameters have to be a schema of the type "
                          "object",
                          one->name);
    }
    return one->schema != NULL;
}

/* Add {"type":"function","function":{"name",...}}, or a function whose members are next to the
 * type. */
static bool add_tool(struct tools *t, const struct api_json *v)
{
    static const char
        *const outer[] = { "type", "function", "id", "cache_control", "strict", NULL },
               *const inner[] = { "name",        "description",  "parameters",  "strict",
                                  "type",        "title",        "annotations", "cache_control",
                                  "inputSchema", "outputSchema", "return",      NULL };
    const char *type = api_json_text(get(v, "type"));
    struct tool *one = &t->list[t->n];
    bool flat = get(v, "function") == NULL;

    if (type == NULL || strcmp(type, "function") != 0) {
        return api_refuse(t->r->e, 400, "tools", NULL,
                          "tools[%u] is of the type %.40s: tools have to be of the type function",
                          t->n, type != NULL ? type : "(none)");
    }
    one->function = flat ? v : get(v, "function");
    one->name = api_json_text(get(one->function, "name"));
    if (!is_name(one->name)) {
        return api_refuse(t->r->e, 400, "tools", NULL,
                          "tools[%u] has to have a function.name of 1 to %d letters, digits, _, -, "
                          ". and :",
                          t->n, NAME_MOST);
    }
    if (tool_named(t, one->name) != NULL) {
        return api_refuse(t->r->e, 400, "tools", NULL, "tools: two functions have the name %s",
                          one->name);
    }
    if ((!flat && !api_members_known(t->r, v, "tools", outer)) ||
        !api_members_known(t->r, one->function, "tools", inner)) {
        return false;
    }
    one->strict = api_json_is(get(one->function, "strict"), JSON_TRUE);
    one->allowed = true;
    t->n++;
    return read_parameters(t, one, get(one->function, "parameters"));
}

static bool read_list(struct tools *t, const struct api_json *list)
{
    const struct api_json *v;

    if (list == NULL) {
        return true;
    }
    if (!api_json_is(list, JSON_LIST) || list->n > TOOLS_MOST) {
        return api_refuse(t->r->e, 400, "tools", NULL, "tools has to be a list of up to %d",
                          TOOLS_MOST);
    }
    t->list = api_memory_take(t->r->q->memory, list->n * sizeof *t->list);
    if (t->list == NULL) {
        return api_no_memory(t->r);
    }
    api_json_each(v, list)
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
    return api_refuse(t->r->e, 400, "tool_choice", NULL,
                      "tool_choice has to be auto, none, required, a function of the tools, or "
                      "allowed_tools");
}

/* Read auto, none or required. Other servers call required "any". */
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
                   api_refuse(t->r->e, 400, "tool_choice", NULL,
                              "tool_choice is %s, but there are no tools", word);
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

/* Allow the function whose name is in {"function":{"name"}} or {"name"}. */
static bool allow_one(struct tools *t, const struct api_json *v)
{
    const struct api_json *function = get(v, "function");
    const char *name = api_json_text(get(function != NULL ? function : v, "name"));
    struct tool *one = tool_named(t, name);

    if (one == NULL) {
        return api_refuse(t->r->e, 400, "tool_choice", NULL,
                          "tool_choice: the function %.64s is not among the tools",
                          name != NULL ? name : "(without a name)");
    }
    one->allowed = true;
    return true;
}

/* Read {"type":"allowed_tools","allowed_tools":{"mode","tools"}}, or mode and tools next to the
 * type. */
static bool read_allowed(struct tools *t, const struct api_json *v, enum choice *choice)
{
    const struct api_json *inner = get(v, "allowed_tools"), *one, *list;
    const char *mode;

    inner = inner != NULL ? inner : v;
    list = get(inner, "tools");
    mode = api_json_text(get(inner, "mode"));
    if (!api_json_is(list, JSON_LIST) || list->child == NULL) {
        return api_refuse(t->r->e, 400, "tool_choice", NULL,
                          "tool_choice.allowed_tools has to have a list of tools");
    }
    allow(t, false);
    api_json_each(one, list)
    {
        if (!allow_one(t, one)) {
            return false;
        }
    }
    return read_word(t, mode != NULL ? mode : "auto", choice);
}

static bool read_choice(struct tools *t, const struct api_json *v, enum choice *choice)
{
    const char *word = api_json_text(v), *type = api_json_text(get(v, "type"));

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

static bool add_text(struct api_reader *r, struct api_text *to, const char *text)
{
    return api_text_put(to, text, strlen(text)) || api_no_memory(r);
}

/* Add {"name":...,"description":...,"parameters":...} to the system prompt. */
static bool tell_one(struct tools *t, const struct tool *one)
{
    const struct api_json *description = get(one->function, "description");
    struct api_text *to = &t->r->q->system;

    api_text_print(to, "{'name':");
    api_text_quoted(to, one->name, strlen(one->name));
    if (api_json_is(description, JSON_TEXT)) {
        api_text_print(to, ",'description':");
        api_text_quoted(to, description->text, description->bytes);
    }
    api_text_print(to, ",'parameters':");
    return add_text(t->r, to, one->schema) && add_text(t->r, to, "}\n");
}

static bool tell(struct tools *t)
{
    struct api_text *to = &t->r->q->system;
    bool good = add_text(t->r, to, t->r->q->has_system && to->n != 0 ? "\n\n" : "") &&
                add_text(t->r, to, "Functions that you can call:\n");

    t->r->q->has_system = true;
    for (unsigned i = 0; i < t->n && good; i++) {
        good = tell_one(t, &t->list[i]);
    }
    return good && add_text(t->r, to, "To call one, write:\n") &&
           (api_call_add(to, "NAME", "{...}") || api_no_memory(t->r));
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* Make a grammar of calls. Unless a call is required, it also allows a reply in response_format. */
static bool hold(struct tools *t, bool must)
{
    struct api_held *list = api_memory_take(t->r->q->memory, (t->n + 1) * sizeof *list);
    unsigned n = 0;

    if (list == NULL) {
        return api_no_memory(t->r);
    }

    for (unsigned i = 0; i < t->n; i++) {
        if (t->list[i].allowed) {
            list[n++] = (struct api_held){ .name = t->list[i].name,
                                           .schema = t->list[i].schema,
                                           .strict = t->list[i].strict };
        }
    }
    if (t->format.wanted && !must) {
        list[n++] = (struct api_held){ .schema = t->format.schema != NULL ? t->format.schema
                                                                          : "{\"type\":\"object\"}",
                                       .strict = t->format.strict };
    }
    return t->r->d->holder->hold(t->r, list, n, must, t->r->parallel ? API_CALLS_MOST : 1);
}

static bool use(struct tools *t)
{
    struct api_reader *r = t->r;
    enum choice choice;
    bool callable;

    if (!read_list(t, r->tools) || !read_choice(t, r->tool_choice, &choice) ||
        !api_format_read(r, &t->format)) {
        return false;
    }
    callable = t->n != 0 && choice != MUST_NOT;
    if (r->grammar != NULL && (callable || t->format.wanted)) {
        return api_refuse(
            r->e, 400, callable ? "tools" : "response_format", NULL,
            "a grammar cannot be combined with response_format, or with tools that may be called");
    }
    if (r->grammar != NULL) {
        return api_grammar_use(r, r->grammar);
    }
    if (!callable) {
        return api_format_use(r, &t->format);
    }
    r->q->may_call = true;
    return hold(t, choice == MUST) && tell(t);
}

bool api_tools_use(struct api_reader *r)
{
    struct tools t = { .r = r };

    return use(&t);
}
