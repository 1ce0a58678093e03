/* How a model's texts are cut into words before their bytes are merged: a table of the known ways,
 * found by the name in GGUF's tokenizer.ggml.pre or by the steps of tokenizer.json. */
#ifndef INGOT_FLASH_IMAGE_PRE_TOKENIZER_H
#define INGOT_FLASH_IMAGE_PRE_TOKENIZER_H

#include "flash_image/source/source.h"

enum { PRE_TOKENIZER_MOST_NAMES = 24, PRE_TOKENIZER_MOST_SPELLINGS = 4 };

/* A list of steps, each of which ends with a line feed: "split REGEX" for a Split that makes pieces
 * of its matches and of the text between them (CR, LF and TAB spelled as in a regular expression);
 * "punctuation" for Punctuation, Contiguous; "bytes" if ByteLevel maps bytes to characters. Digits
 * and ByteLevel's own pattern are splits as well: PRE_TOKENIZER_DIGIT, ... */
#define PRE_TOKENIZER_DIGIT "split \\p{N}\n"
#define PRE_TOKENIZER_DIGITS "split \\p{N}+\n"
#define PRE_TOKENIZER_GPT2 \
    "split 's|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+\n"
#define PRE_TOKENIZER_BYTES "bytes\n"

struct pre_tokenizer {
    enum ingot_pre pre;
    bool covers; /* every character is in a match, so a Split that drops the rest drops nothing */
    const char *steps[PRE_TOKENIZER_MOST_SPELLINGS]; /* lists of steps, up to NULL */
    struct {
        const char *name;
        uint32_t flags; /* flags that models with that name have, unless the file says otherwise:
                           INGOT_ADD_BOS, INGOT_IGNORE_MERGES, INGOT_NFC */
    } names[PRE_TOKENIZER_MOST_NAMES]; /* names in GGUF, up to NULL; the first is for messages */
};

/* Return kind number i, from 0 on; NULL after the last. */
const struct pre_tokenizer *pre_tokenizer_kind(size_t i);

/* Look up a name of GGUF files; *pre and *flags are as in struct pre_tokenizer. False: the name is
 * unknown. */
bool pre_tokenizer_find(struct source_text name, enum ingot_pre *pre, uint32_t *flags);

/* Return name number i, from 0 on, of the names in GGUF files that are known but refused; *why
 * is the reason. NULL after the last. */
const char *pre_tokenizer_refused(size_t i, const char **why);

/* Look up a list of steps. removes: the split keeps only its matches. False: unknown. */
bool pre_tokenizer_find_steps(const char *line, bool removes, enum ingot_pre *pre);

/* Return the name that most files use for a kind. pre < INGOT_N_PRES. */
const char *pre_tokenizer_name(enum ingot_pre pre);

/* Return the names of all kinds for an error message: "gpt-2, llama-bpe, ...". */
const char *pre_tokenizer_names(void);

#endif
