#include "runtime/wire/json_biases.h"

#include "runtime/options/options.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

#define FORM \
    "logit_bias is a list of pairs: a token's number or a text, then a number from -100 to 100, or false"

enum { TEXT_TOKENS = 32 /* the most tokens that a text may have */ };

static const char *add(struct json_biases *b, uint32_t id, float value)
{
    if (b->n == SAMPLER_BIASES_MOST) {
        format_text(b->error_message, sizeof b->error_message,
                    "logit_bias names more than %u tokens: leave some out",
                    (unsigned)SAMPLER_BIASES_MOST);
        return b->error_message;
    }
    b->list[b->n++] = (struct sampler_bias){ id, value };
    return NULL;
}

static const char *add_id(struct json_biases *b, const char *text, float value, uint32_t vocab)
{
    uint64_t id;

    if (!options_read_u64(text, false, &id)) {
        return FORM;
    }
    if (id >= vocab) {
        format_text(b->error_message, sizeof b->error_message,
                    "logit_bias: the model has no token %.20s: its %u tokens are counted from "
                    "0",
                    text, (unsigned)vocab);
        return b->error_message;
    }
    return add(b, (uint32_t)id, value);
}

static const char *add_text(struct json_biases *b, const struct json_value *v, float value,
                            const struct session *s)
{
    uint32_t ids[TEXT_TOKENS];
    const char *error_message = NULL;
    size_t n = 0;
    enum err e = tokenizer_encode(&s->model->tokenizer, v->text, v->bytes, TOKENIZER_PLAIN, ids,
                                  TEXT_TOKENS, &n, s->scratch.memory, s->scratch.bytes);

    if (e != ERR_OK || n == 0) {
        format_text(b->error_message, sizeof b->error_message,
                    "logit_bias: a text must have 1 to %u tokens, unlike \"%.24s\"",
                    (unsigned)TEXT_TOKENS, v->text);
        return b->error_message;
    }
    for (size_t i = 0; i < n && error_message == NULL; i++) {
        error_message = add(b, ids[i], value);
    }
    return error_message;
}

/* Read the value of a pair. Return false if the value is not valid. */
static bool read_value(const struct json_value *v, float *value)
{
    *value = SAMPLER_BAN;
    if (v->kind == JSON_NUMBER) {
        return options_read_float(v->text, value) && *value >= -100 && *value <= 100;
    }
    return v->kind == JSON_FALSE;
}

static const char *add_pair(struct json_biases *b, const struct json_value *pair,
                            const struct session *s)
{
    struct json_value what, value, more;
    struct json j;
    float number;

    if (pair->kind != JSON_LIST) {
        return FORM;
    }
    json_open(&j, pair->text, pair->bytes);
    if (json_item(&j, &what) <= JSON_END || json_item(&j, &value) <= JSON_END ||
        !read_value(&value, &number) || json_item(&j, &more) != JSON_END) {
        return FORM;
    }
    if (what.kind == JSON_TEXT) {
        return add_text(b, &what, number, s);
    }
    return what.kind == JSON_NUMBER
               ? add_id(b, what.text, number, s->model->image.header->params.vocab)
               : FORM;
}

const char *json_biases_read(struct json_biases *b, char *text, size_t bytes,
                             const struct session *s)
{
    const char *error_message = NULL;
    struct json_value pair;
    struct json j;

    b->n = 0;
    json_open(&j, text, bytes);
    while (error_message == NULL && json_item(&j, &pair) != JSON_END) {
        error_message = pair.kind == JSON_BAD ? FORM : add_pair(b, &pair, s);
    }
    return error_message;
}
