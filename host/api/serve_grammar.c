/* Grammars of requests: any object, and a grammar of the caller's own. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "host/api/serve_request.h"
#include "host/api/serve_hold.h"
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

static bool compile(struct api_request *q, const char *gbnf, const char *param, struct api_error *e)
{
    char why[GRAMMAR_ERROR_MESSAGE_BYTES] = "";
    void *grammar = NULL;
    size_t bytes = 0;

    if (grammar_compile_gbnf(gbnf, &grammar, &bytes, why) != ERR_OK) {
        return api_refuse(e, 400, param, NULL, "%s: %s", param, why);
    }
    return serve_request_hold(q, grammar, bytes, e);
}

static bool hold_object(struct api_reader *r)
{
    return compile(r->q, any_object, "response_format", r->e);
}

/* ---- grammar ----------------------------------------------------------------------------------- */

static bool set_choices(struct api_request *q, const char *text, struct api_error *e)
{
    const char *why = "";
    void *work = malloc(GRAMMAR_WORK_BYTES), *memory = malloc(INGOT_GRAMMAR_BYTES);
    enum err error = ERR_NO_SPACE;
    size_t bytes = 0;

    if (work != NULL && memory != NULL) {
        why = "";
        error = grammar_from_choices(text, memory, INGOT_GRAMMAR_BYTES, work, &bytes, &why);
    }
    free(work);
    if (error != ERR_OK) {
        free(memory);
        return api_refuse(e, 400, "grammar", NULL, "grammar: %s", why);
    }
    return serve_request_hold(q, memory, bytes, e);
}

static bool hold_grammar(struct api_reader *r, const char *text)
{
    if (strstr(text, "::=") != NULL) {
        return compile(r->q, text, "grammar", r->e);
    }
    if (!grammar_is_choices(text)) {
        return api_refuse(r->e, 400, "grammar", NULL,
                          "grammar is neither GBNF nor choices with bars between them");
    }
    return set_choices(r->q, text, r->e);
}

const struct api_holder serve_holder = {
    .hold = serve_hold,
    .object = hold_object,
    .grammar = hold_grammar,
};
