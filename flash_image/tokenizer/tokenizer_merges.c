/* Sorts merges "left right", which a file lists by rank, into rows by the left token's id. One pass
 * counts each row's merges and a second one places them, so nothing is allocated. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/tokenizer/tokenizer_build.h"

struct merge {
    uint32_t left, right, id;
};

enum { MOST_LEFT_OUT = 1000 }; /* limit of dropped merges: each costs a pass over all tokens */

enum finding { MERGE_FOUND, MERGE_LEFT_OUT, MERGE_UNKNOWN };

static uint32_t spell(const struct tokenizer_build *b, struct source_text text, uint8_t *out)
{
    bool literal;

    return tokenizer_spell((enum ingot_tokenizer_kind)b->head->kind, text.data,
                           (uint32_t)text.bytes, out, &literal);
}

static bool is_any_token(const struct tokenizer_build *b, const uint8_t *text, uint32_t bytes)
{
    for (uint32_t id = 0; id < b->head->n_tokens; id++) {
        if (b->text_offsets[id + 1] - b->text_offsets[id] == bytes &&
            memcmp(b->text + b->text_offsets[id], text, bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* A merge with a special token is dropped: a special token is matched as a whole or, in a user's
 * text, not at all. */
static enum finding find_merge(const struct tokenizer_build *b, const struct source_merge *m,
                               struct merge *out)
{
    uint8_t text[2 * TOKENIZER_MOST_TOKEN_BYTES];
    uint32_t left, right;

    if (m->left.bytes == 0 || m->left.bytes > TOKENIZER_MOST_TOKEN_BYTES || m->right.bytes == 0 ||
        m->right.bytes > TOKENIZER_MOST_TOKEN_BYTES) {
        return MERGE_UNKNOWN;
    }
    left = spell(b, m->left, text);
    right = spell(b, m->right, text + left);
    out->left = tokenizer_find(b, text, left);
    out->right = tokenizer_find(b, text + left, right);
    out->id = tokenizer_find(b, text, left + right);
    if (out->left != INGOT_NO_TOKEN && out->right != INGOT_NO_TOKEN && out->id != INGOT_NO_TOKEN) {
        return MERGE_FOUND;
    }
    if (is_any_token(b, text, left) && is_any_token(b, text + left, right) &&
        is_any_token(b, text, left + right)) {
        return MERGE_LEFT_OUT;
    }
    return MERGE_UNKNOWN;
}

/* Set rows[i + 1] to the number of merges whose left token is i. */
static enum err count_merges(struct source *s, const struct tokenizer_build *b, uint32_t *rows)
{
    struct source_cursor c = { NULL, 0 };
    struct source_merge m;
    struct merge found;
    uint32_t left_out = 0;

    while (source_next_merge(&s->vocab, &c, &m)) {
        enum finding f = find_merge(b, &m, &found);

        left_out += f == MERGE_LEFT_OUT;
        if (f == MERGE_UNKNOWN || left_out > MOST_LEFT_OUT) {
            return source_refuse(s, ERR_BAD_TOKENIZER,
                                 "merge %u (\"%.*s\" and \"%.*s\") names "
                                 "texts that are not plain tokens",
                                 c.id - 1, (int)min_size(m.left.bytes, 40), m.left.data,
                                 (int)min_size(m.right.bytes, 40), m.right.data);
        }
        if (f == MERGE_FOUND) {
            rows[found.left + 1]++;
        }
    }
    return ERR_OK;
}

static void place_merges(const struct source *s, const struct tokenizer_build *b, uint32_t *rows,
                         struct ingot_merge *entries)
{
    struct source_cursor c = { NULL, 0 };
    struct source_merge m;
    struct merge found;

    while (source_next_merge(&s->vocab, &c, &m)) {
        if (find_merge(b, &m, &found) == MERGE_FOUND) { /* count_merges() has already checked merges
                                                           that are not found */
            entries[rows[found.left]++] = (struct ingot_merge){ found.right, c.id - 1, found.id };
        }
    }
    /* The end of a row is the start of the next one. */
    memmove(rows + 1, rows, b->head->n_tokens * sizeof *rows);
    rows[0] = 0;
}

static int by_right(const void *a, const void *b)
{
    const struct ingot_merge *x = a, *y = b;

    if (x->right != y->right) {
        return (x->right > y->right) - (x->right < y->right);
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sort the rows; if a pair appears twice, the lower rank is kept. Returns the number of remaining
 * merges. */
static uint32_t sort_rows(uint32_t n_tokens, uint32_t *rows, struct ingot_merge *entries)
{
    uint32_t kept = 0;
    uint32_t first = 0;

    for (uint32_t id = 0; id < n_tokens; id++) {
        uint32_t end = rows[id + 1];
        uint32_t start = kept;

        qsort(entries + first, end - first, sizeof *entries, by_right);
        for (uint32_t i = first; i < end; i++) {
            if (kept == start || entries[kept - 1].right != entries[i].right) {
                entries[kept++] = entries[i];
            }
        }
        first = end;
        rows[id + 1] = kept;
    }
    memset(entries + kept, 0, (first - kept) * sizeof *entries);
    return kept;
}

enum err tokenizer_fill_merges(struct source *s, struct tokenizer_build *b, uint32_t at,
                               uint64_t *end)
{
    struct ingot_merges *h = (void *)(b->head + 1);
    uint32_t *rows = (void *)(b->section + at);
    uint32_t n = b->head->n_tokens;
    struct ingot_merge *entries = (void *)(rows + n + 1);
    enum err e = count_merges(s, b, rows);

    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t id = 0; id < n; id++) {
        rows[id + 1] += rows[id];
    }
    place_merges(s, b, rows, entries);
    h->pre = s->vocab.pre;
    h->rows = at;
    h->entries = at + 4 * (n + 1);
    h->n_merges = sort_rows(n, rows, entries);
    *end = h->entries + sizeof *entries * (uint64_t)h->n_merges;
    return ERR_OK;
}
