/* Converts JSON Schema to GBNF, with a rule for each set of schemas that apply together at a place.
 * Between any two tokens of an object or an array there may be white space as models write it (rule
 * `gap` of json_values.c), but not before and after the whole value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

static int compare_parts(const void *a, const void *b)
{
    const cJSON *const *x = a, *const *y = b;

    return *x < *y ? -1 : *x > *y;
}

static struct schema_memo *find_memo(struct schema_maker *m, const struct conj *key)
{
    for (unsigned i = 0; i < m->n_memos; i++) {
        if (m->memos[i].c.n == key->n &&
            memcmp(m->memos[i].c.parts, key->parts, key->n * sizeof key->parts[0]) == 0) {
            return &m->memos[i];
        }
    }
    return NULL;
}

/* Add a memo and return its index; UINT_MAX: an error has occurred. */
static unsigned add_memo(struct schema_maker *m, const struct conj *key)
{
    if (m->n_memos == m->memos_room) {
        unsigned room = m->memos_room == 0 ? 64 : 2 * m->memos_room;
        struct schema_memo *grown = realloc(m->memos, room * sizeof *grown);

        if (grown == NULL) {
            schema_fail(m, "there is no memory for the schema");
            return UINT_MAX;
        }
        m->memos = grown;
        m->memos_room = room;
    }
    m->memos[m->n_memos] = (struct schema_memo){ .c = *key, .rule = m->n_rules++ };
    return m->n_memos++;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void put_rule(struct schema_maker *m, const struct schema_memo *memo, const char *body)
{
    text_format(&m->out, "r%u ::= ", memo->rule);
    text_put(&m->out, body);
    text_put(&m->out, "\n");
}

/* True if the body is only the name of a shared rule; then that rule is used instead. */
static bool is_brief(const struct text *body)
{
    return body->n < sizeof((struct schema_memo *)NULL)->brief &&
           strspn(body->s, "abcdefghijklmnopqrstuvwxyz0") == body->n;
}

static void make_rule(struct schema_maker *m, unsigned at, const struct conj *c, bool root)
{
    struct text body = { 0 };
    bool some = schema_put_alternatives(m, &body, c);
    struct schema_memo *memo = &m->memos[at];

    m->out.failed = m->out.failed || body.failed;
    if (schema_failed(m)) {
        some = false;
    } else if (!some) {
        if (memo->used) { /* no text has a NUL, so nothing matches this rule */
            put_rule(m, memo, "\"\\x00\"");
        }
    } else if (is_brief(&body) && !root && !memo->used) {
        snprintf(memo->brief, sizeof memo->brief, "%s", body.s);
    } else {
        put_rule(m, memo, body.s);
    }
    memo->rule = some ? memo->rule : SCHEMA_NEVER;
    free(body.s);
}

static bool put_memo(struct text *t, struct schema_memo *memo)
{
    memo->used = true;
    if (memo->rule == SCHEMA_NEVER) {
        return false;
    }
    if (memo->brief[0] != '\0') {
        text_put(t, memo->brief);
    } else {
        text_format(t, "r%u", memo->rule);
    }
    return true;
}

static bool put_set(struct schema_maker *m, struct text *t, const struct conj *c, bool root)
{
    struct conj key = *c;
    struct schema_memo *memo;
    unsigned at;

    qsort(key.parts, key.n, sizeof key.parts[0], compare_parts);
    memo = find_memo(m, &key);
    if (memo != NULL) {
        return put_memo(t, memo);
    }
    if (m->nest == SCHEMA_NEST_MOST || m->n_rules + m->n_extra > SCHEMA_RULES_MOST ||
        m->steps++ > SCHEMA_STEPS_MOST) {
        schema_fail(m, "the schema is too deep, or too long");
        return false;
    }
    if (!schema_spend(m, 1 + schema_width(c) / 2)) { /* about a hundred keywords are looked up */
        return false;
    }
    at = add_memo(m, &key);
    if (at == UINT_MAX) {
        return false;
    }
    m->nest++;
    make_rule(m, at, c, root);
    m->nest--;
    return put_memo(t, &m->memos[at]);
}

static bool put_value(struct schema_maker *m, struct text *t, const struct conj *c)
{
    if (schema_failed(m)) {
        return false;
    }
    if (c->n == 0) {
        m->any = true;
        text_put(t, "any0");
        return true;
    }
    return put_set(m, t, c, false);
}

/* ---- whole schemas ----------------------------------------------------------------------------- */

/* Allow any value if the schema is invalid or too large for a grammar; the value is checked when it
 * is finished. */
static void make_free(struct schema_maker *m, size_t before, unsigned rule, bool arguments)
{
    m->error_message[0] = '\0';
    m->out.failed = false;
    m->out.n = before;
    if (m->out.s != NULL) {
        m->out.s[before] = '\0';
    }
    m->any = true;
    text_format(&m->out, "r%u ::= %s\n", rule, arguments ? "object0" : "any0");
    schema_note(m, m->root, "", true);
}

/* Make the rule of the whole schema, and return its number. */
static unsigned make_root(struct schema_maker *m)
{
    static cJSON type = { .type = cJSON_String,
                          .valuestring = (char *)"object",
                          .string = (char *)"type" };
    static const cJSON object = { .type = cJSON_Object, .child = &type };
    bool arguments = m->schema->arguments, some;
    struct conj all = { .n = 0 };
    struct text name = { 0 };
    size_t before = m->out.n;
    unsigned rule;

    some = schema_add(m, &all, m->root) && (!arguments || schema_add_part(m, &all, &object));
    rule = m->n_rules;
    if (some && all.n == 0) {
        m->any = true;
        m->n_rules++;
        text_format(&m->out, "r%u ::= any0\n", rule);
    } else if (some) {
        some = put_set(m, &name, &all, true);
    }
    free(name.s);
    if (schema_failed(m) && m->notes != NULL) {
        rule = m->n_rules++;
        make_free(m, before, rule, arguments);
        return rule;
    }
    return some ? rule : GRAMMAR_NO_RULE;
}

/* Return true if a text of the JSON has the escape \u0000. cJSON would end the text there. */
static bool has_nul(const char *json)
{
    for (const char *at = strchr(json, '\\'); at != NULL && at[1] != '\0';
         at = strchr(at + 2, '\\')) {
        if (strncmp(at, "\\u0000", 6) == 0) {
            return true;
        }
    }
    return false;
}

static unsigned make_schema(struct schema_maker *m)
{
    cJSON *root = cJSON_ParseWithOpts(m->schema->text, NULL, true);
    unsigned rule;

    if (root == NULL) {
        schema_fail(m, "the schema is not JSON");
        return GRAMMAR_NO_RULE;
    }
    if (has_nul(m->schema->text)) {
        schema_fail(m, "the schema has the character \\u0000, which no text may have");
        cJSON_Delete(root);
        return GRAMMAR_NO_RULE;
    }
    m->root = root;
    m->n_nodes = 0;
    m->n_memos = 0;
    rule = make_root(m);
    cJSON_Delete(root);
    return rule;
}

enum err grammar_gbnf_of_schemas(const char *first, const struct grammar_schema *schemas,
                                 unsigned n, unsigned *rules, struct grammar_notes *notes,
                                 char **gbnf, char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    struct schema_maker m = { .error_message = error_message,
                              .notes = notes,
                              .put_value = put_value };

    *gbnf = NULL;
    error_message[0] = '\0';
    text_put(&m.out, first);
    for (unsigned i = 0; i < n && !schema_failed(&m); i++) {
        m.index = i;
        m.schema = &schemas[i];
        rules[i] = make_schema(&m);
    }
    text_shared(&m.out, m.any);
    if (m.out.failed) {
        schema_fail(&m, "the schema is too long");
    }
    free(m.memos);
    if (error_message[0] != '\0') {
        free(m.out.s);
        return ERR_BAD_ARGUMENT;
    }
    *gbnf = m.out.s;
    return ERR_OK;
}

enum err grammar_gbnf_of_schema(const char *schema, char **gbnf,
                                char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    const struct grammar_schema one = { .text = schema };
    unsigned rule; /* 0 */
    enum err e = grammar_gbnf_of_schemas("root ::= r0\n", &one, 1, &rule, NULL, gbnf,
                                         error_message);

    if (e == ERR_OK && rule == GRAMMAR_NO_RULE) {
        free(*gbnf);
        *gbnf = NULL;
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES, "no value satisfies the schema");
        e = ERR_BAD_ARGUMENT;
    }
    return e;
}
