/* Pre-tokenizers of tokenizer.json, written as one line of stages, looked up in a table. */
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

enum { LINE_BYTES = 2048 };

#define SUFFIXES "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define PUNCTUATION " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define PUNCTUATION_O " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define START "[^\\r\\n\\p{L}\\p{N}]?"
#define CJK "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+"
#define ASCII_PUNCTUATION "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"

/* Stages are apart by line feeds. "bytes" maps bytes to characters, "gpt2" is GPT-2's pattern. */
static const struct {
    const char *line;
    enum ingot_pre pre;
} known[] = {
    { "gpt2\nbytes\n", INGOT_PRE_GPT2 },
    { "digit\ngpt2\nbytes\n", INGOT_PRE_DIGITS },
    { "punctuation\ngpt2\nbytes\ndigits\nsplit [0-9][0-9][0-9]\n", INGOT_PRE_FALCON },
    { "split " SUFFIXES "|" WORDS "|\\p{N}{1,3}|" PUNCTUATION "\nbytes\n", INGOT_PRE_LLAMA3 },
    { "split " SUFFIXES "|" WORDS "|\\p{N}|" PUNCTUATION "\nbytes\n", INGOT_PRE_QWEN2 },
    { "split " START UPPER "*" LOWER "+" SUFFIXES "?|" START UPPER "+" LOWER "*" SUFFIXES
      "?|\\p{N}{1,3}|" PUNCTUATION_O "\nbytes\n",
      INGOT_PRE_GPT4O },
    { "split " START UPPER "*" LOWER "+|" START UPPER "+" LOWER "*|\\p{N}|" PUNCTUATION_O
      "\nbytes\n",
      INGOT_PRE_TEKKEN },
    { "split \\p{N}{1,3}\nsplit " CJK "\nsplit " ASCII_PUNCTUATION
      "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+\nbytes\n",
      INGOT_PRE_DEEPSEEK_V3 },
};

static bool is(const cJSON *object, const char *key, const char *text)
{
    const cJSON *value = hf_json_get(object, key);

    return cJSON_IsString(value) && strcmp(value->valuestring, text) == 0;
}

static bool is_true(const cJSON *object, const char *key, bool otherwise)
{
    const cJSON *value = hf_json_get(object, key);

    return cJSON_IsBool(value) ? cJSON_IsTrue(value) : otherwise;
}

struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void add(struct line *l, const char *before, const char *text)
{
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s\n", before, text);

    l->used = n < 0 || (size_t)n >= sizeof l->text - l->used ? sizeof l->text - 1
                                                             : l->used + (size_t)n;
}

/* One stage that is no sequence. What differs from every known one gets a name of its own. */
static void add_stage(struct line *l, const cJSON *stage)
{
    const cJSON *pattern = hf_json_get(stage, "pattern");
    const cJSON *regex = hf_json_get(pattern, "Regex");
    const cJSON *type = hf_json_get(stage, "type");

    if (is(stage, "type", "ByteLevel")) {
        if (is_true(stage, "use_regex", true)) {
            add(l, "", "gpt2");
        }
        add(l, "bytes", is_true(stage, "add_prefix_space", true) ? " behind a space" : "");
    } else if (is(stage, "type", "Split") && cJSON_IsString(regex) &&
               !is_true(stage, "invert", false) && is(stage, "behavior", "Isolated")) {
        add(l, "split ", regex->valuestring);
    } else if (is(stage, "type", "Digits")) {
        add(l, is_true(stage, "individual_digits", false) ? "digit" : "digits", "");
    } else if (is(stage, "type", "Punctuation") && is(stage, "behavior", "Contiguous")) {
        add(l, "punctuation", "");
    } else {
        add(l, "stage ", cJSON_IsString(type) ? type->valuestring : "without a type");
    }
}

enum err hf_pre_tokenizer_find(struct source *s, const cJSON *pre_tokenizer, enum ingot_pre *pre)
{
    static struct line l;
    const cJSON *stages = hf_json_get(pre_tokenizer, "pretokenizers");
    const cJSON *stage;

    l.used = 0;
    l.text[0] = '\0';
    if (is(pre_tokenizer, "type", "Sequence")) {
        cJSON_ArrayForEach(stage, stages)
        {
            add_stage(&l, stage);
        }
    } else {
        add_stage(&l, pre_tokenizer);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(l.text, known[i].line) == 0) {
            *pre = known[i].pre;
            return ERR_OK;
        }
    }
    for (char *c = l.text; *c != '\0'; c++) {
        *c = *c == '\n' ? ';' : *c;
    }
    return source_refuse(s, ERR_UNSUPPORTED, "the field \"pre_tokenizer\" is not known: %.200s",
                         l.text);
}
