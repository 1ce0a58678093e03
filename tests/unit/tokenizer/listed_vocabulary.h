/* Makes a tokenizer section with the packer from lists of tokens and merges, for tests: byte-level
 * BPE whose first 256 tokens are the bytes. Allocates; the caller frees the section. */
#ifndef INGOT_TESTS_UNIT_LISTED_VOCABULARY_H
#define INGOT_TESTS_UNIT_LISTED_VOCABULARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/source/source.h"
#include "flash_image/tokenizer/tokenizer_section.h"

enum { LISTED_MOST = 1024 };

static struct {
    struct source source;
    struct source_token tokens[LISTED_MOST];
    struct source_merge merges[LISTED_MOST];
    char spelling[256][3]; /* of the bytes, as GPT-2 writes them */
} listed;

static inline void listed_add(const char *text, uint32_t type)
{
    listed.tokens[listed.source.vocab.n_tokens++] = (struct source_token){
        .text = (const uint8_t *)text, .bytes = (uint32_t)strlen(text), .type = type
    };
}

static inline void listed_merge(const char *left, const char *right)
{
    listed.merges[listed.source.vocab.n_merges++] = (struct source_merge){
        { (const uint8_t *)left, strlen(left) }, { (const uint8_t *)right, strlen(right) }
    };
}

/* An empty vocabulary, with the bytes as tokens 0 to 255 for byte-level BPE. */
static inline void listed_begin(enum ingot_tokenizer_kind kind, enum ingot_pre pre, uint32_t flags)
{
    unsigned next = 256;

    memset(&listed, 0, sizeof listed);
    listed.source.path = "listed";
    listed.source.vocab = (struct source_vocab){ .layout = SOURCE_LISTED_VOCAB,
                                                 .kind = kind,
                                                 .pre = pre,
                                                 .flags = flags,
                                                 .listed_tokens = listed.tokens,
                                                 .listed_merges = listed.merges,
                                                 .bos = INGOT_NO_TOKEN,
                                                 .eos = INGOT_NO_TOKEN,
                                                 .unk = INGOT_NO_TOKEN,
                                                 .eot = INGOT_NO_TOKEN };
    for (unsigned b = 0; b < 256 && kind == INGOT_TOKENIZER_BPE; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        unsigned code = printable ? b : next++;

        snprintf(listed.spelling[b], 3, code < 128 ? "%c" : "%c%c",
                 code < 128 ? (char)code : (char)(0xc0 | code >> 6), (char)(0x80 | (code & 63)));
        listed_add(listed.spelling[b], INGOT_TOKEN_NORMAL);
    }
}

/* Returns the section, or NULL; listed.source.error_message says why. */
static inline uint8_t *listed_section(uint64_t *bytes)
{
    struct tokenizer_size size;
    uint8_t *section = NULL;

    if (tokenizer_section_measure(&listed.source, &size) == ERR_OK) {
        section = calloc(1, (size_t)size.bytes);
    }
    if (section != NULL &&
        tokenizer_section_build(&listed.source, &size, section, bytes) != ERR_OK) {
        free(section);
        section = NULL;
    }
    return section;
}

#endif
