/* Find a memory by its words, anywhere in a conversation. A text is a set of words; a rare word has
 * a large weight. A memory is found if it has most of the asked words, and most words of its
 * question were asked:
 *
 *     score = asked words in the memory / asked words
 *           + words of its question that were asked / words of its question
 *
 * where words count by weight. A memory that lacks an asked name is ruled out, so that similar
 * names find nothing. docs/FABRIC.md has the figures. This code knows no language. Rarity comes
 * from the caller, letters and capitals from Unicode. */
#ifndef INGOT_RUNTIME_RECALL_H
#define INGOT_RUNTIME_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECALL_WORDS = 64 /* the most words of a text; further words do not count */ };

#define RECALL_FOUND 1.2f   /* least score with which a memory is found */
#define RECALL_RARE 0.3f    /* a memory must have each asked name of this weight or more */
#define RECALL_LEAST 0.3f   /* least value of each part of a score */
#define RECALL_UNKNOWN 1.0f /* the weight of a word that the vocabulary lacks */

/* Returns how rare a word is, from 0 (in every text) to 1. *is_name becomes true if the vocabulary
 * knows the word as a name, even in small letters or at the beginning of a sentence. */
typedef float recall_rarity_fn(void *context, const char *word, size_t bytes, bool *is_name);

struct recall_word {
    uint16_t at, bytes; /* position and bytes in the text, without a final 's */
    bool is_name;       /* the word has a capital within a sentence, or begins with a digit, or the
                  * vocabulary says so */
    float weight;
};

struct recall_text {
    const char *text; /* must outlive the struct */
    uint32_t n;
    struct recall_word words[RECALL_WORDS];
};

/* Split text (bytes <= UINT16_MAX) into words, without their weights. */
void recall_read(struct recall_text *t, const char *text, size_t bytes);
void recall_weigh(struct recall_text *t, recall_rarity_fn *rarity, void *context);

/* Return true if word i of a and word k of b are equal or, unless one is a name, differ only in
 * their ending, as "repairs" and "repairing". */
bool recall_is_alike(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k);

/* Return true if the texts share a rare word; if not, weights need not be computed. */
bool recall_touches(const struct recall_text *asked, const struct recall_text *memory);

/* Return the score of two weighed texts, 0 to 2; below RECALL_FOUND the memory does not fit. The
 * memory's first `question` words are its question. If `question` is 0, the memory is a sentence,
 * and its rarest unasked word counts as the answer. */
float recall_score(const struct recall_text *asked, const struct recall_text *memory,
                   uint32_t question);

/* Return true if two texts have the same words in the same order, in any spelling. */
bool recall_is_same(const struct recall_text *a, const struct recall_text *b);

/* Return true if two weighed sentences say different things about the same subject. Their first
 * words are then equal: at least three, at least half of the longer sentence, and a rare one among
 * them. After these, they share no frequent word such as "is". */
bool recall_is_correction(const struct recall_text *a, const struct recall_text *b);

#endif
