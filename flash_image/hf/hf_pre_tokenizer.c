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

struct line {
    char text[LINE_BYTES];
    size_t used;
};

/* A line that is full equals no known one. */
static void add(struct line *l, const char *before, const char *text)
{
    size_t room = sizeof l->text - l->used;
    int n = snprintf(l->text + l->used, room, "%s%s\n", before, text);

    l->used += min_size((size_t)n, room - 1);
}

static void add_byte_level(struct line *l, const cJSON *stage)
{
    if (hf_json_is_true(stage, "use_regex", true)) {
        add(l, "", "gpt2");
    }
    if (hf_json_is_true(stage, "add_prefix_space", true)) {
        add(l, "bytes", " after a space");
    } else {
        add(l, "bytes", "");
    }
}

static void add_digits(struct line *l, const cJSON *stage)
{
    if (hf_json_is_true(stage, "individual_digits", false)) {
        add(l, "digit", "");
    } else {
        add(l, "digits", "");
    }
}

/* One stage that is no sequence. What differs from every known one gets a name of its own. */
static void add_stage(struct line *l, const cJSON *stage)
{
    const char *regex = hf_json_string(hf_json_get(hf_json_get(stage, "pattern"), "Regex"));
    const char *type = hf_json_string(hf_json_get(stage, "type"));

    if (type == NULL) {
        add(l, "stage ", "without a type");
    } else if (strcmp(type, "ByteLevel") == 0) {
        add_byte_level(l, stage);
    } else if (strcmp(type, "Split") == 0 && regex != NULL &&
               !hf_json_is_true(stage, "invert", false) &&
               hf_json_is(stage, "behavior", "Isolated")) {
        add(l, "split ", regex);
    } else if (strcmp(type, "Digits") == 0) {
        add_digits(l, stage);
    } else if (strcmp(type, "Punctuation") == 0 && hf_json_is(stage, "behavior", "Contiguous")) {
        add(l, "punctuation", "");
    } else {
        add(l, "stage ", type);
    }
}

enum err hf_pre_tokenizer_find(struct source *s, const cJSON *pre_tokenizer, enum ingot_pre *pre)
{
    static struct line l;
    const cJSON *stages = hf_json_get(pre_tokenizer, "pretokenizers");
    const cJSON *stage;

    l.used = 0;
    l.text[0] = '\0';
    if (hf_json_is(pre_tokenizer, "type", "Sequence")) {
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
        if (*c == '\n') {
            *c = ';';
        }
    }
    return source_refuse(s, ERR_UNSUPPORTED, "the field \"pre_tokenizer\" is not known: %.200s",
                         l.text);
}
