#include "flash_image/tokenizer_section.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/ref/scalar.h"

enum { MOST_TEXT_BYTES = 1 << 28 };

static uint64_t round_up4(uint64_t n)
{
    return (n + 3) & ~(uint64_t)3;
}

static bool is_escaped_space(const uint8_t *p, size_t left)
{
    return left >= 3 && p[0] == 0xe2 && p[1] == 0x96 && p[2] == 0x81; /* U+2581 */
}

/* Copy a text with U+2581 as a space, except in byte and control tokens, which are names.
 * out NULL: only count. Returns the bytes. */
static uint32_t copy_text(const struct source_token *t, uint8_t *out)
{
    bool name = t->type == INGOT_TOKEN_BYTE || t->type == INGOT_TOKEN_CONTROL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->bytes; n++) {
        bool space = !name && is_escaped_space(t->text + i, t->bytes - i);

        if (out != NULL) {
            out[n] = space ? (uint8_t)' ' : t->text[i];
        }
        i += space ? 3 : 1;
    }
    return n;
}

static uint32_t token_type(const struct source_token *t)
{
    return t->type == 0 ? INGOT_TOKEN_NORMAL : t->type; /* GGUF's "undefined" */
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of "<0xXX>", or -1. */
static int byte_of(const uint8_t *text, uint32_t bytes)
{
    int high, low;

    if (bytes != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') {
        return -1;
    }
    high = hex_value(text[3]);
    low = hex_value(text[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

enum err tokenizer_measure(struct source *s, struct tokenizer_size *size)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    uint64_t text_bytes = 0;
    uint64_t n = s->vocab.n_tokens;

    while (source_next_token(&s->vocab, &c, &t)) {
        if ((f32_bits(t.score) & 0x7f800000u) == 0x7f800000u) {
            return source_refuse(s, ERR_BAD_TOKENIZER, "the score of token %u is not finite",
                                 c.id - 1);
        }
        if (t.type > INGOT_TOKEN_BYTE) {
            return source_refuse(s, ERR_BAD_TOKENIZER, "token %u is of the unknown type %u",
                                 c.id - 1, t.type);
        }
        if (t.type == INGOT_TOKEN_BYTE && byte_of(t.text, t.bytes) < 0) {
            return source_refuse(s, ERR_BAD_TOKENIZER, "the byte token %u is not called <0xXX>",
                                 c.id - 1);
        }
        text_bytes += copy_text(&t, NULL);
    }
    if (text_bytes > MOST_TEXT_BYTES) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "the vocabulary has %llu bytes of text, more "
                             "than 256 MiB", (unsigned long long)text_bytes);
    }
    size->n_tokens = (uint32_t)n;
    size->n_sorted_most = (uint32_t)n;
    size->text_bytes = (uint32_t)text_bytes;
    size->bytes = sizeof(struct ingot_tokenizer) + 4 * (n + 1) + 4 * n + round_up4(n) + 4 * n +
                  4 * 256 + round_up4(text_bytes);
    return ERR_OK;
}

/* The arrays of the section under construction. */
struct build {
    struct ingot_tokenizer *head;
    uint32_t *text_offsets;
    float *scores;
    uint8_t *types;
    uint32_t *byte_tokens;
    uint8_t *text;
    uint32_t *sorted;
};

static void fill_tokens(const struct source *s, struct build *b)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    uint32_t at = 0;

    while (source_next_token(&s->vocab, &c, &t)) {
        uint32_t id = c.id - 1;
        uint32_t bytes = copy_text(&t, b->text + at);
        int byte = t.type == INGOT_TOKEN_BYTE ? byte_of(t.text, t.bytes) : -1;

        b->text_offsets[id] = at;
        b->scores[id] = t.score;
        b->types[id] = (uint8_t)token_type(&t);
        if (byte >= 0 && b->byte_tokens[byte] == INGOT_NO_TOKEN) {
            b->byte_tokens[byte] = id;
        }
        if (bytes > b->head->max_token_bytes) {
            b->head->max_token_bytes = bytes;
        }
        at += bytes;
    }
    b->text_offsets[s->vocab.n_tokens] = at;
}

/* By bytes, a prefix first. */
static int compare_texts(const struct build *b, uint32_t a_id, uint32_t b_id)
{
    uint32_t na = b->text_offsets[a_id + 1] - b->text_offsets[a_id];
    uint32_t nb = b->text_offsets[b_id + 1] - b->text_offsets[b_id];
    int order = memcmp(b->text + b->text_offsets[a_id], b->text + b->text_offsets[b_id],
                       na < nb ? na : nb);

    return order != 0 ? order : (na > nb) - (na < nb);
}

/* Equal texts by id, so that the order is one and the lowest id comes first. */
static int compare_ids(const void *a, const void *b, void *context)
{
    uint32_t a_id = *(const uint32_t *)a;
    uint32_t b_id = *(const uint32_t *)b;
    int order = compare_texts(context, a_id, b_id);

    return order != 0 ? order : (a_id > b_id) - (a_id < b_id);
}

static void fill_sorted(const struct source *s, struct build *b)
{
    uint32_t n = 0;
    uint32_t kept = 0;

    for (uint32_t id = 0; id < s->vocab.n_tokens; id++) {
        bool matched = b->types[id] == INGOT_TOKEN_NORMAL || b->types[id] == INGOT_TOKEN_USER;

        if (matched && b->text_offsets[id] != b->text_offsets[id + 1]) {
            b->sorted[n++] = id;
        }
    }
    qsort_r(b->sorted, n, sizeof b->sorted[0], compare_ids, b);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || compare_texts(b, b->sorted[kept - 1], b->sorted[i]) != 0) {
            b->sorted[kept++] = b->sorted[i];
        }
    }
    memset(b->sorted + kept, 0, (n - kept) * sizeof b->sorted[0]);
    b->head->n_sorted = kept;
}

uint64_t tokenizer_build(const struct source *s, const struct tokenizer_size *size,
                         uint8_t *section)
{
    struct ingot_tokenizer *h = (void *)section;
    uint32_t n = size->n_tokens;
    struct build b = { .head = h };

    *h = (struct ingot_tokenizer){
        .kind = INGOT_TOKENIZER_SPM,
        .flags = s->vocab.flags,
        .n_tokens = n,
        .bos = s->vocab.bos,
        .eos = s->vocab.eos,
        .unk = s->vocab.unk,
        .eot = s->vocab.eot,
        .text_offsets = sizeof *h,
        .text_bytes = size->text_bytes,
    };
    h->scores = h->text_offsets + 4 * (n + 1);
    h->types = h->scores + 4 * n;
    h->byte_tokens = h->types + (uint32_t)round_up4(n);
    h->text = h->byte_tokens + 4 * 256;
    h->sorted = h->text + (uint32_t)round_up4(size->text_bytes); /* last: its length is found out */
    b.text_offsets = (void *)(section + h->text_offsets);
    b.scores = (void *)(section + h->scores);
    b.types = section + h->types;
    b.byte_tokens = (void *)(section + h->byte_tokens);
    b.text = section + h->text;
    b.sorted = (void *)(section + h->sorted);
    memset(b.byte_tokens, 0xff, 4 * 256);
    fill_tokens(s, &b);
    fill_sorted(s, &b);
    return h->sorted + 4 * (uint64_t)h->n_sorted;
}

/* ---- chat ------------------------------------------------------------------------------------ */

static bool contains(struct source_text text, const char *what)
{
    return text.bytes != 0 && memmem(text.data, text.bytes, what, strlen(what)) != NULL;
}

/* Id of the token with this text that users cannot form; INGOT_NO_TOKEN: none. */
static uint32_t find_special(const struct source_vocab *v, const char *text)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;

    while (source_next_token(v, &c, &t)) {
        if ((t.type == INGOT_TOKEN_CONTROL || t.type == INGOT_TOKEN_USER) &&
            t.bytes == strlen(text) && memcmp(t.text, text, t.bytes) == 0) {
            return c.id - 1;
        }
    }
    return INGOT_NO_TOKEN;
}

static const char *const chatml[INGOT_CHAT_STRINGS] = {
    [INGOT_CHAT_SYSTEM_PREFIX] = "<|im_start|>system\n",
    [INGOT_CHAT_SYSTEM_SUFFIX] = "<|im_end|>\n",
    [INGOT_CHAT_USER_PREFIX] = "<|im_start|>user\n",
    [INGOT_CHAT_USER_SUFFIX] = "<|im_end|>\n",
    [INGOT_CHAT_REPLY_PREFIX] = "<|im_start|>assistant\n",
    [INGOT_CHAT_REPLY_SUFFIX] = "<|im_end|>\n",
};

/* Turns end with the model's own end-of-sequence token, which is </s> in both families. */
static const char *const zephyr[INGOT_CHAT_STRINGS] = {
    [INGOT_CHAT_SYSTEM_PREFIX] = "<|system|>\n",
    [INGOT_CHAT_SYSTEM_SUFFIX] = "</s>\n",
    [INGOT_CHAT_USER_PREFIX] = "<|user|>\n",
    [INGOT_CHAT_USER_SUFFIX] = "</s>\n",
    [INGOT_CHAT_REPLY_PREFIX] = "<|assistant|>\n",
    [INGOT_CHAT_REPLY_SUFFIX] = "</s>\n",
};

/* Told apart by the words that only one family's template has. */
static const char *const *recognize(const struct source *s)
{
    struct source_text t = s->chat_template;

    if (contains(t, "<|im_start|>") && contains(t, "<|im_end|>")) {
        return chatml;
    }
    if (contains(t, "<|user|>") && contains(t, "<|assistant|>") && contains(t, "eos_token") &&
        !contains(t, "<|end|>") && find_special(&s->vocab, "</s>") != INGOT_NO_TOKEN) {
        return zephyr;
    }
    return NULL;
}

size_t chat_build(const struct source *s, uint8_t section[CHAT_MOST_BYTES], uint32_t *eot)
{
    const char *const *strings = recognize(s);
    struct ingot_chat head = { .bytes = { 0 } };
    size_t at = sizeof head;

    for (size_t i = 0; strings != NULL && i < INGOT_CHAT_STRINGS; i++) {
        head.bytes[i] = (uint32_t)strlen(strings[i]);
        memcpy(section + at, strings[i], head.bytes[i]);
        at += head.bytes[i];
    }
    memcpy(section, &head, sizeof head);
    if (strings == chatml && *eot == INGOT_NO_TOKEN) {
        *eot = find_special(&s->vocab, "<|im_end|>");
    }
    return at;
}
