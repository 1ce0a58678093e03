/* Finding a memory by its words, wherever in a conversation somebody asks for it. A text is its words, each with a weight: how rare
 * it is. A memory is found where most of what was asked stands in it, and most of its own question was asked:
 *
 *     score = asked words in the memory / asked words  +  words of its question that were asked / words of its question
 *
 * both sums of weights. A name that was asked for and is not in the memory rules it out, so that near names find nothing.
 * docs/FABRIC.md has the figures. Nothing here knows a language: rarity comes from the caller, letters and capitals from Unicode. */
#ifndef INGOT_RUNTIME_RECALL_H
#define INGOT_RUNTIME_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECALL_WORDS = 64 /* words of a text; further ones do not count */ };

#define RECALL_FOUND 1.2f   /* least score of a memory that is found ... */
#define RECALL_RARE 0.3f    /* a name of this weight must be in the memory */
#define RECALL_LEAST 0.3f   /* ... and least value of each of its two parts */
#define RECALL_UNKNOWN 1.0f /* the weight of a word that is in no vocabulary */

/* How rare a word is, from 0 (in every text) to 1. *is_name becomes true if the vocabulary knows
 * it as a name, however it is written here: at the beginning of a sentence, or in small letters. */
typedef float recall_rarity_fn(void *context, const char *word, size_t bytes, bool *is_name);

struct recall_word {
    uint16_t at, bytes; /* bytes in the text, without a 's at its end */
    bool is_name; /* begins with a capital within a sentence, or with a digit, or the vocabulary
                  * says so */
    float weight;
};

struct recall_text {
    const char *text; /* must outlive it */
    uint32_t n;
    struct recall_word words[RECALL_WORDS];
};

/* Split text (bytes <= UINT16_MAX) into words, without their weights. */
void recall_read(struct recall_text *t, const char *text, size_t bytes);
void recall_weigh(struct recall_text *t, recall_rarity_fn *rarity, void *context);

/* Whether word i of a and word k of b are equal, or, if neither is a name, differ only in their
 * ending: "repairs" and "repairing". */
bool recall_is_alike(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k);

/* Whether they share a rare word: otherwise weights need not be computed. */
bool recall_touches(const struct recall_text *asked, const struct recall_text *memory);

/* The score of two weighed texts, 0 to 2; below RECALL_FOUND: not found. question: how many of
 * the memory's first words are its question; 0: it is a sentence, whose rarest unasked word
 * counts as its answer. */
float recall_score(const struct recall_text *asked, const struct recall_text *memory,
                   uint32_t question);

/* The same words in the same order, in any spelling. */
bool recall_is_same(const struct recall_text *a, const struct recall_text *b);

/* Whether weighed sentences say something else about the same subject: they share at least the
 * first three words, half of the longer one, and a rare word, and share no common word such as
 * "is" after that. */
bool recall_is_correction(const struct recall_text *a, const struct recall_text *b);

#endif
