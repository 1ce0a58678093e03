#include "flash_image/tokenizer/tokenizer_section.h"

#include <string.h>

#include "flash_image/source/special_names.h"
#include "flash_image/tokenizer/tokenizer_build.h"
#include "kernels/ref/scalar.h"
#include "runtime/text/hex_digit.h"

enum { MOST_TEXT_BYTES = 1 << 28 };

static uint64_t round_up4(uint64_t n)
{
    return (n + 3) & ~(uint64_t)3;
}

/* Return the kind of a vocabulary. A reader that knows only SentencePiece leaves v->kind 0. */
static enum ingot_tokenizer_kind kind_of(const struct source_vocab *v)
{
    if (v->kind == 0) {
        return INGOT_TOKENIZER_SPM;
    }
    return v->kind;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* True if a token's text is spelled for printing; texts of byte and control tokens are names, and
 * BPE's added tokens are literal. */
static bool is_spelled(enum ingot_tokenizer_kind kind, uint32_t type)
{
    if (kind == INGOT_TOKENIZER_BPE) {
        return type == INGOT_TOKEN_NORMAL;
    }
    return type != INGOT_TOKEN_BYTE && type != INGOT_TOKEN_CONTROL;
}

static uint32_t copy_text(enum ingot_tokenizer_kind kind, const struct source_token *t,
                          uint32_t type, uint8_t *out, bool *literal)
{
    *literal = false;
    if (is_spelled(kind, type)) {
        return tokenizer_spell(kind, t->text, t->bytes, out, literal);
    }
    memcpy(out, t->text, t->bytes);
    return t->bytes;
}

/* The byte of "<0xXX>", or -1. */
static int byte_of(const uint8_t *text, uint32_t bytes)
{
    int high, low;

    if (bytes != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') {
        return -1;
    }
    high = hex_digit((char)text[3]);
    low = hex_digit((char)text[4]);
    if (high < 0 || low < 0) {
        return -1;
    }
    return high * 16 + low;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* True if the file names the token as the end of a reply, and the token is written like a marker,
 * not like a line feed or a word. */
static bool is_stop(const struct source_vocab *v, uint32_t id, const struct source_token *t)
{
    uint8_t first = t->bytes >= 3 ? t->text[0] : 0;

    for (uint32_t i = 0; (first == '<' || first == '[') && i < v->n_stops; i++) {
        if (v->stops[i] == id) {
            return true;
        }
    }
    return false;
}

/* The type of a token. Some converters type markers as user-defined or normal tokens, which any
 * text may form. Such markers become control tokens, and so do the ends of a turn and of a text. */
static uint32_t token_type(const struct source_vocab *v, uint32_t id, const struct source_token *t)
{
    bool plain = t->type == 0 || t->type == INGOT_TOKEN_NORMAL || t->type == INGOT_TOKEN_USER;

    if (id == v->bos || id == v->eos || id == v->eot ||
        (plain && (special_name_is_marker((const char *)t->text, t->bytes) || is_stop(v, id, t)))) {
        return INGOT_TOKEN_CONTROL;
    }
    if (t->type == 0) { /* GGUF's "undefined" */
        return INGOT_TOKEN_NORMAL;
    }
    return t->type;
}

static uint8_t strips(const struct source_token *t, uint32_t type)
{
    uint8_t flags = 0;

    if (type != INGOT_TOKEN_CONTROL && type != INGOT_TOKEN_USER) {
        return 0;
    }
    if (t->lstrip) {
        flags |= INGOT_TOKEN_LSTRIP;
    }
    if (t->rstrip) {
        flags |= INGOT_TOKEN_RSTRIP;
    }
    return flags;
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
    while (source_next_token(&s->vocab, &c, &t)) {
        enum err e = check_token(s, &t, c.id - 1);

        if (e != ERR_OK) {
            return e;
        }
        text_bytes += t.bytes; /* printing makes texts shorter, never longer */
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
    if (!ingot_kind_has_merges(kind_of(&s->vocab))) {
        size->bytes += 4 * n; /* scores */
    } else {
        size->bytes += sizeof(struct ingot_merges) + 4 * (n + 1) +
                       sizeof(struct ingot_merge) * (uint64_t)s->vocab.n_merges;
    }
    return ERR_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Return the byte that token id, whose printed text is `printed`, stands for; or -1. */
static int byte_of_token(const struct tokenizer_build *b, uint32_t id, const struct source_token *t,
                         const uint8_t *printed, uint32_t bytes)
{
    uint8_t type = b->types[id];

    if (b->head->kind != INGOT_TOKENIZER_BPE) {
        if (type != INGOT_TOKEN_BYTE) {
            return -1;
        }
        return byte_of(t->text, t->bytes);
    }
    if (type != INGOT_TOKEN_NORMAL || bytes != 1) { /* added tokens are literal */
        return -1;
    }
    return printed[0];
}

/* Write token id with its text at `at`; returns the length. */
static uint32_t fill_token(const struct source_vocab *v, struct tokenizer_build *b, uint32_t id,
                           const struct source_token *t, uint32_t at)
{
    uint32_t type = token_type(v, id, t);
    bool literal;
    uint32_t bytes = copy_text(kind_of(v), t, type, b->text + at, &literal);
    int byte;

    b->text_offsets[id] = at;
    b->types[id] = (uint8_t)(type | strips(t, type));
    if (literal) {
        b->types[id] |= TOKENIZER_LITERAL;
    }
    if (b->scores != NULL) {
        b->scores[id] = t->score;
    }
    byte = byte_of_token(b, id, t, b->text + at, bytes);
    if (byte >= 0 && b->byte_tokens[byte] == INGOT_NO_TOKEN) {
        b->byte_tokens[byte] = id;
    }
    b->head->max_token_bytes = max_u32(b->head->max_token_bytes, bytes);
    return bytes;
}

static void fill_tokens(const struct source *s, struct tokenizer_build *b)
{
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    uint32_t at = 0;

    while (source_next_token(&s->vocab, &c, &t)) {
        at += fill_token(&s->vocab, b, c.id - 1, &t, at);
    }
    b->text_offsets[s->vocab.n_tokens] = at;
    b->head->text_bytes = at;
    b->head->sorted = b->head->text + (uint32_t)round_up4(at);
    b->sorted = (void *)(b->section + b->head->sorted);
}

/* Set the offsets of the arrays of known size. `sorted` and the merges follow the text. */
static void lay_out(const struct source_vocab *v, const struct tokenizer_size *size,
                    struct tokenizer_build *b)
{
    struct ingot_tokenizer *h = b->head;
    uint32_t n = size->n_tokens;
    bool scores = !ingot_kind_has_merges(kind_of(v));

    *h = (struct ingot_tokenizer){
        .kind = kind_of(v),
        .flags = v->flags,
        .n_tokens = n,
        .bos = v->bos,
        .eos = v->eos,
        .unk = v->unk,
        .eot = v->eot,
    };
    h->text_offsets = (uint32_t)sizeof *h;
    if (!scores) {
        h->text_offsets += (uint32_t)sizeof(struct ingot_merges);
    }
    h->types = h->text_offsets + 4 * (n + 1);
    if (scores) {
        h->scores = h->types;
        h->types += 4 * n;
        b->scores = (void *)(b->section + h->scores);
    }
    h->byte_tokens = h->types + (uint32_t)round_up4(n);
    h->text = h->byte_tokens + 4 * 256;
    b->text_offsets = (void *)(b->section + h->text_offsets);

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
    if (!ingot_kind_has_merges(b.head->kind)) {
        return ERR_OK;
    }
    return tokenizer_fill_merges(s, &b, (uint32_t)*bytes, bytes);
}
