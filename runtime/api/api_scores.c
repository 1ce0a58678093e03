#include "runtime/api/api_scores.h"

#include <string.h>

#include "runtime/text/format_float.h"
#include "runtime/text/utf8.h"

/* ---- kept ------------------------------------------------------------------------------------ */

/* A token's record stands before its text. The record of the token that was taken comes first, then
 * the records of the likeliest tokens. */
struct record {
    double logprob;
    uint32_t id;
    uint16_t bytes;
    uint8_t exact, n_likeliest;
};

enum { LONGEST = UINT16_MAX };

static bool add(struct api_text *to, const struct api_score *s, uint32_t n_likeliest)
{
    const struct record r = { .logprob = s->logprob,
                              .id = s->id,
                              .bytes = (uint16_t)(s->bytes < LONGEST ? s->bytes : LONGEST),
                              .exact = s->exact,
                              .n_likeliest = (uint8_t)n_likeliest };

    return api_text_put(to, (const char *)&r, sizeof r) && api_text_put(to, s->text, r.bytes);
}

bool api_scores_add(struct api_text *scores, const struct api_score *taken,
                    const struct api_score *likeliest, uint32_t n)
{
    bool good = add(scores, taken, n);

    for (uint32_t i = 0; i < n && good; i++) {
        good = add(scores, &likeliest[i], 0);
    }
    return good;
}

/* Read the score at `at`. Returns the offset of the next score. */
static size_t score_at(const struct api_text *scores, size_t at, struct api_score *s, uint32_t *n)
{
    struct record r;

    memcpy(&r, scores->bytes + at, sizeof r);
    *s = (struct api_score){ .id = r.id,
                             .logprob = r.logprob,
                             .text = scores->bytes + at + sizeof r,
                             .bytes = r.bytes,
                             .exact = r.exact != 0 };
    *n = r.n_likeliest;
    return at + sizeof r + r.bytes;
}

/* ---- put ------------------------------------------------------------------------------------- */

static void put_characters(void *context, const char *text, size_t bytes)
{
    api_text_escaped(context, text, bytes);
}

/* Write a token's text in whole characters. */
static void put_text(struct api_text *out, const struct api_score *s)
{
    struct utf8_writer writer = { .write = put_characters, .context = out };

    api_text_put(out, "\"", 1);
    utf8_writer_put(&writer, s->text, s->bytes);
    utf8_writer_flush(&writer);
    api_text_put(out, "\"", 1);
}

static void put_number(struct api_text *out, double value)
{
    char number[FORMAT_NUMBER_BYTES];

    api_text_print(out, "%s", format_fixed(number, value));
}

/* Write a score without the brace that ends it. */
static void put_score(struct api_text *out, const struct api_score *s)
{
    api_text_print(out, "{'token':");
    put_text(out, s);
    api_text_print(out, ",'id':%lu,'logprob':", (unsigned long)s->id);
    put_number(out, s->logprob);
    api_text_print(out, ",'bytes':%s", s->exact ? "[" : "null");
    for (size_t i = 0; i < s->bytes && s->exact; i++) {
        api_text_print(out, "%s%u", i != 0 ? "," : "", (unsigned)(uint8_t)s->text[i]);
    }
    api_text_put(out, "]", s->exact);
}

/* Write a list of objects, the form of chats. */
static void put_content(struct api_text *out, const struct api_text *scores, size_t at)
{
    struct api_score s;
    uint32_t n, none;

    api_text_print(out, "{'content':[");
    for (bool first = true; at < scores->n; first = false) {
        api_text_put(out, ",", !first);
        at = score_at(scores, at, &s, &n);
        put_score(out, &s);
        api_text_print(out, ",'top_logprobs':[");
        for (uint32_t i = 0; i < n; i++) {
            api_text_put(out, ",", i != 0);
            at = score_at(scores, at, &s, &none);
            put_score(out, &s);
            api_text_put(out, "}", 1);
        }
        api_text_print(out, "]}");
    }
    api_text_print(out, "],'refusal':null}");
}

/* Return the offset after the scores of the likeliest tokens. */
static size_t skip(const struct api_text *scores, size_t at, uint32_t n)
{
    struct api_score s;
    uint32_t none;

    while (n-- != 0) {
        at = score_at(scores, at, &s, &none);
    }
    return at;
}

/* The beginning of a text, as many whole characters as fit. */
struct shown {
    size_t n;
    char text[96];
};

static void show_characters(void *context, const char *text, size_t bytes)
{
    struct shown *s = context;

    if (bytes <= sizeof s->text - s->n) {
        memcpy(s->text + s->n, text, bytes);
        s->n += bytes;
    }
}

static void show(struct shown *to, const struct api_score *s)
{
    struct utf8_writer writer = { .write = show_characters, .context = to };

    to->n = 0;
    utf8_writer_put(&writer, s->text, s->bytes);
    utf8_writer_flush(&writer);
}

/* Return true if a record between two offsets has the text of *s. */
static bool stands(const struct api_text *scores, size_t from, size_t to, const struct api_score *s)
{
    struct shown wanted, one;
    struct api_score other;
    uint32_t none;

    show(&wanted, s);
    while (from < to) {
        from = score_at(scores, from, &other, &none);
        show(&one, &other);
        if (one.n == wanted.n && memcmp(one.text, wanted.text, one.n) == 0) {
            return true;
        }
    }
    return false;
}

/* Write the likeliest tokens as {"a": -0.1, ...}. If texts are equal, write only the likeliest. */
static void put_likeliest(struct api_text *out, const struct api_text *scores, size_t at,
                          uint32_t n)
{
    size_t first = at;
    bool some = false;

    api_text_put(out, "{", 1);
    for (uint32_t i = 0; i < n; i++) {
        size_t own = at;
        struct api_score s;
        uint32_t none;

        at = score_at(scores, at, &s, &none);
        if (stands(scores, first, own, &s)) {
            continue;
        }
        api_text_put(out, ",", some);
        some = true;
        put_text(out, &s);
        api_text_put(out, ":", 1);
        put_number(out, s.logprob);
    }
    api_text_put(out, "}", 1);
}

static void count_characters(void *context, const char *text, size_t bytes)
{
    size_t *n = context;

    for (size_t i = 0; i < bytes; i++) {
        *n += ((uint8_t)text[i] & 0xc0) != 0x80;
    }
}

static size_t characters_of(const struct api_score *s)
{
    size_t n = 0;
    struct utf8_writer writer = { .write = count_characters, .context = &n };

    utf8_writer_put(&writer, s->text, s->bytes);
    utf8_writer_flush(&writer);
    return n;
}

enum list { TOKENS, LOGPROBS, LIKELIEST, OFFSETS, N_LISTS };

/* Write one list of the scores of /v1/completions. */
static void put_list(struct api_text *out, enum list list, const struct api_text *scores,
                     struct api_scores_at *from)
{
    size_t at = from->bytes, characters = from->characters;
    struct api_score s;
    uint32_t n;

    for (bool first = true; at < scores->n; first = false) {
        at = score_at(scores, at, &s, &n);
        api_text_put(out, ",", !first);
        switch (list) {
        case TOKENS: put_text(out, &s); break;
        case LOGPROBS: put_number(out, s.logprob); break;
        case LIKELIEST: put_likeliest(out, scores, at, n); break;
        case OFFSETS:
        default: api_text_print(out, "%lu", (unsigned long)characters); break;
        }
        characters += characters_of(&s);
        at = skip(scores, at, n);
    }
    if (list == OFFSETS) {
        from->characters = characters;
    }
}

static void put_lists(struct api_text *out, const struct api_text *scores, struct api_scores_at *at)
{
    static const char *const names[N_LISTS] = { "tokens", "token_logprobs", "top_logprobs",
                                                "text_offset" };

    for (unsigned i = 0; i < N_LISTS; i++) {
        api_text_print(out, "%s'%s':[", i == 0 ? "{" : ",", names[i]);
        put_list(out, (enum list)i, scores, at);
        api_text_put(out, "]", 1);
    }
    api_text_put(out, "}", 1);
}

void api_scores_put(struct api_text *out, enum api_kind kind, const struct api_text *scores,
                    struct api_scores_at *at)
{
    if (scores->n == at->bytes) {
        api_text_print(out, "null");
        return;
    }
    if (kind == API_CHAT) {
        put_content(out, scores, at->bytes);
    } else {
        put_lists(out, scores, at);
    }
    at->bytes = scores->n;
}
