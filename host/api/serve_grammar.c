/* Grammars of requests: response_format, and a grammar of the caller's own. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "flash_image/grammar/grammar_compile.h"
#include "host/serve/serve_hold.h"
#include "runtime/features/grammar/grammar.h"

/* Any JSON object. White space, strings and numbers are bounded, as in a schema
 * (flash_image/grammar/json_values.c). */
static const char any_object[] =
    "root ::= object\n"
    "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n"
    "gap ::= \" \"? (\"\\r\"? \"\\n\" [ \\t]{0,20})?\n"
    "comma ::= \" \"? \",\" gap\n"
    "member ::= string \" \"? \":\" \" \"? value\n"
    "object ::= \"{\" gap ( member ( comma member )* gap )? \"}\"\n"
    "array ::= \"[\" gap ( value ( comma value )* gap )? \"]\"\n"
    "string ::= \"\\\"\" ( [^\"\\\\\\x00-\\x1f] | \"\\\\\" ( [\"\\\\/bfnrt] | \"u\" [0-9a-fA-F]{4} ) ){0,512} \"\\\"\"\n"
    "number ::= \"-\"? ( \"0\" | [1-9] [0-9]{0,14} ) ( \".\" [0-9]{1,15} )?\n";

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool compile(struct serve_request *q, const char *gbnf, const char *param,
                    struct serve_error *e)
{
    char why[GRAMMAR_ERROR_MESSAGE_BYTES] = "";

    if (grammar_compile_gbnf(gbnf, &q->grammar, &q->grammar_bytes, why) != ERR_OK) {
        q->grammar = NULL;
        return serve_refuse(e, 400, param, NULL, "%s: %s", param, why);
    }
    return true;
}

/* ---- response_format --------------------------------------------------------------------------- */

static bool check_members(struct serve_reader *r, const cJSON *format, const cJSON *outer)
{
    static const char *const own[] = { "type", "json_schema", "schema", "strict", "name", NULL },
                             *const inner[] = { "name", "description", "schema", "strict", NULL };

    return serve_members_known(r, format, "response_format", own) &&
           (outer == NULL || serve_members_known(r, outer, "response_format.json_schema", inner));
}

/* A schema that stands where its members do. */
static bool take_schema(struct serve_reader *r, const cJSON *schema, const cJSON *strict,
                        struct serve_format *f)
{
    if (!cJSON_IsObject(schema) && !cJSON_IsBool(schema)) {
        return serve_refuse(r->e, 400, "response_format", NULL,
                            "response_format: its schema has to be an object");
    }
    f->strict = cJSON_IsTrue(strict);
    f->schema = cJSON_PrintUnformatted(schema);
    return f->schema != NULL || serve_no_memory(r);
}

/* OpenAI's forms; llama.cpp's json_object with a schema; and a schema beside the type, as some
 * clients send it. */
static bool read_format(struct serve_reader *r, const cJSON *format, struct serve_format *f)
{
    const char *type = cJSON_GetStringValue(get(format, "type"));
    const cJSON *outer = get(format, "json_schema"), *schema = get(format, "schema");

    if (!cJSON_IsObject(format) || type == NULL ||
        (strcmp(type, "text") != 0 && strcmp(type, "json_object") != 0 &&
         strcmp(type, "json_schema") != 0)) {
        return serve_refuse(r->e, 400, "response_format", NULL,
                            "response_format.type has to be text, json_object or json_schema");
    }
    if (!check_members(r, format, outer)) {
        return false;
    }
    if (strcmp(type, "text") == 0) {
        return true;
    }
    f->wanted = true;
    if (strcmp(type, "json_schema") == 0 && cJSON_IsObject(outer)) {
        return take_schema(r, get(outer, "schema"), get(outer, "strict"), f);
    }
    if (cJSON_IsObject(schema) || cJSON_IsBool(schema) || strcmp(type, "json_schema") == 0) {
        return take_schema(r, schema, get(format, "strict"), f);
    }
    return true;
}

bool serve_format_read(struct serve_reader *r, struct serve_format *f)
{
    if (r->format != NULL && !read_format(r, r->format, f)) {
        return false;
    }
    if (r->json_schema == NULL) {
        return true;
    }
    if (f->wanted) {
        return serve_refuse(r->e, 400, "json_schema", NULL,
                            "a request has json_schema or response_format, not both");
    }
    f->wanted = true;
    return take_schema(r, r->json_schema, NULL, f);
}

/* Any object needs no check, and no bound of its depth. */
bool serve_format_use(struct serve_reader *r, const struct serve_format *f)
{
    struct serve_held one = { .schema = f->schema, .strict = f->strict };

    if (!f->wanted) {
        return true;
    }
    if (f->schema == NULL) {
        return compile(r->q, any_object, "response_format", r->e);
    }
    return serve_hold(r, &one, 1, false, 1);
}

/* ---- grammar ----------------------------------------------------------------------------------- */

static bool set_choices(struct serve_request *q, const char *text, struct serve_error *e)
{
    const char *why = "";
    void *work = malloc(GRAMMAR_WORK_BYTES), *memory = malloc(INGOT_GRAMMAR_BYTES);
    enum err error = ERR_NO_SPACE;

    if (work != NULL && memory != NULL) {
        why = "";
        error = grammar_from_choices(text, memory, INGOT_GRAMMAR_BYTES, work, &q->grammar_bytes,
                                     &why);
    }
    free(work);
    if (error != ERR_OK) {
        free(memory);
        return serve_refuse(e, 400, "grammar", NULL, "grammar: %s", why);
    }
    q->grammar = memory;
    return true;
}

bool serve_grammar_use(struct serve_reader *r, const cJSON *grammar)
{
    const char *text = cJSON_GetStringValue(grammar);

    if (text == NULL) {
        return serve_refuse(r->e, 400, "grammar", NULL,
                            "grammar has to be a text: GBNF, or choices with bars between them");
    }
    if (strstr(text, "::=") != NULL) {
        return compile(r->q, text, "grammar", r->e);
    }
    if (!grammar_is_choices(text)) {
        return serve_refuse(r->e, 400, "grammar", NULL,
                            "grammar is neither GBNF nor choices with bars between them");
    }
    return set_choices(r->q, text, r->e);
}
