/* A vocabulary, token by token and merge by merge, as its file spells it. */
#include <string.h>

#include "flash_image/source/source.h"

static bool is_byte_text(const uint8_t *text, uint32_t bytes)
{
    return bytes == 6 && memcmp(text, "<0x", 3) == 0 && text[5] == '>';
}

/* llama2.c has no types: 0, 1, 2 are unk, bos, eos, and the <0xXX> after them bytes. */
static uint32_t llama2c_type(uint32_t id, const struct source_token *t)
{
    if (id == 0) {
        return INGOT_TOKEN_UNKNOWN;
    }
    if (id <= 2) {
        return INGOT_TOKEN_CONTROL;
    }
    return id < 259 && is_byte_text(t->text, t->bytes) ? INGOT_TOKEN_BYTE : INGOT_TOKEN_NORMAL;
}

static bool same_text(const struct source_token *t, const char *text)
{
    return t->bytes == strlen(text) && memcmp(t->text, text, t->bytes) == 0;
}

static void next_gguf_token(const struct source_vocab *v, size_t id, struct source_token *t)
{
    t->bytes = (uint32_t)load_u64(t->text - 8);
    t->score = v->scores != NULL ? load_f32(v->scores + 4 * id) : 0.0f;
    t->type = v->types != NULL ? load_u32(v->types + 4 * id) : INGOT_TOKEN_NORMAL;
    t->lstrip = false;
    t->rstrip = v->strip_after_control && t->type == INGOT_TOKEN_CONTROL &&
                !same_text(t, "<unk>") && !same_text(t, "<s>") && !same_text(t, "<|endoftext|>");
}

bool source_next_token(const struct source_vocab *v, struct source_cursor *c,
                       struct source_token *t)
{
    if (c->id >= v->n_tokens) {
        return false;
    }
    if (v->layout == SOURCE_LISTED_VOCAB) {
        *t = v->listed_tokens[c->id++];
        return true;
    }
    if (v->layout == SOURCE_NO_VOCAB) {
        *t = (struct source_token){ .text = (const uint8_t *)"", .type = INGOT_TOKEN_UNUSED };
        c->id++;
        return true;
    }
    t->text = (c->at == NULL ? v->texts : c->at) + 8;
    if (v->layout == SOURCE_GGUF_VOCAB) {
        next_gguf_token(v, c->id, t);
    } else {
        t->score = load_f32(t->text - 8);
        t->bytes = load_u32(t->text - 4);
        t->type = llama2c_type(c->id, t);
        t->lstrip = t->rstrip = false;
    }
    c->at = t->text + t->bytes;
    c->id++;
    return true;
}

/* The space that parts "left right" is not the first byte: a text is not empty. */
static void part_merge(struct source_text both, struct source_merge *m)
{
    const uint8_t *space = both.bytes < 2 ? NULL : memchr(both.data + 1, ' ', both.bytes - 1);
    size_t left = space == NULL ? both.bytes : (size_t)(space - both.data);

    m->left = (struct source_text){ both.data, left };
    m->right = space == NULL ? (struct source_text){ both.data, 0 }
                             : (struct source_text){ space + 1, both.bytes - left - 1 };
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
    both.data = (c->at == NULL ? v->merges : c->at) + 8;
    both.bytes = (size_t)load_u64(both.data - 8);
    part_merge(both, m);
    c->at = both.data + both.bytes;
    c->id++;
    return true;
}
