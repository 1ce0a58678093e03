/* Requests of OpenAI's API become lines of mode=json that its own reader takes; fields that have no
 * such word are refused by name. */
#include "runtime/api/api_request.h"

#include <string.h>

#include "runtime/wire/json_request.h"
#include "tests/unit/tap.h"

static char body[8192], memory[16384];
static struct api_request request;
static struct api_text line;
static struct json_request read_back;

static bool translate(enum api_kind kind, const char *text)
{
    size_t n = strlen(text);
    bool good;

    memcpy(body, text, n + 1);
    api_text_open(&line, memory, sizeof memory);
    good = api_request_read(&request, kind, body, n, 77, &line);
    return good;
}

/* Whether the field has that value in the line, which must be valid. */
static bool has(enum json_field field, const char *value)
{
    static char copy[16384];

    memcpy(copy, line.text, line.n + 1);
    json_request_read(&read_back, copy, line.n);
    return read_back.error == NULL && read_back.values[field] != NULL &&
           strcmp(read_back.values[field], value) == 0;
}

#define HELLO "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]"

static void test_good(void)
{
    OK(translate(API_CHAT, "{" HELLO "}") && strcmp(line.text, "{" HELLO ",\"seed\":77}") == 0,
       "a message: %s", line.text);
    OK(!request.streams && !request.wants_usage && request.model == NULL, "nothing more was said");
    OK(translate(
           API_CHAT,
           "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," HELLO
           "}") &&
           request.streams && request.wants_usage && strcmp(request.model, "m") == 0,
       "a stream with figures is translated");
    OK(translate(
           API_CHAT,
           "{" HELLO
           ",\"max_tokens\":5,\"temperature\":0.5,\"top_p\":0.9,\"seed\":3,\"stop\":[\"a\",\"b\"]}") &&
           has(JSON_FIELD_N, "5") && has(JSON_FIELD_TEMP, "0.5") && has(JSON_FIELD_TOP_P, "0.9") &&
           has(JSON_FIELD_SEED, "3") && has(JSON_FIELD_STOP, "[\"a\",\"b\"]"),
       "settings under their names: %s", line.text);
    OK(translate(
           API_CHAT,
           "{" HELLO
           ",\"max_completion_tokens\":6,\"temperature\":null,\"n\":1,\"logprobs\":false,\"user\":\"x\"}") &&
           has(JSON_FIELD_N, "6") && read_back.values[JSON_FIELD_TEMP] == NULL,
       "null is nothing, and what changes nothing is ignored");
    OK(translate(API_CHAT, "{" HELLO ",\"logit_bias\":{\"5\":-100,\"17\":1.5}}") &&
           has(JSON_FIELD_LOGIT_BIAS, "[[5,-100],[17,1.5]]"),
       "biases: %s", line.text);
    OK(translate(
           API_CHAT,
           "{\"messages\":[{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\",\"content\":"
           "[{\"type\":\"text\",\"text\":\"a\\n\"},{\"text\":\"\\u00e9\\\"\",\"type\":\"text\"}]}]}") &&
           strstr(
               line.text,
               "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"a\\n\xc3\xa9\\\"\"}") !=
               NULL,
       "parts become one text, and developer is system: %s", line.text);
    OK(translate(API_COMPLETION, "{\"prompt\":\"Once \\\"upon\\\"\",\"stop\":\"x\"}") &&
           has(JSON_FIELD_RAW, "Once \"upon\"") && has(JSON_FIELD_STOP, "x"),
       "a completion: %s", line.text);
}

static bool is_refused(enum api_kind kind, const char *text, const char *param)
{
    bool refused = !translate(kind, text) && request.error_message[0] != '\0' &&
                   strcmp(request.param, param) == 0;

    if (!refused)
        printf("# %s: %s: %s\n", text, request.param, request.error_message);
    return refused;
}

static void test_refused(void)
{
    OK(is_refused(API_CHAT, "{}", "messages") && is_refused(API_COMPLETION, "{}", "prompt"),
       "a request without a prompt is refused");
    OK(is_refused(API_CHAT, "", "") && is_refused(API_CHAT, "[1]", "") &&
           is_refused(API_CHAT, "{" HELLO, "") && is_refused(API_CHAT, "{" HELLO "} x", ""),
       "a body that is not JSON is refused");
    OK(is_refused(API_CHAT, "{" HELLO ",\"tools\":[]}", "tools") &&
           is_refused(API_CHAT, "{" HELLO ",\"audio\":{}}", "audio"),
       "a field that a board does not know");
    OK(is_refused(API_CHAT, "{\"prompt\":\"x\"}", "prompt") &&
           is_refused(API_COMPLETION, "{" HELLO "}", "messages"),
       "a field of the other endpoint is refused");
    OK(is_refused(API_CHAT, "{" HELLO ",\"n\":2}", "n") &&
           is_refused(API_CHAT, "{" HELLO ",\"logprobs\":true}", "logprobs") &&
           is_refused(API_CHAT, "{" HELLO ",\"response_format\":{\"type\":\"json_object\"}}",
                      "response_format"),
       "values that a board cannot obey");
    OK(is_refused(API_CHAT, "{" HELLO ",\"temperature\":\"0\"}", "temperature") &&
           is_refused(API_CHAT, "{" HELLO ",\"stop\":3}", "stop") &&
           is_refused(API_CHAT, "{" HELLO ",\"stream\":1}", "stream") &&
           is_refused(API_CHAT, "{" HELLO ",\"logit_bias\":[1]}", "logit_bias") &&
           is_refused(API_CHAT, "{" HELLO ",\"logit_bias\":{\"x\":1}}", "logit_bias"),
       "values of another kind are refused");
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
       "messages that are none");
    OK(strcmp(api_request_param(API_CHAT, "temp"), "temperature") == 0 &&
           strcmp(api_request_param(API_CHAT, "n"), "max_tokens") == 0 &&
           strcmp(api_request_param(API_COMPLETION, "raw"), "prompt") == 0 &&
           strcmp(api_request_param(API_CHAT, "other"), "other") == 0,
       "fields of the line are named as the caller names them");
}

/* A line that is too long for its memory is refused, at every size, and no byte beyond it is written. */
static void test_room(void)
{
    static const char text[] = "{" HELLO ",\"stop\":\"\\u0001\\u0001\",\"max_tokens\":5}";
    size_t whole;
    unsigned wrong = 0;

    (void)translate(API_CHAT, text);
    whole = line.n;
    for (size_t room = 1; room <= whole; room++) {
        memcpy(body, text, sizeof text);
        memset(memory, 0x5a, sizeof memory);
        api_text_open(&line, memory, room);
        wrong += api_request_read(&request, API_CHAT, body, sizeof text - 1, 77, &line) ||
                 memory[room] != 0x5a;
    }
    OK(wrong == 0, "a line that does not fit is refused");
}

int main(void)
{
    test_good();
    test_refused();
    test_room();
    return tap_done();
}
