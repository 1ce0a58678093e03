#include "host/api/serve_scores.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "runtime/text/format_float.h"
#include "runtime/text/utf8.h"

/* ---- kept ------------------------------------------------------------------------------------ */

static void add_text(void *context, const char *text, size_t bytes)
{
    (void)serve_text_add(context, text, bytes);
}

/* Returns its text in whole characters. */
static void put_text(cJSON *one, const struct serve_score *s)
{
    struct serve_text whole = { .n = 0 };
    struct utf8_writer writer = { .write = add_text, .context = &whole };

    utf8_writer_put(&writer, s->text, s->bytes);
    utf8_writer_flush(&writer);
    cJSON_AddStringToObject(one, "token", serve_text_shown(&whole));
    serve_text_free(&whole);
}

static cJSON *score_of(const struct serve_score *s)
{
    cJSON *one = cJSON_CreateObject(), *list;
    char number[FORMAT_NUMBER_BYTES];

    put_text(one, s);
    cJSON_AddNumberToObject(one, "id", s->id);
    cJSON_AddRawToObject(one, "logprob", format_fixed(number, s->logprob));
    if (!s->exact) {
        cJSON_AddNullToObject(one, "bytes");
        return one;
    }
    list = cJSON_AddArrayToObject(one, "bytes");
    for (size_t i = 0; i < s->bytes; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateNumber((uint8_t)s->text[i]));
    }
    return one;
}

void serve_scores_add(struct serve_text *scores, const struct serve_score *taken,
                      const struct serve_score *likeliest, uint32_t n)
{
    cJSON *one = score_of(taken), *list = cJSON_AddArrayToObject(one, "top_logprobs");

    for (uint32_t i = 0; i < n; i++) {
        cJSON_AddItemToArray(list, score_of(&likeliest[i]));
    }
    (void)serve_text_add(scores, ",", 1);
    serve_text_add_json(scores, one);
}

static struct serve_score score_in(const struct session *s, const struct token_score *t)
{
    uint32_t previous = s->n_ids != 0 ? s->ids[s->n_ids - 1] : INGOT_NO_TOKEN;
    struct serve_score score = { .id = t->id, .logprob = t->log_share, .exact = true };

    score.text = tokenizer_piece(&s->model->tokenizer, t->id, previous, &score.bytes);
    return score;
}

void serve_scores_take(struct serve_text *scores, const struct session *s,
                       const struct token_scores *t)
{
    struct serve_score taken = score_in(s, &t->taken), likeliest[TOKEN_SCORES_MOST];

    for (uint32_t i = 0; i < t->n; i++) {
        likeliest[i] = score_in(s, &t->likeliest[i]);
    }
    serve_scores_add(scores, &taken, likeliest, t->n);
}

/* ---- answered -------------------------------------------------------------------------------- */

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static size_t characters_of(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++) {
        n += ((uint8_t)*text & 0xc0) != 0x80;
    }
    return n;
}

/* Writes {"a": -0.1, ...} with the likeliest tokens. Among equal texts, the likelier one stays. */
static cJSON *likeliest_of(const cJSON *one)
{
    cJSON *object = cJSON_CreateObject();
    const cJSON *other;

    cJSON_ArrayForEach(other, get(one, "top_logprobs"))
    {
        const char *text = cJSON_GetStringValue(get(other, "token"));

        if (text != NULL && get(object, text) == NULL) {
            cJSON_AddItemToObject(object, text, cJSON_Duplicate(get(other, "logprob"), false));
        }
    }
    return object;
}

/* Four lists, as /v1/completions has them. */
static cJSON *lists_of(const cJSON *entries, struct serve_scores_at *at)
{
    cJSON *root = cJSON_CreateObject(), *tokens = cJSON_AddArrayToObject(root, "tokens"),
          *logprobs = cJSON_AddArrayToObject(root, "token_logprobs"),
          *top = cJSON_AddArrayToObject(root, "top_logprobs"),
          *offsets = cJSON_AddArrayToObject(root, "text_offset");
    const cJSON *one;

    cJSON_ArrayForEach(one, entries)
    {
        const char *text = cJSON_GetStringValue(get(one, "token"));

        cJSON_AddItemToArray(tokens, cJSON_CreateString(text));
        cJSON_AddItemToArray(logprobs, cJSON_Duplicate(get(one, "logprob"), false));
        cJSON_AddItemToArray(top, likeliest_of(one));
        cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)at->characters));
        at->characters += text != NULL ? characters_of(text) : 0;
    }
    return root;
}

static cJSON *content_of(cJSON *entries)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddItemToObject(root, "content", entries);
    cJSON_AddNullToObject(root, "refusal");
    return root;
}

cJSON *serve_scores_answer(enum serve_kind kind, const struct serve_text *scores,
                           struct serve_scores_at *at)
{
    struct serve_text list = { .n = 0 };
    cJSON *entries, *value;

    if (scores->n == at->bytes) {
        return cJSON_CreateNull();
    }
    (void)serve_text_add(&list, "[", 1); /* a comma comes before each */
    (void)serve_text_add(&list, scores->bytes + at->bytes + 1, scores->n - at->bytes - 1);
    (void)serve_text_add(&list, "]", 1);
    at->bytes = scores->n;
    entries = cJSON_Parse(serve_text_shown(&list));
    serve_text_free(&list);
    if (kind == SERVE_CHAT) {
        return content_of(entries);
    }
    value = lists_of(entries, at);
    cJSON_Delete(entries);
    return value;
}
