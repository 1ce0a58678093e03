/* The ids of the tokens that text may form, sorted by text, to find merges. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/tokenizer/tokenizer_build.h"

/* Compare by bytes; a prefix comes first. */
static int compare_bytes(const uint8_t *a, uint32_t na, const uint8_t *b, uint32_t nb)
{
    int order = memcmp(a, b, min_u32(na, nb));

    if (order != 0) {
        return order;
    }
    return (na > nb) - (na < nb);
}

static int compare_texts(const struct tokenizer_build *b, uint32_t a_id, uint32_t b_id)
{
    return compare_bytes(b->text + b->text_offsets[a_id],
                         b->text_offsets[a_id + 1] - b->text_offsets[a_id],
                         b->text + b->text_offsets[b_id],
                         b->text_offsets[b_id + 1] - b->text_offsets[b_id]);
}

/* Among tokens with equal texts, a USER token, which is matched anywhere, comes first, then the
 * lowest id; so the order is unique. */
static int compare_ids(const void *a, const void *b, void *context)
{
    const struct tokenizer_build *build = context;
    uint32_t a_id = *(const uint32_t *)a;
    uint32_t b_id = *(const uint32_t *)b;
    int order = compare_texts(build, a_id, b_id);
    bool a_user = (build->types[a_id] & INGOT_TOKEN_TYPE) == INGOT_TOKEN_USER;
    bool b_user = (build->types[b_id] & INGOT_TOKEN_TYPE) == INGOT_TOKEN_USER;

    if (order != 0) {
        return order;
    }
    if (a_user != b_user) {
        return b_user - a_user;
    }
    return (a_id > b_id) - (a_id < b_id);
}

void tokenizer_fill_sorted(struct tokenizer_build *b)
{
    uint32_t n = 0;
    uint32_t kept = 0;

    for (uint32_t id = 0; id < b->head->n_tokens; id++) {
        uint32_t type = b->types[id] & INGOT_TOKEN_TYPE;
        bool matched = (type == INGOT_TOKEN_NORMAL || type == INGOT_TOKEN_USER) &&
                       !(b->types[id] & TOKENIZER_LITERAL);

        b->types[id] &= (uint8_t)~TOKENIZER_LITERAL;
        if (matched && b->text_offsets[id] != b->text_offsets[id + 1]) {
            b->sorted[n++] = id;
        }
    }
    qsort_r(b->sorted, n, sizeof b->sorted[0], compare_ids, b);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || compare_texts(b, b->sorted[kept - 1], b->sorted[i]) != 0) {
            b->sorted[kept++] = b->sorted[i];
        }
    }
    memset(b->sorted + kept, 0, (n - kept) * sizeof b->sorted[0]);
    b->head->n_sorted = kept;
}

uint32_t tokenizer_find(const struct tokenizer_build *b, const uint8_t *text, uint32_t bytes)
{
    uint32_t low = 0;
    uint32_t high = b->head->n_sorted;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t id = b->sorted[middle];
        int order = compare_bytes(b->text + b->text_offsets[id],
                                  b->text_offsets[id + 1] - b->text_offsets[id], text, bytes);

        if (order == 0) {
            return id;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return INGOT_NO_TOKEN;
}
