/* Sets of schemas that apply together: how they are combined, and which types they leave. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { REFS_MOST = 64 };

bool schema_failed(const struct schema_maker *m)
{
    return m->error_message[0] != '\0' || m->out.failed;
}

void schema_fail(struct schema_maker *m, const char *format, ...)
{
    va_list args;

    if (m->error_message[0] == '\0') {
        va_start(args, format);
        vsnprintf(m->error_message, GRAMMAR_ERROR_MESSAGE_BYTES, format, args);
        va_end(args);
    }
}

bool schema_spend(struct schema_maker *m, size_t looks)
{
    if (m->looks > SCHEMA_LOOKS_MOST || looks > SCHEMA_LOOKS_MOST - m->looks) {
        m->looks = SCHEMA_LOOKS_MOST + 1;
        schema_fail(
            m,
            "the schema takes more than the limit of %d steps: name fewer schemas by $ref and allOf",
            SCHEMA_LOOKS_MOST);
        return false;
    }
    m->looks += (unsigned)looks;
    return true;
}

size_t schema_width(const struct conj *c)
{
    size_t n = 0;

    for (unsigned i = 0; i < c->n; i++) {
        n += (size_t)cJSON_GetArraySize(c->parts[i]);
    }
    return n;
}

/* Return how many of a text's first `most` bytes belong to whole characters. */
static int whole_characters(const char *s, int most)
{
    int n = (int)strnlen(s, (size_t)most + 1);

    if (n > most) {
        for (n = most; n > 0 && ((uint8_t)s[n] & 0xc0) == 0x80; n--) {
        }
    }
    return n;
}

/* Write the place of a schema's keyword, such as "/properties/a/not"; keyword "": of the schema
 * itself. */
static void put_where(const struct schema_maker *m, const cJSON *schema, const char *keyword,
                      char where[GRAMMAR_WHERE_BYTES])
{
    struct text path = { 0 };
    const char *shown;

    schema_put_path(m->root, schema, &path);
    shown = path.s != NULL ? path.s : "";
    snprintf(where, GRAMMAR_WHERE_BYTES, "%.*s%s%.30s", whole_characters(shown, 120), shown,
             keyword != NULL ? "/" : "", keyword != NULL ? keyword : "");
    free(path.s);
}

unsigned schema_count_nodes(const cJSON *at)
{
    unsigned n = 1;

    for (const cJSON *child = at->child; child != NULL; child = child->next) {
        n += schema_count_nodes(child);
    }
    return n;
}

static unsigned schema_nodes(struct schema_maker *m)
{
    if (m->n_nodes == 0) {
        m->n_nodes = schema_count_nodes(m->root);
    }
    return m->n_nodes;
}

void schema_note(struct schema_maker *m, const cJSON *schema, const char *keyword, bool checked)
{
    struct grammar_note note = { .schema = m->index, .checked = checked };
    struct grammar_notes *all = m->notes;

    if (schema != m->root && !schema_spend(m, 1 + schema_nodes(m) / SCHEMA_NODES_A_LOOK)) {
        return;
    }
    put_where(m, schema, keyword, note.where);
    if (all == NULL) {
        schema_fail(m, "%s of the schema cannot be part of a grammar, so it would have no effect",
                    note.where);
        return;
    }
    for (unsigned i = 0; i < all->n; i++) {
        if (all->list[i].schema == note.schema && strcmp(all->list[i].where, note.where) == 0) {
            return;
        }
    }
    if (all->n == GRAMMAR_NOTES_MOST) {
        all->more++;
        return;
    }
    all->list[all->n++] = note;
}

void schema_note_each(struct schema_maker *m, const struct conj *c, const char *keyword)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (schema_get(c->parts[i], keyword) != NULL) {
            schema_note(m, c->parts[i], keyword, true);
        }
    }
}

void schema_note_wrong(struct schema_maker *m, const cJSON *schema, const char *keyword,
                       const char *error_message)
{
    if (m->notes != NULL) {
        schema_note(m, schema, keyword, false);
    } else {
        char where[GRAMMAR_WHERE_BYTES];

        put_where(m, schema, keyword, where);
        schema_fail(m, "%s%s%s", where, where[0] != '\0' ? " of the schema: " : "", error_message);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

void schema_put_literal(struct schema_maker *m, struct text *t, const cJSON *value)
{
    char *printed = cJSON_PrintUnformatted(value);

    if (printed == NULL) {
        schema_fail(m, "there is no memory for the schema");
        return;
    }
    text_json(t, printed);
    cJSON_free(printed);
}

void schema_put_text(struct schema_maker *m, struct text *t, const char *s)
{
    cJSON *value = cJSON_CreateString(s);

    if (value == NULL) {
        schema_fail(m, "there is no memory for the schema");
        return;
    }
    schema_put_literal(m, t, value);
    cJSON_Delete(value);
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* True for a keyword that only describes, or that is handled while sets are combined. A schema with
 * only such keywords adds nothing. */
static bool says_nothing(const char *keyword)
{
    static const char *const names[] = { "$ref",
                                         "$dynamicRef",
                                         "$recursiveRef",
                                         "allOf",
                                         "$defs",
                                         "definitions",
                                         "title",
                                         "description",
                                         "default",
                                         "examples",
                                         "example",
                                         "$schema",
                                         "$id",
                                         "$anchor",
                                         "$dynamicAnchor",
                                         "$comment",
                                         "$vocabulary",
                                         "deprecated",
                                         "readOnly",
                                         "writeOnly",
                                         "strict",
                                         "name",
                                         "nullable",
                                         "discriminator",
                                         "contentEncoding",
                                         "contentMediaType",
                                         "contentSchema",
                                         "$recursiveAnchor",
                                         "id" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], keyword) == 0) {
            return true;
        }
    }
    return strncmp(keyword, "x-", 2) == 0;
}

bool schema_restricts(const char *keyword)
{
    static const char *const names[] = { "anyOf", "oneOf", "if", "then", "else" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], keyword) == 0) {
            return false;
        }
    }
    return !says_nothing(keyword);
}

static bool has_part(const struct conj *c, const cJSON *schema)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (c->parts[i] == schema) {
            return true;
        }
    }
    return false;
}

static bool add(struct schema_maker *m, struct conj *c, const cJSON *schema, unsigned depth);

/* Return how many schemas have this $dynamicAnchor. If there are several, the target of a reference
 * depends on the path to it; if there is one, the reference is a plain one. */
static unsigned count_dynamic(const cJSON *at, const char *name, unsigned depth)
{
    const char *own = cJSON_GetStringValue(schema_get(at, "$dynamicAnchor"));
    unsigned n = own != NULL && strcmp(own, name) == 0;
    const cJSON *child;

    for (child = at->child; child != NULL && depth < REFS_MOST; child = child->next) {
        n += count_dynamic(child, name, depth + 1);
    }
    return n;
}

static void note_dynamic(struct schema_maker *m, const cJSON *schema, const cJSON *ref)
{
    const char *text = cJSON_GetStringValue(ref), *name = text != NULL ? strchr(text, '#') : NULL;

    if (strcmp(ref->string, "$dynamicRef") == 0 && name != NULL &&
        count_dynamic(m->root, name + 1, 0) > 1) {
        schema_note(m, schema, "$dynamicRef", false);
    }
}

static bool add_reference(struct schema_maker *m, struct conj *c, const cJSON *schema,
                          const cJSON *ref, unsigned depth)
{
    const char *text = cJSON_GetStringValue(ref);
    const cJSON *to;

    /* the whole document may have to be searched for the target of the reference */
    if (!schema_spend(m, schema_nodes(m) / SCHEMA_NODES_A_LOOK)) {
        return true;
    }
    to = text != NULL ? schema_resolve(m->root, schema, text) : NULL;
    if (to != NULL) {
        note_dynamic(m, schema, ref);
        return add(m, c, to, depth + 1);
    }
    if (m->notes != NULL) {
        schema_note(m, schema, ref->string, false);
    } else if (text != NULL && text[0] != '#') {
        schema_fail(m, "a $ref of the schema leads to another document: %.120s", text);
    } else {
        schema_fail(m, "a $ref of the schema leads nowhere: write \"#/$defs/NAME\"");
    }
    return true;
}

bool schema_add_part(struct schema_maker *m, struct conj *c, const cJSON *schema)
{
    if (!has_part(c, schema)) {
        if (c->n == SCHEMA_PARTS_MOST) {
            schema_fail(m, "more than %d schemas apply at one place", SCHEMA_PARTS_MOST);
            return false;
        }
        c->parts[c->n++] = schema;
    }
    return true;
}

static bool add_members(struct schema_maker *m, struct conj *c, const cJSON *schema, unsigned depth)
{
    const cJSON *item, *one;
    bool possible = true;

    cJSON_ArrayForEach(item, schema)
    {
        if (strcmp(item->string, "$ref") == 0 || strcmp(item->string, "$dynamicRef") == 0 ||
            strcmp(item->string, "$recursiveRef") == 0) {
            possible = add_reference(m, c, schema, item, depth) && possible;
        } else if (strcmp(item->string, "allOf") == 0) {
            cJSON_ArrayForEach(one, item)
            {
                possible = add(m, c, one, depth + 1) && possible;
            }
        } else if (!says_nothing(item->string)) {
            possible = schema_add_part(m, c, schema) && possible;
        }
    }
    return possible;
}

static bool add(struct schema_maker *m, struct conj *c, const cJSON *schema, unsigned depth)
{
    if (depth == REFS_MOST) {
        schema_fail(m, "a $ref of the schema leads back to itself");
        return true;
    }
    if (schema_failed(m) || !schema_spend(m, 1 + (size_t)cJSON_GetArraySize(schema) / 8)) {
        return true;
    }
    if (cJSON_IsBool(schema)) {
        return cJSON_IsTrue(schema);
    }
    if (!cJSON_IsObject(schema)) {
        schema_note_wrong(m, schema, NULL, "a schema must be a JSON object");
        return true;
    }
    return has_part(c, schema) || add_members(m, c, schema, depth);
}

bool schema_add(struct schema_maker *m, struct conj *c, const cJSON *schema)
{
    return add(m, c, schema, 0) && !schema_failed(m);
}

/* True if a value is inside another one of the document. */
static bool is_inside(const cJSON *outer, const cJSON *value, unsigned depth)
{
    const cJSON *child;

    for (child = outer->child; child != NULL && depth < REFS_MOST; child = child->next) {
        if (child == value || is_inside(child, value, depth + 1)) {
            return true;
        }
    }
    return false;
}

/* True if a schema may evaluate members or items, which `unevaluated...` of another schema would
 * skip. */
static bool evaluates(const cJSON *schema)
{
    static const char *const names[] = { "type", "title", "description", "required", "const" };
    const cJSON *item;

    cJSON_ArrayForEach(item, schema)
    {
        bool none = false;

        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
            none = none || strcmp(item->string, names[i]) == 0;
        }
        if (!none) {
            return true;
        }
    }
    return false;
}

void schema_note_unevaluated(struct schema_maker *m, const struct conj *c, const char *keyword)
{
    for (unsigned i = 0; i < c->n; i++) {
        struct conj own = { .n = 0 };

        if (schema_get(c->parts[i], keyword) == NULL) {
            continue;
        }
        (void)schema_add(m, &own, c->parts[i]);
        for (unsigned j = 0; j < c->n; j++) {
            if (!has_part(&own, c->parts[j]) && evaluates(c->parts[j]) &&
                schema_spend(m, schema_nodes(m) / SCHEMA_NODES_A_LOOK) &&
                !is_inside(c->parts[i], c->parts[j], 0)) {
                schema_note(m, c->parts[i], keyword, false);
                break;
            }
        }
    }
}

/* ---- types ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned types;
} type_names[] = {
    { "null", TYPE_NULL },       { "boolean", TYPE_BOOLEAN },
    { "integer", TYPE_INTEGER }, { "number", TYPE_INTEGER | TYPE_FRACTION },
    { "string", TYPE_STRING },   { "array", TYPE_ARRAY },
    { "object", TYPE_OBJECT },
};

static unsigned type_named(const char *name)
{
    for (unsigned i = 0; name != NULL && i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strcmp(type_names[i].name, name) == 0) {
            return type_names[i].types;
        }
    }
    return 0;
}

unsigned schema_types_of(const cJSON *type)
{
    unsigned all = 0;
    const cJSON *one;

    if (cJSON_IsString(type)) {
        return type_named(type->valuestring);
    }
    cJSON_ArrayForEach(one, type)
    {
        unsigned own = type_named(cJSON_GetStringValue(one));

        if (own == 0) {
            return 0;
        }
        all |= own;
    }
    return cJSON_IsArray(type) ? all : 0;
}

/* Return the types that a `not` rules out if it has only {"type": ...}; else 0. */
static unsigned types_ruled_out(const cJSON * not )
{
    const cJSON *type = schema_get(not, "type");
    unsigned types = type != NULL && not ->child->next == NULL ? schema_types_of(type) : 0;

    /* "number" rules out integers too: 1.0 is an integer */
    return types;
}

/* True if the set describes properties and gives no type: then it means an object. */
static bool means_object(const struct conj *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *properties = schema_get(c->parts[i], "properties");

        if (cJSON_IsObject(properties) && properties->child != NULL) {
            return true;
        }
    }
    return false;
}

static void note_type(struct schema_maker *m, const cJSON *schema, const cJSON *type)
{
    char error_message[96];

    if (cJSON_IsString(type)) {
        snprintf(error_message, sizeof error_message, "%.40s is not a type of JSON",
                 type->valuestring);
    } else {
        snprintf(error_message, sizeof error_message,
                 "a schema's type must be a text or a list of texts");
    }
    schema_note_wrong(m, schema, "type", error_message);
}

unsigned schema_types(struct schema_maker *m, const struct conj *c)
{
    unsigned all = TYPE_ALL;
    bool typed = false;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *type = schema_get(c->parts[i], "type"), *not = schema_get(c->parts[i], "not");

        if (type != NULL && schema_types_of(type) != 0) {
            all &= schema_types_of(type);
            typed = true;
        } else if (type != NULL) {
            note_type(m, c->parts[i], type);
        }
        if (cJSON_IsObject(not ) && not ->child != NULL) {
            all &= ~types_ruled_out(not );
        }
    }
    if (!typed && means_object(c)) {
        all &= TYPE_OBJECT;
    }
    return all;
}
