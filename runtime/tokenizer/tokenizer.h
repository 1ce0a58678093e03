/* Encode and decode text with the tokenizer section of an .ingot file, which is used in place:
 * SentencePiece BPE by score, Unigram, or byte-level BPE by rank of merges. Source:
 * flash_image/FORMAT.md, section 4. */
#ifndef INGOT_RUNTIME_TOKENIZER_H
#define INGOT_RUNTIME_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"
#include "runtime/text/utf8.h" /* struct utf8_writer, for the bytes of tokenizer_piece() */

/* A view of the section, sets of first bytes, and a table of all 256 bytes. The struct has about
 * 500 bytes. */
struct tokenizer {
    const struct ingot_tokenizer *head;
    const uint32_t *text_offsets; /* (n_tokens + 1) */
    const float *scores;          /* (n_tokens), only if merges is NULL */
    const uint8_t *types;         /* (n_tokens), see tokenizer_type() */
    const uint32_t *sorted;       /* (n_sorted) ids in the order of the bytes of their texts */
    const uint32_t *byte_tokens;  /* (256) */
    const char *text;
    const struct ingot_merges *merges; /* NULL: by score */
    const uint32_t *merge_rows;        /* (n_tokens + 1) */
    const struct ingot_merge *merge_entries;
    uint32_t control_lo, control_hi; /* control tokens have control_lo <= id < control_hi */
    uint32_t control_first[8];       /* bit b: some control token begins with byte b */
    uint32_t user_first[8];          /* bit b: some USER token, matched anywhere, begins with b */
    uint32_t before_space[8];        /* bit b: some token has a space after byte b */
    double unknown_score;            /* Unigram: score of a character that is not a token */
    uint8_t bytes[256];              /* every byte once, for byte tokens to point at */
};

static inline enum ingot_token_type tokenizer_type(const struct tokenizer *t, uint32_t id)
{
    return (enum ingot_token_type)(t->types[id] & INGOT_TOKEN_TYPE);
}

/* Return the text of token `id`, which is below n_tokens, in its printed form. The text is not
 * terminated. */
static inline const char *tokenizer_text(const struct tokenizer *t, uint32_t id)
{
    return t->text + t->text_offsets[id];
}

static inline size_t tokenizer_text_bytes(const struct tokenizer *t, uint32_t id)
{
    return t->text_offsets[id + 1] - t->text_offsets[id];
}

enum tokenizer_flags {
    TOKENIZER_PLAIN = 0,
    TOKENIZER_BOS = 1,      /* begin with BOS, if the model wants one and the text has none */
    TOKENIZER_CONTINUE = 2, /* the text continues after other tokens: no space in front of it */
    TOKENIZER_EOS = 4,      /* end with EOS, if the model wants one */
};

/* A stretch of text. Control tokens are recognized only inside trusted parts, so that user text
 * cannot form one. Ordinary text merges across the borders of parts. */
struct tokenizer_part {
    const char *text; /* `bytes` bytes, not terminated; may be NULL when bytes == 0 */
    size_t bytes;
    bool trusted; /* from the model's chat template */
};

/* Open over a section that the image reader has validated. section: 4-byte aligned, must stay
 * in place. Errors: none. */
void tokenizer_open(struct tokenizer *t, const uint8_t *section);

/* Return the bytes of scratch that are needed to encode text_bytes bytes (of all parts), or
 * SIZE_MAX if text_bytes is more than can be encoded (1 GiB). */
size_t tokenizer_scratch_bytes(size_t text_bytes);

/* Return the most bytes that a text of text_bytes takes when normalized; pass this number to
 * tokenizer_scratch_bytes(). With less scratch, a text that grows causes ERR_NO_SPACE; texts that
 * are in the tokenizer's form do not grow. */
size_t tokenizer_most_bytes(const struct tokenizer *t, size_t text_bytes);

/* Return the longest text, in bytes, for which scratch_bytes of scratch suffice. */
size_t tokenizer_text_limit(size_t scratch_bytes);

/* Encode the parts as one text: write its tokens to ids, and their number to *n_ids. flags: enum
 * tokenizer_flags. Any bytes are allowed: each byte that is not UTF-8 becomes a byte token. In
 * SentencePiece U+2581 counts as a space. Byte-level BPE leaves out a byte that the vocabulary
 * lacks; other kinds leave out a character if the unknown token is also bos or eos. scratch: 8-byte
 * aligned, not kept. *n_ids is set on every return, 0 on an error. Errors: ERR_TOO_LONG (the ids do
 * not fit max_ids), ERR_NO_SPACE (scratch too small), ERR_BAD_TOKENIZER (for a character there are
 * neither byte tokens nor an unknown token). */
enum err tokenizer_encode_parts(const struct tokenizer *t, const struct tokenizer_part *parts,
                                size_t n_parts, unsigned flags, uint32_t *ids, size_t max_ids,
                                size_t *n_ids, void *scratch, size_t scratch_bytes);

/* As tokenizer_encode_parts, but only counts the ids. ERR_TOO_LONG only for a text that is too
 * long to encode. */
enum err tokenizer_count_parts(const struct tokenizer *t, const struct tokenizer_part *parts,
                               size_t n_parts, unsigned flags, size_t *n_ids, void *scratch,
                               size_t scratch_bytes);

/* As tokenizer_encode_parts, for one untrusted text. */
enum err tokenizer_encode(const struct tokenizer *t, const char *text, size_t bytes, unsigned flags,
                          uint32_t *ids, size_t max_ids, size_t *n_ids, void *scratch,
                          size_t scratch_bytes);

/* As tokenizer_encode_parts, for one trusted text: control tokens are matched first, the longest
 * first. */
enum err tokenizer_encode_template(const struct tokenizer *t, const char *text, size_t bytes,
                                   unsigned flags, uint32_t *ids, size_t max_ids, size_t *n_ids,
                                   void *scratch, size_t scratch_bytes);

/* Return the *bytes bytes, not NUL-terminated, that token id prints after token previous
 * (INGOT_NO_TOKEN: none). A byte token gives its byte; a control or unused token gives nothing.
 * After BOS the first space of a piece is dropped if the model puts a space in front of texts.
 * Never NULL; an id outside the vocabulary gives nothing. */
const char *tokenizer_piece(const struct tokenizer *t, uint32_t id, uint32_t previous,
                            size_t *bytes);

#endif
