#include "host/api/serve_answer.h"

#include <cjson/cJSON.h>

#include "host/api/serve_dialect.h"
#include "runtime/api/api_models.h"
#include "runtime/api/api_vectors.h"

void serve_answer_error(struct api_text *out, const struct api_error *e)
{
    serve_text_grows(out);
    api_error_put(out, e);
    api_text_put(out, "\n", 1);
}

void serve_answer_models(struct api_text *out, const char *model, int64_t created)
{
    serve_text_grows(out);
    (void)api_put_models(out, NULL, model, created);
}

void serve_answer_model(struct api_text *out, const char *model, int64_t created)
{
    serve_text_grows(out);
    (void)api_put_models(out, model, model, created);
}

/* Cut to its dimensions. */
static void put_vectors(struct api_text *out, const char *model, const struct api_job *j)
{
    size_t width = j->vectors.n / sizeof(float) / j->request.n_turns;

    api_vectors_begin(out);
    for (uint32_t i = 0; i < j->request.n_turns; i++) {
        api_vectors_put(out, &j->request, i, (float *)(void *)j->vectors.bytes + i * width, width);
    }
    api_vectors_end(out, model, j->prompt_tokens);
}

struct cJSON *serve_answer_vectors(const char *model, const struct api_job *j)
{
    struct api_text text = { .n = 0 };
    cJSON *value;

    serve_text_grows(&text);
    put_vectors(&text, model, j);
    value = cJSON_Parse(api_text_shown(&text));
    serve_text_free(&text);
    return value;
}

void serve_answer_whole(struct api_text *out, const struct api_answer *a,
                        const struct api_job *const *jobs, uint32_t n)
{
    struct api_usage usage = { .prompt = 0 };

    serve_text_grows(out);
    if (a->kind == API_EMBED) {
        put_vectors(out, a->model, jobs[0]);
        return;
    }
    api_chat_begin(out, a);
    for (uint32_t i = 0; i < n; i++) {
        struct api_events at = { .index = i };
        const struct api_stream s = { .out = out, .a = a, .j = jobs[i], .at = &at };

        api_stream_walk(&s, api_chat_part);
        api_usage_add(&usage, jobs[i]);
    }
    api_chat_end(out, &usage, jobs[0]);
}

static void say_piece(const struct api_stream *s, const struct api_piece *p)
{
    serve_text_grows(s->out);
    api_chat_say(s, p);
}

static void say_end(struct api_text *out, const struct api_answer *a,
                    const struct api_job *const *jobs, uint32_t n)
{
    struct api_usage usage = { .prompt = 0 };

    for (uint32_t i = 0; i < n; i++) {
        api_usage_add(&usage, jobs[i]);
    }
    serve_text_grows(out);
    api_chat_say_end(out, a, &usage, n != 0 ? jobs[0] : NULL);
}

const struct serve_writer serve_chat_writer = {
    .stream_type = "text/event-stream",
    .say = say_piece,
    .end = say_end,
    .whole = serve_answer_whole,
    .error = serve_answer_error,
};
