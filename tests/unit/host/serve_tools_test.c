/* Functions that a reply may call (host/serve_tools.c): which texts the grammar of a request allows, how the model is told, how calls and
 * what they gave stand in the conversation, what is refused. */
#include <cjson/cJSON.h>

#include "host/serve_call.h"
#include "host/serve_request.h"
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
    SERVE_CALL_MARK SERVE_CALL_NAME name SERVE_CALL_ARGUMENTS arguments SERVE_CALL_END

static struct serve_request request;
static struct serve_error problem;

/* A body of messages and more fields; its grammar is the one that texts are held against. */
static bool ask(const char *messages, const char *more)
{
    static const struct serve_defaults defaults = { .model = "m", .sampler = { .repeat = 1 } };
    const char *why = "";
    char body[4096];

    serve_request_free(&request);
    problem = (struct serve_error){ .status = 0 };
    snprintf(body, sizeof body, "{%s,\"messages\":[%s]}", more, messages);
    if (!serve_request_read(&request, SERVE_CHAT, body, strlen(body), &defaults, &problem)) {
        printf("# %s\n", problem.text);
        return false;
    }
    return request.grammar == NULL ||
           grammar_open(&compiled, request.grammar, request.grammar_bytes, &why) == ERR_OK;
}

static bool refused(const char *messages, const char *more, const char *param)
{
    return !ask(messages, more) && problem.status == 400 && strcmp(problem.param, param) == 0;
}

static void check_texts(void)
{
    OK(ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"required\"") && request.may_call,
       "a call has to come");
    OK(matches(CALL("light", "{\"on\": true}")) && matches("\n\n" CALL("level", "{\"to\":7}")) &&
           matches(CALL("now", "{}")),
       "each function with its own arguments");
    OK(!matches(CALL("light", "{\"to\": 7}")) && !matches(CALL("level", "{\"to\": true}")) &&
           !matches(CALL("level", "{\"to\": 10}")) && !matches(CALL("now", "{\"on\": true}")),
       "and not with another's");
    OK(!matches("") && !matches("Hello") && !matches(CALL("lamp", "{}")) &&
           !matches(CALL("now", "{}") "x"),
       "nothing else");
    OK(ask(USER, "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"level\"}},"
                 "\"tools\":" TOOLS) &&
           matches(CALL("level", "{\"to\": 3}")) && !matches(CALL("now", "{}")) &&
           !matches(CALL("light", "{\"on\": true}")),
       "one that is named");
    OK(ask(USER, "\"tools\":" TOOLS) && request.may_call && matches(CALL("now", "{}")) &&
           matches("I look. " CALL("light", "{\"on\": false}")) && matches("") &&
           matches("Hello, \"you\" {a} <b>bold</b> << <t <to <too \xc3\xa9\n<toast>."),
       "a call, or prose, or prose before a call");
    OK(!matches("<tool_call>") && !matches("<tool_call>\nnow()") && !matches("<<tool_call>{") &&
           !matches("a <to<tool_call>\n{}") && !matches(CALL("now", "{}") CALL("now", "{}")),
       "no prose that begins a call");
    OK(ask(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"none\"") && !request.may_call &&
           request.grammar == NULL && !request.has_system,
       "none: as if there were no functions");
    OK(ask(USER, "\"tools\":[],\"tool_choice\":\"auto\"") && !request.may_call, "an empty list");
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
       "calls and what they gave, as the model says and hears them");
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
                   "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\",\"parameters\":"
                   "{\"type\":\"object\",\"magic\":1}}}]",
                   "tools"),
       "functions that are none");
    OK(refused(USER, "\"tool_choice\":\"required\"", "tool_choice") &&
           refused(USER, "\"tools\":" TOOLS ",\"tool_choice\":\"sometimes\"", "tool_choice") &&
           refused(USER,
                   "\"tools\":" TOOLS ",\"tool_choice\":{\"type\":\"function\",\"function\":"
                   "{\"name\":\"lamp\"}}",
                   "tool_choice"),
       "choices that are none");
    OK(refused(USER, "\"tools\":" TOOLS ",\"grammar\":\"a|b\"", "tools") &&
           refused(USER, "\"response_format\":{\"type\":\"json_object\"},\"tools\":" TOOLS,
                   "tools"),
       "another grammar");
    snprintf(messages, sizeof messages, "%s%s", called,
             "{\"role\":\"tool\",\"tool_call_id\":\"z\",\"content\":\"x\"}");
    OK(refused(messages, "\"n\":1", "messages") &&
           refused("{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"}", "\"n\":1",
                   "messages"),
       "what no call gave");
    OK(refused(USER ",{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":"
                    "\"now\",\"arguments\":\"noon\"}}]}," USER,
               "\"n\":1", "messages"),
       "arguments that are no JSON");
}

static void check_found(void)
{
    static const char text[] = "Well. " CALL("light", "{\"a\": \"}\\\"]\", \"b\": [1, {}]}");
    struct serve_call c;

    serve_call_find(&c, text, strlen(text), true);
    OK(c.whole && c.content == strlen("Well.") && c.name_bytes == 5 &&
           c.arguments_bytes == strlen("{\"a\": \"}\\\"]\", \"b\": [1, {}]}") &&
           memcmp(c.arguments, "{\"a\"", 4) == 0,
       "a call's parts");
    serve_call_find(&c, text, strlen(text) - 20, true);
    OK(c.found && !c.whole, "one that was cut is not whole");
    serve_call_find(&c, "Hi <tool", 8, false);
    OK(!c.found && c.content == 2, "what may begin a call waits");
    serve_call_find(&c, "Hi <tool", 8, true);
    OK(!c.found && c.content == 8, "until the reply has ended");
}

int main(void)
{
    check_texts();
    check_prompt();
    check_refused();
    check_found();
    serve_request_free(&request);
    return tap_done();
}
