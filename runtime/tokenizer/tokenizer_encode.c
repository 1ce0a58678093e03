/* Encoding reads the parts once: special tokens cut the text into runs, byte-level BPE cuts
 * runs into words, and each piece is merged separately. */
#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/text/nfc.h"
#include "runtime/text/unicode_class.h"
#include "runtime/tokenizer/tokenizer_encode.h"
#include "runtime/tokenizer/tokenizer_split.h"

enum { TEXT_LIMIT = 1 << 30 };

static enum err encode_word(struct encoder *e, const char *s, uint32_t n)
{
    if (e->t->head->flags & INGOT_IGNORE_MERGES) {
        uint32_t id = tokenizer_find_token(e->t, s, n);

        if (id != INGOT_NO_TOKEN) {
            return tokenizer_emit(e, id);
        }
    }
    return tokenizer_merge_run(e, s, n);
}

static enum err encode_words(struct encoder *e, uint32_t start, uint32_t end)
{
    struct splitter words;

    split_begin(&words, (enum ingot_pre)e->t->merges->pre, (const uint8_t *)e->text, start, end);
    while (start < end) {
        uint32_t to = split_next(&words, start);
        enum err err = encode_word(e, e->text + start, to - start);

        if (err != ERR_OK) {
            return err;
        }
        start = to;
    }
    return ERR_OK;
}

/* Return the position of the next space before which a run may be cut, or the end. */
static uint32_t cut_before_space(const struct encoder *e, uint32_t start, uint32_t end)
{
    bool split = (e->t->head->flags & INGOT_SPLIT_SPACES) != 0;
    uint32_t to = start + 1;

    while (to < end && (e->text[to] != ' ' ||
                        (!split && byte_set_has(e->t->before_space, (uint8_t)e->text[to - 1])))) {
        to++;
    }
    return to;
}

static enum err encode_stretch(struct encoder *e, const char *s, uint32_t n)
{
    if (e->t->head->kind == INGOT_TOKENIZER_UNIGRAM) {
        return tokenizer_unigram_run(e, s, n);
    }
    return tokenizer_merge_run(e, s, n);
}

/* A run is cut where no token crosses, so its parts give the same ids as the whole run. The parts
 * are short, so their heap is small. */
static enum err encode_characters(struct encoder *e, uint32_t start, uint32_t end)
{
    e->after_unk = false;
    while (start < end) {
        uint32_t to = cut_before_space(e, start, end);
        enum err err = encode_stretch(e, e->text + start, to - start);

        if (err != ERR_OK) {
            return err;
        }
        start = to;
    }
    return ERR_OK;
}

/* Normalize the run to form C. The text before the run is not needed any more, so the result is
 * written from e->text[1] on, and *start and *end become its bounds. ERR_NO_SPACE: there is too
 * little room. */
static enum err normalize_run(struct encoder *e, uint32_t *start, uint32_t *end)
{
    uint8_t *text = (uint8_t *)e->text;
    size_t bytes;

    if ((e->t->head->flags & INGOT_NFC) == 0 || !nfc_may_change(text + *start, *end - *start)) {
        return ERR_OK;
    }
    bytes = nfc_normalize(text + *start, *end - *start, text + 1, *end - 1);
    if (bytes == SIZE_MAX) {
        return ERR_NO_SPACE;
    }
    *start = 1;
    *end = 1 + (uint32_t)bytes;
    return ERR_OK;
}

/* Encode the text from run_start to end. The byte before run_start is free: it is e->text[0], or
 * the last byte of a special token that was already emitted. */
static enum err encode_run(struct encoder *e, uint32_t end)
{
    uint32_t start = e->run_start, flags = e->t->head->flags;
    enum err err = ERR_OK;

    if (start == end) {
        return ERR_OK;
    }
    err = normalize_run(e, &start, &end);
    if (err != ERR_OK) {
        return err;
    }
    if (e->add_space && !((flags & INGOT_PREFIX_ONCE) && e->text[start] == ' ')) {
        e->text[--start] = ' ';
    }
    if (e->t->head->kind == INGOT_TOKENIZER_BPE) {
        return encode_words(e, start, end);
    }
    return encode_characters(e, start, end);
}

/* Return the length of the white space character with which s (n >= 1) begins; 0 if none. */
static uint32_t space_bytes(const char *s, size_t n)
{
    int bytes = utf8_check((const uint8_t *)s, n);

    if (bytes <= 0 || unicode_class(utf8_decode((const uint8_t *)s, bytes)) != UNICODE_SPACE) {
        return 0;
    }
    return (uint32_t)bytes;
}

/* Return the start of the white space at the end of the text before `end`. */
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

/* Append a byte of the text. If spaces are squeezed, leave out a space at the beginning or
 * after another space. */
static void append_byte(struct encoder *e, char c)
{
    if (c == ' ' && (e->t->head->flags & INGOT_SQUEEZE_SPACES) &&
        (e->end == e->first || e->text[e->end - 1] == ' ')) {
        return;
    }
    e->text[e->end++] = c;
}

/* Append the text of a part. For SentencePiece U+2581 becomes a space, because the image stores
 * tokens with spaces. */
static void append_part(struct encoder *e, const struct tokenizer_part *part)
{
    if (e->t->head->kind == INGOT_TOKENIZER_BPE && part->bytes != 0) {
        memcpy(e->text + e->end, part->text, part->bytes);
        e->end += (uint32_t)part->bytes;
        return;
    }
    for (size_t i = 0; i < part->bytes; i++) {
        if (part->bytes - i >= 3 && memcmp(part->text + i, "\xe2\x96\x81", 3) == 0) {
            append_byte(e, ' ');
            i += 2;
        } else {
            append_byte(e, part->text[i]);
        }
    }
}

/* Encode the space that is added before a text, if the text begins with a user token. */
static enum err encode_added_space(struct encoder *e)
{
    if (!e->add_space) {
        return ERR_OK;
    }
    e->text[e->run_start - 1] = ' ';
    return encode_characters(e, e->run_start - 1, e->run_start);
}

/* Encode the run before *at, and the special token id there; *at moves to after the token. */
static enum err encode_special(struct encoder *e, uint32_t *at, uint32_t id)
{
    uint32_t flags = e->t->head->flags, end = *at;
    bool inside = (flags & INGOT_USER_INSIDE) != 0 && tokenizer_type(e->t, id) == INGOT_TOKEN_USER;
    uint8_t type = e->t->types[id];
    enum err err;

    if (type & INGOT_TOKEN_LSTRIP) {
        end = before_spaces(e, end);
    }
    if (inside && end == e->run_start) {
        err = encode_added_space(e);
    } else {
        err = encode_run(e, end);
    }
    if (err != ERR_OK) {
        return err;
    }
    *at += (uint32_t)tokenizer_text_bytes(e->t, id);
    e->run_start = *at;
    e->add_space = (flags & INGOT_ADD_SPACE_PREFIX) != 0 && (flags & INGOT_PREFIX_FIRST) == 0 &&
                   !inside;
    e->skip_space = (type & INGOT_TOKEN_RSTRIP) != 0;
    return tokenizer_emit(e, id);
}

/* White space after a token that strips it belongs to no run. Returns the length of such white
 * space at `at`. */
static uint32_t skipped_space(struct encoder *e, uint32_t at)
{
    uint32_t skip = 0;

    if (e->skip_space) {
        skip = space_bytes(e->text + at, e->end - at);
        e->skip_space = skip != 0;
    }
    return skip;
}

static enum err encode_part(struct encoder *e, const struct tokenizer_part *part)
{
    uint32_t at = e->end;

    append_part(e, part);
    while (at < e->end) {
        uint32_t skip = skipped_space(e, at);
        uint32_t id;
        enum err err;

        if (skip != 0) {
            at += skip;
            e->run_start = at;
            continue;
        }
        id = tokenizer_find_special(e->t, e->text + at, e->end - at, part->trusted);
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

/* Return the number of positions that `bytes` bytes of text need, including the space in front and
 * the end. */
static size_t positions(size_t bytes)
{
    return (bytes + 2 + 7) & ~(size_t)7;
}

enum { BYTES_PER_POSITION = 1 + 3 * sizeof(uint32_t) + 2 * sizeof(struct pair) };

size_t tokenizer_scratch_bytes(size_t text_bytes)
{
    if (text_bytes > TEXT_LIMIT) {
        return SIZE_MAX;
    }
    return positions(text_bytes) * BYTES_PER_POSITION;
}

size_t tokenizer_text_limit(size_t scratch_bytes)
{
    size_t whole = (scratch_bytes / BYTES_PER_POSITION) & ~(size_t)7;

    if (whole < 2) {
        return 0;
    }
    return min_size(whole - 2, TEXT_LIMIT);
}

size_t tokenizer_most_bytes(const struct tokenizer *t, size_t text_bytes)
{
    if ((t->head->flags & INGOT_NFC) == 0 || text_bytes > TEXT_LIMIT / NFC_MOST_GROWTH) {
        return text_bytes;
    }
    return text_bytes * NFC_MOST_GROWTH;
}

/* Divide the scratch among the encoder's arrays. A text that will be normalized lies at the end of
 * its room. */
static void encoder_place(struct encoder *e, void *scratch, size_t scratch_bytes, size_t text_bytes)
{
    size_t room = text_bytes, n;

    if ((e->t->head->flags & INGOT_NFC) != 0) {
        room = tokenizer_text_limit(scratch_bytes);
    }
    n = positions(room);

    e->text = scratch;
    e->next = (uint32_t *)(void *)(e->text + n);
    e->prev = e->next + n;
    e->id = e->prev + n;
    e->heap = (struct pair *)(void *)(e->id + n);
    e->best = (double *)(void *)e->heap;
    e->first = 1 + (uint32_t)(room - text_bytes);
    e->end = e->run_start = e->first;
}

/* Return the total length of all parts, or SIZE_MAX if it is more than can be encoded. */
static size_t total_bytes(const struct tokenizer_part *parts, size_t n_parts)
{
    size_t total = 0;

    for (size_t i = 0; i < n_parts; i++) {
        if (parts[i].bytes > TEXT_LIMIT - total) {
            return SIZE_MAX;
        }
        total += parts[i].bytes;
    }
    return total;
}

static enum err encode_all(struct encoder *e, const struct tokenizer_part *parts, size_t n_parts,
                           unsigned flags)
{
    const struct ingot_tokenizer *head = e->t->head;
    enum err err;

    for (size_t i = 0; i < n_parts; i++) {
        err = encode_part(e, &parts[i]);
        if (err != ERR_OK) {
            return err;
        }
    }
    if ((head->flags & INGOT_SQUEEZE_SPACES) && e->end > e->run_start &&
        e->text[e->end - 1] == ' ') {
        e->end--;
    }
    err = encode_run(e, e->end);
    if (err == ERR_OK && e->add_bos) {
        err = tokenizer_emit(e, head->bos);
    }
    if (err == ERR_OK && (flags & TOKENIZER_EOS) && (head->flags & INGOT_ADD_EOS)) {
        err = tokenizer_emit(e, head->eos);
    }
    return err;
}

static enum err encode_to(struct encoder *e, const struct tokenizer_part *parts, size_t n_parts,
                          unsigned flags, size_t *n_ids, void *scratch, size_t scratch_bytes)
{
    const struct ingot_tokenizer *head = e->t->head;
    size_t total = total_bytes(parts, n_parts);
    enum err err;

    assert((uintptr_t)scratch % 8 == 0);
    *n_ids = 0;
    if (total == SIZE_MAX) {
        return ERR_TOO_LONG;
    }
    if (scratch_bytes < tokenizer_scratch_bytes(total)) {
        return ERR_NO_SPACE;
    }
    encoder_place(e, scratch, scratch_bytes, total);
    e->add_space = (head->flags & INGOT_ADD_SPACE_PREFIX) != 0 && !(flags & TOKENIZER_CONTINUE);
    e->add_bos = (flags & TOKENIZER_BOS) && (head->flags & INGOT_ADD_BOS) &&
                 head->bos != INGOT_NO_TOKEN;
    err = encode_all(e, parts, n_parts, flags);
    if (err == ERR_OK) {
        *n_ids = e->n_ids;
    }
    return err;
}

enum err tokenizer_encode_parts(const struct tokenizer *t, const struct tokenizer_part *parts,
                                size_t n_parts, unsigned flags, uint32_t *ids, size_t max_ids,
                                size_t *n_ids, void *scratch, size_t scratch_bytes)
{
    struct encoder e = { .t = t, .ids = ids, .max_ids = max_ids };

    return encode_to(&e, parts, n_parts, flags, n_ids, scratch, scratch_bytes);
}

enum err tokenizer_count_parts(const struct tokenizer *t, const struct tokenizer_part *parts,
                               size_t n_parts, unsigned flags, size_t *n_ids, void *scratch,
                               size_t scratch_bytes)
{
    struct encoder e = { .t = t, .max_ids = SIZE_MAX };

    return encode_to(&e, parts, n_parts, flags, n_ids, scratch, scratch_bytes);
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
