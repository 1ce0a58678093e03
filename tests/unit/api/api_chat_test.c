/* Answers of OpenAI's API piece by piece: what a stream says is what the whole answer has, however the text comes; scores in both forms;
 * several replies; embeddings; and a text whose memory is passed on when it is full. */
#include "runtime/api/api_chat.h"

#include <string.h>

#include "runtime/api/api_json.h"
#include "runtime/api/api_vectors.h"
#include "tests/unit/tap.h"

#define CALL(name, arguments) \
    API_CALL_MARK API_CALL_NAME name API_CALL_ARGUMENTS arguments API_CALL_END

static uint64_t room[64 * 1024];
static char thoughts[] = "hmm", reply[4096], scores[4096], out_bytes[32768], copy[32768];
static struct api_text out;
static struct api_job job;
static struct api_memory memory;
static const struct api_answer as_chat = {
    .kind = API_CHAT, .number = 7, .created = 5, .model = "m"
};

static void begin(bool may_call)
{
    memset(&job, 0, sizeof job);
    job.request.may_call = may_call;
    api_text_open(&job.text, reply, sizeof reply);
    api_text_open(&job.scores, scores, sizeof scores);
    api_text_open(&out, out_bytes, sizeof out_bytes);
    api_figures_clear(&job.figures);
    api_memory_open(&memory, room, sizeof room);
}

/* A copy of a text as a tree; NULL: it is not JSON. */
static const struct api_json *tree_of(const char *text, size_t n)
{
    struct api_json *root;
    size_t at;

    memcpy(copy, text, n);
    copy[n] = '\0';
    api_memory_open(&memory, room, sizeof room);
    return api_json_read(&root, copy, n, &memory, &at) == API_JSON_GOOD ? root : NULL;
}

static const struct api_json *first(const struct api_json *root, const char *list)
{
    const struct api_json *v = api_json_get(root, list);

    return v != NULL ? v->child : NULL;
}

static const struct api_json *function_of(const struct api_json *message)
{
    return api_json_get(first(message, "tool_calls"), "function");
}

/* The reply as one object, in `out`. */
static const struct api_json *whole(enum api_kind kind)
{
    const struct api_answer a = { .kind = kind, .number = 7, .created = 5, .model = "m" };
    struct api_events at = { .index = 0 };
    const struct api_stream s = { .out = &out, .a = &a, .j = &job, .at = &at };
    struct api_usage usage = { .prompt = 0 };

    out.n = 0;
    job.done = true;
    api_chat_begin(&out, &a);
    api_stream_walk(&s, api_chat_part);
    api_usage_add(&usage, &job);
    api_chat_end(&out, &usage, &job);
    return tree_of(out.bytes, out.n);
}

/* The texts of a stream, in which the reply comes in steps of bytes. */
static struct {
    char content[4096], name[64], arguments[4096], reason[32];
    unsigned events, bad;
} told;

static void append(char *to, const char *text)
{
    if (text != NULL) {
        (void)strcat(to, text);
    }
}

static void take_event(const char *text, size_t n)
{
    const struct api_json *choice = first(tree_of(text, n), "choices"),
                          *delta = api_json_get(choice, "delta");

    told.events++;
    told.bad += choice == NULL;
    append(told.content, api_json_text_of(delta, "content"));
    append(told.name, api_json_text_of(function_of(delta), "name"));
    append(told.arguments, api_json_text_of(function_of(delta), "arguments"));
    append(told.reason, api_json_text_of(choice, "finish_reason"));
}

static void stream(const char *text, size_t step)
{
    struct api_events at = { .index = 0 };
    const struct api_stream s = { .out = &out, .a = &as_chat, .j = &job, .at = &at };
    size_t n = strlen(text);

    memset(&told, 0, sizeof told);
    begin(true);
    for (size_t i = 0; i <= n; i += step) {
        api_text_put(&job.text, text + i, i + step < n ? step : n - i);
        job.done = i + step > n;
        api_stream_walk(&s, api_chat_say);
    }
    for (char *event = out.bytes; strncmp(event, "data: ", 6) == 0;
         event = strstr(event, "\n\n") + 2) {
        take_event(event + 6, (size_t)(strstr(event, "\n\n") - event) - 6);
    }
}

static void test_stream(void)
{
    static const char text[] = "I look.\n" CALL("light", "{\"on\": true, \"s\": \"\\\"}\"}");
    unsigned wrong = 0;

    for (size_t step = 1; step <= sizeof text; step++) {
        const struct api_json *message;

        stream(text, step);
        message = api_json_get(first(whole(API_CHAT), "choices"), "message");
        wrong += told.bad != 0 || strcmp(told.content, "I look.") != 0 ||
                 strcmp(told.name, "light") != 0 ||
                 strcmp(told.arguments, "{\"on\": true, \"s\": \"\\\"}\"}") != 0 ||
                 strcmp(told.reason, "tool_calls") != 0;
        wrong += strcmp(api_json_text_of(message, "content"), told.content) != 0 ||
                 strcmp(api_json_text_of(function_of(message), "arguments"), told.arguments) != 0;
    }
    OK(wrong == 0, "a text and a call are told in steps of any size, and as a whole");
    stream("<tool", 1);
    OK(strcmp(told.content, "<tool") == 0 && strcmp(told.reason, "stop") == 0,
       "text that only begins like a call stays text");
}

static void test_whole(void)
{
    const struct api_json *root, *choice;

    begin(true);
    api_text_put(&job.text, CALL("a", "{}") "\n" CALL("b", "{}"),
                 strlen(CALL("a", "{}") "\n" CALL("b", "{}")));
    choice = first(whole(API_CHAT), "choices");
    OK(api_json_is(api_json_get(api_json_get(choice, "message"), "content"), JSON_NULL) &&
           api_json_get(api_json_get(choice, "message"), "tool_calls")->n == 2 &&
           strcmp(api_json_text_of(choice, "finish_reason"), "tool_calls") == 0,
       "a reply of two calls has no text: %s", out.bytes);
    begin(false);
    api_text_put(&job.text, "a\n\"b\"", 5);
    job.prompt_tokens = 3;
    job.reply_tokens = 2;
    job.end = GENERATE_LIMIT;
    root = whole(API_CHAT);
    OK(strcmp(api_json_text_of(api_json_get(first(root, "choices"), "message"), "content"),
              "a\n\"b\"") == 0 &&
           strcmp(api_json_text_of(first(root, "choices"), "finish_reason"), "length") == 0 &&
           api_json_number(api_json_get(api_json_get(root, "usage"), "total_tokens")) == 5 &&
           api_json_is(api_json_get(api_json_get(root, "figures"), "line"), JSON_NULL),
       "a reply that a limit ended keeps its text: %s", out.bytes);
    begin(false);
    OK(strcmp(api_json_text_of(api_json_get(first(whole(API_CHAT), "choices"), "message"),
                               "content"),
              "") == 0,
       "an empty reply has an empty text");
    begin(false);
    job.thoughts = (struct api_text){ .bytes = thoughts, .n = 3 };
    choice = api_json_get(first(whole(API_CHAT), "choices"), "message");
    OK(choice != NULL && strcmp(api_json_text_of(choice, "content"), "") == 0 &&
           strcmp(api_json_text_of(choice, "reasoning_content"), "hmm") == 0,
       "a reply with only thoughts has an empty content: %s", out.bytes);
}

static void test_scores(void)
{
    const struct api_score
        a = { .id = 5, .logprob = -0.25, .text = "\xc3", .bytes = 1, .exact = true },
        b = { .id = 6, .logprob = -1, .text = "\xa9", .bytes = 1, .exact = false },
        c = { .id = 7, .logprob = -2, .text = "x", .bytes = 1 };
    const struct api_score likeliest[3] = { a, b, c };
    const struct api_json *one;

    begin(false);
    OK(api_scores_add(&job.scores, &a, likeliest, 3) && api_scores_add(&job.scores, &c, NULL, 0),
       "the scores of two tokens are taken");
    one = first(api_json_get(first(whole(API_CHAT), "choices"), "logprobs"), "content");
    OK(one != NULL && api_json_number(api_json_get(one, "logprob")) == -0.25 &&
           api_json_number(first(one, "bytes")) == 195 &&
           api_json_get(one, "top_logprobs")->n == 3 &&
           api_json_is(api_json_get(one->next, "bytes"), JSON_NULL),
       "a chat has the scores of its tokens: %s", out.bytes);
    one = api_json_get(first(whole(API_CONTINUE), "choices"), "logprobs");
    OK(one != NULL && api_json_get(one, "tokens")->n == 2 && first(one, "top_logprobs")->n == 2 &&
           api_json_number(api_json_get(one, "text_offset")->child->next) == 1,
       "a completion has its scores, in which equal texts are one: %s", out.bytes);
    begin(false);
    job.scores.room = 40;
    OK(!api_scores_add(&job.scores, &a, likeliest, 3),
       "scores that memory has no room for are refused");
}

static void test_vectors(void)
{
    struct api_request q = { .dimensions = 2 };
    float vector[3] = { 3, 4, 12 };
    struct api_error e;

    begin(false);
    api_vectors_begin(&out);
    api_vectors_put(&out, &q, 0, vector, 3);
    api_vectors_end(&out, "m", 4);
    OK(strstr(out.bytes, "\"embedding\":[6.00000024e-1,8.00000012e-1]}]") != NULL &&
           tree_of(out.bytes, out.n) != NULL,
       "a vector that is cut has the length 1: %s", out.bytes);
    q = (struct api_request){ .base64 = true };
    out.n = 0;
    vector[0] = 1;
    api_vectors_put(&out, &q, 1, vector, 1);
    OK(strstr(out.bytes, ",{") == out.bytes && strstr(out.bytes, "\"AACAPw==\"") != NULL,
       "a vector is written as bytes: %s", out.bytes);
    q.dimensions = 4;
    OK(!api_vectors_check(&q, 3, &e) && strcmp(e.param, "dimensions") == 0,
       "more dimensions than a vector has are refused");
}

int main(void)
{
    test_stream();
    test_whole();
    test_scores();
    test_vectors();
    return tap_done();
}
