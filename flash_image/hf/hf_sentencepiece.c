/* SentencePiece's tokenizer.model: Protocol Buffers, of which only these fields are read
 * (sentencepiece_model.proto):
 *   ModelProto      1 pieces, 2 trainer_spec, 3 normalizer_spec
 *   SentencePiece   1 piece, 2 score, 3 type (the numbers of enum ingot_token_type)
 *   TrainerSpec     3 model_type (1 is unigram, 2 BPE), 24 treat_whitespace_as_suffix, 40 unk_id, 41
 *                   bos_id, 42 eos_id
 *   NormalizerSpec  2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces, 5
 *                   escape_whitespaces */
#include <string.h>

#include "flash_image/hf/hf_tokenizer.h"
#include "kernels/ref/scalar.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct message {
    const uint8_t *at;
    size_t left;
    bool bad;
};

struct field {
    uint32_t number;
    enum wire wire;
    uint64_t value;       /* varint, 32 or 64 bits */
    struct message bytes; /* WIRE_BYTES */
};

static uint64_t take_varint(struct message *m)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m->left == 0) {
            break;
        }
        value |= (uint64_t)(*m->at & 0x7f) << shift;
        m->left--;
        if ((*m->at++ & 0x80) == 0) {
            return value;
        }
    }
    m->bad = true;
    return 0;
}

static uint32_t narrow(uint64_t n)
{
    return (uint32_t)min_u64(n, UINT32_MAX);
}

static const uint8_t *take_bytes(struct message *m, uint64_t n)
{
    const uint8_t *at = m->at;

    if (n > m->left) {
        m->bad = true;
        return NULL;
    }
    m->at += n;
    m->left -= (size_t)n;
    return at;
}

static void take_value(struct message *m, struct field *f)
{
    const uint8_t *at;

    switch (f->wire) {
    case WIRE_VARINT: f->value = take_varint(m); return;
    case WIRE_BYTES:
        f->bytes.left = (size_t)take_varint(m);
        f->bytes.at = take_bytes(m, f->bytes.left);
        f->bytes.bad = false;
        return;
    case WIRE_64:
        at = take_bytes(m, 8);
        if (at != NULL) {
            f->value = load_u64(at);
        }
        return;
    case WIRE_32:
        at = take_bytes(m, 4);
        if (at != NULL) {
            f->value = load_u32(at);
        }
        return;
    }
    m->bad = true;
}

/* Read the next field; false at the end, or if the message is damaged. */
static bool next_field(struct message *m, struct field *f)
{
    uint64_t key;

    if (m->left == 0 || m->bad) {
        return false;
    }
    key = take_varint(m);
    if (key == 0) {
        m->bad = m->bad || m->left != 0;
        return false;
    }
    f->number = narrow(key >> 3);
    f->wire = (enum wire)(key & 7);
    take_value(m, f);
    return !m->bad;
}

static enum err damaged(struct source *s)
{
    return source_refuse(s, ERR_BAD_TOKENIZER, "not a SentencePiece model, or a damaged one");
}

/* Read a piece; false: the piece is damaged. */
static bool read_piece(struct message m, struct source_token *t)
{
    struct field f;

    *t = (struct source_token){ .text = (const uint8_t *)"", .type = INGOT_TOKEN_NORMAL };
    while (next_field(&m, &f)) {
        if (f.number == 1 && f.wire == WIRE_BYTES) {
            t->text = f.bytes.at;
            t->bytes = narrow(f.bytes.left);
        } else if (f.number == 2 && f.wire == WIRE_32) {
            t->score = f32_from_bits((uint32_t)f.value);
        } else if (f.number == 3 && f.wire == WIRE_VARINT) {
            t->type = narrow(f.value);
        }
    }
    return !m.bad;
}

static enum err refuse_change(struct source *s, const char *field)
{
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the field \"%s\" changes texts before they are "
                         "cut into tokens, which is not supported",
                         field);
}

static enum err refuse_kind(struct source *s, uint64_t kind)
{
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the field \"model_type\" is %llu (words or characters); only unigram (1) "
                         "and BPE (2) can be packed",
                         (unsigned long long)kind);
}

static uint32_t token_or_none(const struct source_vocab *v, uint64_t id)
{
    if (id >= v->n_tokens) {
        return INGOT_NO_TOKEN; /* -1, or damaged */
    }
    return (uint32_t)id;
}

/* Read the ids that the trainer fixed, and the kind of tokenizer. */
static enum err read_trainer(struct source *s, struct message m)
{
    struct source_vocab *v = &s->vocab;
    uint64_t ids[3] = { 0, 1, 2 }, kind = 1, suffix = 0;
    struct field f;

    while (next_field(&m, &f)) {
        if (f.wire == WIRE_VARINT && f.number >= 40 && f.number <= 42) {
            ids[f.number - 40] = f.value;
        } else if (f.wire == WIRE_VARINT && f.number == 3) {
            kind = f.value;
        } else if (f.wire == WIRE_VARINT && f.number == 24) {
            suffix = f.value;
        }
    }
    if (m.bad) {
        return damaged(s);
    }
    if (kind != 1 && kind != 2) {
        return refuse_kind(s, kind);
    }
    if (suffix != 0) {
        return refuse_change(s, "treat_whitespace_as_suffix");
    }
    v->kind = INGOT_TOKENIZER_SPM;
    if (kind == 1) {
        v->kind = INGOT_TOKENIZER_UNIGRAM;
    }
    v->flags |= INGOT_FUSE_UNK; /* SentencePiece does so after both kinds */
    v->unk = token_or_none(v, ids[0]);
    v->bos = token_or_none(v, ids[1]);
    v->eos = token_or_none(v, ids[2]);
    return ERR_OK;
}

static enum err read_normalizer(struct source *s, struct message m)
{
    bool prefix = true, squeezed = true, escaped = true;
    size_t map = 0;
    struct field f;

    while (next_field(&m, &f)) {
        if (f.number == 2 && f.wire == WIRE_BYTES) {
            map = f.bytes.left;
        } else if (f.number == 3 && f.wire == WIRE_VARINT) {
            prefix = f.value != 0;
        } else if (f.number == 4 && f.wire == WIRE_VARINT) {
            squeezed = f.value != 0;
        } else if (f.number == 5 && f.wire == WIRE_VARINT) {
            escaped = f.value != 0;
        }
    }
    if (m.bad) {
        return damaged(s);
    }
    if (map != 0) {
        return refuse_change(s, "precompiled_charsmap");
    }
    if (!escaped) {
        return refuse_change(s, "escape_whitespaces");
    }
    if (squeezed) {
        s->vocab.flags |= INGOT_SQUEEZE_SPACES;
    }
    if (prefix) {
        s->vocab.flags |= INGOT_ADD_SPACE_PREFIX | INGOT_USER_INSIDE;
    }
    return ERR_OK;
}

static uint32_t count_pieces(struct message m)
{
    struct field f;
    uint32_t n = 0;

    while (next_field(&m, &f)) {
        n += f.number == 1 && f.wire == WIRE_BYTES && n <= INGOT_MAX_VOCAB;
    }
    if (m.bad) {
        return 0;
    }
    return n;
}

static enum err read_pieces(struct source *s, struct hf_tokenizer *t, struct message m)
{
    struct field f;
    uint32_t id = 0;

    while (next_field(&m, &f)) {
        if (f.number != 1 || f.wire != WIRE_BYTES) {
            continue;
        }
        if (id >= t->room) {
            return source_refuse(s, ERR_BAD_TOKENIZER,
                                 "it has more pieces than the model's %u "
                                 "tokens",
                                 t->room);
        }
        if (!read_piece(f.bytes, &t->tokens[id++])) {
            return damaged(s);
        }
    }
    return ERR_OK;
}

/* Read trainer_spec and normalizer_spec, which are both required. */
static enum err read_specs(struct source *s, struct message m)
{
    bool normalized = false;
    struct field f;
    enum err e = ERR_OK;

    while (e == ERR_OK && next_field(&m, &f)) {
        if (f.number == 2 && f.wire == WIRE_BYTES) {
            e = read_trainer(s, f.bytes);
        } else if (f.number == 3 && f.wire == WIRE_BYTES) {
            e = read_normalizer(s, f.bytes);
            normalized = true;
        }
    }
    if (e == ERR_OK && (!normalized || s->vocab.unk == INGOT_NO_TOKEN)) {
        return damaged(s);
    }
    return e;
}

enum err hf_sentencepiece_read(struct source *s, const uint8_t *data, size_t bytes,
                               struct hf_tokenizer *t)
{
    const struct message whole = { data, bytes, false };
    uint32_t n = count_pieces(whole);
    enum err e;

    if (n == 0) {
        return damaged(s);
    }
    e = hf_tokenizer_take(s, t, n);
    if (e != ERR_OK) {
        return e;
    }
    t->n_pieces = n;
    e = read_pieces(s, t, whole);
    if (e != ERR_OK) {
        return e;
    }
    e = read_specs(s, whole);
    if (e == ERR_OK && s->vocab.bos != INGOT_NO_TOKEN) {
        s->vocab.flags |= INGOT_ADD_BOS;
    }
    return e;
}
