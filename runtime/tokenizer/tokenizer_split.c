/* Every stage cuts a piece into matches and the text between them. */
#include "runtime/tokenizer/tokenizer_split.h"

#include <stddef.h>

#include "board/min_max.h"
#include "runtime/tokenizer/tokenizer_match.h"

/* How far to move if nothing matches: a character, a byte (for matchers of bytes), or all white
 * space (for matchers that cannot match any of it). */
enum step { STEP_CHARACTER, STEP_BYTE, STEP_SPACES };

struct split_stage {
    matcher *match;
    const void *rule;
    enum step step;
};

static const struct range deepseek_letters[] = {
    { 0x41, 0x5a },       { 0x61, 0x7a },       { 0xb5, 0xb5 },       { 0xc0, 0xd6 },
    { 0xd8, 0xf6 },       { 0xf8, 0x1ba },      { 0x1bc, 0x1bf },     { 0x1c4, 0x293 },
    { 0x295, 0x2af },     { 0x370, 0x373 },     { 0x376, 0x377 },     { 0x37b, 0x37d },
    { 0x37f, 0x37f },     { 0x386, 0x386 },     { 0x388, 0x38a },     { 0x38c, 0x38c },
    { 0x38e, 0x3a1 },     { 0x3a3, 0x3f5 },     { 0x3f7, 0x481 },     { 0x48a, 0x52f },
    { 0x531, 0x556 },     { 0x10a0, 0x10c5 },   { 0x13a0, 0x13f5 },   { 0x13f8, 0x13fd },
    { 0x1c90, 0x1cba },   { 0x1cbd, 0x1cbf },   { 0x1d00, 0x1d2b },   { 0x1d6b, 0x1d77 },
    { 0x1d79, 0x1d9a },   { 0x1e00, 0x1f15 },   { 0x1f18, 0x1f1d },   { 0x1f20, 0x1f45 },
    { 0x1f48, 0x1f4d },   { 0x1f50, 0x1f57 },   { 0x1f59, 0x1f59 },   { 0x1f5b, 0x1f5b },
    { 0x1f5d, 0x1f5d },   { 0x1f5f, 0x1f7d },   { 0x1f80, 0x1fb4 },   { 0x1fb6, 0x1fbc },
    { 0x1fbe, 0x1fbe },   { 0x1fc2, 0x1fc4 },   { 0x1fc6, 0x1fcc },   { 0x1fd0, 0x1fd3 },
    { 0x1fd6, 0x1fdb },   { 0x1fe0, 0x1fec },   { 0x1ff2, 0x1ff4 },   { 0x1ff6, 0x1ffc },
    { 0x2102, 0x2102 },   { 0x2107, 0x2107 },   { 0x210a, 0x2113 },   { 0x2115, 0x2115 },
    { 0x2119, 0x211d },   { 0x2124, 0x2124 },   { 0x2126, 0x2126 },   { 0x2128, 0x2128 },
    { 0x212a, 0x212d },   { 0x212f, 0x2134 },   { 0x2139, 0x2139 },   { 0x213c, 0x213f },
    { 0x2145, 0x2149 },   { 0x214e, 0x214e },   { 0x2183, 0x2184 },   { 0x2c00, 0x2c7b },
    { 0x2c7e, 0x2ce4 },   { 0x2ceb, 0x2cee },   { 0x2cf2, 0x2cf3 },   { 0xa640, 0xa66d },
    { 0xa680, 0xa69b },   { 0xa722, 0xa76f },   { 0xa771, 0xa787 },   { 0xa78b, 0xa78e },
    { 0xab70, 0xabbf },   { 0xfb00, 0xfb06 },   { 0xfb13, 0xfb17 },   { 0xff21, 0xff3a },
    { 0xff41, 0xff5a },   { 0x10400, 0x1044f }, { 0x104b0, 0x104d3 }, { 0x104d8, 0x104fb },
    { 0x10c80, 0x10cb2 }, { 0x10cc0, 0x10cf2 }, { 0x118a0, 0x118df }, { 0x1e900, 0x1e943 },
};
static const struct range deepseek_marks[] = {
    { 0x21, 0x2f },     { 0x3a, 0x7e },     { 0x2018, 0x201f },
    { 0x3000, 0x3002 }, { 0xff01, 0xff0f }, { 0xff1a, 0xff5e },
};
static const struct range cjk[] = { { 0x800, 0x9fa5 }, { 0xac00, 0xd7ff } };
static const struct range kana_and_han[] = { { 0x3040, 0x30ff }, { 0x4e00, 0x9fa5 } };
/* Sentence marks of several scripts that BLOOM keeps out of words, with "(", ")", "|" and white
 * space. */
static const struct range bloom_marks[] = {
    { 0x60c, 0x60c },   { 0x6d4, 0x6d4 },   { 0x964, 0x964 },
    { 0x2026, 0x2026 }, { 0x3001, 0x3002 }, { 0xff0c, 0xff0c },
};

#define RANGES(table) .ranges = table, .n_ranges = sizeof table / sizeof table[0]

static const struct run digit = { .set = UNICODE_IS_N, .most = 1 };
static const struct run digits = { .set = UNICODE_IS_N };
static const struct run three_digits = { .set = UNICODE_IS_N, .most = 3 };
static const struct run newline = { .ascii = "\r\n", .most = 1 };
static const struct run falcon_marks = { .set = UNICODE_IS_P, .ascii = "$+<=>^~|`" };
static const struct run default_marks = { .set = UNICODE_IS_P, .ascii = "$+<=>^~|" };
static const struct run spaced_deepseek_letters = { .any_space = true, RANGES(deepseek_letters) };
static const struct run spaced_deepseek_marks = { .any_space = true, RANGES(deepseek_marks) };
static const struct run spaced_letters = { .any_space = true, .set = UNICODE_IS_L };
static const struct run spaced_marks = { .any_space = true, .set = UNICODE_IS_P };
static const struct run cjk_run = { RANGES(cjk) };
static const struct run kana_and_han_run = { RANGES(kana_and_han) };
static const struct run bloom_word = { .space = true,
                                       .inverted = true,
                                       .set = UNICODE_IS_SPACE,
                                       .ascii = "(|.,!?)",
                                       RANGES(bloom_marks) };

/* ---- the kinds ------------------------------------------------------------------------------- */

static const struct words llama3 = {
    .letters = UNICODE_IS_L,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS,
    .digits = 3,
    .newline_tail = true,
    .contraction = CONTRACTION_WORD,
};
static const struct words qwen2 = {
    .letters = UNICODE_IS_L,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS,
    .digits = 1,
    .newline_tail = true,
    .contraction = CONTRACTION_WORD,
};
static const struct words qwen35 = {
    .letters = UNICODE_IS_L | UNICODE_IS_M,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS & ~UNICODE_IS_M,
    .digits = 1,
    .newline_tail = true,
    .contraction = CONTRACTION_WORD,
};
static const struct words seed_coder = {
    .letters = UNICODE_IS_L,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS,
    .digits = 1,
    .contraction = CONTRACTION_WORD,
};
static const struct words gpt4o = {
    .cased = true,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS,
    .digits = 3,
    .newline_tail = true,
    .slash_tail = true,
    .contraction = CONTRACTION_SUFFIX,
};
static const struct words tekken = {
    .cased = true,
    .no_lead = UNICODE_IS_L | UNICODE_IS_N,
    .marks = MARKS,
    .digits = 1,
    .newline_tail = true,
    .slash_tail = true,
};
static const struct words deepseek_v3 = {
    .letters = UNICODE_IS_L | UNICODE_IS_M,
    .no_lead = UNICODE_IS_L | UNICODE_IS_P | UNICODE_IS_S,
    .marks = UNICODE_IS_P | UNICODE_IS_S,
    .newline_tail = true,
    .ascii_word = true,
};

/* A list of stages, which ends with a stage without a function. */
#define STAGES(...) ((const struct split_stage[]){ [0] = __VA_ARGS__, { .match = NULL } })

static const struct split_stage *const stages[INGOT_N_PRES] = {
    [INGOT_PRE_NONE] = (const struct split_stage[]){ { .match = NULL } },
    [INGOT_PRE_GPT2] = STAGES({ match_gpt2, NULL }),
    [INGOT_PRE_LLAMA3] = STAGES({ match_words, &llama3 }),
    [INGOT_PRE_QWEN2] = STAGES({ match_words, &qwen2 }),
    [INGOT_PRE_DIGITS] = STAGES({ match_run, &digit }, { match_gpt2, NULL }),
    [INGOT_PRE_FALCON] = STAGES({ match_run, &falcon_marks }, { match_gpt2, NULL },
                                { match_byte_digits, NULL, STEP_BYTE },
                                { match_three_digits, NULL, STEP_BYTE }),
    [INGOT_PRE_DEFAULT] = STAGES({ match_run, &default_marks }, { match_gpt2, NULL },
                                 { match_run, &digits }, { match_three_digits, NULL, STEP_BYTE }),
    [INGOT_PRE_GPT4O] = STAGES({ match_words, &gpt4o }),
    [INGOT_PRE_TEKKEN] = STAGES({ match_words, &tekken }),
    [INGOT_PRE_DEEPSEEK_LLM] =
        STAGES({ match_run, &newline }, { match_run, &spaced_deepseek_letters },
               { match_run, &spaced_deepseek_marks }, { match_last_spaces, NULL, STEP_SPACES },
               { match_run, &cjk_run }, { match_run, &digit }),
    [INGOT_PRE_DEEPSEEK_CODER] = STAGES({ match_run, &newline }, { match_run, &spaced_letters },
                                        { match_run, &spaced_marks }, { match_run, &cjk_run },
                                        { match_run, &digit }),
    [INGOT_PRE_DEEPSEEK_V3] = STAGES({ match_run, &three_digits }, { match_run, &kana_and_han_run },
                                     { match_words, &deepseek_v3 }),
    [INGOT_PRE_BLOOM] = STAGES({ match_run, &bloom_word }),
    [INGOT_PRE_VIKING] = STAGES({ match_run, &bloom_word }, { match_run, &digit }),
    [INGOT_PRE_QWEN35] = STAGES({ match_words, &qwen35 }),
    [INGOT_PRE_SEED_CODER] = STAGES({ match_words, &seed_coder }),
};

/* Move over the bytes that do not match at `at`. */
static uint32_t step_over(const struct split_stage *stage, const uint8_t *text, uint32_t at,
                          uint32_t end)
{
    struct symbol s;

    if (stage->step == STEP_BYTE) {
        return at + 1;
    }
    s = match_symbol_at(text, at, end);
    at += s.bytes;
    if (stage->step == STEP_SPACES && (s.set & UNICODE_IS_SPACE)) {
        return match_skip_set(text, at, end, UNICODE_IS_SPACE, UINT32_MAX);
    }
    return at;
}

/* Return the end of the match at `at`, or of the text before the next match. */
static uint32_t cut(const struct split_stage *stage, const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t to = stage->match(text, at, end, stage->rule);

    if (to != at) {
        return to;
    }
    do {
        at = step_over(stage, text, at, end);
    } while (at < end && stage->match(text, at, end, stage->rule) == at);
    return min_u32(at, end);
}

void split_begin(struct splitter *s, enum ingot_pre pre, const uint8_t *text, uint32_t start,
                 uint32_t end)
{
    s->text = text;
    s->stages = stages[pre];
    s->n_stages = 0;
    while (s->n_stages < SPLIT_MOST_STAGES && s->stages[s->n_stages].match != NULL) {
        s->ends[++s->n_stages] = start; /* the first call cuts every stage */
    }
    s->ends[0] = end;
}

uint32_t split_next(struct splitter *s, uint32_t at)
{
    uint32_t i = s->n_stages;

    while (i > 0 && s->ends[i] <= at) {
        i--;
    }
    for (; i < s->n_stages; i++) {
        s->ends[i + 1] = cut(&s->stages[i], s->text, at, s->ends[i]);
    }
    return s->ends[s->n_stages];
}
