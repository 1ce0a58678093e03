/* Shared by the files of the encoder alone. */
#ifndef INGOT_RUNTIME_TOKENIZER_ENCODE_H
#define INGOT_RUNTIME_TOKENIZER_ENCODE_H

#include "runtime/tokenizer/tokenizer.h"

/* A pair of adjacent pieces: `bytes` bytes of the run from `left` on; the least key goes first.
 * It is stale when no two live pieces span exactly these bytes any more. Borders only fall away,
 * so two pieces that still span them are the two that were offered. */
struct pair {
    uint32_t key;
    uint32_t left;
    uint32_t bytes;
};

struct encoder {
    const struct tokenizer *t;
    char *text;     /* the parts, from [first] on; the byte before is room for a space in front */
    uint32_t first; /* 1, or behind the room that a normalized run may take more than it took */
    uint32_t end;   /* end of the text so far */
    uint32_t run_start; /* text before it has become ids */
    uint32_t *next;     /* by position in the run at work: the next piece, 0 for a dead one */
    uint32_t *prev;
    uint32_t *id; /* id of the piece, or INGOT_NO_TOKEN */
    struct pair *heap;
    size_t n_heap;
    double *best;    /* in the heap's place, by position: of the best way there (Unigram) */
    bool add_space;  /* in front of a run */
    bool skip_space; /* white space that comes next belongs to the token before */
    bool add_bos;    /* still to come, unless the text has its own */
    bool after_unk;  /* the id before stands for an unknown character of the same run */
    uint32_t *ids;   /* NULL: they are counted alone */
    size_t n_ids, max_ids;
};

static inline bool byte_set_has(const uint32_t set[8], uint8_t byte)
{
    return (set[byte / 32] >> byte % 32) & 1;
}

/* The NORMAL or USER token that s (n) spells, or INGOT_NO_TOKEN. */
uint32_t tokenizer_find_token(const struct tokenizer *t, const char *s, size_t n);

/* For the tokens that a text begins with: where to go on. depth: bytes of the last one. */
struct prefix {
    uint32_t low, high;
    size_t depth;
};

/* All NORMAL and USER tokens that s (n) begins with, one after the other, the shortest first: true,
 * with *id and p->depth. p begins as { 0, t->head->n_sorted, 0 }. */
bool tokenizer_next_prefix(const struct tokenizer *t, const char *s, size_t n, struct prefix *p,
                           uint32_t *id);

/* The longest USER token that s (n >= 1) begins with, or where trusted a longer control token. */
uint32_t tokenizer_find_special(const struct tokenizer *t, const char *s, size_t n, bool trusted);

/* Append an id, and BOS before the first. ERR_TOO_LONG. */
enum err tokenizer_emit(struct encoder *e, uint32_t id);

/* Append the tokens for a character that is not a token: its byte tokens, or one unknown token
 * where one of them is missing. ERR_TOO_LONG, ERR_BAD_TOKENIZER. */
enum err tokenizer_emit_bytes(struct encoder *e, const char *s, size_t n);

/* Append id, or for INGOT_NO_TOKEN what stands for the character s (n). Errors: as above. */
enum err tokenizer_emit_piece(struct encoder *e, uint32_t id, const char *s, size_t n);

/* Append the tokens of s (n >= 1) whose scores add up to most, for Unigram. Errors: as above. */
enum err tokenizer_unigram_run(struct encoder *e, const char *s, uint32_t n);

/* Append the tokens of s (n >= 1), merged as one run. ERR_TOO_LONG, ERR_BAD_TOKENIZER. */
enum err tokenizer_merge_run(struct encoder *e, const char *s, uint32_t n);

#endif
