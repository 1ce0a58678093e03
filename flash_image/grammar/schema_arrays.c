/* Arrays have a schema for each of the first items (prefixItems; in draft 7 a list `items`), and
 * one for all later items. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { PREFIX_MOST = 28 };

/* The schemas of the first items. NULL: there are none. */
static const cJSON *prefix_of(const cJSON *schema)
{
    const cJSON *prefix = schema_get(schema, "prefixItems");

    if (prefix == NULL) {
        prefix = schema_get(schema, "items");
    }
    return cJSON_IsArray(prefix) ? prefix : NULL;
}

/* The schema of later items. */
static const cJSON *rest_of(const cJSON *schema)
{
    const cJSON *items = schema_get(schema, "items");

    if (cJSON_IsArray(items)) {
        items = schema_get(schema, "additionalItems");
    }
    return items != NULL ? items : schema_get(schema, "unevaluatedItems");
}

static unsigned prefix_length(const struct conj *c)
{
    unsigned most = 0;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *prefix = prefix_of(c->parts[i]);
        unsigned n = prefix != NULL ? (unsigned)cJSON_GetArraySize(prefix) : 0;

        most = n > most ? n : most;
    }
    return most;
}

/* Collect the schemas that item i has to satisfy; if i is the number of first items, item i stands
 * for all later items. False if no such item is allowed. */
static bool item_of(struct schema_maker *m, const struct conj *c, unsigned i, bool rest,
                    struct conj *item)
{
    item->n = 0;
    for (unsigned j = 0; j < c->n; j++) {
        const cJSON *prefix = prefix_of(c->parts[j]), *schema = NULL;

        if (!rest && prefix != NULL) {
            schema = cJSON_GetArrayItem(prefix, (int)i);
        }
        schema = schema != NULL ? schema : rest_of(c->parts[j]);
        if (schema != NULL && !schema_add(m, item, schema)) {
            return false;
        }
    }
    return true;
}

static void note_items(struct schema_maker *m, const struct conj *c, unsigned most)
{
    schema_note_unevaluated(m, c, "unevaluatedItems");
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *least = schema_get(c->parts[i], "minContains");
        bool none = cJSON_IsNumber(least) && least->valuedouble == 0;

        if (cJSON_IsTrue(schema_get(c->parts[i], "uniqueItems")) && most > 1) {
            schema_note(m, c->parts[i], "uniqueItems", true);
        }
        if (schema_get(c->parts[i], "contains") != NULL &&
            (!none || schema_get(c->parts[i], "maxContains") != NULL)) {
            schema_note(m, c->parts[i], "contains", true);
        }
    }
}

/* Write items one by one, each in a group inside the previous item's group, so that the array may
 * end after any item. */
static void put_items(struct text *t, struct text *items, unsigned n, unsigned least,
                      const char *rest, unsigned most)
{
    unsigned open = 0;

    for (unsigned i = 0; i < n; i++) {
        text_put(t, i == 0 ? "(" : " (comma ");
        text_put(t, items[i].s);
        open++;
    }
    if (rest != NULL && most > n) {
        unsigned from = least > n ? least - n : 0;

        if (n == 0) {
            text_format(t, "(");
            text_put(t, rest);
            from -= from != 0;
            most--;
            open++;
        }
        if (most > n) {
            text_put(t, " (comma ");
            text_put(t, rest);
            text_format(t, "){%u,%u}", from, most - n);
        }
    }
    for (; open != 0; open--) {
        text_put(t, open > least ? ")?" : ")");
    }
}

static bool put_all(struct schema_maker *m, struct text *t, const struct conj *c, unsigned least,
                    unsigned most, struct text *items)
{
    struct text rest = { 0 };
    struct conj item;
    unsigned n = prefix_length(c), many;
    bool goes_on;

    n = n < most ? n : most;
    for (unsigned i = 0; i < n; i++) {
        if (!item_of(m, c, i, false, &item) || !m->put_value(m, &items[i], &item)) {
            n = most = i;
        }
    }
    many = least > GRAMMAR_ITEMS_MOST ? least : GRAMMAR_ITEMS_MOST;
    most = most < many ? most : (most == UINT_MAX ? many : most);
    goes_on = most > n && item_of(m, c, n, true, &item) && m->put_value(m, &rest, &item);
    most = goes_on ? most : n;
    if (most < least) {
        free(rest.s);
        return false;
    }
    note_items(m, c, most);
    if (most == 0) {
        text_put(t, "\"[\" gap \"]\"");
    } else {
        text_put(t, "\"[\" gap ");
        put_items(t, items, n, least, goes_on ? rest.s : NULL, most);
        text_put(t, " gap \"]\"");
    }
    free(rest.s);
    return true;
}

bool schema_put_array(struct schema_maker *m, struct text *t, const struct conj *c)
{
    unsigned least = schema_most(m, c, "minItems", 0),
             most = schema_least(m, c, "maxItems", UINT_MAX);
    struct text items[PREFIX_MOST] = { { 0 } };
    bool some;

    if (prefix_length(c) > PREFIX_MOST) {
        schema_fail(m, "more than %d schemas for the first items of an array", PREFIX_MOST);
        return false;
    }
    if (least > GRAMMAR_TIMES_LIMIT) {
        schema_fail(m, "minItems is above %d", GRAMMAR_TIMES_LIMIT);
        return false;
    }
    most = most != UINT_MAX && most > GRAMMAR_TIMES_LIMIT ? GRAMMAR_TIMES_LIMIT : most;
    some = most >= least && put_all(m, t, c, least, most, items);
    for (unsigned i = 0; i < PREFIX_MOST; i++) {
        free(items[i].s);
    }
    return some;
}
