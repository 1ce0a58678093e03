/* How a board holds replies: which texts the grammars of functions and of schemas allow, what no way holds is named, and what is too large
 * is refused. Each text is read by the machine of a board. */
#include <string.h>

#include "runtime/api/api_call.h"
#include "runtime/api/api_limits.h"
#include "runtime/api/api_request.h"
#include "runtime/features/grammar/grammar_machine.h"
#include "tests/unit/tap.h"

#define CALL(name, arguments) \
    API_CALL_MARK API_CALL_NAME name API_CALL_ARGUMENTS arguments API_CALL_END

static uint64_t room[24 * 1024];
static char body[16384];
static struct api_request request;
static struct api_error error;
static struct grammar grammar;
static struct grammar_machine machine;

/* A chat with more fields; its grammar is the one that texts are held against. */
static bool ask_in(const char *more, size_t bytes)
{
    static const struct api_defaults defaults = { .sampler = { .repeat = 1 },
                                                  .holder = &api_holder };
    static struct api_memory m;
    const char *why = "";

    (void)snprintf(body, sizeof body, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],%s}",
                   more);
    api_memory_open(&m, room, bytes);
    memset(&request, 0, sizeof request);
    memset(&error, 0, sizeof error);
    request.memory = &m;
    if (!api_request_read(&request, API_CHAT, body, strlen(body), &defaults, &error)) {
        return false;
    }
    if (request.grammar != NULL &&
        grammar_open(&grammar, request.grammar, request.grammar_bytes, &why) != ERR_OK) {
        printf("Bail out! what was made is refused: %s\n", why);
        return false;
    }
    return request.grammar != NULL;
}

static bool ask(const char *more)
{
    bool good = ask_in(more, sizeof room);

    if (!good) {
        printf("# %s: %s\n", more, error.text);
    }
    return good;
}

static bool matches(const char *s)
{
    unsigned level = 0;

    grammar_begin(&machine, &grammar);
    for (; *s != '\0'; s++) {
        if (!grammar_push(&machine, level, (uint8_t)*s)) {
            return false;
        }
        if (++level == 7) { /* as tokens are */
            grammar_settle(&machine, level);
            level = 0;
        }
    }
    return grammar_accepts(&machine, level);
}

#define SCHEMA(text) \
    "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":" text \
    "}}"
#define OBJECT(members, required) \
    "{\"type\":\"object\",\"properties\":{" members "},\"required\":[" required "]}"

static void test_values(void)
{
    OK(ask(SCHEMA("{\"type\":\"integer\"}")) && matches("0") && matches("-17") &&
           matches("123456789012345") && !matches("1.5") && !matches("01") &&
           !matches("1234567890123456") && !matches("") && !matches("-"),
       "a schema of integers takes whole numbers only");
    OK(ask(SCHEMA("{\"type\":\"number\"}")) && matches("0") && matches("-1.25") && !matches("1.") &&
           !matches(".5"),
       "a schema of numbers takes fractions as well");
    OK(ask(SCHEMA("{\"type\":\"integer\",\"minimum\":0}")) && matches("7") && !matches("-7") &&
           ask(SCHEMA("{\"type\":\"integer\",\"minimum\":-1,\"maximum\":11}")) && matches("-1") &&
           matches("11") && !matches("12") && !matches("-2"),
       "bounds of integers are enforced");
    OK(ask(SCHEMA("{\"type\":\"string\"}")) && matches("\"\"") &&
           matches("\"a \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\n\\u00e9\"") && !matches("\"a") &&
           !matches("\"\n\"") && !matches("\"\\x\"") && !matches("\"\xc3\"") &&
           !matches("\"\xed\xa0\x80\""),
       "texts are UTF-8 with escapes");
    OK(ask(SCHEMA("{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}")) && !matches("\"a\"") &&
           matches("\"ab\"") &&
           matches("\"\xc3\xa9"
                   "bc\"") &&
           !matches("\"abcd\""),
       "lengths count characters");
    OK(ask(SCHEMA("{\"type\":\"boolean\"}")) && matches("true") && matches("false") &&
           !matches("null") && ask(SCHEMA("{\"type\":[\"null\",\"boolean\"]}")) &&
           matches("null") && matches("true"),
       "a schema of words or of several types takes these only");
    OK(ask(SCHEMA("{\"enum\":[\"a\\\"b\",3,null,{\"x\":[1]}]}")) && matches("\"a\\\"b\"") &&
           matches("3") && matches("null") && matches("{\"x\":[1]}") && !matches("\"a\"") &&
           ask(SCHEMA("{\"const\":\"on\"}")) && matches("\"on\"") && !matches("\"off\""),
       "enum and const take the values that they name, and no other");
    OK(ask(SCHEMA("{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}")) && matches("1") &&
           matches("\"\"") && !matches("true"),
       "anyOf takes one of several types");
    OK(ask(SCHEMA(
           "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":3}")) &&
           !matches("[]") && !matches("[1]") && matches("[1,2]") && matches("[ 1, 2,\n  3 ]") &&
           !matches("[1,2,3,4]") && !matches("[1,2,]"),
       "the lengths of lists are enforced");
    OK(ask(SCHEMA("{\"type\":\"number\",\"minimum\":0,\"maximum\":1}")) && matches("0") &&
           matches("0.25") && matches("1") && !matches("1.5") && !matches("-0.5") && !matches("2"),
       "a range of numbers is enforced");
    OK(ask(SCHEMA("{\"type\":\"string\",\"format\":\"date\"}")) && matches("\"2026-11-28\"") &&
           !matches("\"2026-13-01\"") && !matches("\"2026-1-1\"") && !matches("\"0000-01-01\"") &&
           ask(SCHEMA("{\"type\":\"string\",\"format\":\"date-time\"}")) &&
           matches("\"2026-11-28T23:59:00Z\"") && !matches("\"2026-11-28T24:00:00Z\""),
       "a date has the form of a date");
    OK(ask(SCHEMA(
           "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"null\"}],\"minItems\":2,\"maxItems\":2}")) &&
           matches("[1, null]") && !matches("[1]") && !matches("[null,1]") &&
           !matches("[1,null,1]"),
       "a tuple has its items in their order");
    OK(ask(SCHEMA("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}")) && matches("[]") &&
           matches("[1]") && matches("[1,2,3]"),
       "a list without bounds takes any number of items");
}

static void test_objects(void)
{
    OK(ask(SCHEMA(OBJECT(
           "\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"},\"c\":{\"type\":\"null\"}",
           "\"b\""))) &&
           matches("{\"a\":1,\"b\":true,\"c\":null}") && matches("{\"b\":true}") &&
           matches("{ \"a\": 1, \"b\": false }") &&
           matches("{\n  \"b\": true,\n  \"c\": null\n}") && !matches("{}") &&
           !matches("{\"a\":1}") && !matches("{\"b\":true,\"a\":1}") && !matches("{\"b\":true,}") &&
           !matches("{,\"b\":true}") && !matches("{\"b\":true,\"d\":1}"),
       "members come in their order, and may be left out unless required");
    OK(ask(SCHEMA(OBJECT("\"a\":" OBJECT("\"b\":{\"type\":\"array\",\"items\":" OBJECT(
                                             "\"c\":{\"type\":\"string\"}", "\"c\"") "}",
                                         "\"b\""),
                         "\"a\""))) &&
           matches("{\"a\":{\"b\":[{\"c\":\"x\"},{\"c\":\"y\"}]}}") &&
           matches("{\"a\":{\"b\":[]}}") && !matches("{\"a\":{\"b\":[{}]}}"),
       "objects in lists in objects are enforced");
    OK(ask("\"response_format\":{\"type\":\"json_object\"}") && matches("{}") &&
           matches("{\"a\":[1,{\"b\":[true,null]}],\"c\":\"x\"}") && !matches("[]") &&
           !matches("{\"a\"}"),
       "json_object takes any object, and nothing else");
    OK(ask(SCHEMA("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}")) &&
           matches("{\"a\":1,\"b\":2}") && !matches("{\"a\":\"x\"}") &&
           ask(SCHEMA("{\"type\":\"object\",\"additionalProperties\":false}")) && matches("{}") &&
           !matches("{\"a\":1}"),
       "members of any name have the type that is asked for");
    OK(ask(SCHEMA(
           "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"},\"maxProperties\":2}")) &&
           matches("{\"a\":1,\"b\":2}") && !matches("{\"a\":1,\"b\":2,\"c\":3}"),
       "the number of members is enforced");
    OK(ask(SCHEMA("{\"$ref\":\"#/$defs/list\",\"$defs\":{\"list\":" OBJECT(
           "\"v\":{\"type\":\"integer\"},\"next\":{\"anyOf\":[{\"$ref\":\"#/$defs/list\"},{\"type\":\"null\"}]}",
           "\"v\",\"next\"") "}}")) &&
           matches("{\"v\":1,\"next\":{\"v\":2,\"next\":null}}") &&
           !matches("{\"v\":1,\"next\":{}}"),
       "a schema that names itself takes values in each other");
}

#define USER_TOOLS \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"light\",\"parameters\":" OBJECT( \
        "\"on\":{\"type\":\"boolean\"}", \
        "\"on\"") "}}," \
                  "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]"

static void test_calls(void)
{
    OK(ask(USER_TOOLS ",\"tool_choice\":\"required\"") && request.may_call &&
           matches(CALL("light", "{\"on\": true}")) && matches("\n\n" CALL("now", "{}")) &&
           !matches("") && !matches("Hello") && !matches(CALL("now", "{\"on\": true}")) &&
           !matches(CALL("lamp", "{}")) && !matches(CALL("now", "{}") "x") &&
           !matches(CALL("now", "{}") "\n" CALL("now", "{}")),
       "a reply has to be a call");
    OK(ask(USER_TOOLS ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"now\"}}") &&
           matches(CALL("now", "{}")) && !matches(CALL("light", "{\"on\": true}")),
       "a reply has to be a call of the function that is named");
    OK(ask(USER_TOOLS) && matches("") &&
           matches("Hello, \"you\" {a} <b>bold</b> << <t <to <too \xc3\xa9\n<toast>.") &&
           matches(CALL("now", "{}")) && matches("I look. " CALL("light", "{\"on\": false}")) &&
           matches("<<to" CALL("now", "{}")),
       "a reply may be a call, prose, or prose before a call");
    OK(!matches("<tool_call>") && !matches("<tool_call>\nnow()") &&
           !matches("a <to<tool_call>\n{}") && !matches(CALL("now", "{}") CALL("now", "{}")) &&
           !matches("<tool"),
       "prose does not begin a call that it does not finish");
    OK(ask(USER_TOOLS ",\"parallel_tool_calls\":true") &&
           matches(CALL("now", "{}") "\n" CALL("light", "{\"on\": true}")) &&
           !matches(CALL("now", "{}") "\n"),
       "several calls in one reply are taken");
    OK(ask(USER_TOOLS "," SCHEMA("{\"type\":\"integer\"}")) && matches("7") &&
           matches(CALL("now", "{}")) && !matches("seven"),
       "a reply may be a call, or the form that is asked for");
    OK(strstr(request.system.bytes, "{\"name\":\"light\",\"parameters\":{\"type\":\"object\"") !=
           NULL,
       "the system message tells the model about the functions");
}

#define DEFS "\"$defs\":{\"a\":{\"type\":\"string\"}}}"

/* True if a schema brings a warning about this keyword; NULL: no warning. */
static bool warns(const char *keyword, const char *schema)
{
    char text[512], wanted[64];
    bool good;

    snprintf(text, sizeof text, SCHEMA("%s"), schema);
    snprintf(wanted, sizeof wanted, "%s is not enforced", keyword != NULL ? keyword : "");
    good = ask(text) && (request.warnings.n != 0) == (keyword != NULL) &&
           (keyword == NULL || strstr(request.warnings.bytes, wanted) != NULL);
    if (!good) {
        printf("# %s: %s\n", schema, request.warnings.n != 0 ? request.warnings.bytes : "");
    }
    return good;
}

static void test_unheld(void)
{
    OK(ask(SCHEMA("{\"type\":\"string\",\"pattern\":\"^a+$\"}")) &&
           strstr(request.warnings.bytes, "pattern is not enforced") != NULL,
       "a warning names a keyword that is not enforced");
    OK(!ask_in(
           "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"strict\":true,\"schema\":{\"type\":\"string\",\"pattern\":\"^a+$\"}}}",
           sizeof room) &&
           error.status == 400 && strstr(error.text, "pattern is not supported") != NULL,
       "strict refuses a keyword that is not enforced");
    OK(ask(SCHEMA("{\"$ref\":\"http://elsewhere/\"}")) &&
           strstr(request.warnings.bytes, "$ref is not enforced") != NULL && matches("[1]"),
       "a reference to another document is not enforced, and a warning says so");
    OK(ask(SCHEMA("{\"type\":\"object\",\"properties\":[\"a\",{}],\"required\":[\"a\"]}")) &&
           strstr(request.warnings.bytes, "properties is not enforced") != NULL &&
           ask(SCHEMA("{\"anyOf\":[[\"a\"],{\"type\":\"null\"}]}")) &&
           strstr(request.warnings.bytes, "a list in place of a schema is not enforced") != NULL,
       "a list in place of an object of schemas, or of a schema, is not enforced");
    OK(ask(SCHEMA("{\"type\":\"object\",\"required\":[\"a\"]}")) &&
           strstr(request.warnings.bytes, "required is not enforced") != NULL &&
           ask(SCHEMA(OBJECT("\"a\":{\"type\":\"null\",\"required\":true}", ""))) &&
           strstr(request.warnings.bytes, "required is not enforced") != NULL,
       "members without a description, and required that is not a list, are not enforced");
    OK(ask(SCHEMA("{\"properties\":{\"a\":{}},\"anyOf\":[{\"required\":[\"a\"]},{}]}")) &&
           strstr(request.warnings.bytes, "properties is not enforced") != NULL &&
           ask(SCHEMA("{\"allOf\":[{\"type\":\"array\"}],\"maxItems\":2}")) &&
           strstr(request.warnings.bytes, "maxItems is not enforced") != NULL &&
           ask(SCHEMA("{\"$ref\":\"#/$defs/a\",\"minLength\":2,\"$defs\":{\"a\":{}}}")) &&
           strstr(request.warnings.bytes, "minLength is not enforced") != NULL,
       "keywords beside anyOf, allOf and $ref are not enforced");
    OK(warns("minLength", "{\"minLength\":2}") &&
           warns("prefixItems", "{\"type\":\"array\",\"prefixItems\":[{}],\"minItems\":2}") &&
           warns("required", "{\"type\":\"object\",\"required\":7}") &&
           warns("required", "{\"properties\":{},\"required\":[7]}") &&
           warns("enum", "{\"$ref\":\"#/$defs/a\",\"enum\":[\"x\"]," DEFS) &&
           warns("anyOf", "{\"$ref\":\"#/$defs/a\",\"anyOf\":[{}]," DEFS) &&
           warns("oneOf", "{\"anyOf\":[{}],\"oneOf\":[{}]}") &&
           warns("allOf", "{\"anyOf\":[{}],\"allOf\":[{}]}") &&
           warns("anyOf", "{\"enum\":[1,2],\"anyOf\":[{\"type\":\"string\"}]}") &&
           warns("maxLength", "{\"enum\":[\"aa\",\"b\"],\"maxLength\":1}") &&
           warns("enum", "{\"const\":1,\"enum\":[2]}") &&
           warns("minimum", "{\"minimum\":0,\"anyOf\":[{}]}") &&
           warns("additionalProperties", "{\"additionalProperties\":false,\"anyOf\":[{}]}") &&
           warns("format", "{\"format\":\"date\",\"anyOf\":[{}]}") &&
           warns("type", "{\"type\":\"string\",\"anyOf\":[{},{\"maxLength\":3}]}"),
       "what is not enforced beside a keyword that is brings a warning");
    OK(warns(NULL, "{\"anyOf\":[{}],\"required\":[],\"properties\":{},\"minLength\":0,"
                   "\"additionalProperties\":true,\"items\":true}") &&
           warns(NULL, "{\"type\":\"string\",\"enum\":[\"a\"],\"required\":false}") &&
           warns(NULL, "{\"type\":\"string\",\"const\":\"a\",\"enum\":[\"a\"]}") &&
           warns(NULL, "{\"type\":\"integer\",\"const\":1,\"enum\":[1]}") &&
           warns(NULL,
                 "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\"},{\"type\":\"string\"}]}") &&
           warns(NULL, "{\"type\":\"object\",\"anyOf\":[{\"properties\":{\"a\":{}}}]}") &&
           warns(NULL,
                 "{\"type\":[\"string\",\"null\"],\"allOf\":[{\"$ref\":\"#/$defs/a\"}]," DEFS) &&
           warns(NULL, "{\"type\":\"string\",\"$ref\":\"#/$defs/a\"," DEFS),
       "what restricts nothing more beside such a keyword brings no warning");
    OK(ask(SCHEMA("{\"type\":\"string\",\"title\":\"t\",\"description\":\"d\"}")) &&
           request.warnings.n == 0 && ask(SCHEMA(OBJECT("", ""))) && request.warnings.n == 0 &&
           ask(SCHEMA("{\"type\":\"object\",\"required\":[]}")) && request.warnings.n == 0,
       "a keyword that restricts nothing brings no warning");
}

/* With little memory a request is refused, and no byte beyond it is written. */
static void test_room(void)
{
    unsigned wrong = 0, refused = 0;

    for (size_t n = 0; n < sizeof room - 8; n += 64) {
        memset((char *)room + n, 0x5a, 8);
        if (!ask_in(USER_TOOLS ",\"tool_choice\":\"required\"", n)) {
            refused++;
            wrong += error.status != 413;
        }
        wrong += ((char *)room)[n] != 0x5a;
    }
    OK(wrong == 0 && refused > 50 && refused < 1000,
       "a request is refused if memory ends anywhere: %u times", refused);
}

int main(void)
{
    test_values();
    test_objects();
    test_calls();
    test_unheld();
    test_room();
    return tap_done();
}
