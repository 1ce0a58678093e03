/* Writes a pre-tokenizer of tokenizer.json as a list of steps, and looks it up in the table of
 * all kinds. */
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"
#include "flash_image/source/pre_tokenizer.h"

enum { LINE_BYTES = 4096 };

struct line {
    char text[LINE_BYTES];
    size_t used;
    bool removes; /* a split keeps only its matches */
};

/* Append text. A list that is cut short equals no known list. */
static void add(struct line *l, const char *text)
{
    size_t room = sizeof l->text - l->used;
    int n = snprintf(l->text + l->used, room, "%s", text);

    l->used += min_size((size_t)n, room - 1);
}

/* Append a split, spelled as in the table: escape sequences replace the characters that they
 * mean. */
static void add_split(struct line *l, const char *regex)
{
    add(l, "split ");
    for (; *regex != '\0'; regex++) {
        const char one[2] = { *regex, '\0' };

        switch (*regex) {
        case '\r': add(l, "\\r"); break;
        case '\n': add(l, "\\n"); break;
        case '\t': add(l, "\\t"); break;
        default: add(l, one); break;
        }
    }
    add(l, "\n");
}

static void add_byte_level(struct line *l, const cJSON *step)
{
    if (hf_json_is_true(step, "use_regex", true)) {
        add(l, PRE_TOKENIZER_GPT2);
    }
    if (hf_json_is_true(step, "add_prefix_space", true)) {
        add(l, "bytes after a space\n");
    } else {
        add(l, PRE_TOKENIZER_BYTES);
    }
}

static void add_digits(struct line *l, const cJSON *step)
{
    if (hf_json_is_true(step, "individual_digits", false)) {
        add(l, PRE_TOKENIZER_DIGIT);
    } else {
        add(l, PRE_TOKENIZER_DIGITS);
    }
}

/* True if the split keeps matches and the text between them (Isolated), or only the matches
 * (Removed and inverted). */
static bool is_known_split(const cJSON *step, bool *removes)
{
    bool inverted = hf_json_is_true(step, "invert", false);

    *removes = inverted;
    return (!inverted && hf_json_is(step, "behavior", "Isolated")) ||
           (inverted && hf_json_is(step, "behavior", "Removed"));
}

static void add_unknown(struct line *l, const char *type)
{
    add(l, "step ");
    add(l, type);
    add(l, "\n");
}

/* Append a step that is not a sequence. A regular expression that the table lacks is copied
 * unchanged. */
static void add_step(struct line *l, const cJSON *step)
{
    const char *regex = hf_json_string(hf_json_get(hf_json_get(step, "pattern"), "Regex"));
    const char *type = hf_json_string(hf_json_get(step, "type"));
    bool removes;

    if (type == NULL) {
        add_unknown(l, "without a type");
    } else if (strcmp(type, "ByteLevel") == 0) {
        add_byte_level(l, step);
    } else if (strcmp(type, "Split") == 0 && regex != NULL && is_known_split(step, &removes)) {
        add_split(l, regex);
        l->removes = l->removes || removes;
    } else if (strcmp(type, "Digits") == 0) {
        add_digits(l, step);
    } else if (strcmp(type, "Punctuation") == 0 && hf_json_is(step, "behavior", "Contiguous")) {
        add(l, "punctuation\n");
    } else {
        add_unknown(l, type);
    }
}

enum err hf_pre_tokenizer_find(struct source *s, const cJSON *pre_tokenizer, enum ingot_pre *pre)
{
    static struct line l;
    const cJSON *steps = hf_json_get(pre_tokenizer, "pretokenizers");
    const cJSON *step;

    l = (struct line){ .used = 0 };
    if (hf_json_is(pre_tokenizer, "type", "Sequence")) {
        cJSON_ArrayForEach(step, steps)
        {
            add_step(&l, step);
        }
    } else {
        add_step(&l, pre_tokenizer);
    }
    if (pre_tokenizer_find_steps(l.text, l.removes, pre)) {
        return ERR_OK;
    }
    for (char *c = l.text; *c != '\0'; c++) {
        if (*c == '\n') {
            *c = ';';
        }
    }
    return source_refuse(s, ERR_UNSUPPORTED, "the field \"pre_tokenizer\" is not known: %.240s",
                         l.text);
}
