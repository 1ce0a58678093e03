/* Functions that a reply may call (runtime/api/api_call.h): the texts that a request's grammar
 * allows, the description for the model, the form of calls and results in the conversation, and
 * refused requests. */
#include <cjson/cJSON.h>

#include "runtime/api/api_call.h"
#include "host/api/serve_hold.h"
#include "host/api/serve_request.h"
#include "tests/unit/grammar/compiled.h"

#define USER "{\"role\":\"user\",\"content\":\"x\"}"
#define LIGHT \
    "{\"type\":\"function\",\"function\":{\"name\":\"light\",\"description\":\"A lamp\"," \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"on\":{\"$ref\":\"#/$defs/b\"}}," \
    "\"required\":[\"on\"],\"$defs\":{\"b\":{\"type\":\"boolean\"}}}}}"
#define LEVEL \
    "{\"type\":\"function\",\"function\":{\"name\":\"level\",\"parameters\":{\"type\":\"object\"," \
    "\"properties\":{\"to\":{\"$ref\":\"#/$defs/b\"}},\"required\":[\"to\"]," \
    "\"$defs\":{\"b\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9}}}}}"
#define NOW "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}"
#define TOOLS "[" LIGHT "," LEVEL "," NOW "]"
#define CALL(name, arguments) \
    API_CALL_MARK API_CALL_NAME name API_CALL_ARGUMENTS arguments API_CALL_END

static struct api_request request;
static struct api_error error_message;

/* Reads a body of messages and more fields; texts are tried on its grammar. */
static bool ask(const char *messages, const char *more)
{
    static const struct api_defaults defaults = { .model = "m", .sampler = { .repeat = 1 } };
    const char *why = "";
    char body[8192];

    serve_request_free(&request);
    error_message = (struct api_error){ .status = 0 };
    snprintf(body, sizeof body, "{%s,\"messages\":[%s]}", more, messages);
    if (!serve_request_read(&request, API_CHAT, body, strlen(body), &defaults, &error_message)) {
        printf("# %s\n", error_message.text);
        return false;
    }
    return request.grammar == NULL ||
           grammar_open(&compiled, request.grammar, request.grammar_bytes, &why) == ERR_OK;
}

static bool refused(const char *messages, const char *more, const char *param)
{
    return !ask(messages, more) && error_message.status == 400 &&
           strcmp(error_message.param, param) == 0;
}

static void check_texts(void)
{
    OK(ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"required\"") && request.may_call,
       "a reply has to be a call");
    OK(matches(CALL("light", "{\"on\": true}")) && matches("\n\n" CALL("level", "{\"to\":7}")) &&
           matches(CALL("now", "{}")),
       "each function takes its own arguments");
    OK(!matches(CALL("light", "{\"to\": 7}")) && !matches(CALL("level", "{\"to\": true}")) &&
           !matches(CALL("level", "{\"to\": 10}")) && !matches(CALL("now", "{\"on\": true}")),
       "no function takes another's arguments");
    OK(!matches("") && !matches("Hello") && !matches(CALL("lamp", "{}")) &&
           !matches(CALL("now", "{}") "x"),
       "no other text matches");
    OK(ask(USER, "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"level\"}},"
                 "\"tools\":" TOOLS) &&
           matches(CALL("level", "{\"to\": 3}")) && !matches(CALL("now", "{}")) &&
           !matches(CALL("light", "{\"on\": true}")),
       "only the function that is named may be called");
    OK(ask(USER, "\"tools\":" TOOLS) && request.may_call && matches(CALL("now", "{}")) &&
           matches("I look. " CALL("light", "{\"on\": false}")) && matches("") &&
           matches("Hello, \"you\" {a} <b>bold</b> << <t <to <too \xc3\xa9\n<toast>."),
       "a reply may be a call, prose, or prose before a call");
    OK(!matches("<tool_call>") && !matches("<tool_call>\nnow()") && !matches("<<tool_call>{") &&
           !matches("a <to<tool_call>\n{}") && !matches(CALL("now", "{}") CALL("now", "{}")),
       "prose does not begin a call that it does not finish");
    OK(ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"none\"") && !request.may_call &&
           request.grammar == NULL && !request.has_system,
       "tool_choice none is the same as no functions");
    OK(ask(USER, "\"tools\":[],\"tool_choice\":\"auto\"") && !request.may_call,
       "an empty list allows no call");
}

static void check_prompt(void)
{
    OK(ask("{\"role\":\"system\",\"content\":\"Be kind.\"}," USER, "\"tools\":" TOOLS) &&
           strncmp(request.system.bytes, "Be kind.\n\n", 10) == 0 &&
           strstr(request.system.bytes, "{\"name\":\"light\",\"description\":\"A lamp\","
                                        "\"parameters\":{\"type\":\"object\"") != NULL &&
           strstr(request.system.bytes, "{\"name\":\"now\",") != NULL &&
           strstr(request.system.bytes, CALL("NAME", "{...}")) != NULL,
       "functions and the form of a call are told after the caller's own words");
    OK(ask(USER
           ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
           "\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}},{\"id\":\"b\","
           "\"type\":\"function\",\"function\":{\"name\":\"level\",\"arguments\":"
           "\"{\\\"to\\\": 3}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"ok\"},"
           "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":"
           "\"noon\"}]}",
           "\"tools\":" TOOLS) &&
           request.n_turns == 2 &&
           strcmp(request.turns[0].reply.bytes,
                  CALL("now", "{}") "\n" CALL("level", "{\"to\": 3}")) == 0 &&
           strcmp(request.turns[1].user.bytes, "<tool_response>\nok\n</tool_response>\n\n"
                                               "<tool_response>\nnoon\n</tool_response>") == 0,
       "calls and their results become what the model writes and reads");
}

static void check_refused(void)
{
    static const char called[] = USER
        ",{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"now\","
        "\"arguments\":\"{}\"}}]},";
    char messages[512];

    OK(refused(USER, "\"tools\":[{\"type\":\"web\"}]", "tools") &&
           refused(USER, "\"tools\":{}", "tools") &&
           refused(USER, "\"tools\":[" NOW "," NOW "]", "tools") &&
           refused(USER, "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a b\"}}]",
                   "tools") &&
           refused(USER,
                   "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\",\"parameters\":"
                   "{\"type\":\"string\"}}}]",
                   "tools") &&
           refused(USER,
                   "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\",\"magic\":1}}]",
                   "tools") &&
           strstr(error_message.text, "magic") != NULL,
       "functions that are not in the form of functions are refused");
    OK(refused(USER, "\"tool_choice\":\"required\"", "tool_choice") &&
           refused(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"sometimes\"", "tool_choice") &&
           refused(USER,
                   "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"function\",\"function\":"
                   "{\"name\":\"lamp\"}}",
                   "tool_choice"),
       "choices that do not exist are refused");
    OK(refused(USER, "\"tools\":" TOOLS ",\"grammar\":\"a|b\"", "tools") &&
           refused(USER, "\"response_format\":{\"type\":\"json_object\"},\"grammar\":\"a|b\"",
                   "response_format"),
       "a second grammar is refused");
    snprintf(messages, sizeof messages, "%s%s", called,
             "{\"role\":\"tool\",\"tool_call_id\":\"z\",\"content\":\"x\"}");
    OK(refused(messages, "\"n\":1", "messages") &&
           refused("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"}", "\"n\":1",
                   "messages"),
       "a result that belongs to no call is refused");
}

#define NUMBER \
    "{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},\"required\":[\"sum\"]," \
    "\"additionalProperties\":false}"
#define FORMAT \
    "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":" NUMBER \
    "}}"

/* A call or the answer is allowed, and nothing else. */
static void check_formats(void)
{
    OK(ask(USER, FORMAT ",\"tools\":" TOOLS) && request.may_call && matches("{\"sum\":4}") &&
           matches(CALL("now", "{}")) && !matches("Hello") && !matches("") &&
           !matches("{\"sum\":4}" CALL("now", "{}")),
       "functions may stand beside a format");
    OK(ask(USER, FORMAT ",\"tools\":" TOOLS ",\"tool_choice\":\"required\"") &&
           !matches("{\"sum\":4}") && matches(CALL("now", "{}")),
       "a call that has to come leaves no room for the format");
    OK(ask(USER, FORMAT ",\"tools\":" TOOLS ",\"tool_choice\":\"none\"") && !request.may_call &&
           matches("{\"sum\":4}") && !matches(CALL("now", "{}")),
       "only the format is left without calls");
    OK(ask(USER, "\"response_format\":{\"type\":\"json_object\"},\"tools\":" TOOLS) &&
           matches("{\"a\":[1]}") && matches(CALL("now", "{}")) && !matches("x"),
       "a reply may be any object, or a call");
    OK(ask(USER, "\"response_format\":{\"type\":\"json_object\",\"schema\":" NUMBER "}") &&
           matches("{\"sum\":4}") && !matches("{\"a\":1}"),
       "json_object may have a schema");
    OK(ask(USER, "\"response_format\":{\"type\":\"json_schema\",\"schema\":" NUMBER "}") &&
           matches("{\"sum\":4}") && !matches("{\"a\":1}") &&
           ask(USER, "\"json_schema\":" NUMBER) && matches("{\"sum\":4}") && !matches("{\"a\":1}"),
       "a schema may be beside the type, or a field of its own");
    OK(ask(USER, "\"response_format\":{\"type\":\"text\"}") && request.grammar == NULL &&
           refused(USER, "\"response_format\":{\"type\":\"json_object\",\"schema_\":{}}",
                   "response_format") &&
           strstr(error_message.text, "schema_") != NULL &&
           refused(USER, "\"response_format\":{\"type\":\"json_schema\"}", "response_format"),
       "a member that nobody knows is refused");
}

static void check_choices(void)
{
    OK(ask(USER,
           "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":"
           "{\"mode\":\"required\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
           "\"now\"}},{\"type\":\"function\",\"name\":\"level\"}]}}") &&
           matches(CALL("now", "{}")) && matches(CALL("level", "{\"to\":1}")) &&
           !matches(CALL("light", "{\"on\":true}")) && !matches("x"),
       "one of the allowed_tools has to be called if they are required");
    OK(ask(USER,
           "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\","
           "\"tools\":[{\"type\":\"function\",\"name\":\"now\"}]}") &&
           matches(CALL("now", "{}")) && !matches(CALL("level", "{\"to\":1}")) && matches("x"),
       "one of the allowed_tools may be called");
    OK(ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"function\",\"name\":\"now\"}") &&
           matches(CALL("now", "{}")) && !matches("x") &&
           ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"any\"") && !matches("x") &&
           ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"required\"}") &&
           !matches("x"),
       "other forms of tool_choice mean the same");
    OK(ask(USER, "\"tools\":" TOOLS ",\"parallel_tool_calls\":true") &&
           matches(CALL("now", "{}") "\n" CALL("level", "{\"to\":1}")) &&
           ask(USER, "\"tools\":" TOOLS ",\"parallel_tool_calls\":false") &&
           !matches(CALL("now", "{}") "\n" CALL("now", "{}")),
       "several calls are allowed if they are asked for");
    OK(ask(USER,
           "\"tools\":[{\"type\":\"function\",\"name\":\"flat\",\"parameters\":{\"properties\":"
           "{\"a\":{\"type\":\"null\"}}}}]") &&
           matches(CALL("flat", "{\"a\":null}")) && !matches(CALL("flat", "{\"a\":1}")),
       "a function's members may be beside its type, and parameters may lack a type");
}

/* One keyword of one function refuses nothing. */
static void check_keywords(void)
{
    static const char tools[] =
        "\"tools\":[" NOW
        ",{\"type\":\"function\",\"function\":{\"name\":\"search\",\"parameters\":{"
        "\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"exclusiveMinimum\":0},\"f\":{"
        "\"type\":\"object\",\"properties\":{\"id\":{\"not\":{\"type\":\"null\"}}}},\"p\":{\"type\":"
        "\"string\",\"pattern\":\"(?<=a)b\"}}}}},{\"type\":\"function\",\"function\":{\"name\":\"never\","
        "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":false},\"required\":[\"a\"]}}}]";
    static const struct api_text
        good = { .bytes = (char *)CALL("search", "{\"f\":{\"id\":1}}"),
                 .n = sizeof CALL("search", "{\"f\":{\"id\":1}}") - 1 },
        bad = { .bytes = (char *)CALL("search", "{\"f\":{\"id\":null}}"),
                .n = sizeof CALL("search", "{\"f\":{\"id\":null}}") - 1 },
        part = {
            .bytes =
                (char *)"<tool_call>\n{\"name\": \"search\", \"arguments\": {\"f\":{\"id\":nul",
            .n = 58
        };
    char why[200];

    OK(ask(USER, tools) && matches(CALL("now", "{}")) && matches(CALL("search", "{\"n\":1}")) &&
           !matches(CALL("search", "{\"n\":0}")) && !matches(CALL("never", "{}")),
       "the reply follows the grammar");
    OK(strstr(api_text_shown(&request.warnings),
              "\"tools, function search: /properties/f/properties/id/not is not enforced by the "
              "grammar; the finished reply is checked against it\"") != NULL &&
           strstr(request.warnings.bytes,
                  "function search: /properties/p/pattern is not enforced by the grammar, and not "
                  "checked either") != NULL &&
           strstr(request.warnings.bytes, "function never: no arguments") != NULL,
       "a warning names what the grammar does not enforce: %s", api_text_shown(&request.warnings));
    OK(serve_check_reply(&request, &good, false, why, sizeof why) &&
           !serve_check_reply(&request, &bad, false, why, sizeof why) &&
           strcmp(
               why,
               "the call of search: /properties/f/properties/id/not of the schema is not satisfied") ==
               0,
       "the finished reply is checked: %s", why);
    OK(!serve_check_reply(&request, &bad, true, why, sizeof why) &&
           serve_check_reply(&request, &part, true, why, sizeof why),
       "a call that a limit led to its end is checked, and one that it cut is not");
    OK(ask(USER,
           "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":"
           "{\"type\":\"string\",\"pattern\":\"(?<=a)b\"}}}") &&
           request.warnings.n != 0 &&
           refused(
               USER,
               "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\","
               "\"strict\":true,\"schema\":{\"properties\":{\"x\":{\"type\":\"string\",\"pattern\":"
               "\"(?<=a)b\"}}}}}",
               "response_format") &&
           strstr(error_message.text, "/properties/x/pattern") != NULL,
       "strict refuses a pattern that is not enforced: %s", error_message.text);
}

/* Makes n functions of twenty numbers each, whose names have at least so many characters. True:
 * they are accepted. */
static bool ask_many(unsigned n, int name)
{
    struct api_text body = { .n = 0 };
    const struct api_defaults defaults = { .model = "m", .sampler = { .repeat = 1 } };
    bool good;

    (void)serve_text_say(&body, "{\"messages\":[" USER "],\"tools\":[");
    for (unsigned i = 0; i < n; i++) {
        (void)serve_text_say(
            &body,
            "%s{\"type\":\"function\",\"function\":{\"name\":\"f%0*u\",\"parameters\":{"
            "\"type\":\"object\",\"properties\":{",
            i != 0 ? "," : "", name - 1, (i + 1) * 2654435761u);
        for (unsigned j = 0; j < 20; j++) {
            (void)serve_text_say(&body, "%s\"long_name_%u_%u\":{\"type\":\"number\"}",
                                 j != 0 ? "," : "", i, j);
        }
        (void)serve_text_say(&body, "}}}}");
    }
    (void)serve_text_say(&body, "]}");
    serve_request_free(&request);
    error_message = (struct api_error){ .status = 0 };
    good = serve_request_read(&request, API_CHAT, body.bytes, body.n, &defaults, &error_message);
    serve_text_free(&body);
    return good;
}

/* 53 of them. */
#define ZEROS "00000000000000000000000000000000000000000000000000000"

/* Whether the grammar and the check accept it. */
static bool reply_is_good(const char *text)
{
    struct api_text reply = { .n = 0 };
    const char *why = "";
    char said[200];
    bool good;

    (void)serve_text_add(&reply, text, strlen(text));
    good = grammar_open(&compiled, request.grammar, request.grammar_bytes, &why) == ERR_OK &&
           matches(text) && serve_check_reply(&request, &reply, false, said, sizeof said);
    serve_text_free(&reply);
    return good;
}

static void check_many(void)
{
    OK(ask_many(40, 1) && request.n_checked != 0 && request.n_checked < 40 &&
           request.warnings.n != 0,
       "%u functions that are too large for one grammar are checked afterwards %s",
       request.n_checked, error_message.text);
    OK(ask_many(128, 1) && request.n_checked != 0,
       "as many functions as allowed are taken, %u checked afterwards %s", request.n_checked,
       error_message.text);
    OK(ask_many(128, 64) && request.n_checked == 128,
       "functions with the longest names are taken, %u checked afterwards %s", request.n_checked,
       error_message.text);
    OK(reply_is_good(CALL("f" ZEROS "2654435761", "{\"long_name_0_0\":1}")) &&
           !reply_is_good(CALL("f" ZEROS "2654435761", "{\"long_name_0_0\":true}")) &&
           !reply_is_good(CALL("f" ZEROS "2654435762", "{\"long_name_0_0\":1}")) &&
           reply_is_good("Hello."),
       "the names of these functions are checked afterwards, too");
}

/* Histories from other servers and models. */
static void check_histories(void)
{
    static const char *const arguments[][2] = { { "\"\"", "{}" },
                                                { "null", "{}" },
                                                { "\"{\\\"a\\\": 7, \\\"b\"", "{\"a\": 7, \"b" },
                                                { "\"null\"", "null" },
                                                { "\"noon\"", "noon" },
                                                { "{\"a\":1}", "{\"a\":1}" } };
    char messages[600], want[200];

    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        snprintf(
            messages, sizeof messages,
            USER
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
            "\"function\",\"function\":{\"name\":\"now\",\"arguments\":%s}}]},{\"role\":\"tool\","
            "\"tool_call_id\":\"a\",\"content\":null}",
            arguments[i][0]);
        snprintf(want, sizeof want,
                 API_CALL_MARK API_CALL_NAME "now" API_CALL_ARGUMENTS "%s" API_CALL_END,
                 arguments[i][1]);
        OK(ask(messages, "\"n\":1") && strcmp(request.turns[0].reply.bytes, want) == 0,
           "arguments may be a text or an object: %s", arguments[i][0]);
    }
    OK(ask(USER
           ",{\"role\":\"assistant\",\"content\":\"a\"},{\"role\":\"developer\",\"content\":\"Be short.\"}," USER,
           "\"n\":1") &&
           request.n_turns == 2 && request.turns[1].instructed &&
           strcmp(request.turns[1].system.bytes, "Be short.") == 0 && !request.has_system,
       "instructions may be in the middle");
    OK(ask("{\"role\":\"assistant\",\"content\":\"Hi!\"}," USER, "\"n\":1") &&
           request.n_turns == 2 && !request.turns[0].spoken && request.turns[1].spoken,
       "a greeting may come before anybody asks");
    OK(ask(USER ",{\"role\":\"assistant\",\"content\":null,\"refusal\":\"No.\"}," USER,
           "\"n\":1") &&
           strcmp(request.turns[0].reply.bytes, "No.") == 0 &&
           ask(USER
               ",{\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]}," USER,
               "\"n\":1") &&
           strcmp(request.turns[0].reply.bytes, "No.") == 0,
       "a refusal becomes the words of the assistant");
    OK(ask("{\"role\":\"user\",\"content\":\"cut \\udc4d, \\ud83d, \\ud83d\\ude00 \\\\ud83d\"}",
           "\"n\":1") &&
           strcmp(request.turns[0].user.bytes,
                  "cut \xef\xbf\xbd, \xef\xbf\xbd, \xf0\x9f\x98\x80 \\ud83d") == 0,
       "halves of surrogate pairs are replaced");
    OK(refused(USER ",{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}",
               "\"n\":1", "messages") &&
           strstr(error_message.text, "messages[1]") != NULL &&
           strstr(error_message.text, "image_url") != NULL,
       "the error names the message that is wrong: %s", error_message.text);
}

static void check_fields(void)
{
    OK(ask(USER,
           "\"service_tier\":\"auto\",\"verbosity\":\"low\",\"safety_identifier\":\"u\",\"modalities\":"
           "[\"text\"],\"prompt_cache_key\":\"k\",\"cache_prompt\":true,\"function_call\":\"none\","
           "\"reasoning_effort\":\"low\",\"stream_options\":{\"include_obfuscation\":false}") &&
           !request.no_thinking && ask(USER, "\"reasoning_effort\":\"none\"") &&
           request.no_thinking,
       "hints are accepted");
    OK(ask(USER, "\"seed\":-1") && !request.seeded && ask(USER, "\"seed\":-7") && request.seeded &&
           request.sampler.seed == (uint64_t)-7 && ask(USER, "\"seed\":9223372036854775807") &&
           ask(USER, "\"seed\":18446744073709551615") && request.seeded &&
           refused(USER, "\"seed\":1.5", "seed") &&
           strcmp(error_message.text, "seed has to be a whole number of 64 bits") == 0,
       "a seed has 64 bits: %s", error_message.text);
    OK(ask(USER,
           "\"top_p\":0,\"top_k\":-1,\"repetition_penalty\":1,\"max_tokens\":-1,\"min_p\":0") &&
           request.n == 0 && request.sampler.top_k == 0 &&
           refused(USER, "\"max_tokens\":0", "max_tokens") &&
           refused(USER, "\"unheard_of\":1", "unheard_of") &&
           strstr(error_message.text, "unheard_of") != NULL &&
           refused(USER, "\"stream_options\":{\"odd\":1}", "stream_options") &&
           strstr(error_message.text, "odd") != NULL,
       "neutral values are accepted, and errors name the field: %s", error_message.text);
}

static void check_sampling(void)
{
    OK(ask(USER, "\"seed\":9007199254740993") && request.sampler.seed == 9007199254740993u &&
           ask(USER, "\"metadata\":{\"seed\":\"4\"},\"seed\" : -9223372036854775808") &&
           request.sampler.seed == (uint64_t)1 << 63 &&
           ask(USER, "\"seed\":18446744073709551614") && request.sampler.seed == UINT64_MAX - 1 &&
           ask(USER, "\"seed\":4e3") && request.sampler.seed == 4000,
       "each bit of a seed counts");
    OK(ask(USER, "\"presence_penalty\":-2,\"frequency_penalty\":0.5,\"repeat_last_n\":-1") &&
           request.sampler.presence == -2 && request.sampler.frequency == 0.5f &&
           request.sampler.repeat_last == 1 << 20 &&
           refused(USER, "\"presence_penalty\":2.5", "presence_penalty"),
       "penalties are read");
    OK(ask(USER, "\"logit_bias\":{\"5\":-100,\"a b\":1.5,\"7\":false}") &&
           strcmp(request.biases.bytes, "[[5,-100],[\"a b\",1.5],[7,false]]") == 0 &&
           ask(USER, "\"logit_bias\":[[5,1],[\"x\",false]]") &&
           strcmp(request.biases.bytes, "[[5,1],[\"x\",false]]") == 0 &&
           ask(USER, "\"logit_bias\":{}") && request.biases.n == 0 &&
           refused(USER, "\"logit_bias\":{\"5\":101}", "logit_bias") &&
           strstr(error_message.text, "logit_bias[5]") != NULL,
       "biases are read: %s", error_message.text);
    OK(ask(USER, "\"typical_p\":1,\"prediction\":{},\"dry_base\":2") &&
           refused(USER, "\"typical_p\":0.9", "typical_p") && refused(USER, "\"user\":5", "user") &&
           strcmp(error_message.text, "user has to be a text") == 0,
       "neutral values of other samplers are accepted, and hints have types: %s",
       error_message.text);
}

static void check_found(void)
{
    static const char text[] = "Well. " CALL("light", "{\"a\": \"}\\\"]\", \"b\": [1, {}]}");
    struct api_call c;

    api_call_find(&c, text, strlen(text), true);
    OK(c.whole && c.content == strlen("Well.") && c.name_bytes == 5 &&
           c.arguments_bytes == strlen("{\"a\": \"}\\\"]\", \"b\": [1, {}]}") &&
           memcmp(c.arguments, "{\"a\"", 4) == 0,
       "the parts of a call are found");
    api_call_find(&c, text, strlen(text) - 20, true);
    OK(c.found && !c.whole, "a call that was cut is not whole");
    api_call_find(&c, "Hi <tool", 8, false);
    OK(!c.found && c.content == 2, "text that may begin a call waits");
    api_call_find(&c, "Hi <tool", 8, true);
    OK(!c.found && c.content == 8, "text that may begin a call is text when the reply has ended");
    {
        static const char two[] = "A " CALL("now", "{}") "\n" CALL("level", "{\"to\": 1}");

        api_call_find(&c, two, strlen(two), true);
        OK(c.whole && api_call_next(&c, two, strlen(two)) && c.name_bytes == 5 && c.whole &&
               c.content == 1 && !api_call_next(&c, two, strlen(two)),
           "one call comes after the other");
    }
}

int main(void)
{
    check_texts();
    check_prompt();
    check_refused();
    check_formats();
    check_choices();
    check_keywords();
    check_many();
    check_histories();
    check_fields();
    check_sampling();
    check_found();
    serve_request_free(&request);
    return tap_done();
}
