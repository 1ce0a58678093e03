/* Find tokens: the token of a whole text, and the longest with which a text begins. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/tokenizer/tokenizer_encode.h"

/* Compare the text of token id with s (n). Returns a number less than, equal to or greater than
 * 0. */
static int compare_token(const struct tokenizer *t, uint32_t id, const char *s, size_t n)
{
    size_t bytes = tokenizer_text_bytes(t, id);
    int order = memcmp(tokenizer_text(t, id), s, min_size(bytes, n));

    if (order != 0) {
        return order;
    }
    return (bytes > n) - (bytes < n);
}

uint32_t tokenizer_find_token(const struct tokenizer *t, const char *s, size_t n)
{
    uint32_t low = 0;
    uint32_t high = t->head->n_sorted;

    if (n > t->head->max_token_bytes) {
        return INGOT_NO_TOKEN;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_token(t, t->sorted[middle], s, n);

        if (order == 0) {
            return t->sorted[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return INGOT_NO_TOKEN;
}

/* Return the first entry of sorted in [low, high) whose byte at `depth` is >= byte. All entries
 * agree in the bytes before; a token that ends there counts as less than any byte. */
static uint32_t lower_bound(const struct tokenizer *t, uint32_t low, uint32_t high, size_t depth,
                            unsigned byte)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t id = t->sorted[middle];

        if (tokenizer_text_bytes(t, id) <= depth || (uint8_t)tokenizer_text(t, id)[depth] < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool tokenizer_next_prefix(const struct tokenizer *t, const char *s, size_t n, struct prefix *p,
                           uint32_t *id)
{
    while (p->depth < n) {
        p->low = lower_bound(t, p->low, p->high, p->depth, (uint8_t)s[p->depth]);
        p->high = lower_bound(t, p->low, p->high, p->depth, (uint8_t)s[p->depth] + 1u);
        if (p->low == p->high) {
            return false;
        }
        p->depth++;
        *id = t->sorted[p->low];
        if (tokenizer_text_bytes(t, *id) == p->depth) {
            return true;
        }
    }
    return false;
}

/* Return the longest USER token with which s (n) begins, or INGOT_NO_TOKEN. */
static uint32_t find_user(const struct tokenizer *t, const char *s, size_t n)
{
    struct prefix p = { 0, t->head->n_sorted, 0 };
    uint32_t found = INGOT_NO_TOKEN, id;

    if (!byte_set_has(t->user_first, (uint8_t)s[0])) {
        return INGOT_NO_TOKEN;
    }
    while (tokenizer_next_prefix(t, s, n, &p, &id)) {
        if (tokenizer_type(t, id) == INGOT_TOKEN_USER) {
            found = id;
        }
    }
    return found;
}

/* Return the longest control token with which s (n) begins, or INGOT_NO_TOKEN. Templates are short
 * and control tokens are few, so all of them are compared. */
static uint32_t find_control(const struct tokenizer *t, const char *s, size_t n)
{
    uint32_t found = INGOT_NO_TOKEN;
    size_t longest = 0;

    if (!byte_set_has(t->control_first, (uint8_t)s[0])) {
        return INGOT_NO_TOKEN;
    }
    for (uint32_t id = t->control_lo; id < t->control_hi; id++) {
        size_t bytes = tokenizer_text_bytes(t, id);

        if (tokenizer_type(t, id) == INGOT_TOKEN_CONTROL && bytes > longest && bytes <= n &&
            memcmp(tokenizer_text(t, id), s, bytes) == 0) {
            found = id;
            longest = bytes;
        }
    }
    return found;
}

uint32_t tokenizer_find_special(const struct tokenizer *t, const char *s, size_t n, bool trusted)
{
    uint32_t user = find_user(t, s, n);
    uint32_t control = INGOT_NO_TOKEN;

    if (trusted) {
        control = find_control(t, s, n);
    }
    if (control == INGOT_NO_TOKEN) {
        return user;
    }
    if (user == INGOT_NO_TOKEN ||
        tokenizer_text_bytes(t, user) <= tokenizer_text_bytes(t, control)) {
        return control;
    }
    return user;
}
