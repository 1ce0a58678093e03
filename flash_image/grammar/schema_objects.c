/* Objects have the members that a schema describes, in its order, then other members if the schema
 * allows them by additionalProperties or patternProperties. Without these keywords, a grammar
 * allows no other members. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"
#include "flash_image/grammar/schema_pattern.h"

enum { NAMES_MOST = 400, PATTERNS_MOST = 3 };

struct member {
    const char *name;
    struct text value;
    bool required;
};

struct members {
    struct member list[NAMES_MOST];
    unsigned n;
};

/* ---- the list of members ------------------------------------------------------------------------- */

static bool is_required(const struct conj *c, const char *name)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *item;

        cJSON_ArrayForEach(item, schema_get(c->parts[i], "required"))
        {
            if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void add_name(struct schema_maker *m, struct members *all, const struct conj *c,
                     const char *name)
{
    for (unsigned i = 0; i < all->n; i++) {
        if (strcmp(all->list[i].name, name) == 0) {
            return;
        }
    }
    if (all->n == NAMES_MOST) {
        schema_fail(m, "an object has more than %d properties", NAMES_MOST);
        return;
    }
    all->list[all->n++] = (struct member){ .name = name, .required = is_required(c, name) };
}

/* Report a keyword whose value is not an object with names of members. */
static void note_nameless(struct schema_maker *m, const cJSON *schema, const char *keyword)
{
    if (schema_get(schema, keyword) != NULL && schema_get_named(schema, keyword) == NULL) {
        schema_note_wrong(m, schema, keyword, "it has to be an object of schemas");
    }
}

/* List the names in the order of the schemas; members that are required but not described come
 * last. */
static void find_names(struct schema_maker *m, struct members *all, const struct conj *c)
{
    const cJSON *item;
    size_t n = 0;

    for (unsigned i = 0; i < c->n; i++) {
        note_nameless(m, c->parts[i], "properties");
        note_nameless(m, c->parts[i], "patternProperties");
        n += (size_t)cJSON_GetArraySize(schema_get_named(c->parts[i], "properties")) +
             (size_t)cJSON_GetArraySize(schema_get(c->parts[i], "required"));
    }
    if (!schema_spend(m, n * (n < NAMES_MOST ? n : NAMES_MOST) / SCHEMA_NAMES_A_LOOK)) {
        return;
    }
    for (unsigned i = 0; i < c->n; i++) {
        cJSON_ArrayForEach(item, schema_get_named(c->parts[i], "properties"))
        {
            add_name(m, all, c, item->string);
        }
    }
    for (unsigned i = 0; i < c->n; i++) {
        cJSON_ArrayForEach(item, schema_get(c->parts[i], "required"))
        {
            if (cJSON_IsString(item)) {
                add_name(m, all, c, item->valuestring);
            }
        }
    }
}

static bool name_matches(struct schema_maker *m, const cJSON *schema, const char *pattern,
                         const char *name)
{
    struct pattern *p;
    bool matches;

    if (!schema_spend(m, 50)) {
        return false;
    }
    p = pattern_new(pattern);
    if (p == NULL) {
        schema_note(m, schema, "patternProperties", false);
        return false;
    }
    matches = schema_spend(m, pattern_steps(p, name)) && pattern_matches(p, name);
    pattern_free(p);
    return matches;
}

/* Add the schemas that one schema has for a member. False: the member is not allowed. */
static bool add_described(struct schema_maker *m, const cJSON *schema, const char *name,
                          struct conj *value)
{
    const cJSON *item = schema_get(schema_get(schema, "properties"), name);
    bool described = item != NULL;

    if (item != NULL && !schema_add(m, value, item)) {
        return false;
    }
    cJSON_ArrayForEach(item, schema_get_named(schema, "patternProperties"))
    {
        if (name_matches(m, schema, item->string, name)) {
            described = true;
            if (!schema_add(m, value, item)) {
                return false;
            }
        }
    }
    item = schema_get(schema, "additionalProperties");
    return described || item == NULL || schema_add(m, value, item);
}

bool schema_member(struct schema_maker *m, const struct conj *c, const char *name,
                   struct conj *value)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (!add_described(m, c->parts[i], name, value)) {
            return false;
        }
    }
    return true;
}

bool schema_requires_member(const struct conj *c, const char *name)
{
    return is_required(c, name);
}

bool schema_writes_member(const struct conj *c, const char *name)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (schema_get(schema_get(c->parts[i], "properties"), name) != NULL ||
            schema_others(c->parts[i]) != NULL ||
            schema_get_named(c->parts[i], "patternProperties") != NULL) {
            return true;
        }
    }
    return is_required(c, name);
}

/* Write the members' values. A forbidden member is omitted. False if it is required. */
static bool make_values(struct schema_maker *m, struct members *all, const struct conj *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < all->n && !schema_failed(m); i++) {
        struct member *one = &all->list[i];
        struct conj value = { .n = 0 };
        bool some = schema_may_be_named(m, c, one->name) &&
                    schema_member(m, c, one->name, &value) && m->put_value(m, &one->value, &value);

        if (!some && one->required) {
            return false;
        }
        if (some) {
            struct member kept = *one;

            one->value = (struct text){ 0 };
            all->list[n++] = kept;
        }
    }
    for (unsigned i = n; i < all->n; i++) {
        free(all->list[i].value.s);
    }
    all->n = n;
    return !schema_failed(m);
}

/* ---- the expression ------------------------------------------------------------------------------ */

static void put_member(struct schema_maker *m, struct text *t, const struct member *one)
{
    schema_put_text(m, t, one->name);
    text_put(t, " colon ");
    text_put(t, one->value.s);
}

/* Write the members from i on, each after a comma. */
static void put_rest(struct schema_maker *m, struct text *t, const struct members *all, unsigned i,
                     const char *others, unsigned most)
{
    for (; i < all->n; i++) {
        text_put(t, " (comma ");
        put_member(m, t, &all->list[i]);
        text_put(t, all->list[i].required ? ")" : ")?");
    }
    if (others != NULL && most != 0) {
        text_put(t, " (comma ");
        text_put(t, others);
        text_format(t, "){0,%u}", most);
    }
}

/* An object begins with the first required member or one before it. After each of these, a rule
 * writes the later members; the rules share their ends, which the compiler makes only once. */
static void put_first(struct schema_maker *m, struct text *t, const struct members *all,
                      const char *others, unsigned most)
{
    unsigned first = 0, after;

    while (first < all->n && !all->list[first].required) {
        first++;
    }
    after = m->n_extra;
    m->n_extra += first + 1;
    for (unsigned i = 0; i <= first && i < all->n; i++) {
        text_put(t, i != 0 ? " | " : "");
        put_member(m, t, &all->list[i]);
        if (first == 0) {
            put_rest(m, t, all, 1, others, most);
            return;
        }
        text_format(t, " s%u", after + i);
    }
    for (unsigned i = 0; i <= first && i < all->n; i++) { /* the members after member i */
        text_format(&m->out, "s%u ::= ", after + i);
        if (i == first || i + 1 == all->n) {
            put_rest(m, &m->out, all, i + 1, others, most);
            text_put(&m->out, " \"\"");
        } else {
            text_put(&m->out, "(comma ");
            put_member(m, &m->out, &all->list[i + 1]);
            text_format(&m->out, all->list[i + 1].required ? ") s%u" : ")? s%u", after + i + 1);
        }
        text_put(&m->out, "\n");
    }
    if (others != NULL && first == all->n) {
        text_put(t, first != 0 ? " | " : "");
        text_put(t, others);
        text_put(t, " (comma ");
        text_put(t, others);
        text_format(t, "){0,%u}", most != 0 ? most - 1 : 0);
    }
}

static void put_map(struct text *t, const char *others, unsigned least, unsigned most)
{
    if (most == 0) {
        text_put(t, "\"{\" gap \"}\"");
        return;
    }
    text_put(t, "\"{\" gap (");
    text_put(t, others);
    text_put(t, " (comma ");
    text_put(t, others);
    text_format(t, "){%u,%u} gap)%s \"}\"", least > 1 ? least - 1 : 0, most - 1,
                least == 0 ? "?" : "");
}

static bool has_required(const struct members *all)
{
    bool some = false;

    for (unsigned i = 0; i < all->n; i++) {
        some = some || all->list[i].required;
    }
    return some;
}

static unsigned count_required(const struct members *all)
{
    unsigned n = 0;

    for (unsigned i = 0; i < all->n; i++) {
        n += all->list[i].required;
    }
    return n;
}

static void note_rest(struct schema_maker *m, const struct conj *c)
{
    static const char *const names[] = { "dependentRequired", "dependentSchemas", "dependencies" };

    for (unsigned i = 0; i < 3; i++) {
        schema_note_each(m, c, names[i]);
    }
    schema_note_unevaluated(m, c, "unevaluatedProperties");
}

/* Add notes for those limits on the number of members that the expression does not enforce. False:
 * no object can satisfy the limits. */
static bool check_counts(struct schema_maker *m, const struct conj *c, const struct members *all,
                         bool others, unsigned least, unsigned most)
{
    unsigned required = count_required(all);

    if (required > most || (!others && all->n < least)) {
        return false;
    }
    if (least > required && (all->n != 0 || least > 1)) {
        schema_note_each(m, c, "minProperties");
    }
    if (most != UINT_MAX && (all->n != 0 && (all->n > most || others))) {
        schema_note_each(m, c, "maxProperties");
    }
    return true;
}

static void find_others(struct schema_maker *m, struct schema_others *o, const struct members *all,
                        const struct conj *c)
{
    const char *taken[NAMES_MOST];

    for (unsigned i = 0; i < all->n; i++) {
        taken[i] = all->list[i].name;
    }
    schema_put_others(m, o, c, taken, all->n);
    if (o->some) { /* parentheses separate the group's alternatives from the items next to it */
        struct text group = { 0 };

        text_put(&group, "(");
        text_put(&group, o->members.s);
        text_put(&group, ")");
        group.failed = group.failed || o->members.failed;
        free(o->members.s);
        o->members = group;
    }
}

static bool put_all(struct schema_maker *m, struct text *t, const struct conj *c,
                    struct members *all, struct schema_others *o)
{
    unsigned least = schema_most(m, c, "minProperties", 0),
             most = schema_least(m, c, "maxProperties", UINT_MAX);
    unsigned many = least > GRAMMAR_ITEMS_MOST ? least : GRAMMAR_ITEMS_MOST;

    find_others(m, o, all, c);
    note_rest(m, c);
    if (schema_failed(m) || least > GRAMMAR_TIMES_LIMIT ||
        !check_counts(m, c, all, o->some, least, most)) {
        return false;
    }
    many = most < many || (most != UINT_MAX && most <= GRAMMAR_TIMES_LIMIT) ? most : many;
    if (all->n == 0) {
        put_map(t, o->some ? o->members.s : NULL, least, o->some ? many : 0);
        return true;
    }
    text_put(t, "\"{\" gap (");
    put_first(m, t, all, o->some ? o->members.s : NULL, o->some ? many : 0);
    text_put(t, has_required(all) || least != 0 ? ") gap \"}\"" : ")? gap \"}\"");
    return true;
}

/* True if no keyword restricts members. */
static bool is_free(const struct conj *c)
{
    static const char *const names[] = { "properties",           "required",
                                         "additionalProperties", "propertyNames",
                                         "minProperties",        "maxProperties",
                                         "patternProperties",    "unevaluatedProperties" };

    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (schema_get(c->parts[i], names[j]) != NULL) {
                return false;
            }
        }
    }
    return true;
}

/* True for an object without properties, but with limits on names or on the number of members: a
 * map of anything. */
static bool is_map_of_any(const struct conj *c)
{
    static const char *const names[] = { "properties", "required", "additionalProperties",
                                         "patternProperties", "unevaluatedProperties" };

    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (schema_get(c->parts[i], names[j]) != NULL) {
                return false;
            }
        }
    }
    return true;
}

bool schema_put_object(struct schema_maker *m, struct text *t, const struct conj *c)
{
    static cJSON any = { .type = cJSON_True, .string = (char *)"additionalProperties" };
    static const cJSON open_object = { .type = cJSON_Object, .child = &any };
    struct members *all;
    struct schema_others o = { .some = false };
    struct conj with = *c;
    bool some;

    if (is_free(c)) {
        note_rest(m, c);
        m->any = true;
        text_put(t, "object0");
        return true;
    }
    if (is_map_of_any(c) && with.n < SCHEMA_PARTS_MOST) {
        with.parts[with.n++] = &open_object;
    }
    all = calloc(1, sizeof *all);
    if (all == NULL) {
        schema_fail(m, "there is no memory for the schema");
        return false;
    }
    find_names(m, all, c);
    some = make_values(m, all, c) && put_all(m, t, &with, all, &o);
    for (unsigned i = 0; i < all->n; i++) {
        free(all->list[i].value.s);
    }
    free(all);
    free(o.members.s);
    return some;
}
