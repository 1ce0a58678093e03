/* Functions that a reply may call: told in the system prompt, and held to by a grammar of the calls there are. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "flash_image/grammar/grammar_compile.h"
#include "host/serve_call.h"
#include "host/serve_request_private.h"

enum { TOOLS_MOST = 128, NAME_MOST = 64 };

/* What is read of one. */
struct tool {
    const cJSON *function;
    const char *name;
    char *schema; /* of its parameters */
};

struct tools {
    struct serve_reader *r;
    struct tool list[TOOLS_MOST];
    unsigned n;
};

/* Any text in which no call begins. */
static const char prose[] =
    "prose ::= ([^<] | \"<\" (\"<\" | \"t<\" | \"to<\" | \"too<\")* ([^<t] | \"t\" [^<o] | "
    "\"to\" [^<o] | \"too\" [^<l]))*\n";

/* ---- the list -------------------------------------------------------------------------------- */

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_name(const char *name)
{
    size_t n = name != NULL ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789_-")
                            : 0;

    return n != 0 && n <= NAME_MOST && name[n] == '\0';
}

static const struct tool *tool_named(const struct tools *t, const char *name)
{
    for (unsigned i = 0; i < t->n; i++) {
        if (strcmp(t->list[i].name, name) == 0) {
            return &t->list[i];
        }
    }
    return NULL;
}

/* Arguments are an object. Without parameters it is empty. */
static bool read_parameters(struct tools *t, struct tool *one, const cJSON *parameters)
{
    const char *type = cJSON_GetStringValue(get(parameters, "type"));

    if (parameters == NULL || cJSON_IsNull(parameters) ||
        (cJSON_IsObject(parameters) && parameters->child == NULL)) {
        one->schema = strdup("{\"type\":\"object\",\"properties\":{}}");
    } else if (cJSON_IsObject(parameters) && type != NULL && strcmp(type, "object") == 0) {
        one->schema = cJSON_PrintUnformatted(parameters);
    } else {
        return serve_refuse(t->r->e, 400, "tools", NULL,
                            "tools: the parameters of %s have to be a schema of the type object",
                            one->name);
    }
    return one->schema != NULL || serve_no_memory(t->r);
}

static bool add_tool(struct tools *t, const cJSON *v)
{
    const char *type = cJSON_GetStringValue(get(v, "type"));
    struct tool *one = &t->list[t->n];

    one->function = get(v, "function");
    one->name = cJSON_GetStringValue(get(one->function, "name"));
    if (type == NULL || strcmp(type, "function") != 0 || !is_name(one->name)) {
        return serve_refuse(t->r->e, 400, "tools", NULL,
                            "tools have to be of the type function, with a function.name of 1 to "
                            "%d letters, digits, _ and -",
                            NAME_MOST);
    }
    if (tool_named(t, one->name) != NULL) {
        return serve_refuse(t->r->e, 400, "tools", NULL, "tools: there are two %s", one->name);
    }
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

/* *one: the only one that may be; NULL: any. */
static bool read_choice(const struct tools *t, const cJSON *v, enum choice *choice,
                        const struct tool **one)
{
    static const char *const words[] = { [MAY] = "auto", [MUST_NOT] = "none", [MUST] = "required" };
    const char *word = cJSON_GetStringValue(v), *type = cJSON_GetStringValue(get(v, "type")),
               *name = cJSON_GetStringValue(get(get(v, "function"), "name"));

    *one = NULL;
    *choice = v == NULL ? MAY : MUST;
    for (int i = 0; i < 3 && word != NULL; i++) {
        if (strcmp(word, words[i]) == 0) {
            *choice = (enum choice)i;
            if (t->n == 0 && i == MUST) {
                return serve_refuse(t->r->e, 400, "tool_choice", NULL, "there are no tools");
            }
            return true;
        }
    }
    if (type != NULL && strcmp(type, "function") == 0 && name != NULL) {
        *one = tool_named(t, name);
    }
    return v == NULL || *one != NULL ||
           serve_refuse(t->r->e, 400, "tool_choice", NULL,
                        "tool_choice has to be auto, none, required, or a function of the tools");
}

/* ---- how the model is told ------------------------------------------------------------------- */

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

/* A text of GBNF. */
static void put_literal(struct serve_text *out, const char *text)
{
    (void)serve_text_add(out, "\"", 1);
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '"') {
            (void)serve_text_add(out, "\\", 1);
        }
        (void)serve_text_add(out, *text == '\n' ? "n" : text, 1);
    }
    (void)serve_text_add(out, "\"", 1);
}

/* root, after the rules of the parameters. */
static void put_root(const struct tools *t, struct serve_text *out, const unsigned *rules,
                     const struct tool *only, bool must)
{
    const char *bar = "";

    (void)serve_text_say(out, "%sroot ::= %s call\ncall ::= ", must ? "" : prose,
                         must ? "[ \\n]{0,3}" : "prose | prose");
    put_literal(out, SERVE_CALL_MARK SERVE_CALL_NAME);
    (void)serve_text_say(out, " (");
    for (unsigned i = 0; i < t->n; i++) {
        if (only == NULL || only == &t->list[i]) {
            (void)serve_text_say(out, "%s", bar);
            put_literal(out, t->list[i].name);
            (void)serve_text_say(out, " ");
            put_literal(out, SERVE_CALL_ARGUMENTS);
            (void)serve_text_say(out, " r%u", rules[i]);
            bar = " | ";
        }
    }
    (void)serve_text_say(out, ") ");
    put_literal(out, SERVE_CALL_END);
    (void)serve_text_say(out, "\n");
}

static bool compile(const struct tools *t, const struct tool *only, bool must)
{
    char why[GRAMMAR_PROBLEM_BYTES] = "", *made = NULL;
    const char *schemas[TOOLS_MOST];
    unsigned rules[TOOLS_MOST];
    struct serve_text gbnf = { .n = 0 };
    bool good;

    for (unsigned i = 0; i < t->n; i++) {
        schemas[i] = t->list[i].schema;
    }
    if (grammar_gbnf_of_schemas("", schemas, t->n, rules, &made, why) != ERR_OK) {
        return serve_refuse(t->r->e, 400, "tools", NULL, "tools: %s", why);
    }
    (void)serve_text_add(&gbnf, made, strlen(made));
    free(made);
    put_root(t, &gbnf, rules, only, must);
    good = gbnf.failed ? serve_no_memory(t->r)
                       : serve_grammar_of_gbnf(t->r->q, gbnf.bytes, "tools", t->r->e);
    serve_text_free(&gbnf);
    return good;
}

static bool use(struct tools *t, const cJSON *list, const cJSON *choice_value)
{
    const struct tool *only;
    enum choice choice;

    if (!read_list(t, list) || !read_choice(t, choice_value, &choice, &only)) {
        return false;
    }
    if (t->n == 0 || choice == MUST_NOT) {
        return true;
    }
    t->r->q->may_call = true;
    return compile(t, only, choice == MUST) && tell(t);
}

bool serve_tools_use(struct serve_reader *r, const cJSON *list, const cJSON *choice)
{
    struct tools *t = calloc(1, sizeof *t);
    bool good;

    if (t == NULL) {
        return serve_no_memory(r);
    }
    t->r = r;
    good = use(t, list, choice);
    for (unsigned i = 0; i < t->n; i++) {
        free(t->list[i].schema);
    }
    free(t);
    return good;
}
