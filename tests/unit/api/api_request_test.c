/* Requests of OpenAI's API become lines of mode=json that its own reader takes; what a board cannot do is refused by the name of its field. */
#include "runtime/api/api_request.h"

#include <string.h>

#include "runtime/api/api_limits.h"
#include "runtime/api/api_line.h"
#include "runtime/wire/json_request.h"
#include "tests/unit/tap.h"

static uint64_t room[8192];
static char body[8192], memory[16384];
static struct api_request request;
static struct api_error error;
static struct api_text line;
static struct json_request read_back;

/* With so much memory for the request, and for its line. */
static bool translate_in(enum api_kind kind, const char *text, size_t bytes, size_t line_bytes)
{
    static const struct api_defaults defaults = {
        .sampler = { .temp = 0.5f, .repeat = 1, .top_p = 1 }, .n = 9, .holder = &api_holder
    };
    struct api_memory m;
    size_t n = strlen(text);

    memcpy(body, text, n + 1);
    api_memory_open(&m, room, bytes);
    memset(&request, 0, sizeof request);
    memset(&error, 0, sizeof error);
    request.memory = &m;
    api_text_open(&line, memory, line_bytes);
    if (!api_request_read(&request, kind, body, n, &defaults, &error) ||
        !api_may_answer(&request, &error)) {
        return false;
    }
    api_line_put(&line, &request, 0, 7, request.seeded ? request.sampler.seed : 77);
    return !line.failed;
}

static bool translate(enum api_kind kind, const char *text)
{
    return translate_in(kind, text, sizeof room, sizeof memory);
}

/* The field has that value in the line, which is a good one. */
static bool has(enum json_field field, const char *value)
{
    static char copy[16384];

    memcpy(copy, line.bytes, line.n + 1);
    json_request_read(&read_back, copy, line.n);
    return read_back.error == NULL && read_back.values[field] != NULL &&
           strcmp(read_back.values[field], value) == 0;
}

#define HELLO "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]"

static void test_good(void)
{
    OK(translate(API_CHAT, "{" HELLO "}") && has(JSON_FIELD_SEED, "77") &&
           has(JSON_FIELD_ID, "7") && has(JSON_FIELD_N, "9") && has(JSON_FIELD_TEMP, "0.5") &&
           has(JSON_FIELD_STOP, "[]") &&
           has(JSON_FIELD_MESSAGES, "[{\"role\":\"user\",\"content\":\"Hello\",\"said\":5}]"),
       "a message is translated with the settings of the start: %s", line.bytes);
    OK(!request.stream && !request.stream_usage,
       "a request without stream asks for neither a stream nor usage");
    OK(translate(
           API_CHAT,
           "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," HELLO
           "}") &&
           request.stream && request.stream_usage,
       "a stream with usage is read");
    OK(translate(
           API_CHAT,
           "{" HELLO
           ",\"max_tokens\":5,\"temperature\":0.25,\"top_p\":0.9,\"seed\":18446744073709551615,\"stop\":[\"a\",\"b\"]}") &&
           has(JSON_FIELD_N, "5") && has(JSON_FIELD_TEMP, "0.25") && has(JSON_FIELD_TOP_P, "0.9") &&
           has(JSON_FIELD_SEED, "18446744073709551615") && has(JSON_FIELD_STOP, "[\"a\",\"b\"]"),
       "settings are passed on under their names: %s", line.bytes);
    OK(translate(
           API_CHAT,
           "{" HELLO
           ",\"max_completion_tokens\":6,\"temperature\":null,\"n\":1,\"logprobs\":false,\"user\":\"x\"}") &&
           has(JSON_FIELD_N, "6") && has(JSON_FIELD_TEMP, "0.5"),
       "null is nothing, and what changes nothing is ignored");
    OK(translate(API_CHAT, "{" HELLO ",\"logit_bias\":{\"5\":-100,\"017\":1.5,\"x\":1e1}}") &&
           has(JSON_FIELD_LOGIT_BIAS, "[[5,-100],[17,1.5],[\"x\",10]]"),
       "biases are passed on: %s", line.bytes);
    OK(translate(API_CONTINUE, "{\"prompt\":\"Once \\\"upon\\\"\",\"stop\":\"x\"}") &&
           has(JSON_FIELD_RAW, "Once \"upon\"") && has(JSON_FIELD_STOP, "[\"x\"]") &&
           read_back.values[JSON_FIELD_RESET] != NULL,
       "a completion is translated: %s", line.bytes);
    OK(translate(API_CONTINUE, "{\"prompt\":[5,6]}") && has(JSON_FIELD_IDS, "[5,6]"),
       "a prompt of tokens is translated: %s", line.bytes);
}

static void test_messages(void)
{
    OK(translate(
           API_CHAT,
           "{\"messages\":[{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\",\"content\":"
           "[{\"type\":\"text\",\"text\":\"a\\n\"},{\"text\":\"\\u00e9\\\"\",\"type\":\"text\"}]}]}") &&
           has(JSON_FIELD_MESSAGES,
               "[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"a\\n\xc3\xa9\\\"\",\"said\":5}]"),
       "parts become one text, and developer is system: %s", line.bytes);
    OK(translate(
           API_CHAT,
           "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"},"
           "{\"role\":\"assistant\",\"content\":\"c\"},{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"d\"}]}") &&
           has(JSON_FIELD_MESSAGES,
               "[{\"role\":\"user\",\"content\":\"a\\n\\nb\"},{\"role\":\"assistant\",\"content\":\"c\"},"
               "{\"role\":\"user\",\"content\":\"S\\n\\nd\",\"said\":1}]"),
       "messages take turns: %s", line.bytes);
    OK(translate(
           API_CHAT,
           "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
           "[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
           "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"r\"}]}") &&
           strstr(
               line.bytes,
               "<tool_call>\\n{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}\\n</tool_call>") !=
               NULL &&
           strstr(line.bytes, "\"<tool_response>\\nr\\n</tool_response>\"}") != NULL,
       "a call and its result become texts that nobody has said: %s", line.bytes);
}

static bool is_refused(enum api_kind kind, const char *text, const char *param)
{
    bool refused = !translate(kind, text) && error.status == 400 && error.text[0] != '\0' &&
                   strcmp(error.param, param) == 0;

    if (!refused)
        printf("# %s: %d %s: %s\n", text, error.status, error.param, error.text);
    return refused;
}

static void test_refused(void)
{
    OK(is_refused(API_CHAT, "{}", "messages") && is_refused(API_CONTINUE, "{}", "prompt"),
       "a request with nothing to answer is refused");
    OK(is_refused(API_CHAT, "", "") && is_refused(API_CHAT, "[1]", "") &&
           is_refused(API_CHAT, "{" HELLO, "") && is_refused(API_CHAT, "{" HELLO "} x", ""),
       "a request that is not JSON is refused");
    OK(is_refused(API_CHAT, "{" HELLO ",\"no_such_field\":1}", "no_such_field") &&
           is_refused(API_CHAT, "{" HELLO ",\"audio\":{\"a\":1}}", "audio"),
       "a field that nobody knows is refused");
    OK(is_refused(API_CHAT, "{\"prompt\":\"x\"}", "prompt") &&
           is_refused(API_CONTINUE, "{" HELLO "}", "messages"),
       "a field of the other kind of request is refused");
    OK(is_refused(API_CHAT, "{" HELLO ",\"grammar\":\"a|b\"}", "grammar") &&
           is_refused(API_CHAT, "{" HELLO ",\"stop\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}", "stop") &&
           is_refused(API_CHAT, "{" HELLO ",\"n\":9}", "n") &&
           is_refused(API_CHAT, "{" HELLO ",\"top_logprobs\":2}", "top_logprobs") &&
           is_refused(API_EMBED, "{\"input\":[5,6]}", "input"),
       "values that a board cannot obey are refused");
    OK(is_refused(API_CHAT, "{" HELLO ",\"temperature\":\"0\"}", "temperature") &&
           is_refused(API_CHAT, "{" HELLO ",\"stop\":3}", "stop") &&
           is_refused(API_CHAT, "{" HELLO ",\"stream\":1}", "stream") &&
           is_refused(API_CHAT, "{" HELLO ",\"logit_bias\":[1]}", "logit_bias") &&
           is_refused(API_CHAT, "{" HELLO ",\"logit_bias\":{\"x\":101}}", "logit_bias") &&
           is_refused(API_CHAT, "{" HELLO ",\"seed\":1.5}", "seed"),
       "values of another type are refused");
    OK(is_refused(API_CHAT, "{\"messages\":[]}", "messages") &&
           is_refused(API_CHAT, "{\"messages\":\"x\"}", "messages") &&
           is_refused(API_CHAT, "{\"messages\":[3]}", "messages") &&
           is_refused(API_CHAT, "{\"messages\":[{\"content\":\"x\"}]}", "messages") &&
           is_refused(API_CHAT, "{\"messages\":[{\"role\":\"user\"}]}", "messages") &&
           is_refused(API_CHAT,
                      "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
                      "messages") &&
           is_refused(
               API_CHAT,
               "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[]}]}",
               "messages"),
       "messages that are not in the form of messages are refused");
    OK(strstr((translate(API_CHAT, "{" HELLO ",\"repeat\":0}"), error.text), "from 0.01 to 100") !=
               NULL &&
           strstr((translate(API_CHAT, "{" HELLO ",\"presence_penalty\":3}"), error.text),
                  "from -2 to 2") != NULL &&
           strstr((translate(API_CHAT, "{" HELLO ",\"max_tokens\":0}"), error.text),
                  "a whole number from 1 to 2147483647, or -1 for no limit") != NULL,
       "an error tells the bounds as people write them: %s", error.text);
    OK(strcmp(api_line_param("temp"), "temperature") == 0 &&
           strcmp(api_line_param("n"), "max_tokens") == 0 &&
           strcmp(api_line_param("raw"), "prompt") == 0 &&
           strcmp(api_line_param("other"), "other") == 0,
       "fields of the line are named as the caller names them");
}

/* A line or a request that is too long for its memory is refused, at every size, and no byte beyond it is written. */
static void test_room(void)
{
    static const char text[] = "{" HELLO ",\"stop\":\"\\u0001\\u0001\",\"max_tokens\":5}";
    unsigned wrong = 0;
    size_t whole;

    (void)translate(API_CHAT, text);
    whole = line.n;
    for (size_t n = 1; n <= whole; n++) {
        memset(memory, 0x5a, sizeof memory);
        wrong += translate_in(API_CHAT, text, sizeof room, n) || memory[n] != 0x5a;
    }
    OK(wrong == 0, "a line that does not fit is refused");
    for (size_t n = 0; n < 1024; n += 8) {
        memset(room, 0x5a, sizeof room);
        wrong += !translate_in(API_CHAT, text, n, sizeof memory) && error.status != 413;
        wrong += ((char *)room)[n] != 0x5a;
    }
    OK(wrong == 0 && !translate_in(API_CHAT, text, 64, sizeof memory),
       "a request that does not fit its memory is refused");
}

int main(void)
{
    test_good();
    test_messages();
    test_refused();
    test_room();
    return tap_done();
}
