#include "runtime/features/grammar/grammar_tokens.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/tokenizer/tokenizer_encode.h"

static const uint8_t *text_of(const struct tokenizer *t, uint32_t id)
{
    return (const uint8_t *)tokenizer_text(t, id);
}

/* Return the bytes of a token: its byte if it is a byte token, otherwise its text. */
static const uint8_t *bytes_of(const struct tokenizer *t, uint32_t id, size_t *n)
{
    return (const uint8_t *)tokenizer_piece(t, id, INGOT_NO_TOKEN, n);
}

/* Push s (n) without its first *level bytes, which were pushed already. Returns false if a byte was
 * refused or if s has more bytes than there are levels; *level bytes were then allowed. */
static bool push_all(struct grammar_machine *m, const uint8_t *s, size_t n, unsigned *level)
{
    while (*level < n) {
        if (*level == GRAMMAR_LEVELS) {
            return false;
        }
        if (!grammar_push(m, *level, s[*level])) {
            return false;
        }
        ++*level;
    }
    return true;
}

bool grammar_takes_token(struct grammar_machine *m, const struct tokenizer *t, uint32_t id,
                         unsigned *level)
{
    enum ingot_token_type type;
    const uint8_t *s;
    size_t n;

    *level = 0;
    if (id >= t->head->n_tokens) {
        return false;
    }
    type = tokenizer_type(t, id);
    s = bytes_of(t, id, &n);
    if (type == INGOT_TOKEN_BYTE) {
        return n == 1 && t->byte_tokens[s[0]] == id && push_all(m, s, n, level);
    }
    return (type == INGOT_TOKEN_NORMAL || type == INGOT_TOKEN_USER) && n != 0 &&
           tokenizer_find_token(t, (const char *)s, n) == id && push_all(m, s, n, level);
}

/* sorted[from - 1] begins with s (n). Return the index of the first later token in `sorted` that
 * does not begin with s. */
static uint32_t after_prefix(const struct tokenizer *t, uint32_t from, const uint8_t *s, size_t n)
{
    uint32_t step = 1, low = from, high;

    /* Usually few tokens begin with s, so steps of doubling length find the end quickly. */
    for (high = from; high < t->head->n_sorted; high += step, step *= 2) {
        uint32_t id = t->sorted[high];

        if (tokenizer_text_bytes(t, id) < n || memcmp(text_of(t, id), s, n) != 0) {
            break;
        }
        low = high + 1;
    }
    high = (uint32_t)min_size(high, t->head->n_sorted);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, id = t->sorted[middle];

        if (tokenizer_text_bytes(t, id) >= n && memcmp(text_of(t, id), s, n) == 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Return the length of the common beginning of two texts, at most `most`. */
static unsigned alike(const struct tokenizer *t, uint32_t a, uint32_t b, unsigned most)
{
    size_t n = min_size(most, min_size(tokenizer_text_bytes(t, a), tokenizer_text_bytes(t, b)));
    const uint8_t *x = text_of(t, a), *y = text_of(t, b);
    unsigned i = 0;

    while (i < n && x[i] == y[i]) {
        i++;
    }
    return i;
}

static void visit_sorted(struct grammar_machine *m, const struct tokenizer *t,
                         grammar_visit_fn *visit, void *context)
{
    unsigned level = 0;

    for (uint32_t i = 0; i < t->head->n_sorted;) {
        uint32_t id = t->sorted[i++];
        const uint8_t *s = text_of(t, id);

        if (push_all(m, s, tokenizer_text_bytes(t, id), &level)) {
            visit(context, id, level);
        } else if (level < GRAMMAR_LEVELS) { /* the grammar allows no token longer than the
                                              * levels */
            i = after_prefix(t, i, s, level + 1);
        }
        if (i < t->head->n_sorted) {
            level = alike(t, id, t->sorted[i], level);
        }
    }
}

void grammar_visit_tokens(struct grammar_machine *m, const struct tokenizer *t,
                          grammar_visit_fn *visit, void *context)
{
    visit_sorted(m, t, visit, context);
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t id = t->byte_tokens[byte];

        if (id != INGOT_NO_TOKEN && tokenizer_type(t, id) == INGOT_TOKEN_BYTE &&
            grammar_push(m, 0, (uint8_t)byte)) {
            visit(context, id, 1);
        }
    }
}
