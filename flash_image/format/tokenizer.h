/* The tokenizer section of the .ingot file: FORMAT.md, section 4. format.h includes this
 * file. */
#ifndef INGOT_FLASH_IMAGE_FORMAT_TOKENIZER_H
#define INGOT_FLASH_IMAGE_FORMAT_TOKENIZER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum ingot_tokenizer_kind {
    INGOT_TOKENIZER_SPM = 1,        /* characters, merged by the score of the merged token */
    INGOT_TOKENIZER_BPE = 2,        /* bytes of words, merged by the rank of the pair */
    INGOT_TOKENIZER_CHARACTERS = 3, /* characters, merged by the rank of the pair */
    INGOT_TOKENIZER_UNIGRAM = 4 /* characters, cut into the tokens with the highest sum of scores */
};
enum ingot_tokenizer_flags {
    INGOT_ADD_BOS = 1,
    INGOT_ADD_SPACE_PREFIX = 2,
    INGOT_ADD_EOS = 4,
    INGOT_FUSE_UNK = 8,        /* consecutive unknown characters become one unknown token */
    INGOT_IGNORE_MERGES = 16,  /* BPE: a word that is a token is taken without merges */
    INGOT_SPLIT_SPACES = 32,   /* a space can only begin a token; this and the next 3: not BPE */
    INGOT_SQUEEZE_SPACES = 64, /* spaces at both ends are removed; several spaces become one */
    INGOT_PREFIX_ONCE = 128,   /* no space is added before a text that begins with a space */
    INGOT_PREFIX_FIRST = 256,  /* ADD_SPACE_PREFIX adds a space only before the whole text */
    INGOT_NFC = 512,           /* texts are brought to Unicode's normalization form C first */
    INGOT_USER_INSIDE = 1024,  /* no space is added after a user token, but one may be before it */
    INGOT_ALL_TOKENIZER_FLAGS = 2047
};
enum ingot_token_type { /* the numbers of GGUF's tokenizer.ggml.token_type */
                        INGOT_TOKEN_NORMAL = 1,
                        INGOT_TOKEN_UNKNOWN = 2,
                        INGOT_TOKEN_CONTROL = 3,
                        INGOT_TOKEN_USER = 4,
                        INGOT_TOKEN_UNUSED = 5,
                        INGOT_TOKEN_BYTE = 6,
                        INGOT_TOKEN_TYPE =
                            15, /* mask of the numbers above; control and user tokens may also have: */
                        INGOT_TOKEN_LSTRIP = 16, /* white space before the token belongs to it */
                        INGOT_TOKEN_RSTRIP = 32  /* white space after the token belongs to it */
};

/* How a text is cut into words before tokens are merged; FORMAT.md lists the patterns. */
enum ingot_pre {
    INGOT_PRE_NONE = 0,
    INGOT_PRE_GPT2 = 1,
    INGOT_PRE_LLAMA3 = 2,
    INGOT_PRE_QWEN2 = 3,
    INGOT_PRE_DIGITS = 4,
    INGOT_PRE_FALCON = 5,
    INGOT_PRE_DEFAULT = 6,
    INGOT_PRE_GPT4O = 7,
    INGOT_PRE_TEKKEN = 8,
    INGOT_PRE_DEEPSEEK_LLM = 9,
    INGOT_PRE_DEEPSEEK_CODER = 10,
    INGOT_PRE_DEEPSEEK_V3 = 11,
    INGOT_PRE_BLOOM = 12,
    INGOT_PRE_VIKING = 13,
    INGOT_PRE_QWEN35 = 14,
    INGOT_PRE_SEED_CODER = 15,
    INGOT_N_PRES = 16
};
#define INGOT_NO_TOKEN 0xffffffffu

/* The tokenizer section: this struct, struct ingot_merges (kinds 2 and 3), then arrays, which are
 * used in place. Offsets of arrays count from the section's start and are multiples of 4. */
struct ingot_tokenizer {
    uint32_t kind;
    uint32_t flags;
    uint32_t n_tokens;        /* == params.vocab */
    uint32_t bos, eos, unk;   /* token ids, or INGOT_NO_TOKEN */
    uint32_t eot;             /* end of a chat turn, or INGOT_NO_TOKEN */
    uint32_t max_token_bytes; /* of the longest text */
    uint32_t n_sorted;        /* entries of sorted[] */
    uint32_t text_offsets;    /* u32[n_tokens + 1], ascending, into the text */
    uint32_t scores;          /* f32[n_tokens], finite; only for kinds 1 and 4, else 0 */
    uint32_t types;           /* u8[n_tokens], enum ingot_token_type */
    uint32_t sorted;          /* u32[n_sorted]: ids of NORMAL and USER tokens, sorted by the bytes
                                 of their text; no empty texts. Equal texts have one entry: a USER
                                 token, else the lowest id */
    uint32_t byte_tokens;     /* u32[256]: id of <0xXX> (kind 2: of the byte), or INGOT_NO_TOKEN */
    uint32_t text;            /* texts as printed, a space for U+2581; kind 2: their bytes */
    uint32_t text_bytes;
};
static_assert(sizeof(struct ingot_tokenizer) == 64, "the tokenizer header is 64 bytes");

/* True if the kind has merges; else it has scores. */
static inline bool ingot_kind_has_merges(uint32_t kind)
{
    return kind == INGOT_TOKENIZER_BPE || kind == INGOT_TOKENIZER_CHARACTERS;
}

/* In kinds 2 and 3, this struct follows struct ingot_tokenizer. */
struct ingot_merges {
    uint32_t pre; /* enum ingot_pre; kind 3: INGOT_PRE_NONE */
    uint32_t n_merges;
    uint32_t rows;        /* u32[n_tokens + 1], ascending from 0 to n_merges: the merges with left
                             token i are entries rows[i] .. rows[i + 1) */
    uint32_t entries;     /* struct ingot_merge[n_merges]; in each row, `right` strictly ascends */
    uint32_t reserved[4]; /* zero */
};
static_assert(sizeof(struct ingot_merges) == 32, "the header of merges is 32 bytes");

struct ingot_merge {
    uint32_t right;
    uint32_t rank; /* the lowest rank is merged first */
    uint32_t id;   /* NORMAL or USER; its text is left's text, then right's */
};
static_assert(sizeof(struct ingot_merge) == 12, "a merge is 12 bytes");

#endif
