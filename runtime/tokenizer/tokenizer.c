/* One encode walks its parts once: special tokens cut the text into runs, byte-level BPE cuts runs
 * into words, and each is merged for itself. */
#include "runtime/tokenizer/tokenizer.h"

#include <assert.h>
#include <string.h>

#include "runtime/text/unicode_class.h"
#include "runtime/tokenizer/tokenizer_encode.h"
#include "runtime/tokenizer/tokenizer_split.h"

enum { TEXT_LIMIT = 1 << 30 };

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
        if (tokenizer_type(t, id) == INGOT_TOKEN_USER) {
            set_add(t->user_first, (uint8_t)*tokenizer_text(t, id));
        } else if (tokenizer_type(t, id) == INGOT_TOKEN_CONTROL) {
            set_add(t->control_first, (uint8_t)*tokenizer_text(t, id));
            t->control_lo = id < t->control_lo ? id : t->control_lo;
            t->control_hi = id + 1;
        }
    }
}

/* Bytes between which and a space no merge reaches: there a run may be cut. */
static void note_spaces(struct tokenizer *t)
{
    for (uint32_t i = 0; i < t->head->n_sorted; i++) {
        const char *text = tokenizer_text(t, t->sorted[i]);
        size_t bytes = tokenizer_text_bytes(t, t->sorted[i]);

        for (size_t at = 1; at < bytes; at++) {
            if (text[at] == ' ') {
                set_add(t->before_space, (uint8_t)text[at - 1]);
            }
        }
    }
}

void tokenizer_open(struct tokenizer *t, const uint8_t *section)
{
    const struct ingot_tokenizer *head = (const void *)section;

    assert((uintptr_t)section % 4 == 0);
    *t = (struct tokenizer){
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
    if (head->kind != INGOT_TOKENIZER_SPM) {
        t->merges = (const void *)(head + 1);
        t->merge_rows = (const void *)(section + t->merges->rows);
        t->merge_entries = (const void *)(section + t->merges->entries);
    }
    if (head->kind != INGOT_TOKENIZER_BPE) {
        note_spaces(t);
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
            tokenizer_type(t, t->sorted[low]) == INGOT_TOKEN_USER) {
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

        if (tokenizer_type(t, id) == INGOT_TOKEN_CONTROL && bytes > longest && bytes <= n &&
            memcmp(tokenizer_text(t, id), s, bytes) == 0) {
            found = id;
            longest = bytes;
        }
    }
    return found;
}

enum err tokenizer_emit(struct encoder *e, uint32_t id)
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

static enum err encode_words(struct encoder *e, uint32_t start, uint32_t end)
{
    bool whole = (e->t->head->flags & INGOT_IGNORE_MERGES) != 0;
    struct splitter words;
    enum err err = ERR_OK;

    split_begin(&words, (enum ingot_pre)e->t->merges->pre, (const uint8_t *)e->text, start, end);
    while (start < end && err == ERR_OK) {
        uint32_t to = split_next(&words, start);
        uint32_t id = whole ? tokenizer_find_token(e->t, e->text + start, to - start)
                            : INGOT_NO_TOKEN;

        err = id != INGOT_NO_TOKEN ? tokenizer_emit(e, id)
                                   : tokenizer_merge_run(e, e->text + start, to - start);
        start = to;
    }
    return err;
}

/* A run as a whole means the same as its pieces between which no token reaches, but these are
 * short, and so is the heap then. */
static enum err encode_characters(struct encoder *e, uint32_t start, uint32_t end)
{
    enum err err = ERR_OK;

    e->after_unk = false;
    while (start < end && err == ERR_OK) {
        uint32_t to = start + 1;

        while (to < end &&
               (e->text[to] != ' ' || set_has(e->t->before_space, (uint8_t)e->text[to - 1]))) {
            to++;
        }
        err = tokenizer_merge_run(e, e->text + start, to - start);
        start = to;
    }
    return err;
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
    return e->t->head->kind == INGOT_TOKENIZER_BPE ? encode_words(e, start, end)
                                                   : encode_characters(e, start, end);
}

/* Bytes of the white space that s (n >= 1) begins with: one character, or 0. */
static uint32_t space_bytes(const char *s, size_t n)
{
    int bytes = utf8_check((const uint8_t *)s, n);

    return bytes > 0 && unicode_class(utf8_decode((const uint8_t *)s, bytes)) == UNICODE_SPACE
               ? (uint32_t)bytes
               : 0;
}

/* Where the white space begins that ends the text before `end`. */
static uint32_t before_spaces(const struct encoder *e, uint32_t end)
{
    uint32_t start = end;

    for (uint32_t back = 1; back <= 3 && back <= start - e->run_start;) {
        if (space_bytes(e->text + start - back, back) == back) {
            start -= back;
            back = 1;
        } else {
            back++;
        }
    }
    return start;
}

/* Append the text of a part; for SentencePiece with U+2581 as a space, which is how the image
 * stores tokens. */
static void append_part(struct encoder *e, const struct tokenizer_part *part)
{
    if (e->t->head->kind == INGOT_TOKENIZER_BPE && part->bytes != 0) {
        memcpy(e->text + e->end, part->text, part->bytes);
        e->end += (uint32_t)part->bytes;
        return;
    }
    for (size_t i = 0; i < part->bytes; i++) {
        if (part->bytes - i >= 3 && memcmp(part->text + i, "\xe2\x96\x81", 3) == 0) {
            e->text[e->end++] = ' ';
            i += 2;
        } else {
            e->text[e->end++] = part->text[i];
        }
    }
}

/* The special token that the text at `at` begins with, the longest one; or INGOT_NO_TOKEN. */
static uint32_t match_special(const struct encoder *e, uint32_t at, bool trusted)
{
    const struct tokenizer *t = e->t;
    uint32_t user = match_user(t, e->text + at, e->end - at);
    uint32_t control = trusted ? match_control(t, e->text + at, e->end - at) : INGOT_NO_TOKEN;

    if (user == INGOT_NO_TOKEN || control == INGOT_NO_TOKEN) {
        return user == INGOT_NO_TOKEN ? control : user;
    }
    return tokenizer_text_bytes(t, user) > tokenizer_text_bytes(t, control) ? user : control;
}

/* The run before `at`, and the special token there. Returns where the text goes on. */
static enum err encode_special(struct encoder *e, uint32_t *at, uint32_t id)
{
    uint8_t type = e->t->types[id];
    enum err err = encode_run(e, type & INGOT_TOKEN_LSTRIP ? before_spaces(e, *at) : *at);

    err = err == ERR_OK ? tokenizer_emit(e, id) : err;
    *at += (uint32_t)tokenizer_text_bytes(e->t, id);
    e->run_start = *at;
    e->add_space = (e->t->head->flags & INGOT_ADD_SPACE_PREFIX) != 0;
    e->skip_space = (type & INGOT_TOKEN_RSTRIP) != 0;
    return err;
}

static enum err encode_part(struct encoder *e, const struct tokenizer_part *part)
{
    uint32_t at = e->end;

    append_part(e, part);
    while (at < e->end) {
        uint32_t skip = e->skip_space ? space_bytes(e->text + at, e->end - at) : 0;
        uint32_t id;
        enum err err;

        if (skip != 0) {
            at += skip;
            e->run_start = at;
            continue;
        }
        e->skip_space = false;
        id = match_special(e, at, part->trusted);
        if (id == INGOT_NO_TOKEN) {
            at++;
            continue;
        }
        err = encode_special(e, &at, id);
        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}

/* Positions that `bytes` of text need: the space in front, and the end. */
static size_t positions(size_t bytes)
{
    return (bytes + 2 + 7) & ~(size_t)7;
}

enum { BYTES_PER_POSITION = 1 + 3 * sizeof(uint32_t) + 2 * sizeof(struct pair) };

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
    e->id = e->prev + n;
    e->heap = (struct pair *)(void *)(e->id + n);
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
        err = tokenizer_emit(&e, t->head->bos);
    }
    if (err == ERR_OK && (flags & TOKENIZER_EOS) && (t->head->flags & INGOT_ADD_EOS)) {
        err = tokenizer_emit(&e, t->head->eos);
    }
    *n_ids = err == ERR_OK ? e.n_ids : 0;
    return err;
}

enum err tokenizer_encode(const struct tokenizer *t, const char *text, size_t bytes, unsigned flags,
                          uint32_t *ids, size_t max_ids, size_t *n_ids, void *scratch,
                          size_t scratch_bytes)
{
    struct tokenizer_part part = { text, bytes, false };

    return tokenizer_encode_parts(t, &part, 1, flags, ids, max_ids, n_ids, scratch, scratch_bytes);
}

enum err tokenizer_encode_template(const struct tokenizer *t, const char *text, size_t bytes,
                                   unsigned flags, uint32_t *ids, size_t max_ids, size_t *n_ids,
                                   void *scratch, size_t scratch_bytes)
{
    struct tokenizer_part part = { text, bytes, true };

    return tokenizer_encode_parts(t, &part, 1, flags, ids, max_ids, n_ids, scratch, scratch_bytes);
}
