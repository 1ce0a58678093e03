/* Members of an object that are not in its properties: additionalProperties, patternProperties,
 * propertyNames. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { PATTERNS_MOST = 3 };

/* The schema of members that neither properties nor patternProperties describe; NULL: any. */
const cJSON *schema_others(const cJSON *schema)
{
    const cJSON *others = schema_get(schema, "additionalProperties");

    return others != NULL ? others : schema_get(schema, "unevaluatedProperties");
}

static bool is_empty_object(const cJSON *schema)
{
    return schema == NULL || cJSON_IsTrue(schema) ||
           (cJSON_IsObject(schema) && schema->child == NULL);
}

/* True if the name satisfies propertyNames of all parts. */
bool schema_may_be_named(struct schema_maker *m, const struct conj *c, const char *name)
{
    bool good = !schema_failed(m);

    for (unsigned i = 0; i < c->n && good; i++) {
        const cJSON *names = schema_get(c->parts[i], "propertyNames");
        struct schema_check check = { .root = m->root, .n_nodes = m->n_nodes };
        cJSON *text;

        if (names == NULL) {
            continue;
        }
        text = cJSON_CreateString(name);
        good = text != NULL && schema_accepts(&check, names, text);
        cJSON_Delete(text);
        good = schema_spend(m, check.steps) && good;
    }
    return good;
}

/* True if a part has a keyword about other members; otherwise the grammar allows none. */
static bool are_wanted(const struct conj *c)
{
    bool wanted = false;

    for (unsigned i = 0; i < c->n; i++) {
        wanted = wanted || schema_others(c->parts[i]) != NULL ||
                 schema_get_named(c->parts[i], "patternProperties") != NULL;
    }
    return wanted;
}

static unsigned find_patterns(struct schema_maker *m, const struct conj *c,
                              const char *patterns[PATTERNS_MOST])
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *item;

        cJSON_ArrayForEach(item, schema_get_named(c->parts[i], "patternProperties"))
        {
            bool known = false;

            for (unsigned j = 0; j < n; j++) {
                known = known || strcmp(patterns[j], item->string) == 0;
            }
            if (!known && n < PATTERNS_MOST) {
                patterns[n++] = item->string;
            } else if (!known) {
                schema_note(m, c->parts[i], "patternProperties", true);
            }
        }
    }
    return n;
}

/* Write the value of a member whose name matches the patterns with a bit in `which`. */
static bool value_of_others(struct schema_maker *m, const struct conj *c,
                            const char *const *patterns, unsigned n, unsigned which,
                            struct conj *value)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *item, *others = schema_others(c->parts[i]);
        bool described = false;

        cJSON_ArrayForEach(item, schema_get_named(c->parts[i], "patternProperties"))
        {
            for (unsigned j = 0; j < n; j++) {
                if ((which >> j & 1) != 0 && strcmp(patterns[j], item->string) == 0) {
                    described = true;
                    if (!schema_add(m, value, item)) {
                        return false;
                    }
                }
            }
        }
        if (!described && others != NULL && !schema_add(m, value, others)) {
            return false;
        }
    }
    return true;
}

/* Collect the propertyNames of all parts as a set. */
static bool names_of(struct schema_maker *m, const struct conj *c, struct conj *names)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *own = schema_get(c->parts[i], "propertyNames");

        if (own != NULL && !schema_add(m, names, own)) {
            return false;
        }
        if (own != NULL && !is_empty_object(own) &&
            (schema_get(own, "enum") != NULL || schema_get(own, "const") != NULL ||
             schema_get(own, "anyOf") != NULL || schema_get(own, "$ref") != NULL)) {
            schema_note(m, c->parts[i], "propertyNames", true);
        }
    }
    return true;
}

/* Return the names that propertyNames lists: such members are written with any value. */
static const cJSON *listed_names(const struct conj *names)
{
    for (unsigned i = 0; i < names->n; i++) {
        if (cJSON_IsArray(schema_get(names->parts[i], "enum"))) {
            return schema_get(names->parts[i], "enum");
        }
    }
    return NULL;
}

static void put_colon(struct text *t, const char *value)
{
    text_put(t, " colon ");
    text_put(t, value);
}

static void put_listed(struct schema_maker *m, struct schema_others *o, const struct conj *c,
                       const cJSON *list, const char *value)
{
    const cJSON *name;

    cJSON_ArrayForEach(name, list)
    {
        if (cJSON_IsString(name) && schema_may_be_named(m, c, name->valuestring)) {
            text_put(&o->members, o->some ? " | " : "");
            schema_put_text(m, &o->members, name->valuestring);
            put_colon(&o->members, value);
            o->some = true;
        }
    }
}

static void add_others(struct schema_maker *m, struct schema_others *o, const struct conj *c,
                       const struct conj *names, const struct schema_names *which,
                       const struct conj *value)
{
    struct text name = { 0 }, own = { 0 };
    const cJSON *list = listed_names(names);

    if (!m->put_value(m, &own, value)) {
        free(own.s);
        return;
    }
    if (list != NULL && which->n_patterns == 0) {
        put_listed(m, o, c, list, own.s);
    } else if (schema_put_name(m, &name, names, which)) {
        text_put(&o->members, o->some ? " | " : "");
        text_put(&o->members, name.s);
        put_colon(&o->members, own.s);
        o->some = true;
    }
    free(name.s);
    free(own.s);
}

void schema_put_others(struct schema_maker *m, struct schema_others *o, const struct conj *c,
                       const char *const *taken, unsigned n_taken)
{
    const char *patterns[PATTERNS_MOST];
    unsigned n = find_patterns(m, c, patterns);
    struct conj names = { .n = 0 };
    bool absent[PATTERNS_MOST];

    if (!are_wanted(c) || !names_of(m, c, &names)) {
        return;
    }
    for (unsigned which = 0; which < 1u << n && !schema_failed(m); which++) {
        struct conj value = { .n = 0 };
        bool goes_on = false;

        for (unsigned i = 0; i < n; i++) {
            absent[i] = (which >> i & 1) == 0;
        }
        /* Names that match no pattern are written only if a schema asks for them. */
        for (unsigned i = 0; i < c->n; i++) {
            goes_on = goes_on || schema_others(c->parts[i]) != NULL;
        }
        if ((which != 0 || goes_on) && value_of_others(m, c, patterns, n, which, &value)) {
            add_others(m, o, c, &names,
                       &(struct schema_names){ taken, n_taken, patterns, absent, n }, &value);
        }
    }
}
