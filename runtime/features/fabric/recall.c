#include "runtime/features/fabric/recall.h"

#include "board/min_max.h"
#include "runtime/text/unicode_class.h"
#include "runtime/text/utf8.h"

enum {
    STEM = 4, /* letters that two forms of a word must share */
    ENDING = 3,
    FIRST_CJK = 0x2e80,
    FIRST_HANGUL = 0xac00,
    LAST_HANGUL = 0xd7a3,
    UNREADABLE = UINT32_MAX,
};

/* ---- words ---------------------------------------------------------------------------------- */

/* Return the character at text[at] and its number of bytes. An invalid byte of UTF-8 separates
 * words. */
static uint32_t code_at(const char *text, size_t bytes, size_t at, size_t *n)
{
    int length = utf8_check((const uint8_t *)text + at, bytes - at);

    *n = length > 0 ? (size_t)length : 1;
    return length > 0 ? utf8_decode((const uint8_t *)text + at, length) : UNREADABLE;
}

static bool is_in(uint32_t code, unsigned set)
{
    return code != UNREADABLE && ((1u << unicode_class(code)) & set) != 0;
}

static bool is_digit(uint32_t code)
{
    return is_in(code, UNICODE_IS_N);
}

static bool is_capital(uint32_t code)
{
    return is_in(code, UNICODE_IS_LU | UNICODE_IS_LT);
}

static bool is_letter(uint32_t code)
{
    return is_in(code, UNICODE_IS_L | UNICODE_IS_M | UNICODE_IS_N);
}

/* Return true if a character counts as a word, as in Chinese and other scripts without spaces. */
static bool stands_alone(uint32_t code)
{
    return code >= FIRST_CJK && (code < FIRST_HANGUL || code > LAST_HANGUL) &&
           is_in(code, UNICODE_IS_LO);
}

/* Lower case of ASCII, Latin-1, Greek, Cyrillic, and the pairs of Latin Extended-A. Others stay. */
static uint32_t lower(uint32_t code)
{
    static const struct {
        uint32_t first, last, step;
    } rows[] = { { 'A', 'Z', 0x20 },     { 0xc0, 0xd6, 0x20 },   { 0xd8, 0xde, 0x20 },
                 { 0x391, 0x3a9, 0x20 }, { 0x410, 0x42f, 0x20 }, { 0x400, 0x40f, 0x50 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (code >= rows[i].first && code <= rows[i].last) {
            return code + rows[i].step;
        }
    }
    return code >= 0x100 && code <= 0x17f && is_capital(code) && code != 0x178 ? code + 1 : code;
}

static bool ends_sentence(uint32_t code)
{
    static const uint32_t ends[] = {
        '.', '!', '?', ':', '=', '\n', 0x2026, 0x3002, 0xff01, 0xff1f
    };

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (code == ends[i]) {
            return true;
        }
    }
    return false;
}

/* Return true if the character is an apostrophe, typed or typeset. */
static bool is_apostrophe(uint32_t code)
{
    return code == '\'' || code == 0x2019;
}

static size_t letters_end(const char *text, size_t bytes, size_t at)
{
    size_t n;

    while (at < bytes) {
        uint32_t code = code_at(text, bytes, at, &n);

        if (!is_letter(code) || stands_alone(code)) {
            break;
        }
        at += n;
    }
    return at;
}

/* Return the end of the word that begins at `at`; *next is the end of the word with an ending such
 * as 's. */
static size_t word_end(const char *text, size_t bytes, size_t at, size_t *next)
{
    size_t n, end = letters_end(text, bytes, at);

    if (end == at && at < bytes && stands_alone(code_at(text, bytes, at, &n))) {
        *next = at + n;
        return at + n;
    }
    *next = end;
    if (end != at && end < bytes && is_apostrophe(code_at(text, bytes, end, &n))) {
        *next = letters_end(text, bytes, end + n);
    }
    return end;
}

void recall_read(struct recall_text *t, const char *text, size_t bytes)
{
    bool first = true; /* the word begins its sentence, so its capital tells nothing */
    size_t at = 0, next, n;

    t->text = text;
    t->n = 0;
    for (; at < bytes && t->n < RECALL_WORDS; at = next) {
        size_t end = word_end(text, bytes, at, &next);
        uint32_t code = code_at(text, bytes, at, &n);

        if (end == at) {
            first = first || ends_sentence(code);
            next = at + n;
            continue;
        }
        t->words[t->n++] = (struct recall_word){ .at = (uint16_t)at,
                                                 .bytes = (uint16_t)(end - at),
                                                 .is_name = is_digit(code) ||
                                                            (!first && is_capital(code)) };
        first = false;
    }
}

void recall_weigh(struct recall_text *t, recall_rarity_fn *rarity, void *context)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct recall_word *w = &t->words[i];

        bool is_name = false;

        w->weight = rarity(context, t->text + w->at, w->bytes, &is_name);
        w->is_name = w->is_name || is_name;
    }
}

/* ---- similar words -------------------------------------------------------------------------- */

/* How many letters two words share at their beginning, and how many letters of each word
 * remain. */
struct likeness {
    uint32_t common, left_a, left_b;
};

static uint32_t n_letters(const char *text, size_t bytes)
{
    uint32_t letters = 0;
    size_t n;

    for (size_t at = 0; at < bytes; at += n) {
        (void)code_at(text, bytes, at, &n);
        letters++;
    }
    return letters;
}

static struct likeness compare(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                               uint32_t k)
{
    const struct recall_word *x = &a->words[i], *y = &b->words[k];
    const char *p = a->text + x->at, *q = b->text + y->at;
    struct likeness l = { 0, 0, 0 };
    size_t at = 0, to = 0, n = 0, m = 0;

    while (at < x->bytes && to < y->bytes &&
           lower(code_at(p, x->bytes, at, &n)) == lower(code_at(q, y->bytes, to, &m))) {
        at += n;
        to += m;
        l.common++;
    }
    l.left_a = n_letters(p + at, x->bytes - at);
    l.left_b = n_letters(q + to, y->bytes - to);
    return l;
}

static bool is_equal(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k)
{
    struct likeness l = compare(a, i, b, k);

    return l.left_a == 0 && l.left_b == 0;
}

bool recall_is_alike(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k)
{
    struct likeness l = compare(a, i, b, k);

    if (l.left_a == 0 && l.left_b == 0) {
        return true;
    }
    return !a->words[i].is_name && !b->words[k].is_name && l.common >= STEM && l.left_a <= ENDING &&
           l.left_b <= ENDING;
}

static bool has(const struct recall_text *t, const struct recall_text *other, uint32_t word)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (recall_is_alike(t, i, other, word)) {
            return true;
        }
    }
    return false;
}

bool recall_touches(const struct recall_text *asked, const struct recall_text *memory)
{
    for (uint32_t i = 0; i < asked->n; i++) {
        if (asked->words[i].weight >= RECALL_RARE && has(memory, asked, i)) {
            return true;
        }
    }
    return false;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static float share(float part, float of)
{
    return of > 0.0f ? part / of : 0.0f;
}

/* Return the share of the weight of the question's words that the memory has, or 0 if the memory
 * lacks a name in the question. */
static float asked_share(const struct recall_text *asked, const struct recall_text *memory)
{
    float there = 0.0f, all = 0.0f;

    for (uint32_t i = 0; i < asked->n; i++) {
        const struct recall_word *w = &asked->words[i];
        bool is_there = has(memory, asked, i);

        if (!is_there && w->is_name && w->weight >= RECALL_RARE) {
            return 0.0f;
        }
        all += w->weight;
        there += is_there ? w->weight : 0.0f;
    }
    return share(there, all);
}

static float question_share(const struct recall_text *asked, const struct recall_text *memory,
                            uint32_t question)
{
    uint32_t n = question != 0 ? min_u32(question, memory->n) : memory->n;
    float there = 0.0f, all = 0.0f, rarest = 0.0f;

    for (uint32_t i = 0; i < n; i++) {
        float weight = memory->words[i].weight;

        all += weight;
        if (has(asked, memory, i)) {
            there += weight;
        } else if (weight > rarest) {
            rarest = weight;
        }
    }
    return share(there, question != 0 ? all : all - rarest);
}

/* Return true if the question is about another name: it lacks the first of the memory's names, but
 * has a word that neither vocabulary nor memory has, perhaps a name in small letters. */
static bool is_about_another(const struct recall_text *asked, const struct recall_text *memory,
                             uint32_t question)
{
    uint32_t n = question != 0 ? min_u32(question, memory->n) : memory->n, name = 0;

    while (name < n &&
           !(memory->words[name].is_name && memory->words[name].weight >= RECALL_RARE)) {
        name++;
    }
    if (name == n || has(asked, memory, name)) {
        return false;
    }
    for (uint32_t i = 0; i < asked->n; i++) {
        if (asked->words[i].weight >= RECALL_UNKNOWN && !has(memory, asked, i)) {
            return true;
        }
    }
    return false;
}

float recall_score(const struct recall_text *asked, const struct recall_text *memory,
                   uint32_t question)
{
    float x = asked_share(asked, memory), y = question_share(asked, memory, question);

    if (x < RECALL_LEAST || y < RECALL_LEAST || is_about_another(asked, memory, question)) {
        return 0.0f;
    }
    return x + y;
}

static uint32_t n_same(const struct recall_text *a, const struct recall_text *b)
{
    uint32_t n = 0;

    while (n < a->n && n < b->n && is_equal(a, n, b, n)) {
        n++;
    }
    return n;
}

bool recall_is_same(const struct recall_text *a, const struct recall_text *b)
{
    return a->n == b->n && n_same(a, b) == a->n;
}

/* Return true if the texts share a common word, such as "is", after their first n words. The texts
 * then differ before that word, in their subject. */
static bool differ_in_subject(const struct recall_text *a, const struct recall_text *b, uint32_t n)
{
    for (uint32_t i = n; i < a->n; i++) {
        for (uint32_t k = n; k < b->n && a->words[i].weight < RECALL_RARE; k++) {
            if (is_equal(a, i, b, k)) {
                return true;
            }
        }
    }
    return false;
}

bool recall_is_correction(const struct recall_text *a, const struct recall_text *b)
{
    uint32_t n = n_same(a, b), most = max_u32(a->n, b->n);
    bool is_rare = false;

    for (uint32_t i = 0; i < n; i++) {
        is_rare = is_rare || a->words[i].weight >= RECALL_RARE;
    }
    return is_rare && n >= 3 && 2 * n >= most && !differ_in_subject(a, b, n);
}
