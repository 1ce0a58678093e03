/* Merge the pieces of a run. A linked list has the pieces, each named by the position of its first
 * byte; a heap has the adjacent pairs that may merge, the best on top. The merge takes n log n time
 * for any text. Pieces begin as characters, or in byte-level BPE as bytes. */
#include <string.h>

#include "runtime/tokenizer/tokenizer_encode.h"

enum { NODE_NONE = 0xffffffff };

/* If keys are equal, the leftmost pair comes first, as in SentencePiece and GPT-2. */
static bool pair_before(const struct pair *a, const struct pair *b)
{
    return ((uint64_t)a->key << 32 | a->left) < ((uint64_t)b->key << 32 | b->left);
}

static void heap_push(struct encoder *e, struct pair pair)
{
    size_t i = e->n_heap++;

    while (i > 0 && pair_before(&pair, &e->heap[(i - 1) / 2])) {
        e->heap[i] = e->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap[i] = pair;
}

static struct pair heap_pop(struct encoder *e)
{
    struct pair top = e->heap[0];
    struct pair last = e->heap[--e->n_heap];
    size_t i = 0;

    while (2 * i + 1 < e->n_heap) {
        size_t child = 2 * i + 1;

        if (child + 1 < e->n_heap && pair_before(&e->heap[child + 1], &e->heap[child])) {
            child++;
        }
        if (!pair_before(&e->heap[child], &last)) {
            break;
        }
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = last;
    return top;
}

/* Return the key of a score: a higher score has a lower key. */
static uint32_t key_of_score(float score)
{
    uint32_t bits;

    score += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof bits);
    if (bits >> 31) {
        return bits;
    }
    return bits ^ 0x7fffffffu;
}

static const struct ingot_merge *find_merge(const struct tokenizer *t, uint32_t left,
                                            uint32_t right)
{
    uint32_t low, high;

    if (left == INGOT_NO_TOKEN || right == INGOT_NO_TOKEN) {
        return NULL;
    }
    low = t->merge_rows[left];
    high = t->merge_rows[left + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->merge_entries[middle].right == right) {
            return &t->merge_entries[middle];
        }
        if (t->merge_entries[middle].right < right) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* Return the token that the pieces at left and middle merge into, with the pair's key; or
 * INGOT_NO_TOKEN. */
static uint32_t merged_by_score(const struct encoder *e, const char *s, uint32_t left,
                                uint32_t middle, uint32_t *key)
{
    uint32_t id = tokenizer_find_token(e->t, s + left, e->next[middle] - left);

    if (id != INGOT_NO_TOKEN) {
        *key = key_of_score(e->t->scores[id]);
    }
    return id;
}

static uint32_t merged_by_rank(const struct encoder *e, uint32_t left, uint32_t middle,
                               uint32_t *key)
{
    const struct ingot_merge *m = find_merge(e->t, e->id[left], e->id[middle]);

    if (m == NULL) {
        return INGOT_NO_TOKEN;
    }
    *key = m->rank;
    return m->id;
}

static uint32_t merged_id(const struct encoder *e, const char *s, uint32_t left, uint32_t middle,
                          uint32_t *key)
{
    *key = 0;
    if (e->t->merges == NULL) {
        return merged_by_score(e, s, left, middle, key);
    }
    return merged_by_rank(e, left, middle, key);
}

static void offer_pair(struct encoder *e, const char *s, uint32_t left, uint32_t n)
{
    uint32_t middle = e->next[left];
    uint32_t key;

    if (middle != n && merged_id(e, s, left, middle, &key) != INGOT_NO_TOKEN) {
        heap_push(e, (struct pair){ key, left, e->next[middle] - left });
    }
}

/* Split a run into characters; a byte that is not UTF-8 is a piece. */
static uint32_t split_characters(struct encoder *e, const char *s, uint32_t n)
{
    uint32_t before = NODE_NONE;

    for (uint32_t i = 0; i < n; i = e->next[i]) {
        int bytes = utf8_check((const uint8_t *)s + i, n - i);

        e->prev[i] = before;
        e->next[i] = i + 1;
        if (bytes > 0) {
            e->next[i] = i + (uint32_t)bytes;
        }
        e->id[i] = tokenizer_find_token(e->t, s + i, e->next[i] - i);
        before = i;
    }
    return 0;
}

/* Split a run into bytes. A byte without a token is left out, as if it were not in the text.
 * Returns the first piece, or n if there is none. */
static uint32_t split_bytes(struct encoder *e, const char *s, uint32_t n)
{
    uint32_t before = NODE_NONE;
    uint32_t first = n;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = e->t->byte_tokens[(uint8_t)s[i]];

        if (id == INGOT_NO_TOKEN) {
            continue;
        }
        e->prev[i] = before;
        e->next[i] = n;
        e->id[i] = id;
        if (before != NODE_NONE) {
            e->next[before] = i;
        } else {
            first = i;
        }
        before = i;
    }
    return first;
}

/* Each merge removes a piece and offers at most two pairs, so that the heap never holds more
 * than two pairs for each byte. */
static void merge_pieces(struct encoder *e, const char *s, uint32_t n)
{
    while (e->n_heap > 0) {
        struct pair pair = heap_pop(e);
        uint32_t middle = e->next[pair.left];
        uint32_t key;

        if (middle == 0 || middle == n || e->next[middle] != pair.left + pair.bytes) {
            continue;
        }
        e->id[pair.left] = merged_id(e, s, pair.left, middle, &key);
        e->next[pair.left] = e->next[middle];
        e->next[middle] = 0;
        if (e->next[pair.left] != n) {
            e->prev[e->next[pair.left]] = pair.left;
        }
        offer_pair(e, s, pair.left, n);
        if (e->prev[pair.left] != NODE_NONE) {
            offer_pair(e, s, e->prev[pair.left], n);
        }
    }
}

static uint32_t split_run(struct encoder *e, const char *s, uint32_t n)
{
    if (e->t->head->kind == INGOT_TOKENIZER_BPE) {
        return split_bytes(e, s, n);
    }
    return split_characters(e, s, n);
}

enum err tokenizer_merge_run(struct encoder *e, const char *s, uint32_t n)
{
    uint32_t first = split_run(e, s, n);

    e->n_heap = 0;
    for (uint32_t i = first; i < n; i = e->next[i]) {
        offer_pair(e, s, i, n);
    }
    merge_pieces(e, s, n);
    for (uint32_t i = first; i < n; i = e->next[i]) {
        enum err err = tokenizer_emit_piece(e, e->id[i], s + i, e->next[i] - i);

        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}
