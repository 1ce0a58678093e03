/* A set of schemas without alternatives: its types, its values, and whether two such sets have a
 * value in common. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

/* ---- values ------------------------------------------------------------------------------------ */

const cJSON *schema_values(const struct conj *c, bool *one)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *value = schema_get(c->parts[i], "const"),
                    *list = schema_get(c->parts[i], "enum");

        *one = value != NULL;
        if (value != NULL || cJSON_IsArray(list)) {
            return value != NULL ? value : list;
        }
    }
    return NULL;
}

static bool is_good(struct schema_maker *m, const struct conj *c, const cJSON *value)
{
    struct schema_check k = { .root = m->root, .n_nodes = m->n_nodes };
    bool good = true;

    for (unsigned i = 0; i < c->n && good; i++) {
        good = schema_accepts(&k, c->parts[i], value);
    }
    return schema_spend(m, k.steps) && good;
}

/* ---- many texts -------------------------------------------------------------------------------- */

enum { FEW_TEXTS = 16, TRIE_DEPTH_MOST = 12 };

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return how many bytes, in whole characters, the first and the last text share from byte `from`
 * on. The list is sorted, so all texts between these two share the bytes, too. */
static size_t common(char *const *list, unsigned n, size_t from)
{
    const char *first = list[0], *last = list[n - 1];
    size_t at = from;

    while (first[at] == last[at] && first[at] != '\0') {
        at++;
    }
    while (at > from && ((uint8_t)first[at] & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

static size_t character_bytes(const char *s)
{
    size_t n = *s != '\0';

    while (((uint8_t)s[n] & 0xc0) == 0x80) {
        n++;
    }
    return n;
}

static void put_piece(struct text *t, const char *s, size_t n)
{
    text_put(t, "\"");
    for (size_t i = 0; i < n; i++) {
        text_put(t, s[i] == '"' || s[i] == '\\' ? "\\" : "");
        text_add(t, &s[i], 1);
    }
    text_put(t, "\"");
}

/* Write sorted texts from byte `from` on: their common start, then each character that may follow.
 * No text is a prefix of another. */
static void put_trie(struct text *t, char *const *list, unsigned n, size_t from, unsigned depth)
{
    size_t at = n == 1 ? strlen(list[0]) : common(list, n, from);
    unsigned end;

    if (at > from) {
        put_piece(t, list[0] + from, at - from);
    }
    if (n == 1) {
        return;
    }
    text_put(t, at > from ? " (" : "(");
    for (unsigned i = 0; i < n; i = end) {
        size_t bytes = character_bytes(list[i] + at);

        end = i + 1;
        while (depth < TRIE_DEPTH_MOST && end < n &&
               strncmp(list[i] + at, list[end] + at, bytes) == 0) {
            end++;
        }
        text_put(t, i != 0 ? " | " : "");
        put_trie(t, list + i, end - i, at, depth + 1);
    }
    text_put(t, ")");
}

static unsigned without_doubles(char **list, unsigned n)
{
    unsigned kept = 0;

    qsort(list, n, sizeof *list, compare_texts);
    for (unsigned i = 0; i < n; i++) {
        if (i != 0 && strcmp(list[i], list[kept - 1]) == 0) {
            cJSON_free(list[i]);
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Write the values that are texts. Texts share their beginnings, so hundreds fit. */
static bool put_texts(struct schema_maker *m, struct text *t, const struct conj *c,
                      const cJSON *values)
{
    unsigned n = 0, most = (unsigned)cJSON_GetArraySize(values);
    char **list = calloc(most, sizeof *list);
    const cJSON *value;
    bool some;

    cJSON_ArrayForEach(value, values)
    {
        if (list != NULL && cJSON_IsString(value) && !schema_failed(m) && is_good(m, c, value)) {
            list[n] = cJSON_PrintUnformatted(value);
            n += list[n] != NULL;
        }
    }
    n = list != NULL ? without_doubles(list, n) : 0;
    some = n != 0;
    if (some) {
        put_trie(t, list, n, 0, 0);
    }
    for (; n != 0; n--) {
        cJSON_free(list[n - 1]);
    }
    free(list);
    return some;
}

/* ---- values again ------------------------------------------------------------------------------ */

static bool put_value(struct schema_maker *m, struct text *t, const struct conj *c,
                      const cJSON *value, bool bar)
{
    if (schema_failed(m) || !is_good(m, c, value)) {
        return bar;
    }
    text_put(t, bar ? " | " : "");
    schema_put_literal(m, t, value);
    return true;
}

static bool put_values(struct schema_maker *m, struct text *t, const struct conj *c)
{
    const cJSON *list, *value;
    bool one, many, bar = false;

    list = schema_values(c, &one);
    if (one) {
        return put_value(m, t, c, list, false);
    }
    many = cJSON_GetArraySize(list) > FEW_TEXTS;
    if (many) {
        bar = put_texts(m, t, c, list);
    }
    cJSON_ArrayForEach(value, list)
    {
        if (!many || !cJSON_IsString(value)) {
            bar = put_value(m, t, c, value, bar);
        }
    }
    return bar;
}

/* ---- types ------------------------------------------------------------------------------------- */

static bool put_type(struct schema_maker *m, struct text *t, const struct conj *c, unsigned type)
{
    switch (type) {
    case TYPE_NULL: text_put(t, "\"null\""); return true;
    case TYPE_BOOLEAN: text_put(t, "\"true\" | \"false\""); return true;
    case TYPE_STRING: return schema_put_string(m, t, c);
    case TYPE_ARRAY: return schema_put_array(m, t, c);
    case TYPE_OBJECT: return schema_put_object(m, t, c);
    default: return schema_put_number(m, t, c, type);
    }
}

/* True if the set has a restricting keyword that schema_types() does not handle. */
static bool restricts(const struct conj *c)
{
    static const char *const names[] = { "minLength",        "maxLength",
                                         "pattern",          "format",
                                         "minimum",          "maximum",
                                         "exclusiveMinimum", "exclusiveMaximum",
                                         "multipleOf",       "items",
                                         "prefixItems",      "additionalItems",
                                         "minItems",         "maxItems",
                                         "uniqueItems",      "contains",
                                         "properties",       "patternProperties",
                                         "required",         "additionalProperties",
                                         "propertyNames",    "minProperties",
                                         "maxProperties",    "unevaluatedItems",
                                         "dependencies",     "dependentRequired",
                                         "dependentSchemas", "unevaluatedProperties" };

    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (schema_get(c->parts[i], names[j]) != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* Write the form of each type. The order in which a schema lists types does not matter: the first
 * character of a JSON value shows its type. */
static bool put_shape(struct schema_maker *m, struct text *t, const struct conj *c)
{
    static const unsigned order[] = { TYPE_OBJECT,  TYPE_ARRAY, TYPE_STRING,
                                      TYPE_BOOLEAN, TYPE_NULL,  TYPE_INTEGER | TYPE_FRACTION };
    unsigned types = schema_types(m, c);
    bool some = false;

    if (types == TYPE_ALL && !restricts(c)) {
        m->any = true;
        text_put(t, "any0");
        return true;
    }
    for (unsigned i = 0; i < sizeof order / sizeof order[0] && !schema_failed(m); i++) {
        unsigned own = types & order[i];
        size_t before = t->n;

        if (own == 0) {
            continue;
        }
        text_put(t, some ? " | " : "");
        if (put_type(m, t, c, own)) {
            some = true;
        } else if (t->s != NULL) {
            t->n = before;
            t->s[before] = '\0';
        }
    }
    return some;
}

/* Note each `not` of the set. False if a `not` excludes every value. */
static bool note_not(struct schema_maker *m, const struct conj *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *not = schema_get(c->parts[i], "not");

        if (cJSON_IsTrue(not ) || (cJSON_IsObject(not ) && not ->child == NULL)) {
            return false;
        }
        if (not != NULL && !cJSON_IsFalse(not )) {
            schema_note(m, c->parts[i], "not", true);
        }
    }
    return true;
}

static bool are_names(const cJSON *list)
{
    const cJSON *name;

    cJSON_ArrayForEach(name, list)
    {
        if (!cJSON_IsString(name)) {
            return false;
        }
    }
    return cJSON_IsArray(list);
}

/* Report an enum or a required that is not a list, such as "required": true, which draft 3 had.
 * Its false and a null restrict nothing. */
static void note_lists(struct schema_maker *m, const struct conj *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *values = schema_get(c->parts[i], "enum");
        const cJSON *names = schema_get(c->parts[i], "required");

        if (values != NULL && (!cJSON_IsArray(values) || values->child == NULL)) {
            schema_note_wrong(m, c->parts[i], "enum",
                              "enum, anyOf and oneOf must be lists that are not empty");
        }
        if (names != NULL && !cJSON_IsNull(names) && !cJSON_IsFalse(names) && !are_names(names)) {
            schema_note_wrong(m, c->parts[i], "required", "it has to be a list of names");
        }
    }
}

bool schema_put_plain(struct schema_maker *m, struct text *t, const struct conj *c)
{
    bool one;

    note_lists(m, c);
    if (schema_values(c, &one) != NULL) {
        return put_values(m, t, c);
    }
    return note_not(m, c) && put_shape(m, t, c);
}

/* ---- common values ----------------------------------------------------------------------------- */

static bool has_value(const cJSON *values, bool one, const cJSON *wanted)
{
    const cJSON *value;

    if (one) {
        return schema_values_equal(values, wanted);
    }
    cJSON_ArrayForEach(value, values)
    {
        if (schema_values_equal(value, wanted)) {
            return true;
        }
    }
    return false;
}

static size_t count_values(const cJSON *values, bool one)
{
    return one ? 1 : (size_t)cJSON_GetArraySize(values);
}

static bool values_are_disjoint(struct schema_maker *m, const struct conj *a, const struct conj *b)
{
    bool one_a, one_b;
    const cJSON *x = schema_values(a, &one_a), *y = schema_values(b, &one_b), *value;

    if (x == NULL || y == NULL ||
        !schema_spend(m, count_values(x, one_a) * count_values(y, one_b) / SCHEMA_NAMES_A_LOOK)) {
        return false;
    }
    if (one_a) {
        return !has_value(y, one_b, x);
    }
    cJSON_ArrayForEach(value, x)
    {
        if (has_value(y, one_b, value)) {
            return false;
        }
    }
    return true;
}

/* Return the types of a set or, if it lists its values, the types of these values. */
static unsigned types_of_set(struct schema_maker *m, const struct conj *c)
{
    unsigned types = schema_types(m, c), all = 0;
    bool one;
    const cJSON *values = schema_values(c, &one), *value;

    if (values == NULL) {
        return types;
    }
    if (one) {
        return types & schema_type_of_value(values);
    }
    (void)schema_spend(m, (size_t)cJSON_GetArraySize(values) / SCHEMA_NAMES_A_LOOK);
    cJSON_ArrayForEach(value, values)
    {
        all |= schema_type_of_value(value);
    }
    return types & all;
}

/* True if the member distinguishes a from b: a requires the member, and b never writes it or always
 * writes it with other values. */
static bool is_told_by(struct schema_maker *m, const struct conj *a, const struct conj *b,
                       const char *name)
{
    struct conj x = { .n = 0 }, y = { .n = 0 };

    if (!schema_requires_member(a, name)) {
        return false;
    }
    if (!schema_writes_member(b, name) || !schema_member(m, b, name, &y)) {
        return true;
    }
    if (!schema_requires_member(b, name) || !schema_member(m, a, name, &x)) {
        return false;
    }
    return (types_of_set(m, &x) & types_of_set(m, &y)) == 0 || values_are_disjoint(m, &x, &y);
}

static size_t count_required(const struct conj *c)
{
    size_t n = 0;

    for (unsigned i = 0; i < c->n; i++) {
        n += (size_t)cJSON_GetArraySize(schema_get(c->parts[i], "required"));
    }
    return n;
}

static bool is_told(struct schema_maker *m, const struct conj *a, const struct conj *b)
{
    size_t names = count_required(a) + count_required(b);

    for (unsigned i = 0; i < a->n; i++) {
        const cJSON *name;

        cJSON_ArrayForEach(name, schema_get(a->parts[i], "required"))
        {
            if (!schema_spend(m, 1 + names / SCHEMA_NAMES_A_LOOK)) {
                return false;
            }
            if (cJSON_IsString(name) && is_told_by(m, a, b, name->valuestring)) {
                return true;
            }
        }
    }
    return false;
}

/* Sets of objects are disjoint if some member distinguishes a from b, and some member b from a. */
bool schema_are_disjoint(struct schema_maker *m, const struct conj *a, const struct conj *b)
{
    unsigned types = types_of_set(m, a) & types_of_set(m, b);

    if (types == 0 || values_are_disjoint(m, a, b)) {
        return true;
    }
    if (types != TYPE_OBJECT) {
        return false;
    }
    return is_told(m, a, b) && is_told(m, b, a);
}
