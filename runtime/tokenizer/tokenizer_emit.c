/* Append ids in the order of the text. */
#include "runtime/tokenizer/tokenizer_encode.h"

static enum err append_id(struct encoder *e, uint32_t id)
{
    if (e->n_ids == e->max_ids) {
        return ERR_TOO_LONG;
    }
    if (e->ids != NULL) {
        e->ids[e->n_ids] = id;
    }
    e->n_ids++;
    return ERR_OK;
}

enum err tokenizer_emit(struct encoder *e, uint32_t id)
{
    uint32_t bos = e->t->head->bos;

    if (e->add_bos) {
        e->add_bos = false;
        if (id != bos && append_id(e, bos) != ERR_OK) {
            return ERR_TOO_LONG;
        }
    }
    return append_id(e, id);
}

static bool has_byte_tokens(const struct tokenizer *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (t->byte_tokens[(uint8_t)s[i]] == INGOT_NO_TOKEN) {
            return false;
        }
    }
    return true;
}

/* If the unknown token also begins or ends texts, leave the character out: typed text must not
 * end the text that contains it. */
static enum err emit_unknown(struct encoder *e)
{
    const struct ingot_tokenizer *head = e->t->head;
    bool again = e->after_unk;

    if (head->unk == INGOT_NO_TOKEN) {
        return ERR_BAD_TOKENIZER;
    }
    if (head->unk == head->bos || head->unk == head->eos) {
        return ERR_OK;
    }
    e->after_unk = true;
    if (again && (head->flags & INGOT_FUSE_UNK)) {
        return ERR_OK;
    }
    return tokenizer_emit(e, head->unk);
}

enum err tokenizer_emit_bytes(struct encoder *e, const char *s, size_t n)
{
    if (!has_byte_tokens(e->t, s, n)) {
        return emit_unknown(e);
    }
    e->after_unk = false;
    for (size_t i = 0; i < n; i++) {
        enum err err = tokenizer_emit(e, e->t->byte_tokens[(uint8_t)s[i]]);

        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}

enum err tokenizer_emit_piece(struct encoder *e, uint32_t id, const char *s, size_t n)
{
    if (id == INGOT_NO_TOKEN) {
        return tokenizer_emit_bytes(e, s, n);
    }
    e->after_unk = false;
    return tokenizer_emit(e, id);
}
