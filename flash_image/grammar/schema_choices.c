/* Makes the alternatives of a set. Each alternative is a set of its own: it has one schema of
 * every anyOf and oneOf, and one branch (then or else) of every if. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { CHOSEN_MOST = 16 };

static const char *const choice_names[] = { "anyOf", "oneOf", "if" };

/* The choices made so far on the way to a set without choices. */
struct chosen {
    const cJSON *schemas[CHOSEN_MOST];
    const char *names[CHOSEN_MOST];
    unsigned n;
};

struct choosing {
    struct schema_maker *m;
    struct text *t;
    unsigned leaves;
    bool some;
};

static bool is_chosen(const struct chosen *d, const cJSON *schema, const char *name)
{
    for (unsigned i = 0; i < d->n; i++) {
        if (d->schemas[i] == schema && d->names[i] == name) {
            return true;
        }
    }
    return false;
}

/* Find the next keyword that is a choice; NULL: none remains. */
static const char *next_choice(const struct conj *c, const struct chosen *d, const cJSON **schema)
{
    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned j = 0; j < sizeof choice_names / sizeof choice_names[0]; j++) {
            *schema = c->parts[i];
            if (schema_get(*schema, choice_names[j]) != NULL &&
                !is_chosen(d, *schema, choice_names[j])) {
                return choice_names[j];
            }
        }
    }
    return NULL;
}

static bool has_choice(const struct conj *c)
{
    const struct chosen none = { .n = 0 };
    const cJSON *schema;

    return next_choice(c, &none, &schema) != NULL;
}

/* Return the set without the parts that contain only a choice. */
static struct conj without_choosers(const struct conj *c)
{
    struct conj out = { .n = 0 };

    for (unsigned i = 0; i < c->n; i++) {
        bool more = false;
        const cJSON *item;

        cJSON_ArrayForEach(item, c->parts[i])
        {
            more = more || schema_restricts(item->string);
        }
        if (more) {
            out.parts[out.n++] = c->parts[i];
        }
    }
    return out;
}

static void put_leaf(struct choosing *a, const struct conj *c)
{
    struct conj own = without_choosers(c);
    struct text t = { 0 };
    bool some = own.n == 0 || !has_choice(&own) ? a->m->put_value(a->m, &t, &own)
                                                : schema_put_plain(a->m, &t, &own);

    if (some && t.s != NULL &&
        (a->t->s == NULL || strstr(a->t->s, t.s) != a->t->s ||
         a->t->n != t.n)) { /* t differs from the only alternative so far */
        text_put(a->t, a->some ? " | " : "");
        text_put(a->t, t.s);
        a->some = true;
    }
    free(t.s);
}

static void choose(struct choosing *a, const struct conj *c, const struct chosen *d);

/* Set *out to c, and add the schemas `one` and `other` unless they are NULL. False if no value
 * satisfies *out. */
static bool with_more(struct choosing *a, const struct conj *c, const cJSON *one,
                      const cJSON *other, struct conj *out)
{
    *out = *c;
    return (one == NULL || schema_add(a->m, out, one)) &&
           (other == NULL || schema_add(a->m, out, other));
}

/* oneOf requires exactly one schema to match: if two allow the same value, the reply is checked
 * afterwards. */
static void check_one_of(struct choosing *a, const struct conj *c, const cJSON *schema)
{
    const cJSON *list = schema_get(schema, "oneOf"), *one, *other;

    cJSON_ArrayForEach(one, list)
    {
        for (other = one->next; other != NULL; other = other->next) {
            struct conj x, y;

            if (with_more(a, c, one, NULL, &x) && with_more(a, c, other, NULL, &y) &&
                !schema_are_disjoint(a->m, &x, &y)) {
                schema_note(a->m, schema, "oneOf", true);
                return;
            }
        }
    }
}

/* Choose between the branches of `if`. Without then and else, an `if` restricts nothing. */
static void choose_if(struct choosing *a, const struct conj *c, const struct chosen *d,
                      const cJSON *schema)
{
    const cJSON *then = schema_get(schema, "then"), *otherwise = schema_get(schema, "else");
    struct conj more;

    if (then == NULL && otherwise == NULL) {
        choose(a, c, d);
        return;
    }
    schema_note(a->m, schema, "if", true);
    if (otherwise == NULL) {
        choose(a, c, d);
        return;
    }
    if (with_more(a, c, schema_get(schema, "if"), then, &more)) {
        choose(a, &more, d);
    }
    if (with_more(a, c, otherwise, NULL, &more)) {
        choose(a, &more, d);
    }
}

static void choose_of_list(struct choosing *a, const struct conj *c, const struct chosen *d,
                           const cJSON *list)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, list)
    {
        struct conj more;

        if (with_more(a, c, one, NULL, &more)) {
            choose(a, &more, d);
        }
        if (schema_failed(a->m)) {
            return;
        }
    }
}

static void choose(struct choosing *a, const struct conj *c, const struct chosen *d)
{
    struct chosen now = *d;
    const cJSON *schema, *list;
    const char *name = next_choice(c, d, &schema);

    if (schema_failed(a->m) || !schema_spend(a->m, 1 + schema_width(c) / 64)) {
        return;
    }
    if (name == NULL) {
        if (a->leaves++ == SCHEMA_LEAVES_MOST) {
            schema_fail(a->m, "anyOf and oneOf have more than %d combinations at one place",
                        SCHEMA_LEAVES_MOST);
            return;
        }
        put_leaf(a, c);
        return;
    }
    list = schema_get(schema, name);
    if (now.n == CHOSEN_MOST) {
        schema_fail(a->m, "more than %d anyOf and oneOf at one place", CHOSEN_MOST);
        return;
    }
    now.schemas[now.n] = schema;
    now.names[now.n++] = name;
    if (strcmp(name, "if") == 0) {
        choose_if(a, c, &now, schema);
        return;
    }
    if (!cJSON_IsArray(list) || list->child == NULL) {
        schema_note_wrong(a->m, schema, name,
                          "enum, anyOf and oneOf must be lists that are not empty");
        choose(a, c, &now);
        return;
    }
    if (strcmp(name, "oneOf") == 0) {
        check_one_of(a, c, schema);
    }
    choose_of_list(a, c, &now, list);
}

bool schema_put_alternatives(struct schema_maker *m, struct text *t, const struct conj *c)
{
    struct choosing a = { .m = m, .t = t };
    const struct chosen none = { .n = 0 };
    bool one;

    if (!has_choice(c) || schema_values(c, &one) != NULL) {
        return schema_put_plain(m, t, c);
    }
    choose(&a, c, &none);
    return a.some && !schema_failed(m);
}
