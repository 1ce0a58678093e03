#include "flash_image/source/pre_tokenizer.h"

#include <stdio.h>
#include <string.h>

enum { LLAMA3_FLAGS = INGOT_ADD_BOS | INGOT_IGNORE_MERGES };

#define SUFFIXES "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SUFFIX "'(?i:[sdmt]|ll|ve|re)" /* matches the same texts */
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define MARKS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES
#define MARKS_SLASH " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define START "[^\\r\\n\\p{L}\\p{N}]?"
#define CAPITALIZED START UPPER "*" LOWER "+"
#define CAPITALS START UPPER "+" LOWER "*"
#define THREE_DIGITS "split [0-9][0-9][0-9]\n"
#define BLOOM_MARKS ".,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c"
#define KANA_AND_HAN "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
#define CJK "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
#define PUNCTUATION "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
/* "!-/:-~" and their full-width forms (from U+FF01 and U+FF1A), quotation marks, the ideographic
 * space */
#define DEEPSEEK_MARKS "[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"
/* The letters of the table in runtime/tokenizer/tokenizer_split.c. */
#define DEEPSEEK_LETTERS \
    "[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293" \
    "\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c" \
    "\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5" \
    "\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77" \
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59" \
    "\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc" \
    "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107" \
    "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139" \
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee" \
    "\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e" \
    "\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f" \
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2" \
    "\U000118a0-\U000118df\U0001e900-\U0001e943]+"

#define SPLIT(regex) "split " regex "\n"

/* Several families share a pattern. */
static const struct pre_tokenizer kinds[] = {
    { INGOT_PRE_GPT2,
      true,
      { PRE_TOKENIZER_GPT2 PRE_TOKENIZER_BYTES },
      { { "gpt-2", 0 },
        { "phi-2", 0 },
        { "mpt", INGOT_NFC },
        { "olmo", INGOT_NFC },
        { "jais", 0 },
        { "gigachat", 0 },
        { "trillion", 0 },
        { "granite-docling", 0 },
        { "exaone4", 0 },
        { "mellum", 0 },
        { "a.x-4.0", 0 },
        { "jina-es", 0 },
        { "jina-de", 0 },
        { "jina-v2-es", 0 },
        { "jina-v2-de", 0 } } },
    { INGOT_PRE_LLAMA3,
      true,
      { SPLIT(SUFFIXES "|" WORDS "|\\p{N}{1,3}|" MARKS) PRE_TOKENIZER_BYTES },
      { { "llama-bpe", LLAMA3_FLAGS },
        { "llama3", LLAMA3_FLAGS },
        { "llama-v3", LLAMA3_FLAGS },
        { "falcon3", LLAMA3_FLAGS },
        { "falcon-h1", LLAMA3_FLAGS },
        { "pixtral", LLAMA3_FLAGS },
        { "midm-2.0", LLAMA3_FLAGS },
        { "lfm2", LLAMA3_FLAGS },
        { "jina-v5-nano", LLAMA3_FLAGS },
        { "dbrx", 0 },
        { "smaug-bpe", 0 },
        { "glm4", 0 },
        { "chatglm-bpe", 0 } } },
    { INGOT_PRE_QWEN2,
      true,
      { SPLIT(SUFFIXES "|" WORDS "|\\p{N}|" MARKS) PRE_TOKENIZER_BYTES,
        /* the same words as above: both expressions match white space up to its last line end, and
         * the possessive ?+ only matters if the prefix could be a letter */
        SPLIT(SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
                     "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+") PRE_TOKENIZER_BYTES },
      { { "qwen2", INGOT_NFC },
        { "stablelm2", INGOT_NFC },
        { "deepseek-r1-qwen", INGOT_NFC },
        { "megrez", INGOT_NFC },
        { "hunyuan", INGOT_NFC },
        { "grok-2", 0 },
        { "kormo", 0 },
        { "bailingmoe", 0 },
        { "bailingmoe2", 0 },
        { "llada-moe", 0 },
        { "f2llmv2", INGOT_NFC },
        { "solar-open", 0 } } },
    { INGOT_PRE_QWEN35,
      true,
      { SPLIT(SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                       " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES) PRE_TOKENIZER_BYTES },
      { { "qwen35", INGOT_NFC } } },
    { INGOT_PRE_DIGITS,
      false,
      { PRE_TOKENIZER_DIGIT PRE_TOKENIZER_GPT2 PRE_TOKENIZER_BYTES },
      { { "smollm", 0 },
        { "starcoder", 0 },
        { "refact", 0 },
        { "command-r", INGOT_NFC },
        { "codeshell", 0 },
        { "exaone", 0 },
        { "minerva-7b", 0 } } },
    { INGOT_PRE_FALCON,
      false,
      { "punctuation\n" PRE_TOKENIZER_GPT2 PRE_TOKENIZER_BYTES PRE_TOKENIZER_DIGITS THREE_DIGITS },
      { { "falcon", 0 } } },
    { INGOT_PRE_DEFAULT,
      false,
      { SPLIT("[\\p{P}\\$\\+<=>\\^~\\|]+")
            PRE_TOKENIZER_GPT2 PRE_TOKENIZER_DIGITS THREE_DIGITS PRE_TOKENIZER_BYTES },
      { { "default", 0 } } },
    { INGOT_PRE_GPT4O,
      true,
      { SPLIT(CAPITALIZED SUFFIXES "?|" CAPITALS SUFFIXES "?|\\p{N}{1,3}|" MARKS_SLASH)
            PRE_TOKENIZER_BYTES },
      { { "gpt-4o", 0 }, { "llama4", 0 }, { "kanana2", 0 }, { "minimax-m2", 0 } } },
    { INGOT_PRE_TEKKEN,
      true,
      { SPLIT(CAPITALIZED "|" CAPITALS "|\\p{N}|" MARKS_SLASH) PRE_TOKENIZER_BYTES },
      { { "tekken", LLAMA3_FLAGS } } },
    { INGOT_PRE_DEEPSEEK_LLM,
      false,
      { SPLIT("[\\r\\n]") SPLIT("\\s?" DEEPSEEK_LETTERS) SPLIT("\\s?" DEEPSEEK_MARKS) SPLIT("\\s+$")
            SPLIT(CJK) PRE_TOKENIZER_DIGIT PRE_TOKENIZER_BYTES },
      { { "deepseek-llm", 0 } } },
    { INGOT_PRE_DEEPSEEK_CODER,
      false,
      { SPLIT("[\\r\\n]") SPLIT("\\s?\\p{L}+") SPLIT("\\s?\\p{P}+") SPLIT(CJK)
            PRE_TOKENIZER_DIGIT PRE_TOKENIZER_BYTES },
      { { "deepseek-coder", 0 } } },
    { INGOT_PRE_DEEPSEEK_V3,
      false,
      { SPLIT("\\p{N}{1,3}") SPLIT(KANA_AND_HAN)
            SPLIT(PUNCTUATION "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
                              " ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES) PRE_TOKENIZER_BYTES },
      { { "deepseek-v3", 0 }, { "hunyuan-dense", 0 }, { "joyai-llm", 0 } } },
    { INGOT_PRE_BLOOM,
      false,
      { SPLIT(" ?[^(\\s|[" BLOOM_MARKS "])]+") PRE_TOKENIZER_BYTES,
        SPLIT(" ?[^(\\s|" BLOOM_MARKS ")]+") PRE_TOKENIZER_BYTES },
      { { "bloom", 0 }, { "poro-chat", 0 }, { "gpt3-finnish", 0 } } },
    { INGOT_PRE_VIKING,
      false,
      { SPLIT(" ?[^(\\s|[" BLOOM_MARKS "])]+") PRE_TOKENIZER_DIGIT PRE_TOKENIZER_BYTES,
        SPLIT(" ?[^(\\s|" BLOOM_MARKS ")]+") PRE_TOKENIZER_DIGIT PRE_TOKENIZER_BYTES },
      { { "viking", 0 } } },
    { INGOT_PRE_SEED_CODER,
      true,
      { SPLIT(SUFFIXES "|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES) PRE_TOKENIZER_BYTES,
        SPLIT(SUFFIXES "|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+|" SPACES) PRE_TOKENIZER_BYTES },
      { { "seed-coder", 0 } } },
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

#define ENCODER "its models return vectors and no text"

static const struct {
    const char *name, *why;
} refused[] = {
    { "kimi-k2", "it separates Han characters from other letters inside words" },
    { "youtu", "it separates scripts by ranges, and its words are not confirmed" },
    { "superbpe", "it groups digits in threes from the right, and tokens span words" },
    { "tiny_aya", "it groups digits in threes from the right" },
    { "afmoe", "it groups digits in threes from the right, and separates scripts by ranges" },
    { "jais-2", "it splits white space in powers of two" },
    { "exaone-moe", "its words contain spaces between letters with marks" },
    { "chameleon", "it splits off names of pictures first" },
    { "roberta-bpe", ENCODER },
    { "jina-v1-en", ENCODER },
    { "jina-v2-code", ENCODER },
    { "modern-bert", ENCODER },
};

const struct pre_tokenizer *pre_tokenizer_kind(size_t i)
{
    if (i >= N_KINDS) {
        return NULL;
    }
    return &kinds[i];
}

bool pre_tokenizer_find(struct source_text name, enum ingot_pre *pre, uint32_t *flags)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        for (size_t n = 0; n < PRE_TOKENIZER_MOST_NAMES && kinds[i].names[n].name != NULL; n++) {
            if (source_text_is(name, kinds[i].names[n].name)) {
                *pre = kinds[i].pre;
                *flags = kinds[i].names[n].flags;
                return true;
            }
        }
    }
    return false;
}

const char *pre_tokenizer_refused(size_t i, const char **why)
{
    if (i >= sizeof refused / sizeof refused[0]) {
        return NULL;
    }
    *why = refused[i].why;
    return refused[i].name;
}

bool pre_tokenizer_find_steps(const char *line, bool removes, enum ingot_pre *pre)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const char *const *steps = kinds[i].steps;

        if (removes && !kinds[i].covers) {
            continue;
        }
        for (size_t n = 0; n < PRE_TOKENIZER_MOST_SPELLINGS && steps[n] != NULL; n++) {
            if (strcmp(line, steps[n]) == 0) {
                *pre = kinds[i].pre;
                return true;
            }
        }
    }
    return false;
}

const char *pre_tokenizer_name(enum ingot_pre pre)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (kinds[i].pre == pre) {
            return kinds[i].names[0].name;
        }
    }
    return "none";
}

const char *pre_tokenizer_names(void)
{
    static char names[512];
    size_t used = 0;

    for (size_t i = 0; i < N_KINDS; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 kinds[i].names[0].name);
    }
    snprintf(names + used, sizeof names - used,
             " and others that share a pattern with these (docs/TOKENIZERS.md)");
    return names;
}
