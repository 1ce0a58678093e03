/* The fields that constrain a reply to a form: response_format, json_schema and grammar. */
#include <string.h>

#include "runtime/api/api_reader.h"

static const struct api_json *get(const struct api_json *object, const char *name)
{
    return api_json_get(object, name);
}

/* ---- response_format --------------------------------------------------------------------------- */

static bool check_members(struct api_reader *r, const struct api_json *format,
                          const struct api_json *outer)
{
    static const char *const own[] = { "type", "json_schema", "schema", "strict", "name", NULL },
                             *const inner[] = { "name", "description", "schema", "strict", NULL };

    return api_members_known(r, format, "response_format", own) &&
           (outer == NULL || api_members_known(r, outer, "response_format.json_schema", inner));
}

/* Keep a schema as text, with the value of `strict` beside it. */
static bool take_schema(struct api_reader *r, const struct api_json *schema,
                        const struct api_json *strict, struct api_format *f)
{
    if (!api_json_is(schema, JSON_OBJECT) && !api_json_is_bool(schema)) {
        return api_refuse(r->e, 400, "response_format", NULL,
                          "response_format: its schema has to be an object");
    }
    f->strict = api_json_is(strict, JSON_TRUE);
    f->schema = api_print(r, schema);
    return f->schema != NULL;
}

/* Read OpenAI's forms, llama.cpp's json_object with a schema, and a schema beside the type, as
 * some clients send it. */
static bool read_format(struct api_reader *r, const struct api_json *format, struct api_format *f)
{
    const char *type = api_json_text(get(format, "type"));
    const struct api_json *outer = get(format, "json_schema"), *schema = get(format, "schema");

    if (!api_json_is(format, JSON_OBJECT) || type == NULL ||
        (strcmp(type, "text") != 0 && strcmp(type, "json_object") != 0 &&
         strcmp(type, "json_schema") != 0)) {
        return api_refuse(r->e, 400, "response_format", NULL,
                          "response_format.type has to be text, json_object or json_schema");
    }
    if (!check_members(r, format, outer)) {
        return false;
    }
    if (strcmp(type, "text") == 0) {
        return true;
    }
    f->wanted = true;
    if (strcmp(type, "json_schema") == 0 && api_json_is(outer, JSON_OBJECT)) {
        return take_schema(r, get(outer, "schema"), get(outer, "strict"), f);
    }
    if (api_json_is(schema, JSON_OBJECT) || api_json_is_bool(schema) ||
        strcmp(type, "json_schema") == 0) {
        return take_schema(r, schema, get(format, "strict"), f);
    }
    return true;
}

bool api_format_read(struct api_reader *r, struct api_format *f)
{
    if (r->format != NULL && !read_format(r, r->format, f)) {
        return false;
    }
    if (r->json_schema == NULL) {
        return true;
    }
    if (f->wanted) {
        return api_refuse(r->e, 400, "json_schema", NULL,
                          "a request has json_schema or response_format, not both");
    }
    f->wanted = true;
    return take_schema(r, r->json_schema, NULL, f);
}

/* Use the format. Without a schema any object fits, and no check or limit of depth is needed. */
bool api_format_use(struct api_reader *r, const struct api_format *f)
{
    struct api_held one = { .schema = f->schema, .strict = f->strict };

    if (!f->wanted) {
        return true;
    }
    if (f->schema == NULL) {
        return r->d->holder->object(r);
    }
    return r->d->holder->hold(r, &one, 1, false, 1);
}

bool api_grammar_use(struct api_reader *r, const struct api_json *grammar)
{
    const char *text = api_json_text(grammar);

    if (text == NULL) {
        return api_refuse(r->e, 400, "grammar", NULL,
                          "grammar has to be a text: GBNF, or choices with bars between them");
    }
    return r->d->holder->grammar(r, text);
}
