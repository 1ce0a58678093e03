/* Answers of Ollama's /api/chat, /api/generate, /api/embed and /api/embeddings; a stream has a
 * line of JSON for each piece. Times are nanoseconds; 0: unknown. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/api/serve_dialect.h"

/* ---- one object -------------------------------------------------------------------------------- */

void serve_ollama_time(char text[SERVE_TIME_BYTES], int64_t seconds)
{
    time_t at = (time_t)seconds;
    struct tm parts;

    if (gmtime_r(&at, &parts) == NULL ||
        strftime(text, SERVE_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        snprintf(text, SERVE_TIME_BYTES, "1970-01-01T00:00:00Z");
    }
}

static cJSON *object_of(const struct api_answer *a)
{
    cJSON *root = cJSON_CreateObject();
    char at[SERVE_TIME_BYTES];

    serve_ollama_time(at, a->created);
    cJSON_AddStringToObject(root, "model", a->model);
    cJSON_AddStringToObject(root, "created_at", at);
    return root;
}

/* Writes text and thinking as members of a chat's message, or else of root. Takes over text and
 * thinking, which may be NULL. Returns the object to which a chat's calls are added. */
static cJSON *add_message(cJSON *root, const struct api_answer *a, cJSON *text, cJSON *thinking)
{
    bool chat = a->dialect == SERVE_OLLAMA_CHAT;
    cJSON *to = chat ? cJSON_AddObjectToObject(root, "message") : root;

    if (chat) {
        cJSON_AddStringToObject(to, "role", "assistant");
    }
    cJSON_AddItemToObject(to, chat ? "content" : "response", text);
    if (thinking != NULL) {
        cJSON_AddItemToObject(to, "thinking", thinking);
    }
    return to;
}

/* Adds a whole call. A call's arguments are an object in this API. */
static void add_call(cJSON *message, const struct api_stream *s, const struct api_piece *p)
{
    cJSON *list = cJSON_GetObjectItem(message, "tool_calls"), *one, *function;
    struct api_text arguments = { .n = 0 };
    char id[API_ID_BYTES];

    if (!p->call->whole || s->a->dialect != SERVE_OLLAMA_CHAT) {
        return;
    }
    list = list != NULL ? list : cJSON_AddArrayToObject(message, "tool_calls");
    one = cJSON_CreateObject();
    api_stream_id(id, "call", s->a, s->at->index, p->call_number);
    cJSON_AddStringToObject(one, "id", id);
    function = cJSON_AddObjectToObject(one, "function");
    cJSON_AddNumberToObject(function, "index", p->call_number);
    cJSON_AddItemToObject(function, "name", serve_stream_text(p->call->name, p->call->name_bytes));
    (void)serve_text_add(&arguments, p->bytes, p->n);
    cJSON_AddItemToObject(function, "arguments", cJSON_Parse(api_text_shown(&arguments)));
    serve_text_free(&arguments);
    cJSON_AddItemToArray(list, one);
}

/* Adds a time in ms as a field in nanoseconds; returns the nanoseconds. */
static double add_time(cJSON *root, const char *name, double ms)
{
    double ns = isfinite(ms) && ms > 0 ? floor(ms * 1e6) : 0;

    cJSON_AddNumberToObject(root, name, ns);
    return ns;
}

/* Writes why the reply ended, and its times. The time of the reply's first token counts as the
 * prompt's time. */
static void add_end(cJSON *root, const struct api_answer *a, const struct api_job *j)
{
    double rate = j->figures.list[API_DECODE_TOKENS_PER_S], tokens = j->reply_tokens;
    double reply_ms = isfinite(rate) && rate > 0 && tokens > 1 ? (tokens - 1) / rate * 1e3 : 0;
    double prompt_ms = j->figures.list[API_FIRST_TOKEN_MS];

    cJSON_AddTrueToObject(root, "done");
    cJSON_AddStringToObject(root, "done_reason",
                            a->loads                          ? "load"
                            : api_stream_reason(j) == API_CUT ? "length"
                                                              : "stop");
    if (a->loads) {
        return;
    }
    (void)add_time(root, "total_duration", (isfinite(prompt_ms) ? prompt_ms : 0) + reply_ms);
    cJSON_AddNumberToObject(root, "load_duration", 0);
    cJSON_AddNumberToObject(root, "prompt_eval_count", j->prompt_tokens);
    (void)add_time(root, "prompt_eval_duration", prompt_ms);
    cJSON_AddNumberToObject(root, "eval_count", api_stream_tokens(j));
    (void)add_time(root, "eval_duration", reply_ms);
    serve_stream_warnings(root, &j->request);
}

static void put(struct api_text *out, cJSON *root)
{
    serve_text_add_json(out, root);
    (void)serve_text_add(out, "\n", 1);
}

/* ---- a stream ---------------------------------------------------------------------------------- */

static void say_text(const struct api_stream *s, const struct api_piece *p)
{
    cJSON *root = object_of(s->a), *bytes = serve_stream_text(p->bytes, p->n);
    bool thinks = p->item == API_THOUGHTS_ITEM;

    (void)add_message(root, s->a, thinks ? cJSON_CreateString("") : bytes, thinks ? bytes : NULL);
    cJSON_AddFalseToObject(root, "done");
    put(s->out, root);
}

static void say_call(const struct api_stream *s, const struct api_piece *p)
{
    cJSON *root = object_of(s->a);

    add_call(add_message(root, s->a, cJSON_CreateString(""), NULL), s, p);
    cJSON_AddFalseToObject(root, "done");
    put(s->out, root);
}

static void say_error(struct api_text *out, const struct api_error *e)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "error", e->text);
    put(out, root);
}

static void say_end(const struct api_stream *s)
{
    cJSON *root = object_of(s->a);

    (void)add_message(root, s->a, cJSON_CreateString(""), NULL);
    add_end(root, s->a, s->j);
    put(s->out, root);
}

static void say(const struct api_stream *s, const struct api_piece *p)
{
    bool comes = p->step == API_OPENS || p->step == API_GROWS;

    if (p->step == API_ENDS) {
        say_end(s);
    } else if (p->step == API_FAILS) {
        say_error(s->out, &s->j->error);
    } else if (p->item == API_CALL_ITEM && p->step == API_CLOSES && p->call->whole) {
        say_call(s, p);
    } else if (p->item != API_CALL_ITEM && comes && p->n != 0) {
        say_text(s, p);
    }
}

/* ---- a whole answer ---------------------------------------------------------------------------- */

static void collect(const struct api_stream *s, const struct api_piece *p)
{
    struct cJSON *message = s->context;

    if (p->step == API_CLOSES && p->item == API_CALL_ITEM) {
        add_call(message, s, p);
    }
}

/* Takes the vectors from OpenAI's answer and writes the list; /api/embeddings has one vector. */
static void add_vectors(cJSON *root, const struct api_answer *a, const struct api_job *j)
{
    cJSON *theirs = serve_answer_vectors(a->model, j), *one;
    cJSON *list = cJSON_CreateArray();

    cJSON_ArrayForEach(one, cJSON_GetObjectItem(theirs, "data"))
    {
        cJSON_AddItemToArray(list, cJSON_DetachItemFromObject(one, "embedding"));
    }
    cJSON_Delete(theirs);
    if (a->dialect == SERVE_OLLAMA_EMBEDDINGS) {
        cJSON_AddItemToObject(root, "embedding", cJSON_DetachItemFromArray(list, 0));
        cJSON_Delete(list);
        return;
    }
    cJSON_AddStringToObject(root, "model", a->model);
    cJSON_AddItemToObject(root, "embeddings", list);
    cJSON_AddNumberToObject(root, "total_duration", 0);
    cJSON_AddNumberToObject(root, "load_duration", 0);
    cJSON_AddNumberToObject(root, "prompt_eval_count", j->prompt_tokens);
}

static void whole(struct api_text *out, const struct api_answer *a,
                  const struct api_job *const *jobs, uint32_t n)
{
    const struct api_job *j = jobs[0];
    cJSON *root, *text, *thinking = NULL;

    (void)n;
    if (a->kind == API_EMBED) {
        root = cJSON_CreateObject();
        add_vectors(root, a, j);
        put(out, root);
        return;
    }
    root = object_of(a);
    text = serve_stream_text(api_text_shown(&j->text), api_stream_call(j).content);
    if (j->thoughts.n != 0) {
        thinking = serve_stream_text(j->thoughts.bytes, j->thoughts.n);
    }
    serve_stream_all(a, j, collect, add_message(root, a, text, thinking));
    add_end(root, a, j);
    put(out, root);
}

const struct serve_writer serve_ollama_writer = {
    .stream_type = "application/x-ndjson", .say = say, .whole = whole, .error = say_error
};
