/* JSON Schema into GBNF: a rule for each schema. Inside an object and an array a space may stand after
 * a comma and a colon, as models write them, and nowhere else. */
#include <cjson/cJSON.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "flash_image/grammar/json_schema_private.h"

enum { REFS_MOST = 256, NEST_MOST = 64, NUMBER_MOST_DIGITS = 15 };
#define NUMBER_MOST 999999999999999.0

/* A schema that something refers to, and its rule. */
struct referred {
    const cJSON *schema;
    unsigned rule;
};

struct maker {
    const cJSON *root;
    struct text out;
    unsigned n_rules, nest;
    struct referred refs[REFS_MOST];
    unsigned n_refs;
    bool any;
    char *problem;
};

static bool failed(const struct maker *m)
{
    return m->problem[0] != '\0' || m->out.failed;
}

__attribute__((format(printf, 2, 3))) static void fail(struct maker *m, const char *format, ...)
{
    va_list args;

    if (m->problem[0] == '\0') {
        va_start(args, format);
        vsnprintf(m->problem, GRAMMAR_PROBLEM_BYTES, format, args);
        va_end(args);
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

/* As a text of GBNF. */
static void put_literal(struct text *t, const char *s)
{
    text_put(t, "\"");
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\') {
            text_put(t, "\\");
        }
        text_add(t, s, 1);
    }
    text_put(t, "\"");
}

/* A value as JSON writes it. */
static void put_value(struct maker *m, struct text *t, const cJSON *value)
{
    char *printed = cJSON_PrintUnformatted(value);

    if (printed == NULL) {
        fail(m, "there is no memory for the schema");
        return;
    }
    put_literal(t, printed);
    cJSON_free(printed);
}

/* ---- keywords ------------------------------------------------------------------------------- */

static const char *const known[] = { "type",      "enum",        "const",    "anyOf",
                                     "oneOf",     "properties",  "required", "additionalProperties",
                                     "items",     "minItems",    "maxItems", "minLength",
                                     "maxLength", "minimum",     "maximum",  "$ref",
                                     "$defs",     "definitions", "title",    "description",
                                     "default",   "examples",    "$schema",  "$id",
                                     "$comment",  "deprecated",  "readOnly", "writeOnly",
                                     "strict",    "name" };

static void check_keywords(struct maker *m, const cJSON *schema)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, schema)
    {
        bool found = false;

        for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
            found = found || strcmp(known[i], item->string) == 0;
        }
        if (!found) {
            fail(m, "the schema's %.60s is not known here, and would not be obeyed", item->string);
        }
        if (strcmp(item->string, "additionalProperties") == 0 && !cJSON_IsBool(item)) {
            fail(m, "additionalProperties is true or false here");
        }
    }
}

static const cJSON *get(const cJSON *schema, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(schema, name);
}

/* A whole number of a keyword, or what is meant without it. */
static double get_number(struct maker *m, const cJSON *schema, const char *name, double otherwise)
{
    const cJSON *item = get(schema, name);

    if (item == NULL) {
        return otherwise;
    }
    if (!cJSON_IsNumber(item) || fabs(item->valuedouble) > NUMBER_MOST ||
        item->valuedouble != floor(item->valuedouble)) {
        fail(m, "the schema's %s is not a whole number of at most 15 digits", name);
        return otherwise;
    }
    return item->valuedouble;
}

static unsigned get_count(struct maker *m, const cJSON *schema, const char *name,
                          unsigned otherwise)
{
    double value = get_number(m, schema, name, otherwise);

    if (value < 0 || value > 60000) {
        fail(m, "the schema's %s is beyond 60,000, or negative", name);
        return otherwise;
    }
    return (unsigned)value;
}

/* ---- kinds of values ------------------------------------------------------------------------ */

static unsigned make_schema(struct maker *m, const cJSON *schema);

static void put_string(struct maker *m, struct text *t, const cJSON *schema)
{
    unsigned least = get_count(m, schema, "minLength", 0);
    unsigned most = get_count(m, schema, "maxLength",
                              least > GRAMMAR_STRING_MOST ? least : GRAMMAR_STRING_MOST);

    if (most < least) {
        fail(m, "the schema's maxLength is below its minLength");
    }
    text_format(t, "\"\\\"\" char{%u,%u} \"\\\"\"", least, most);
}

static void put_integer(struct maker *m, struct text *t, const cJSON *schema)
{
    bool bounded = get(schema, "minimum") != NULL || get(schema, "maximum") != NULL;
    double low = get_number(m, schema, "minimum", -NUMBER_MOST);
    double high = get_number(m, schema, "maximum", NUMBER_MOST);

    if (!bounded) {
        text_put(t, "integer");
    } else if (high < low) {
        fail(m, "the schema's maximum is below its minimum");
    } else if (!failed(m)) {
        text_integers(t, (int64_t)low, (int64_t)high);
    }
}

static void put_array(struct maker *m, struct text *t, const cJSON *schema)
{
    const cJSON *items = get(schema, "items");
    unsigned least = get_count(m, schema, "minItems", 0), rule;
    unsigned most = get_count(m, schema, "maxItems",
                              least > GRAMMAR_ITEMS_MOST ? least : GRAMMAR_ITEMS_MOST);

    if (most < least) {
        fail(m, "the schema's maxItems is below its minItems");
        return;
    }
    if (most == 0) {
        text_put(t, "\"[]\"");
        return;
    }
    text_put(t, "\"[\" ");
    if (items == NULL) {
        m->any = true;
        text_format(t, "(any0 (comma any0){%u,%u})", least != 0 ? least - 1 : 0, most - 1);
    } else {
        rule = make_schema(m, items);
        text_format(t, "(r%u (comma r%u){%u,%u})", rule, rule, least != 0 ? least - 1 : 0,
                    most - 1);
    }
    text_put(t, least == 0 ? "? \"]\"" : " \"]\"");
}

static bool is_required(const cJSON *schema, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, get(schema, "required"))
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0) {
            return true;
        }
    }
    return false;
}

static void check_required(struct maker *m, const cJSON *schema)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, get(schema, "required"))
    {
        if (!cJSON_IsString(item) || get(get(schema, "properties"), item->valuestring) == NULL) {
            fail(m, "the schema requires a property that it does not describe");
        }
    }
}

/* "name": value */
static void put_property(struct maker *m, struct text *t, const cJSON *property, unsigned rule)
{
    cJSON *name = cJSON_CreateString(property->string);
    char *printed = name != NULL ? cJSON_PrintUnformatted(name) : NULL;

    if (printed == NULL) {
        fail(m, "there is no memory for the schema");
    } else {
        put_literal(t, printed);
        text_format(t, " colon r%u", rule);
    }
    cJSON_free(printed);
    cJSON_Delete(name);
}

/* Which one comes first is one of those up to the first that is required; all after it have a comma. */
static void put_object(struct maker *m, struct text *t, const cJSON *schema)
{
    const cJSON *properties = get(schema, "properties"), *first, *p;
    unsigned *rules, n = 0, i = 0, at;
    bool some = false;

    check_required(m, schema);
    if (properties == NULL || properties->child == NULL) {
        m->any = m->any || properties == NULL;
        text_put(t, properties == NULL ? "object0" : "\"{}\"");
        return;
    }
    rules = calloc((size_t)cJSON_GetArraySize(properties), sizeof *rules);
    if (rules == NULL) {
        fail(m, "there is no memory for the schema");
        return;
    }
    cJSON_ArrayForEach(p, properties)
    {
        rules[n++] = failed(m) ? 0 : make_schema(m, p);
    }
    text_put(t, "\"{\" (");
    cJSON_ArrayForEach(first, properties)
    {
        text_put(t, i == 0 ? "" : " | ");
        put_property(m, t, first, rules[i]);
        at = ++i;
        for (p = first->next; p != NULL && !failed(m); p = p->next, at++) {
            text_put(t, " (comma ");
            put_property(m, t, p, rules[at]);
            text_put(t, is_required(schema, p->string) ? ")" : ")?");
        }
        some = is_required(schema, first->string);
        if (some) {
            break;
        }
    }
    text_put(t, some ? ") \"}\"" : ")? \"}\"");
    free(rules);
}

static void put_type(struct maker *m, struct text *t, const cJSON *schema, const char *type)
{
    if (strcmp(type, "string") == 0) {
        put_string(m, t, schema);
    } else if (strcmp(type, "integer") == 0) {
        put_integer(m, t, schema);
    } else if (strcmp(type, "number") == 0) {
        if (get(schema, "minimum") != NULL || get(schema, "maximum") != NULL) {
            fail(m, "minimum and maximum are known of integers only: type integer");
        }
        text_put(t, "number");
    } else if (strcmp(type, "boolean") == 0) {
        text_put(t, "(\"true\" | \"false\")");
    } else if (strcmp(type, "null") == 0) {
        text_put(t, "\"null\"");
    } else if (strcmp(type, "array") == 0) {
        put_array(m, t, schema);
    } else if (strcmp(type, "object") == 0) {
        put_object(m, t, schema);
    } else {
        fail(m, "no type of JSON is called %.40s", type);
    }
}

static void put_types(struct maker *m, struct text *t, const cJSON *schema, const cJSON *types)
{
    const cJSON *type;

    if (cJSON_IsString(types)) {
        put_type(m, t, schema, types->valuestring);
        return;
    }
    if (!cJSON_IsArray(types) || types->child == NULL) {
        fail(m, "a schema's type is a text or a list of texts");
        return;
    }
    cJSON_ArrayForEach(type, types)
    {
        if (!cJSON_IsString(type)) {
            fail(m, "a schema's type is a text or a list of texts");
            return;
        }
        text_put(t, type == types->child ? "" : " | ");
        put_type(m, t, schema, type->valuestring);
    }
}

/* ---- schemas -------------------------------------------------------------------------------- */

static void put_each(struct maker *m, struct text *t, const cJSON *list, bool schemas)
{
    const cJSON *item;

    if (!cJSON_IsArray(list) || list->child == NULL) {
        fail(m, "enum, anyOf and oneOf are lists that are not empty");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        text_put(t, item == list->child ? "" : " | ");
        if (schemas) {
            text_format(t, "r%u", failed(m) ? 0 : make_schema(m, item));
        } else {
            put_value(m, t, item);
        }
    }
}

/* "#/$defs/name" and the like: the schema there. */
static const cJSON *resolve(const struct maker *m, const char *ref)
{
    const cJSON *at = m->root;
    char name[128];

    if (ref[0] != '#') {
        return NULL;
    }
    for (ref++; *ref == '/' && at != NULL;) {
        size_t n = strcspn(++ref, "/");

        if (n >= sizeof name) {
            return NULL;
        }
        memcpy(name, ref, n);
        name[n] = '\0';
        at = get(at, name);
        ref += n;
    }
    return *ref == '\0' ? at : NULL;
}

static unsigned make_ref(struct maker *m, const cJSON *ref)
{
    const cJSON *schema = cJSON_IsString(ref) ? resolve(m, ref->valuestring) : NULL;

    if (schema == NULL) {
        fail(m, "a $ref of the schema leads nowhere: it is \"#/$defs/NAME\" here");
        return 0;
    }
    for (unsigned i = 0; i < m->n_refs; i++) {
        if (m->refs[i].schema == schema) {
            return m->refs[i].rule;
        }
    }
    if (m->n_refs == REFS_MOST) {
        fail(m, "more than 256 parts of the schema are referred to");
        return 0;
    }
    m->refs[m->n_refs++] = (struct referred){ schema, m->n_rules };
    return make_schema(m, schema);
}

static void put_schema(struct maker *m, struct text *t, const cJSON *schema)
{
    const cJSON *item;

    if (cJSON_IsTrue(schema)) {
        m->any = true;
        text_put(t, "any0");
        return;
    }
    if (!cJSON_IsObject(schema)) {
        fail(m, "a schema is an object of JSON");
        return;
    }
    check_keywords(m, schema);
    if ((item = get(schema, "$ref")) != NULL) {
        text_format(t, "r%u", make_ref(m, item));
    } else if ((item = get(schema, "const")) != NULL) {
        put_value(m, t, item);
    } else if ((item = get(schema, "enum")) != NULL) {
        put_each(m, t, item, false);
    } else if ((item = get(schema, "anyOf")) != NULL || (item = get(schema, "oneOf")) != NULL) {
        put_each(m, t, item, true);
    } else if ((item = get(schema, "type")) != NULL) {
        put_types(m, t, schema, item);
    } else if (get(schema, "properties") != NULL) {
        put_object(m, t, schema);
    } else {
        m->any = true;
        text_put(t, "any0");
    }
}

/* The rule of a schema, written after those that it needs. */
static unsigned make_schema(struct maker *m, const cJSON *schema)
{
    unsigned rule = m->n_rules++;
    struct text t = { 0 };

    if (m->nest++ == NEST_MOST || rule > 1000) {
        fail(m, "the schema is too deep, or too long");
    } else {
        put_schema(m, &t, schema);
        text_format(&m->out, "r%u ::= ", rule);
        text_put(&m->out, t.s != NULL ? t.s : "");
        text_put(&m->out, "\n");
        m->out.failed = m->out.failed || t.failed;
    }
    m->nest--;
    free(t.s);
    return rule;
}

/* The rules of one schema; its own is m->n_rules before. */
static void make_root(struct maker *m, const char *schema)
{
    cJSON *root = cJSON_ParseWithOpts(schema, NULL, true);

    if (root == NULL) {
        fail(m, "the schema is no JSON");
        return;
    }
    m->root = root;
    m->n_refs = 0;
    m->refs[m->n_refs++] = (struct referred){ root, m->n_rules };
    (void)make_schema(m, root);
    cJSON_Delete(root);
}

enum err grammar_gbnf_of_schemas(const char *first, const char *const *schemas, unsigned n,
                                 unsigned *rules, char **gbnf, char problem[GRAMMAR_PROBLEM_BYTES])
{
    struct maker *m = calloc(1, sizeof *m);

    *gbnf = NULL;
    snprintf(problem, GRAMMAR_PROBLEM_BYTES, "there is no memory for the schema");
    if (m == NULL) {
        return ERR_BAD_ARGUMENT;
    }
    problem[0] = '\0';
    m->problem = problem;
    text_put(&m->out, first);
    for (unsigned i = 0; i < n && !failed(m); i++) {
        rules[i] = m->n_rules;
        make_root(m, schemas[i]);
    }
    text_shared(&m->out, m->any);
    if (m->out.failed) {
        fail(m, "the schema is too long");
    }
    *gbnf = m->out.s;
    free(m);
    if (problem[0] != '\0') {
        free(*gbnf);
        *gbnf = NULL;
        return ERR_BAD_ARGUMENT;
    }
    return ERR_OK;
}

enum err grammar_gbnf_of_schema(const char *schema, char **gbnf,
                                char problem[GRAMMAR_PROBLEM_BYTES])
{
    unsigned rule; /* 0 */

    return grammar_gbnf_of_schemas("root ::= r0\n", &schema, 1, &rule, gbnf, problem);
}
