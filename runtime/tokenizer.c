/* One encode walks its parts once: special tokens cut the text into runs, and each run is merged
 * for itself. A run is a linked list of pieces, named by the position of their first byte, and a
 * heap of the adjacent pairs that form a token, the best score on top. */
#include "runtime/tokenizer.h"

#include <assert.h>
#include <string.h>

enum { NODE_NONE = 0xffffffff, TEXT_LIMIT = 1 << 30 };

/* A pair of adjacent pieces: bytes [left, left + bytes) of the text. Stale when no two live
 * pieces span exactly these bytes any more. */
struct pair {
    float score;
    uint32_t left;
    uint32_t bytes;
};

struct encoder {
    const struct tokenizer *t;
    char *text;         /* [0] is room for the space in front, the parts follow */
    uint32_t end;       /* of the text so far */
    uint32_t run_start; /* text before it has become ids */
    uint32_t *next;     /* by position: the next piece, 0 where no live piece starts */
    uint32_t *prev;
    struct pair *heap;
    size_t n_heap;
    bool add_space; /* in front of a run */
    bool add_bos;   /* still to come, unless the text brings its own */
    uint32_t *ids;
    size_t n_ids, max_ids;
};

static void set_add(uint32_t set[8], uint8_t byte)
{
    set[byte / 32] |= 1u << byte % 32;
}

static bool set_has(const uint32_t set[8], uint8_t byte)
{
    return (set[byte / 32] >> byte % 32) & 1;
}

static void note_special_tokens(struct tokenizer *t)
{
    t->control_lo = t->head->n_tokens;
    for (uint32_t id = 0; id < t->head->n_tokens; id++) {
        if (tokenizer_text_bytes(t, id) == 0) {
            continue;
        }
        if (t->types[id] == INGOT_TOKEN_USER) {
            set_add(t->user_first, (uint8_t)*tokenizer_text(t, id));
        } else if (t->types[id] == INGOT_TOKEN_CONTROL) {
            set_add(t->control_first, (uint8_t)*tokenizer_text(t, id));
            t->control_lo = id < t->control_lo ? id : t->control_lo;
            t->control_hi = id + 1;
        }
    }
}

void tokenizer_open(struct tokenizer *t, const uint8_t *section)
{
    const struct ingot_tokenizer *head = (const void *)section;

    assert((uintptr_t)section % 4 == 0);
    *t = (struct tokenizer) {
        .head = head,
        .text_offsets = (const void *)(section + head->text_offsets),
        .scores = (const void *)(section + head->scores),
        .types = section + head->types,
        .sorted = (const void *)(section + head->sorted),
        .byte_tokens = (const void *)(section + head->byte_tokens),
        .text = (const char *)section + head->text,
    };
    for (unsigned i = 0; i < 256; i++) {
        t->bytes[i] = (uint8_t)i;
    }
    note_special_tokens(t);
}

/* Below, above or equal to 0 as the text of token id is to s (n). */
static int compare_token(const struct tokenizer *t, uint32_t id, const char *s, size_t n)
{
    size_t bytes = tokenizer_text_bytes(t, id);
    int order = memcmp(tokenizer_text(t, id), s, bytes < n ? bytes : n);

    return order != 0 ? order : bytes < n ? -1 : bytes > n;
}

/* The token that s (n) spells, or INGOT_NO_TOKEN. */
static uint32_t find_token(const struct tokenizer *t, const char *s, size_t n)
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

/* First entry of sorted[low .. high) whose byte at `depth` is >= byte, given that all of them
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

/* The longest USER token that s (n) begins with, or INGOT_NO_TOKEN. */
static uint32_t match_user(const struct tokenizer *t, const char *s, size_t n)
{
    uint32_t found = INGOT_NO_TOKEN;
    uint32_t low = 0;
    uint32_t high = t->head->n_sorted;

    if (!set_has(t->user_first, (uint8_t)s[0])) {
        return INGOT_NO_TOKEN;
    }
    for (size_t depth = 0; depth < n; depth++) {
        low = lower_bound(t, low, high, depth, (uint8_t)s[depth]);
        high = lower_bound(t, low, high, depth, (uint8_t)s[depth] + 1u);
        if (low == high) {
            break;
        }
        if (tokenizer_text_bytes(t, t->sorted[low]) == depth + 1 &&
            t->types[t->sorted[low]] == INGOT_TOKEN_USER) {
            found = t->sorted[low];
        }
    }
    return found;
}

/* The longest control token that s (n) begins with, or INGOT_NO_TOKEN. Templates are short and
 * control tokens few, so looking at each is enough. */
static uint32_t match_control(const struct tokenizer *t, const char *s, size_t n)
{
    uint32_t found = INGOT_NO_TOKEN;
    size_t longest = 0;

    if (!set_has(t->control_first, (uint8_t)s[0])) {
        return INGOT_NO_TOKEN;
    }
    for (uint32_t id = t->control_lo; id < t->control_hi; id++) {
        size_t bytes = tokenizer_text_bytes(t, id);

        if (t->types[id] == INGOT_TOKEN_CONTROL && bytes > longest && bytes <= n &&
            memcmp(tokenizer_text(t, id), s, bytes) == 0) {
            found = id;
            longest = bytes;
        }
    }
    return found;
}

static enum err emit(struct encoder *e, uint32_t id)
{
    uint32_t bos = e->t->head->bos;

    if (e->add_bos) {
        e->add_bos = false;
        if (id != bos) {
            if (e->n_ids == e->max_ids) {
                return ERR_TOO_LONG;
            }
            e->ids[e->n_ids++] = bos;
        }
    }
    if (e->n_ids == e->max_ids) {
        return ERR_TOO_LONG;
    }
    e->ids[e->n_ids++] = id;
    return ERR_OK;
}

/* A character that is no token: its byte tokens, or one unknown token where one is missing. */
static enum err emit_bytes(struct encoder *e, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (e->t->byte_tokens[(uint8_t)s[i]] == INGOT_NO_TOKEN) {
            return e->t->head->unk == INGOT_NO_TOKEN ? ERR_BAD_TOKENIZER
                                                     : emit(e, e->t->head->unk);
        }
    }
    for (size_t i = 0; i < n; i++) {
        enum err err = emit(e, e->t->byte_tokens[(uint8_t)s[i]]);

        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}

/* Equal scores: the leftmost pair first, as SentencePiece does. */
static bool pair_before(const struct pair *a, const struct pair *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
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

/* Offer the pair of the piece at `left` and the next one, if together they are a token. */
static void offer_pair(struct encoder *e, uint32_t left, uint32_t end)
{
    uint32_t middle = e->next[left];
    uint32_t bytes;
    uint32_t id;

    if (middle == end) {
        return;
    }
    bytes = e->next[middle] - left;
    id = find_token(e->t, e->text + left, bytes);
    if (id != INGOT_NO_TOKEN) {
        heap_push(e, (struct pair) { e->t->scores[id], left, bytes });
    }
}

/* Pieces of one character each; a byte that is not UTF-8 is a piece of its own. */
static void split_run(struct encoder *e, uint32_t start, uint32_t end)
{
    uint32_t before = NODE_NONE;

    memset(&e->next[start], 0, (end - start) * sizeof e->next[0]);
    for (uint32_t i = start; i < end;) {
        int bytes = utf8_check((const uint8_t *)e->text + i, end - i);

        e->prev[i] = before;
        e->next[i] = i + (bytes > 0 ? (uint32_t)bytes : 1);
        before = i;
        i = e->next[i];
    }
    e->n_heap = 0;
    for (uint32_t i = start; i < end; i = e->next[i]) {
        offer_pair(e, i, end);
    }
}

/* Each merge removes a piece and offers at most two pairs, so that the heap never holds more
 * than two pairs for each byte. */
static void merge_run(struct encoder *e, uint32_t end)
{
    while (e->n_heap > 0) {
        struct pair pair = heap_pop(e);
        uint32_t middle = e->next[pair.left];

        if (middle == 0 || middle == end || e->next[middle] != pair.left + pair.bytes) {
            continue;
        }
        e->next[pair.left] = e->next[middle];
        e->next[middle] = 0;
        if (e->next[pair.left] != end) {
            e->prev[e->next[pair.left]] = pair.left;
        }
        offer_pair(e, pair.left, end);
        if (e->prev[pair.left] != NODE_NONE) {
            offer_pair(e, e->prev[pair.left], end);
        }
    }
}

/* The text from run_start to end as ids. The byte before run_start is free: it is [0], or the
 * last one of a special token that has been emitted. */
static enum err encode_run(struct encoder *e, uint32_t end)
{
    uint32_t start = e->run_start;

    if (start == end) {
        return ERR_OK;
    }
    if (e->add_space) {
        e->text[--start] = ' ';
    }
    split_run(e, start, end);
    merge_run(e, end);
    for (uint32_t i = start; i < end; i = e->next[i]) {
        uint32_t id = find_token(e->t, e->text + i, e->next[i] - i);
        enum err err = id != INGOT_NO_TOKEN ? emit(e, id)
                                            : emit_bytes(e, e->text + i, e->next[i] - i);

        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}

/* Append the text of a part, U+2581 as a space: the image stores tokens like that. */
static void append_part(struct encoder *e, const struct tokenizer_part *part)
{
    for (size_t i = 0; i < part->bytes; i++) {
        if (part->bytes - i >= 3 && memcmp(part->text + i, "\xe2\x96\x81", 3) == 0) {
            e->text[e->end++] = ' ';
            i += 2;
        } else {
            e->text[e->end++] = part->text[i];
        }
    }
}

static enum err encode_part(struct encoder *e, const struct tokenizer_part *part)
{
    uint32_t at = e->end;

    append_part(e, part);
    while (at < e->end) {
        const char *s = e->text + at;
        uint32_t user = match_user(e->t, s, e->end - at);
        uint32_t control = part->trusted ? match_control(e->t, s, e->end - at) : INGOT_NO_TOKEN;
        uint32_t id = control == INGOT_NO_TOKEN ? user : control;
        enum err err;

        if (id == INGOT_NO_TOKEN) {
            at++;
            continue;
        }
        if (user != INGOT_NO_TOKEN &&
            tokenizer_text_bytes(e->t, user) > tokenizer_text_bytes(e->t, id)) {
            id = user;
        }
        err = encode_run(e, at);
        err = err == ERR_OK ? emit(e, id) : err;
        if (err != ERR_OK) {
            return err;
        }
        at += (uint32_t)tokenizer_text_bytes(e->t, id);
        e->run_start = at;
        e->add_space = (e->t->head->flags & INGOT_ADD_SPACE_PREFIX) != 0;
    }
    return ERR_OK;
}

/* Positions that `bytes` of text need: the space in front, and the end. */
static size_t positions(size_t bytes)
{
    return (bytes + 2 + 7) & ~(size_t)7;
}

enum { BYTES_PER_POSITION = 1 + 2 * sizeof(uint32_t) + 2 * sizeof(struct pair) };

size_t tokenizer_scratch_bytes(size_t text_bytes)
{
    return text_bytes > TEXT_LIMIT ? SIZE_MAX : positions(text_bytes) * BYTES_PER_POSITION;
}

size_t tokenizer_text_limit(size_t scratch_bytes)
{
    size_t whole = (scratch_bytes / BYTES_PER_POSITION) & ~(size_t)7;
    size_t limit = whole < 2 ? 0 : whole - 2;

    return limit < TEXT_LIMIT ? limit : TEXT_LIMIT;
}

static void encoder_place(struct encoder *e, void *scratch, size_t text_bytes)
{
    size_t n = positions(text_bytes);

    e->text = scratch;
    e->next = (uint32_t *)(void *)(e->text + n);
    e->prev = e->next + n;
    e->heap = (struct pair *)(void *)(e->prev + n);
    e->end = e->run_start = 1;
}

enum err tokenizer_encode_parts(const struct tokenizer *t, const struct tokenizer_part *parts,
                                size_t n_parts, unsigned flags, uint32_t *ids, size_t max_ids,
                                size_t *n_ids, void *scratch, size_t scratch_bytes)
{
    struct encoder e = { .t = t, .ids = ids, .max_ids = max_ids };
    size_t total = 0;
    enum err err = ERR_OK;

    assert((uintptr_t)scratch % 8 == 0);
    *n_ids = 0;
    for (size_t i = 0; i < n_parts; i++) {
        if (parts[i].bytes > TEXT_LIMIT - total) {
            return ERR_TOO_LONG;
        }
        total += parts[i].bytes;
    }
    if (scratch_bytes < tokenizer_scratch_bytes(total)) {
        return ERR_NO_SPACE;
    }
    encoder_place(&e, scratch, total);
    e.add_space = (t->head->flags & INGOT_ADD_SPACE_PREFIX) != 0 && !(flags & TOKENIZER_CONTINUE);
    e.add_bos = (flags & TOKENIZER_BOS) && (t->head->flags & INGOT_ADD_BOS) &&
                t->head->bos != INGOT_NO_TOKEN;
    for (size_t i = 0; i < n_parts && err == ERR_OK; i++) {
        err = encode_part(&e, &parts[i]);
    }
    err = err == ERR_OK ? encode_run(&e, e.end) : err;
    if (err == ERR_OK && e.add_bos) {
        err = emit(&e, t->head->bos);
    }
    *n_ids = err == ERR_OK ? e.n_ids : 0;
    return err;
}

enum err tokenizer_encode(const struct tokenizer *t, const char *text, size_t bytes,
                          unsigned flags, uint32_t *ids, size_t max_ids, size_t *n_ids,
                          void *scratch, size_t scratch_bytes)
{
    struct tokenizer_part part = { text, bytes, false };

    return tokenizer_encode_parts(t, &part, 1, flags, ids, max_ids, n_ids, scratch,
                                  scratch_bytes);
}

enum err tokenizer_encode_template(const struct tokenizer *t, const char *text, size_t bytes,
                                   unsigned flags, uint32_t *ids, size_t max_ids, size_t *n_ids,
                                   void *scratch, size_t scratch_bytes)
{
    struct tokenizer_part part = { text, bytes, true };

    return tokenizer_encode_parts(t, &part, 1, flags, ids, max_ids, n_ids, scratch,
                                  scratch_bytes);
}
