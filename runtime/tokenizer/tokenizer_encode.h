/* Shared by the files of the encoder and by grammar_tokens.c. */
#ifndef INGOT_RUNTIME_TOKENIZER_ENCODE_H
#define INGOT_RUNTIME_TOKENIZER_ENCODE_H

#include "runtime/tokenizer/tokenizer.h"

/* A pair of adjacent pieces: `bytes` bytes of the run from `left` on; the pair with the least key
 * is merged first. A pair is stale if two live pieces no longer span exactly these bytes. Borders
 * between pieces only disappear, so two pieces that still span these bytes are the same two
 * pieces. */
struct pair {
    uint32_t key;
    uint32_t left;
    uint32_t bytes;
};

struct encoder {
    const struct tokenizer *t;
    char *text;         /* the parts, from [first] on; the byte before has room for a space */
    uint32_t first;     /* at least 1, more if normalizing may make a run longer */
    uint32_t end;       /* end of the text so far */
    uint32_t run_start; /* text before this has already become ids */
    uint32_t *next;     /* the next piece, by position in the current run; 0 where no piece
                         * begins */
    uint32_t *prev;
    uint32_t *id; /* id of the piece, or INGOT_NO_TOKEN */
    struct pair *heap;
    size_t n_heap;
    double *best;    /* shares memory with the heap; by position: score of the best way there
                      * (Unigram) */
    bool add_space;  /* put a space in front of the next run */
    bool skip_space; /* the next white space is stripped by the token before */
    bool add_bos;    /* BOS is still to come, unless the text has it */
    bool after_unk;  /* the last id stands for an unknown character of the same run */
    uint32_t *ids;   /* if NULL, ids are only counted */
    size_t n_ids, max_ids;
};

static inline bool byte_set_has(const uint32_t set[8], uint8_t byte)
{
    return (set[byte / 32] >> byte % 32) & 1;
}

/* Return the NORMAL or USER token that s (n) spells, or INGOT_NO_TOKEN. */
uint32_t tokenizer_find_token(const struct tokenizer *t, const char *s, size_t n);

/* State of a search for all tokens with which a text begins. depth: bytes of the last token. */
struct prefix {
    uint32_t low, high;
    size_t depth;
};

/* Find the next NORMAL or USER token with which s (n) begins, the shortest first; sets *id and
 * p->depth. p begins as { 0, t->head->n_sorted, 0 }. */
bool tokenizer_next_prefix(const struct tokenizer *t, const char *s, size_t n, struct prefix *p,
                           uint32_t *id);

/* Return the longest USER token with which s (n >= 1) begins, or, if trusted, a longer control
 * token. */
uint32_t tokenizer_find_special(const struct tokenizer *t, const char *s, size_t n, bool trusted);

/* Append an id, and BOS before the first. Errors: ERR_TOO_LONG. */
enum err tokenizer_emit(struct encoder *e, uint32_t id);

/* Append the tokens for a character that is not a token: its byte tokens, or one unknown token
 * if a byte token is missing. Errors: ERR_TOO_LONG, ERR_BAD_TOKENIZER. */
enum err tokenizer_emit_bytes(struct encoder *e, const char *s, size_t n);

/* Append id, or if it is INGOT_NO_TOKEN the tokens for the unknown character s (n). Errors as
 * tokenizer_emit_bytes. */
enum err tokenizer_emit_piece(struct encoder *e, uint32_t id, const char *s, size_t n);

/* Append the tokens of s (n >= 1) with the largest sum of scores, for Unigram. Errors as
 * tokenizer_emit_bytes. */
enum err tokenizer_unigram_run(struct encoder *e, const char *s, uint32_t n);

/* Append the tokens of s (n >= 1), merged as one run. Errors: ERR_TOO_LONG, ERR_BAD_TOKENIZER. */
enum err tokenizer_merge_run(struct encoder *e, const char *s, uint32_t n);

#endif
