#include "runtime/api/api_schema.h"

#include <string.h>

#include "runtime/api/api_schema_parts.h"

/* A value of the schema that has yet to be added between two states. A list of such values replaces
 * recursion. */
struct api_schema_todo {
    struct api_schema_todo *next;
    const struct api_json *schema;
    uint32_t from, to;
};

/* The first state of the part for a schema that a $ref names. Schemas may refer to themselves. */
struct api_schema_ref {
    struct api_schema_ref *next;
    const struct api_json *schema;
    uint32_t start;
};

void api_schema_open(struct api_schema *s, struct api_automaton *a)
{
    *s = (struct api_schema){ .a = a };
}

static void push(struct api_schema *s, const struct api_json *schema, uint32_t from, uint32_t to)
{
    struct api_schema_todo *t = s->a->full ? NULL : api_memory_take(s->a->memory, sizeof *t);

    if (t == NULL) {
        s->a->full = true;
        return;
    }
    *t = (struct api_schema_todo){ .next = s->todo, .schema = schema, .from = from, .to = to };
    s->todo = t;
}

/* ---- keywords -------------------------------------------------------------------------------- */

/* Keywords that are read here or constrain nothing. The first ones are skipped beside $ref,
 * const, enum, anyOf, oneOf and allOf, of which the first in this order is obeyed. */
enum { N_ALONE = 18 };
static const char known[][21] = {
    "required",      "properties",  "additionalProperties",
    "items",         "prefixItems", "minItems",
    "maxItems",      "minLength",   "maxLength",
    "minimum",       "maximum",     "minProperties",
    "maxProperties", "enum",        "const",
    "anyOf",         "oneOf",       "allOf",
    "type",          "format",      "$ref",
    "$defs",         "definitions", "title",
    "default",       "examples",    "$schema",
    "$id",           "$comment",    "description",
    "deprecated",    "readOnly",    "writeOnly",
    "example",       "nullable",    "discriminator",
};

static void note(struct api_schema *s, const char *keyword)
{
    s->unheld = s->unheld == NULL ? keyword : s->unheld;
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i], key) == 0) {
            return true;
        }
    }
    return strncmp(key, "x-", 2) == 0;
}

static void note_unknown(struct api_schema *s, const struct api_json *v)
{
    const struct api_json *member, *required = api_json_get(v, "required");

    if (api_json_is(v, JSON_LIST)) {
        note(s, "a list in place of a schema");
        return;
    }
    api_json_each(member, v)
    {
        if (!is_known(member->key)) {
            note(s, member->key);
        }
    }
    /* Draft 3 had "required": true; its false restricts nothing. */
    if (!api_json_is_nothing(required) && !api_json_is(required, JSON_FALSE) &&
        !api_json_is(required, JSON_LIST)) {
        note(s, "required");
    }
}

static bool restricts(const char *name, const struct api_json *value)
{
    if (value == NULL || strcmp(name, "const") == 0) {
        return value != NULL;
    }
    switch (value->kind) {
    case JSON_NULL:
    case JSON_TRUE: return false;
    case JSON_FALSE: return strcmp(name, "required") != 0;
    case JSON_LIST:
    case JSON_OBJECT: return value->child != NULL;
    case JSON_NUMBER: /* minLength, minItems and minProperties of 0 */
        return strncmp(name, "min", 3) != 0 || name[3] == 'i' || api_json_number(value) > 0;
    default: return true;
    }
}

/* True for an enum of one text or number, which the const beside it repeats, as Pydantic writes. */
static bool repeats(const char *name, const struct api_json *list, const struct api_json *value)
{
    const struct api_json *one = list->child;

    return value != NULL && strcmp(name, "enum") == 0 && list->n == 1 && one->kind == value->kind &&
           one->text != NULL && one->bytes == value->bytes &&
           memcmp(one->text, value->text, one->bytes) == 0;
}

/* True if all values of a branch have the type beside it, or one of the types. */
static bool has_type(const struct api_schema *s, const struct api_json *branch,
                     const struct api_json *type)
{
    const char *own = api_schema_type(s, branch);

    return own != NULL && (api_json_is_text(type, own) || api_json_has_text(type, own));
}

static bool have_type(const struct api_schema *s, const struct api_json *v, const char *taken,
                      const struct api_json *type)
{
    const struct api_json *branch;

    if (strcmp(taken, "$ref") == 0) {
        return has_type(s, v, type);
    }
    api_json_each(branch, api_json_get(v, taken))
    {
        if (!has_type(s, branch, type)) {
            return false;
        }
    }
    return true;
}

/* Note a keyword that restricts values and is skipped, because only `taken` is obeyed: $ref, const,
 * enum, anyOf, oneOf, allOf, or NULL for none. */
static void note_beside(struct api_schema *s, const struct api_json *v, const char *taken)
{
    const struct api_json *type = api_json_get(v, "type"), *same = api_json_get(v, "const");
    bool one_value = taken != NULL && (strcmp(taken, "const") == 0 || strcmp(taken, "enum") == 0);

    for (size_t i = 0; i < N_ALONE; i++) {
        const struct api_json *value = api_json_get(v, known[i]);
        bool obeyed = taken != NULL && strcmp(known[i], taken) == 0;

        if (!obeyed && restricts(known[i], value) && !repeats(known[i], value, same)) {
            note(s, known[i]);
        }
    }
    if (taken == NULL || one_value) {
        return;
    }
    if (!api_json_is_nothing(api_json_get(v, "format"))) {
        note(s, "format");
    }
    if (!api_json_is_nothing(type) && !have_type(s, v, taken, type)) {
        note(s, "type");
    }
}

/* Return a member that is a whole number of 0 or more, or else `absent`. */
static uint32_t count_of(const struct api_json *v, const char *name, uint32_t absent)
{
    double n = api_json_number(api_json_get(v, name));

    return n >= 0 && n < API_TIMES_MOST ? (uint32_t)n : absent;
}

/* ---- references ------------------------------------------------------------------------------ */

static void put_ref(struct api_schema *s, const char *pointer, uint32_t from, uint32_t to)
{
    const struct api_json *schema = pointer != NULL ? api_schema_find(s, pointer) : NULL;
    struct api_schema_ref *ref = s->refs;
    uint32_t end;

    if (schema == NULL) {
        note(s, "$ref");
        api_schema_any(s, 0, from, to);
        return;
    }
    while (ref != NULL && ref->schema != schema) {
        ref = ref->next;
    }
    if (ref == NULL) {
        ref = api_memory_take(s->a->memory, sizeof *ref);
        if (ref == NULL) {
            s->a->full = true;
            return;
        }
        *ref = (struct api_schema_ref){ .next = s->refs, .schema = schema };
        s->refs = ref;
        ref->start = api_automaton_state(s->a);
        end = api_automaton_state(s->a);
        api_automaton_accept(s->a, end);
        push(s, schema, ref->start, end);
    }
    api_automaton_call(s->a, from, to, ref->start, 1, 1);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The chain of an object's members. In state `first` no member has come yet, in `later` one has. */
struct members {
    uint32_t first, later;
};

static void put_member(struct api_schema *s, struct members *at, const char *name,
                       const struct api_json *schema, bool required)
{
    struct members next = { api_automaton_state(s->a), api_automaton_state(s->a) };
    uint32_t key = api_automaton_state(s->a), value;

    api_automaton_skip(s->a, at->first, key);
    api_schema_comma(s, at->later, key);
    value = api_schema_key(s, key, name);
    if (schema != NULL) {
        push(s, schema, value, next.later);
    } else {
        api_schema_any(s, 1, value, next.later);
    }
    if (!required) {
        api_automaton_skip(s->a, at->first, next.first);
        api_automaton_skip(s->a, at->later, next.later);
    }
    *at = next;
}

/* Add members of any name. Their values fit `schema`, or are any values if `schema` is NULL. v is
 * the schema of the object, or NULL. */
static void put_map(struct api_schema *s, const struct api_json *v, const struct api_json *schema,
                    uint32_t from, uint32_t to)
{
    uint32_t least = count_of(v, "minProperties", 0),
             most = count_of(v, "maxProperties", least > API_ITEMS_MOST ? least : API_ITEMS_MOST);
    uint32_t start = api_automaton_state(s->a), value = api_automaton_state(s->a),
             end = api_automaton_state(s->a);

    api_automaton_accept(s->a, end);
    api_schema_colon(s, api_schema_text_to(s, start), value);
    if (schema != NULL) {
        push(s, schema, value, end);
    } else {
        api_schema_any(s, 1, value, end);
    }
    api_schema_list(s, start, least, most, from, to, "{}");
}

static void put_object(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    const struct api_json *properties = api_json_get(v, "properties"), *one,
                          *others = api_json_get(v, "additionalProperties");
    struct members at = { api_automaton_state(s->a), api_automaton_state(s->a) };

    if (properties != NULL && !api_json_is(properties, JSON_OBJECT)) {
        note(s, "properties");
        properties = NULL;
    }
    if (properties == NULL && !api_json_is(others, JSON_FALSE)) {
        if (api_json_get(v, "required") != NULL && api_json_get(v, "required")->n != 0) {
            note(s, "required");
        }
        put_map(s, v, api_json_is(others, JSON_OBJECT) ? others : NULL, from, to);
        return;
    }
    if (api_json_get(v, "minProperties") != NULL || api_json_get(v, "maxProperties") != NULL) {
        note(s, "minProperties");
    }
    api_schema_open_bracket(s, from, at.first, '{');
    api_json_each(one, properties)
    {
        put_member(s, &at, one->key, one, api_json_has_text(api_json_get(v, "required"), one->key));
    }
    api_json_each(one, api_json_get(v, "required"))
    {
        const char *name = api_json_text(one);

        if (name == NULL) {
            note(s, "required");
        } else if (api_json_get(properties, name) == NULL) {
            put_member(s, &at, name, NULL, true);
        }
    }
    api_schema_close_bracket(s, at.first, to, '}');
    api_schema_close_bracket(s, at.later, to, '}');
}

/* Add a list with one value for each of the schemas, and no more. */
static void put_tuple(struct api_schema *s, const struct api_json *list, uint32_t from, uint32_t to)
{
    const struct api_json *one;
    uint32_t at = api_automaton_state(s->a);

    api_schema_open_bracket(s, from, at, '[');
    api_json_each(one, list)
    {
        uint32_t value = at;

        at = api_automaton_state(s->a);
        if (one != list->child) {
            uint32_t next = api_automaton_state(s->a);

            api_schema_comma(s, value, next);
            value = next;
        }
        push(s, one, value, at);
    }
    api_schema_close_bracket(s, at, to, ']');
}

static void put_array(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    const struct api_json *items = api_json_get(v, "items"),
                          *tuple = api_json_get(v, "prefixItems");
    uint32_t least = count_of(v, "minItems", 0), most = count_of(v, "maxItems", API_ITEMS_MOST),
             start = api_automaton_state(s->a), end = api_automaton_state(s->a);

    if (api_json_is(tuple, JSON_LIST) && least <= tuple->n && most >= tuple->n) {
        put_tuple(s, tuple, from, to);
        return;
    }
    if (!api_json_is_nothing(tuple)) {
        note(s, "prefixItems");
    }
    api_automaton_accept(s->a, end);
    if (api_json_is(items, JSON_OBJECT)) {
        push(s, items, start, end);
    } else {
        api_schema_any(s, 1, start, end);
    }
    api_schema_list(s, start, least, most < least ? least : most, from, to, "[]");
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_text(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    const char *format = api_json_text_of(v, "format");
    uint32_t least = count_of(v, "minLength", 0),
             most = count_of(v, "maxLength", least < API_TEXT_MOST ? API_TEXT_MOST : least);

    if (format != NULL && api_schema_format(s, format, from, to)) {
        return;
    }
    if (format != NULL) {
        note(s, "format");
    }
    api_schema_text(s, least, most, from, to);
}

/* A range of up to this many numbers gets an alternative for each number. */
enum { RANGE_MOST = 128 };

static void put_number(struct api_schema *s, const struct api_json *v, bool whole, uint32_t from,
                       uint32_t to)
{
    double least = api_json_number(api_json_get(v, "minimum")),
           most = api_json_number(api_json_get(v, "maximum"));
    bool has_least = least >= -1e9 && least <= 1e9, has_most = most >= -1e9 && most <= 1e9;

    if (has_least && has_most && most - least <= RANGE_MOST) {
        int32_t first = (int32_t)least, last = (int32_t)most;

        api_schema_range(s, first + (first < least), last - (last > most), whole, from, to);
        return;
    }
    if (has_most) {
        note(s, "maximum");
    }
    if (has_least && (least < 0 || least > 0)) {
        note(s, "minimum");
    }
    api_schema_number(s, whole, has_least && least >= 0, from, to);
}

static void put_type(struct api_schema *s, const struct api_json *v, const struct api_json *type,
                     uint32_t from, uint32_t to)
{
    if (api_json_is_text(type, "object")) {
        put_object(s, v, from, to);
    } else if (api_json_is_text(type, "array")) {
        put_array(s, v, from, to);
    } else if (api_json_is_text(type, "string")) {
        put_text(s, v, from, to);
    } else if (api_json_is_text(type, "number") || api_json_is_text(type, "integer")) {
        put_number(s, v, api_json_is_text(type, "integer"), from, to);
    } else if (api_json_is_text(type, "boolean")) {
        api_automaton_text(s->a, from, to, "true", 4);
        api_automaton_text(s->a, from, to, "false", 5);
    } else if (api_json_is_text(type, "null")) {
        api_automaton_text(s->a, from, to, "null", 4);
    } else {
        note(s, "type");
        api_schema_any(s, 0, from, to);
    }
}

static void put_types(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    const struct api_json *type = api_json_get(v, "type"), *one;

    if (api_json_is(type, JSON_LIST)) {
        api_json_each(one, type)
        {
            put_type(s, v, one, from, to);
        }
    } else if (type != NULL) {
        put_type(s, v, type, from, to);
    } else if (api_json_get(v, "properties") != NULL) {
        put_object(s, v, from, to);
    } else if (api_json_get(v, "items") != NULL) {
        put_array(s, v, from, to);
    } else {
        note_beside(s, v, NULL);
        api_schema_any(s, 0, from, to);
    }
}

/* Add an alternative for each schema of a list that `name` names. False: v has no such list. */
static bool put_choices(struct api_schema *s, const struct api_json *v, const char *name,
                        uint32_t from, uint32_t to)
{
    const struct api_json *list = api_json_get(v, name), *one;

    if (list == NULL) {
        return false;
    }
    note_beside(s, v, name);
    api_json_each(one, list)
    {
        push(s, one, from, to);
    }
    return true;
}

static void put_value(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    const struct api_json *same = api_json_get(v, "const"), *values = api_json_get(v, "enum"), *one,
                          *all = api_json_get(v, "allOf");

    note_unknown(s, v);
    if (api_json_is(v, JSON_FALSE)) {
        return; /* no value */
    }
    if (api_json_get(v, "$ref") != NULL) {
        note_beside(s, v, "$ref");
        put_ref(s, api_json_text_of(v, "$ref"), from, to);
    } else if (same != NULL) {
        note_beside(s, v, "const");
        api_schema_literal(s, same, from, to);
    } else if (values != NULL) {
        note_beside(s, v, "enum");
        api_json_each(one, values)
        {
            api_schema_literal(s, one, from, to);
        }
    } else if (put_choices(s, v, "anyOf", from, to) || put_choices(s, v, "oneOf", from, to)) {
        return;
    } else if (all != NULL && all->child != NULL) {
        if (all->n > 1) {
            note(s, "allOf");
        }
        note_beside(s, v, "allOf");
        push(s, all->child, from, to);
    } else {
        put_types(s, v, from, to);
    }
}

void api_schema_put(struct api_schema *s, const struct api_json *root, uint32_t from, uint32_t to)
{
    s->root = root;
    s->unheld = NULL;
    s->refs = NULL;
    push(s, root, from, to);
    while (s->todo != NULL && !s->a->full) {
        const struct api_schema_todo *t = s->todo;

        s->todo = t->next;
        put_value(s, t->schema, t->from, t->to);
    }
}

void api_schema_put_object(struct api_schema *s, uint32_t from, uint32_t to)
{
    put_map(s, NULL, NULL, from, to);
}
