/* The parts of a pre-tokenizer's patterns; only runtime/tokenizer/tokenizer_split.c combines
 * them. A matcher returns where the match at a position ends, or the position itself if there is
 * no match. A matcher looks at the text in [at, end), which is not empty. The time is linear in the
 * bytes that are read: the match, and letters and white space next to it. */
#ifndef INGOT_RUNTIME_TOKENIZER_MATCH_H
#define INGOT_RUNTIME_TOKENIZER_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/text/unicode_class.h"

typedef uint32_t matcher(const uint8_t *text, uint32_t at, uint32_t end, const void *rule);

struct symbol {
    uint32_t code;
    uint32_t set; /* 1 << the symbol's class; 0 at the end of the piece */
    uint32_t bytes;
};

/* Return the symbol at a position. A byte that is not UTF-8 counts as a U+FFFD of one byte. */
struct symbol match_symbol_at(const uint8_t *text, uint32_t at, uint32_t end);

/* Match the expression [set]{0,most}. */
uint32_t match_skip_set(const uint8_t *text, uint32_t at, uint32_t end, uint32_t set,
                        uint32_t most);

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ ; `rule` is not
 * used */
matcher match_gpt2;

/* The patterns published after GPT-2's; `rule` is a struct words. Alternatives in order: a
 * contraction or an ASCII word, a word and its suffix, digits, marks, line ends, white space. */
matcher match_words;

enum contraction { CONTRACTION_NONE, CONTRACTION_WORD, CONTRACTION_SUFFIX };

struct words {
    uint32_t letters;  /* of a word: [letters]+ */
    uint32_t no_lead;  /* [^\r\n no_lead]? may come before the letters */
    uint32_t marks;    /* " ?[marks]+", then the tail */
    uint32_t digits;   /* most digits of a piece; 0: no alternative takes digits */
    bool cased;        /* a word is capitals, then small letters; other letters count as both */
    bool ascii_word;   /* first alternative: one ASCII punctuation character and [A-Za-z]+ */
    bool newline_tail; /* [\r\n]* after the marks */
    bool slash_tail;   /* [\r\n/]* */
    enum contraction contraction;
};

enum { /* [^\s\p{L}\p{N}] */
       MARKS = UNICODE_IS_OTHER | UNICODE_IS_M | UNICODE_IS_P | UNICODE_IS_S
};

/* Characters of a set; rule is a struct run. */
matcher match_run;

struct range {
    uint32_t first, last;
};

/* \s? or " ?", then up to `most` characters of a set, of ranges, or of ASCII characters. */
struct run {
    bool any_space; /* \s? before the run */
    bool space;     /* " ?" before the run */
    bool inverted;  /* take all characters except those that the next members name */
    uint32_t set;
    uint32_t most; /* 0: any number */
    const struct range *ranges;
    uint32_t n_ranges;
    const char *ascii;
};

/* Falcon looks for digits after bytes were mapped to printable characters. Bytes B2, B3, B9 and
 * BC to BE then are superscripts and fractions of Latin-1, which count as digits. `rule` is not
 * used. */
matcher match_byte_digits;

/* [0-9][0-9][0-9] in bytes, because the stage before may have cut inside a character. `rule` is not
 * used. */
matcher match_three_digits;

/* \s+$ : white space at the end of the piece. `rule` is not used. */
matcher match_last_spaces;

#endif
