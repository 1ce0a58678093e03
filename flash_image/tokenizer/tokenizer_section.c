#include "flash_image/tokenizer/tokenizer_section.h"

#include <string.h>

#include "flash_image/tokenizer/tokenizer_build.h"
#include "kernels/ref/scalar.h"

enum { MOST_TEXT_BYTES = 1 << 28 };

static uint64_t round_up4(uint64_t n)
{
    return (n + 3) & ~(uint64_t)3;
}

/* 0 comes from readers that know only SentencePiece. */
static enum ingot_tokenizer_kind kind_of(const struct source_vocab *v)
{
    return v->kind == 0 ? INGOT_TOKENIZER_SPM : v->kind;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Copy a token's text as it prints; those of byte and control tokens are names, and BPE's tokens
 * that were added to the vocabulary are literal. */
static uint32_t copy_text(enum ingot_tokenizer_kind kind, const struct source_token *t,
                          uint32_t type, uint8_t *out, bool *literal)
{
    bool spelled = kind == INGOT_TOKENIZER_BPE
                       ? type == INGOT_TOKEN_NORMAL
                       : type != INGOT_TOKEN_BYTE && type != INGOT_TOKEN_CONTROL;

    *literal = false;
    if (spelled) {
        return tokenizer_spell(kind, t->text, t->bytes, out, literal);
    }
    memcpy(out, t->text, t->bytes);
    return t->bytes;
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

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_between(const struct source_token *t, const char *start, const char *end)
{
    size_t a = strlen(start), b = strlen(end);

    return t->bytes > a + b && memcmp(t->text, start, a) == 0 &&
           memcmp(t->text + t->bytes - b, end, b) == 0;
}

static bool is_text(const struct source_token *t, const char *text)
{
    return t->bytes == strlen(text) && memcmp(t->text, text, t->bytes) == 0;
}

/* Written like what separates turns, in the families that have it. */
static bool looks_like_control(const struct source_token *t)
{
    return is_between(t, "<|", "|>") || is_between(t, "<\xef\xbd\x9c", "\xef\xbd\x9c>") ||
           is_text(t, "<start_of_turn>") || is_text(t, "<end_of_turn>") || is_text(t, "[INST]") ||
           is_text(t, "[/INST]");
}

/* Converters have marked such tokens as user-defined, which any text may form: what ends a turn
 * or a text must be a control token. */
static uint32_t token_type(const struct source_vocab *v, uint32_t id, const struct source_token *t)
{
    uint32_t type = t->type == 0 ? INGOT_TOKEN_NORMAL : t->type; /* GGUF's "undefined" */

    if (id == v->bos || id == v->eos || id == v->eot ||
        (type == INGOT_TOKEN_USER && looks_like_control(t))) {
        return INGOT_TOKEN_CONTROL;
    }
    return type;
}

static uint8_t strips(const struct source_token *t, uint32_t type)
{
    if (type != INGOT_TOKEN_CONTROL && type != INGOT_TOKEN_USER) {
        return 0;
    }
    return (uint8_t)((t->lstrip ? INGOT_TOKEN_LSTRIP : 0) | (t->rstrip ? INGOT_TOKEN_RSTRIP : 0));
}

/* ---- measuring ------------------------------------------------------------------------------- */

static enum err check_token(struct source *s, const struct source_token *t, uint32_t id)
{
    if ((f32_bits(t->score) & 0x7f800000u) == 0x7f800000u) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "the score of token %u is not finite", id);
    }
    if (t->type > INGOT_TOKEN_BYTE) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "token %u is of the unknown type %u", id,
                             t->type);
    }
    if (t->type == INGOT_TOKEN_BYTE && byte_of(t->text, t->bytes) < 0) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "the byte token %u is not called <0xXX>", id);
    }
    if (t->bytes > TOKENIZER_MOST_TOKEN_BYTES) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "token %u has more than %u bytes", id,
                             TOKENIZER_MOST_TOKEN_BYTES);
    }
    return ERR_OK;
}

enum err tokenizer_section_measure(struct source *s, struct tokenizer_size *size)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    uint64_t text_bytes = 0;
    uint64_t n = s->vocab.n_tokens;
    bool spm = kind_of(&s->vocab) == INGOT_TOKENIZER_SPM;

    while (source_next_token(&s->vocab, &c, &t)) {
        enum err e = check_token(s, &t, c.id - 1);

        if (e != ERR_OK) {
            return e;
        }
        text_bytes += t.bytes; /* spelling makes texts shorter, never longer */
    }
    if (text_bytes > MOST_TEXT_BYTES) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the vocabulary has %llu bytes of text, more "
                             "than 256 MiB",
                             (unsigned long long)text_bytes);
    }
    size->n_tokens = (uint32_t)n;
    size->bytes = sizeof(struct ingot_tokenizer) + 4 * (n + 1) + round_up4(n) + 4 * n + 4 * 256 +
                  round_up4(text_bytes);
    size->bytes += spm ? 4 * n
                       : sizeof(struct ingot_merges) + 4 * (n + 1) +
                             sizeof(struct ingot_merge) * (uint64_t)s->vocab.n_merges;
    return ERR_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

static void fill_tokens(const struct source *s, struct tokenizer_build *b)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    uint32_t at = 0;

    while (source_next_token(&s->vocab, &c, &t)) {
        uint32_t id = c.id - 1;
        uint32_t type = token_type(&s->vocab, id, &t);
        bool literal;
        uint32_t bytes = copy_text(kind_of(&s->vocab), &t, type, b->text + at, &literal);
        int byte = type == INGOT_TOKEN_BYTE ? byte_of(t.text, t.bytes) : -1;

        if (b->head->kind == INGOT_TOKENIZER_BPE) {
            byte = type == INGOT_TOKEN_NORMAL && bytes == 1 && !literal ? b->text[at] : -1;
        }
        if (b->scores != NULL) {
            b->scores[id] = t.score;
        }
        b->text_offsets[id] = at;
        b->types[id] = (uint8_t)(type | strips(&t, type) | (literal ? TOKENIZER_LITERAL : 0));
        if (byte >= 0 && b->byte_tokens[byte] == INGOT_NO_TOKEN) {
            b->byte_tokens[byte] = id;
        }
        if (bytes > b->head->max_token_bytes) {
            b->head->max_token_bytes = bytes;
        }
        at += bytes;
    }
    b->text_offsets[s->vocab.n_tokens] = at;
    b->head->text_bytes = at;
    b->head->sorted = b->head->text + (uint32_t)round_up4(at);
    b->sorted = (void *)(b->section + b->head->sorted);
}

/* Offsets of the arrays whose sizes are known; sorted comes after the text, then the merges. */
static void lay_out(const struct source_vocab *v, const struct tokenizer_size *size,
                    struct tokenizer_build *b)
{
    struct ingot_tokenizer *h = b->head;
    uint32_t n = size->n_tokens;
    bool spm = kind_of(v) == INGOT_TOKENIZER_SPM;

    *h = (struct ingot_tokenizer){
        .kind = kind_of(v),
        .flags = v->flags,
        .n_tokens = n,
        .bos = v->bos,
        .eos = v->eos,
        .unk = v->unk,
        .eot = v->eot,
    };
    h->text_offsets = (uint32_t)(sizeof *h + (spm ? 0 : sizeof(struct ingot_merges)));
    h->types = h->text_offsets + 4 * (n + 1);
    h->scores = spm ? h->types : 0;
    h->types += spm ? 4 * n : 0;
    h->byte_tokens = h->types + (uint32_t)round_up4(n);
    h->text = h->byte_tokens + 4 * 256;
    b->text_offsets = (void *)(b->section + h->text_offsets);
    b->scores = spm ? (void *)(b->section + h->scores) : NULL;
    b->types = b->section + h->types;
    b->byte_tokens = (void *)(b->section + h->byte_tokens);
    b->text = b->section + h->text;
}

enum err tokenizer_section_build(struct source *s, const struct tokenizer_size *size,
                                 uint8_t *section, uint64_t *bytes)
{
    struct tokenizer_build b = { .section = section, .head = (void *)section };

    lay_out(&s->vocab, size, &b);
    memset(b.byte_tokens, 0xff, 4 * 256);
    fill_tokens(s, &b);
    tokenizer_fill_sorted(&b);
    *bytes = b.head->sorted + 4 * (uint64_t)b.head->n_sorted;
    return b.head->kind == INGOT_TOKENIZER_SPM
               ? ERR_OK
               : tokenizer_fill_merges(s, &b, (uint32_t)*bytes, bytes);
}
