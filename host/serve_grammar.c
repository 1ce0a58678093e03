/* Grammars of requests: response_format, and a grammar of the caller's own. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "flash_image/grammar/grammar_compile.h"
#include "host/serve_request.h"
#include "runtime/grammar/grammar.h"

/* Any JSON object. Strings and numbers have an end, as those of a schema have. */
static const char any_object[] =
    "root ::= object\n"
    "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n"
    "object ::= \"{\" ( string \":\" \" \"? value ( \",\" \" \"? string \":\" \" \"? value )* )? \"}\"\n"
    "array ::= \"[\" ( value ( \",\" \" \"? value )* )? \"]\"\n"
    "string ::= \"\\\"\" ( [^\"\\\\\\x00-\\x1f] | \"\\\\\" ( [\"\\\\/bfnrt] | \"u\" [0-9a-fA-F]{4} ) ){0,512} \"\\\"\"\n"
    "number ::= \"-\"? ( \"0\" | [1-9] [0-9]{0,14} ) ( \".\" [0-9]{1,15} )?\n";

bool serve_grammar_of_gbnf(struct serve_request *q, const char *gbnf, const char *param,
                           struct serve_error *e)
{
    char why[GRAMMAR_PROBLEM_BYTES] = "";

    if (q->grammar != NULL) {
        return serve_refuse(e, 400, param, NULL,
                            "a request has one of grammar, response_format and tools");
    }
    if (grammar_compile_gbnf(gbnf, &q->grammar, &q->grammar_bytes, why) != ERR_OK) {
        q->grammar = NULL;
        return serve_refuse(e, 400, param, NULL, "%s", why);
    }
    return true;
}

static bool set_schema(struct serve_request *q, const cJSON *schema, struct serve_error *e)
{
    char why[GRAMMAR_PROBLEM_BYTES] = "", *gbnf = NULL, *text;
    bool good;

    if (!cJSON_IsObject(schema)) {
        return serve_refuse(e, 400, "response_format", NULL,
                            "response_format.json_schema.schema has to be an object");
    }
    text = cJSON_PrintUnformatted(schema);
    if (text == NULL) {
        return serve_refuse(e, 500, NULL, NULL, "out of memory");
    }
    good = grammar_gbnf_of_schema(text, &gbnf, why) == ERR_OK;
    free(text);
    if (!good) {
        return serve_refuse(e, 400, "response_format", NULL, "%s", why);
    }
    good = serve_grammar_of_gbnf(q, gbnf, "response_format", e);
    free(gbnf);
    return good;
}

bool serve_grammar_of_format(struct serve_request *q, const cJSON *format, struct serve_error *e)
{
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(format, "type"));

    if (type != NULL && strcmp(type, "text") == 0) {
        return true;
    }
    if (type != NULL && strcmp(type, "json_object") == 0) {
        return serve_grammar_of_gbnf(q, any_object, "response_format", e);
    }
    if (type != NULL && strcmp(type, "json_schema") == 0) {
        const cJSON *outer = cJSON_GetObjectItemCaseSensitive(format, "json_schema");

        return set_schema(q, cJSON_GetObjectItemCaseSensitive(outer, "schema"), e);
    }
    return serve_refuse(e, 400, "response_format", NULL,
                        "response_format.type has to be text, json_object or json_schema");
}

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

bool serve_grammar_of_text(struct serve_request *q, const cJSON *grammar, struct serve_error *e)
{
    const char *text = cJSON_GetStringValue(grammar);

    if (text == NULL) {
        return serve_refuse(e, 400, "grammar", NULL,
                            "grammar has to be a text: GBNF, or choices with bars between them");
    }
    if (strstr(text, "::=") != NULL) {
        return serve_grammar_of_gbnf(q, text, "grammar", e);
    }
    if (!grammar_is_choices(text) || q->grammar != NULL) {
        return serve_refuse(e, 400, "grammar", NULL,
                            "grammar is neither GBNF nor choices with bars between them, or there "
                            "is a response_format");
    }
    return set_choices(q, text, e);
}
