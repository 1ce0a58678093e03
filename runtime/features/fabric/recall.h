/* Find a memory by its words, anywhere in a conversation. A text is a set of words, each with a
 * weight: how rare it is. A memory is found if it has most of the asked words, and most words of
 * its question were asked:
 *
 *     score = asked words in the memory / asked words
 *           + words of its question that were asked / words of its question
 *
 * both sums of weights. A memory without a name that was asked for is ruled out, so that similar
 * names find nothing. docs/FABRIC.md has the figures. This code knows no language: rarity comes
 * from the caller, letters and capitals from Unicode. */
#ifndef INGOT_RUNTIME_RECALL_H
#define INGOT_RUNTIME_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECALL_WORDS = 64 /* words of a text; further ones do not count */ };

#define RECALL_FOUND 1.2f   /* least score of a memory that is found */
#define RECALL_RARE 0.3f    /* a name of this weight must be in the memory */
#define RECALL_LEAST 0.3f   /* least value of each of the two parts of a score */
#define RECALL_UNKNOWN 1.0f /* the weight of a word that is in no vocabulary */

/* How rare a word is, from 0 (in every text) to 1. *is_name becomes true if the vocabulary knows
 * it as a name, however it is written here: at the beginning of a sentence, or in small letters. */
typedef float recall_rarity_fn(void *context, const char *word, size_t bytes, bool *is_name);

struct recall_word {
    uint16_t at, bytes; /* position and bytes in the text, without a final 's */
    bool is_name; /* begins with a capital within a sentence, or with a digit, or the vocabulary
                  * says so */
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

/* Return true if word i of a and word k of b are equal, or, if neither is a name, differ only in
 * their ending: "repairs" and "repairing". */
bool recall_is_alike(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k);

/* Return true if the texts share a rare word; if not, weights need not be computed. */
bool recall_touches(const struct recall_text *asked, const struct recall_text *memory);

/* Return the score of two weighed texts, 0 to 2; below RECALL_FOUND the memory does not fit. The
 * first `question` words of the memory are its question; with 0 it is a sentence, whose rarest
 * unasked word counts as the answer. */
float recall_score(const struct recall_text *asked, const struct recall_text *memory,
                   uint32_t question);

/* Return true if two texts have the same words in the same order, in any spelling. */
bool recall_is_same(const struct recall_text *a, const struct recall_text *b);

/* Return true if weighed sentences say something else about the same subject: they share at least
 * the first three words, half of the longer one, and a rare word, and share no common word such as
 * "is" after that. */
bool recall_is_correction(const struct recall_text *a, const struct recall_text *b);

#endif
