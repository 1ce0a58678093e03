/* Reads a vocabulary, token by token and merge by merge, as spelled in its file. */
#include <string.h>

#include "flash_image/source/source.h"

const struct source_token source_unused_token = { .text = (const uint8_t *)"",
                                                  .type = INGOT_TOKEN_UNUSED };

static bool is_byte_text(const uint8_t *text, uint32_t bytes)
{
    return bytes == 6 && memcmp(text, "<0x", 3) == 0 && text[5] == '>';
}

/* llama2.c has no types: 0, 1, 2 are unk, bos, eos, and the following <0xXX> are bytes. */
static uint32_t llama2c_type(uint32_t id, const struct source_token *t)
{
    if (id == 0) {
        return INGOT_TOKEN_UNKNOWN;
    }
    if (id <= 2) {
        return INGOT_TOKEN_CONTROL;
    }
    if (id < 259 && is_byte_text(t->text, t->bytes)) {
        return INGOT_TOKEN_BYTE;
    }
    return INGOT_TOKEN_NORMAL;
}

static void read_gguf_token(const struct source_vocab *v, uint32_t id, const uint8_t *text,
                            struct source_token *t)
{
    struct source_text whole = { text, (size_t)load_u64(text - 8) };

    *t = (struct source_token){ .text = text,
                                .bytes = (uint32_t)whole.bytes,
                                .type = INGOT_TOKEN_NORMAL };
    if (v->scores != NULL) {
        t->score = load_f32(v->scores + 4 * (size_t)id);
    }
    if (v->types != NULL) {
        t->type = load_u32(v->types + 4 * (size_t)id);
    }
    t->rstrip = v->strip_after_control && t->type == INGOT_TOKEN_CONTROL &&
                !source_text_is(whole, "<unk>") && !source_text_is(whole, "<s>") &&
                !source_text_is(whole, "<|endoftext|>");
}

static void read_llama2c_token(uint32_t id, const uint8_t *text, struct source_token *t)
{
    *t = (struct source_token){ .text = text,
                                .bytes = load_u32(text - 4),
                                .score = load_f32(text - 8) };
    t->type = llama2c_type(id, t);
}

bool source_next_token(const struct source_vocab *v, struct source_cursor *c,
                       struct source_token *t)
{
    uint32_t id = c->id;

    if (id >= v->n_tokens) {
        return false;
    }
    if (c->at == NULL) {
        c->at = v->texts;
    }
    switch (v->layout) {
    case SOURCE_NO_VOCAB: *t = source_unused_token; break;
    case SOURCE_LISTED_VOCAB: *t = v->listed_tokens[id]; break;
    case SOURCE_GGUF_VOCAB: read_gguf_token(v, id, c->at + 8, t); break;
    case SOURCE_LLAMA2C_VOCAB: read_llama2c_token(id, c->at + 8, t); break;
    }
    c->at = t->text + t->bytes; /* the texts follow each other */
    c->id++;
    return true;
}

/* Search for the space in "left right" from the second byte on, because `left` is not empty. */
static void part_merge(struct source_text both, struct source_merge *m)
{
    const uint8_t *space = NULL;

    if (both.bytes >= 2) {
        space = memchr(both.data + 1, ' ', both.bytes - 1);
    }
    if (space == NULL) {
        m->left = both;
        m->right = (struct source_text){ both.data, 0 };
        return;
    }
    m->left = (struct source_text){ both.data, (size_t)(space - both.data) };
    m->right = (struct source_text){ space + 1, both.bytes - m->left.bytes - 1 };
}

bool source_next_merge(const struct source_vocab *v, struct source_cursor *c,
                       struct source_merge *m)
{
    struct source_text both;

    if (c->id >= v->n_merges) {
        return false;
    }
    if (v->layout == SOURCE_LISTED_VOCAB) {
        *m = v->listed_merges[c->id++];
        return true;
    }
    if (c->at == NULL) {
        c->at = v->merges;
    }
    both.data = c->at + 8;
    both.bytes = (size_t)load_u64(both.data - 8);
    part_merge(both, m);
    c->at = both.data + both.bytes;
    c->id++;
    return true;
}
