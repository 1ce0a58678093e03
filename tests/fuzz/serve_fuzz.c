/* Bodies of any bytes as requests of `ingot serve`; the first byte says of which page: a digit of OpenAI's chat completions and their
 * like, a letter of another API (serve_dialect.h). Each is taken, within a second, with values within their bounds, or refused by a
 * sentence, which the answer has as JSON. Or texts of any bytes as replies that may be calls: what a stream says of them is what the
 * whole answer has, and every API's writer says JSON. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "host/api/serve_dialect.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* The request's logit_bias has become a list of pairs, as a model's side reads it. */
static void check_biases(const struct api_request *q)
{
    cJSON *list;
    const cJSON *pair;

    if (q->biases.n == 0) {
        return;
    }
    list = cJSON_ParseWithOpts(api_text_shown(&q->biases), NULL, 1);
    must(cJSON_IsArray(list) && cJSON_GetArraySize(list) <= SAMPLER_BIASES_MOST);
    cJSON_ArrayForEach(pair, list)
    {
        const cJSON *what = cJSON_GetArrayItem(pair, 0), *value = cJSON_GetArrayItem(pair, 1);

        must(cJSON_GetArraySize(pair) == 2 && (cJSON_IsNumber(what) || cJSON_IsString(what)));
        must(cJSON_IsFalse(value) ||
             (value->valuedouble >= -100 && value->valuedouble <= 100 && cJSON_IsNumber(value)));
    }
    cJSON_Delete(list);
}

static void check(const struct api_request *q)
{
    const struct sampler_params *s = &q->sampler;

    must(q->n_turns != 0 && (q->kind != API_CONTINUE || q->n_turns <= API_REPLIES_MOST));
    must(q->kind != API_EMBED || q->n_turns <= API_INPUTS_MOST);
    for (uint32_t i = 0; i < q->n_turns; i++) {
        bool chat = q->kind == API_CHAT;

        must(chat || q->turns[i].user.n != 0 || q->turns[i].tokens.n != 0);
        must(!chat || i + 1 == q->n_turns || q->turns[i].replied);
        must(!q->turns[i].replied || q->turns[i].reply.bytes != NULL);
    }
    must(!q->has_system || q->system.bytes != NULL);
    must(!q->may_call || (q->kind == API_CHAT && q->has_system && q->grammar != NULL));
    must(q->n <= INT32_MAX && q->n_stops <= REPLY_TEXT_STOPS);
    for (uint32_t i = 0; i < q->n_stops; i++) {
        must(q->stops[i][0] != '\0' && memchr(q->stops[i], '\0', sizeof q->stops[i]) != NULL);
    }
    must(s->presence >= -2 && s->presence <= 2 && s->frequency >= -2 && s->frequency <= 2);
    must(s->repeat_last <= 1 << 20 && s->n_biases == 0);
    check_biases(q);
    must(s->temp >= 0 && s->temp <= 100 && s->repeat > 0 && s->repeat <= 100);
    must(s->top_p > 0 && s->top_p <= 1 && s->min_p >= 0 && s->min_p <= 1);
    if (q->grammar != NULL) {
        const char *why;
        struct grammar g;

        must(q->grammar_bytes <= INGOT_GRAMMAR_BYTES);
        must(grammar_open(&g, q->grammar, q->grammar_bytes, &why) == ERR_OK);
    }
}

/* The error is written as JSON, in UTF-8. */
static void check_error(const struct api_error *e, enum serve_dialect dialect)
{
    struct api_text out = { .n = 0 };
    cJSON *root;

    must(e->status >= 400 && e->status < 600 && e->text[0] != '\0');
    serve_writer_of(dialect)->error(&out, e);
    root = cJSON_ParseWithOpts(api_text_shown(&out), NULL, 1);
    must(root != NULL);
    cJSON_Delete(root);
    for (size_t at = 0; at < out.n;) {
        int n = utf8_check((const uint8_t *)out.bytes + at, out.n - at);

        must(n > 0);
        at += (size_t)n;
    }
    serve_text_free(&out);
}

static const struct api_answer as_chat = { .kind = API_CHAT, .number = 1, .model = "m" };

static const cJSON *choice_of(const cJSON *root, const char *name)
{
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");

    return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(choices, 0), name);
}

static void add_member(struct api_text *to, const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    if (text != NULL) {
        (void)serve_text_add(to, text, strlen(text));
    }
}

/* Returns the content, name and arguments of a message or a delta. */
static void add_parts(struct api_text said[3], const cJSON *message)
{
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(message, "tool_calls");
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(calls, 0), "function");

    add_member(&said[0], message, "content");
    add_member(&said[1], f, "name");
    add_member(&said[2], f, "arguments");
}

static void add_events(struct api_text said[3], const char *text)
{
    const char *event = text;

    while ((event = strstr(event, "data: {")) != NULL) {
        cJSON *root = cJSON_Parse(event + strlen("data: "));

        must(root != NULL);
        add_parts(said, choice_of(root, "delta"));
        cJSON_Delete(root);
        event++;
    }
}

/* Bytes of the character there; at the end 1. */
static size_t character_at(const char *text, size_t n, size_t i)
{
    int bytes = i < n ? utf8_check((const uint8_t *)text + i, n - i) : 1;

    return bytes > 0 ? (size_t)bytes : 1;
}

/* A reply that comes character by character. */
static void check_reply(const char *text, size_t n)
{
    struct serve_job *j = serve_job_new();
    struct api_text out = { .n = 0 }, said[3] = { { .n = 0 } }, wanted[3] = { { .n = 0 } };
    struct api_events at = { .begun = false };
    const struct api_stream s = { &out, &as_chat, &j->of, &at, NULL };
    const struct api_job *whole = &j->of;
    struct api_call before = { .content = 0 }, c;
    cJSON *root;

    must(j != NULL);
    j->of.request.kind = API_CHAT;
    j->of.request.may_call = true;
    for (size_t i = 0, more; i <= n; i += more) {
        more = character_at(text, n, i);
        j->of.done = i == n;
        must(serve_text_add(&j->of.text, text + i, i < n ? more : 0));
        api_call_find(&c, j->of.text.bytes, j->of.text.n, j->of.done);
        must(c.content >= before.content && c.content <= j->of.text.n && c.found >= before.found);
        must(c.whole >= before.whole && c.arguments_bytes >= before.arguments_bytes);
        must(!before.whole || c.arguments_bytes == before.arguments_bytes);
        before = c;
        api_stream_walk(&s, serve_chat_writer.say);
    }
    add_events(said, api_text_shown(&out));
    out.n = 0;
    serve_answer_whole(&out, &as_chat, &whole, 1);
    root = cJSON_Parse(out.bytes);
    must(root != NULL);
    add_parts(wanted, choice_of(root, "message"));
    must((strcmp(choice_of(root, "finish_reason")->valuestring, "tool_calls") == 0) == c.whole);
    cJSON_Delete(root);
    for (int i = 0; i < 3; i++) {
        must(strcmp(api_text_shown(&said[i]), api_text_shown(&wanted[i])) == 0);
        serve_text_free(&said[i]);
        serve_text_free(&wanted[i]);
    }
    serve_text_free(&out);
    serve_job_release(j);
}

/* ---- every API's writer ------------------------------------------------------------------------ */

/* The text of the pieces of a reply. */
struct pieces {
    struct api_text open; /* bytes of the item at work */
    uint32_t items;
    bool begun, ended, opened;
};

static void take_piece(const struct api_stream *s, const struct api_piece *p)
{
    struct pieces *all = s->context;

    must(!all->ended && all->begun == (p->step != API_BEGINS));
    all->begun = true;
    if (p->step == API_OPENS || p->step == API_GROWS) {
        must(all->opened == (p->step == API_GROWS) && p->number == all->items);
        all->opened = true;
        (void)serve_text_add(&all->open, p->bytes, p->n);
    } else if (p->step == API_CLOSES) {
        must(all->opened && p->number == all->items++);
        must(all->open.n == p->n && memcmp(all->open.bytes, p->bytes, p->n) == 0);
        all->open.n = 0;
        all->opened = false;
    } else if (p->step == API_ENDS) {
        must(!all->opened && all->items != 0);
        all->ended = true;
    }
}

/* Each line that begins as an object, behind "data: " or not, is an object. */
static void check_lines(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        const char *from = strncmp(text, "data: ", 6) == 0 ? text + 6 : text;

        if (*from == '{') {
            const char *end;
            cJSON *root = cJSON_ParseWithOpts(from, &end, 0);

            must(root != NULL && end == text + n);
            cJSON_Delete(root);
        }
        text += n + (text[n] != '\0');
    }
}

static void check_dialects(const char *text, size_t n, bool thinks)
{
    for (int d = 0; d <= SERVE_N_DIALECTS; d++) {
        struct serve_job *j = serve_job_new();
        const struct api_answer a = { .kind = API_CHAT,
                                      .model = "m",
                                      .dialect = d < SERVE_N_DIALECTS ? (unsigned)d : 0 };
        const struct serve_writer *w = serve_writer_of(a.dialect);
        struct api_text out = { .n = 0 };
        struct api_events at = { .index = 0 };
        struct pieces all = { .items = 0 };
        const struct api_stream s = { &out, &a, &j->of, &at, &all };
        const struct api_job *whole = &j->of;

        must(j != NULL);
        j->of.request.may_call = true;
        for (size_t i = 0, more; i <= n; i += more) {
            struct api_text *to = thinks && i < n / 2 ? &j->of.thoughts : &j->of.text;

            more = character_at(text, n, i);
            j->of.done = i == n;
            must(serve_text_add(to, text + i, i < n ? more : 0));
            api_stream_walk(&s, d == SERVE_N_DIALECTS ? take_piece : w->say);
        }
        must(d != SERVE_N_DIALECTS || all.ended);
        w->whole(&out, &a, &whole, 1);
        check_lines(out.bytes);
        serve_text_free(&out);
        serve_text_free(&all.open);
        serve_job_release(j);
    }
}

/* Copies the bytes without NUL, which no text has, and without broken characters. */
static void take_reply(const uint8_t *data, size_t size)
{
    char text[256];
    size_t n = 0;

    for (size_t i = 0; i < size && n < sizeof text; i++) {
        if (data[i] >= 0x0a && data[i] < 0x7f) {
            text[n++] = (char)data[i];
        }
    }
    check_reply(text, n);
    check_dialects(text, n, false);
    check_dialects(text, n, true);
}

/* ---- bodies ------------------------------------------------------------------------------------ */

static void take_body(const char *body, size_t n, enum api_kind kind, enum serve_dialect dialect)
{
    struct api_defaults d = { .model = "demo.ingot" };
    struct api_answer a = { .kind = kind, .model = d.model, .dialect = dialect };
    struct api_request q = { .n = 0 };
    struct api_error e = { .status = 0 };
    struct api_text echo = { .n = 0 };
    clock_t begin = clock();
    bool good;

    sampler_params_default(&d.sampler);
    good = serve_dialect_read(&q, &a, &echo, body, n, &d, &e);
    if (clock() - begin > CLOCKS_PER_SEC) {
        fprintf(stderr, "it took %.1f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
        abort();
    }
    if (!good) {
        check_error(&e, dialect);
    } else if (!a.loads) {
        check(&q);
    }
    serve_text_free(&echo);
    serve_request_free(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum serve_dialect dialect = SERVE_COMPLETIONS;
    enum api_kind kind = API_CHAT;
    char *body;

    if (size < 1 || size > SERVE_BODY_BYTES) {
        return 0;
    }
    if (isalpha(data[0])) {
        dialect = SERVE_COMPLETIONS + 1 + ((data[0] & 31) - 1) % (SERVE_N_DIALECTS - 1);
    } else if (data[0] % (API_N_KINDS + 1) == API_N_KINDS) {
        take_reply(data + 1, size - 1);
        return 0;
    } else {
        kind = (enum api_kind)(data[0] % (API_N_KINDS + 1));
    }
    body = malloc(size);
    must(body != NULL);
    memcpy(body, data + 1, size - 1);
    body[size - 1] = '\0';
    take_body(body, size - 1, kind, dialect);
    free(body);
    return 0;
}
