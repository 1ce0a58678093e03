/* Open a section: find its tables, and make sets of bytes that save most look-ups. */
#include "runtime/tokenizer/tokenizer.h"

#include <assert.h>

#include "board/min_max.h"

static void set_add(uint32_t set[8], uint8_t byte)
{
    set[byte / 32] |= 1u << byte % 32;
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
            t->control_lo = min_u32(id, t->control_lo);
            t->control_hi = id + 1;
        }
    }
}

/* Find the bytes that have a space after them in some token. After any other byte a run may be cut
 * before a space. */
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

/* SentencePiece's penalty of 10 for a character without a token. */
static double unknown_score(const struct tokenizer *t)
{
    float least = 0.0f;
    bool found = false;

    for (uint32_t id = 0; id < t->head->n_tokens; id++) {
        if (tokenizer_type(t, id) == INGOT_TOKEN_NORMAL && (!found || t->scores[id] < least)) {
            least = t->scores[id];
            found = true;
        }
    }
    return (double)least - 10.0;
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
    if (ingot_kind_has_merges(head->kind)) {
        t->merges = (const void *)(head + 1);
        t->merge_rows = (const void *)(section + t->merges->rows);
        t->merge_entries = (const void *)(section + t->merges->entries);
    }
    if (head->kind != INGOT_TOKENIZER_BPE) {
        note_spaces(t);
    }
    if (head->kind == INGOT_TOKENIZER_UNIGRAM) {
        t->unknown_score = unknown_score(t);
    }
    note_special_tokens(t);
}
