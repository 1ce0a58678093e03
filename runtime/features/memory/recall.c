#include "runtime/features/memory/recall.h"

#include "board/min_max.h"

enum { STEM = 4 /* letters that inflected words have in common */, ENDING = 3 };

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static char lower(char c)
{
    return is_capital(c) ? (char)(c - 'A' + 'a') : c;
}

/* Letters of ASCII, digits, and all of what is not ASCII. */
static bool is_letter(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c) || (unsigned char)c >= 0x80;
}

static bool ends_sentence(char c)
{
    return c == '.' || c == '!' || c == '?' || c == ':' || c == '=' || c == '\n';
}

/* The bytes of an apostrophe at text[at], as typed or as typeset; 0: there is none. */
static size_t apostrophe(const char *text, size_t bytes, size_t at)
{
    if (at < bytes && text[at] == '\'') {
        return 1;
    }
    return at + 3 <= bytes && text[at] == '\xe2' && text[at + 1] == '\x80' && text[at + 2] == '\x99'
               ? 3
               : 0;
}

/* A word from `at` on; *next: where the text goes on after it and after what hangs on it by an apostrophe. */
static size_t word_end(const char *text, size_t bytes, size_t at, size_t *next)
{
    size_t end = at;

    while (end < bytes && is_letter(text[end]) && apostrophe(text, bytes, end) == 0) {
        end++;
    }
    *next = end;
    if (apostrophe(text, bytes, end) != 0) {
        *next += apostrophe(text, bytes, end);
        while (*next < bytes && is_letter(text[*next])) {
            (*next)++;
        }
    }
    return end;
}

void recall_read(struct recall_text *t, const char *text, size_t bytes)
{
    bool first = true; /* of its sentence, where a capital says nothing */
    size_t at = 0, next;

    t->text = text;
    t->n = 0;
    for (; at < bytes && t->n < RECALL_WORDS; at = next) {
        size_t end = word_end(text, bytes, at, &next);

        if (end == at) {
            first = first || ends_sentence(text[at]);
            next = at + 1;
            continue;
        }
        t->words[t->n++] = (struct recall_word){ .at = (uint16_t)at,
                                                 .bytes = (uint16_t)(end - at),
                                                 .is_name = is_digit(text[at]) ||
                                                            (!first && is_capital(text[at])) };
        first = false;
    }
}

void recall_weigh(struct recall_text *t, recall_rarity_fn *rarity, void *context)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct recall_word *w = &t->words[i];

        w->weight = rarity(context, t->text + w->at, w->bytes);
    }
}

/* ---- words that are alike ------------------------------------------------------------------- */

static uint32_t n_common(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                         uint32_t k)
{
    const char *x = a->text + a->words[i].at, *y = b->text + b->words[k].at;
    uint32_t most = min_u32(a->words[i].bytes, b->words[k].bytes), n = 0;

    while (n < most && lower(x[n]) == lower(y[n])) {
        n++;
    }
    return n;
}

static bool is_equal(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k)
{
    return a->words[i].bytes == b->words[k].bytes && n_common(a, i, b, k) == a->words[i].bytes;
}

bool recall_is_alike(const struct recall_text *a, uint32_t i, const struct recall_text *b,
                     uint32_t k)
{
    const struct recall_word *x = &a->words[i], *y = &b->words[k];
    uint32_t n = n_common(a, i, b, k);

    if (x->bytes == n && y->bytes == n) {
        return true;
    }
    return !x->is_name && !y->is_name && n >= STEM && x->bytes - n <= ENDING &&
           y->bytes - n <= ENDING;
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

/* For what was asked, what the memory has; 0 also where it lacks a name. */
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

float recall_score(const struct recall_text *asked, const struct recall_text *memory,
                   uint32_t question)
{
    float x = asked_share(asked, memory), y = question_share(asked, memory, question);

    return x < RECALL_LEAST || y < RECALL_LEAST ? 0.0f : x + y;
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

/* After their first n words they have a common word in common, such as "is": then they differ before it, in their subject. */
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
