/* The check of the tokenizer section, after which runtime/tokenizer.c indexes without looking. */
#include <string.h>

#include "runtime/image_check.h"

/* The section with its arrays found. */
struct view {
    const struct ingot_tokenizer *head;
    const uint32_t *text_offsets;
    const uint32_t *scores; /* as bits */
    const uint8_t *types;
    const uint32_t *sorted;
    const uint32_t *byte_tokens;
    const uint8_t *text;
};

static enum err find_array(struct image *img, const char *name, uint32_t offset, uint64_t entries,
                           uint64_t entry_bytes, const uint8_t *section, uint64_t bytes,
                           const void **array)
{
    uint64_t size = entries * entry_bytes; /* at most 2^32 * 4 */

    if (offset % 4 != 0 || offset < sizeof(struct ingot_tokenizer) || offset > bytes ||
        size > bytes - offset) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: %s is %u, %llu bytes there leave the section", name, offset,
                      (unsigned long long)size);
    }
    *array = section + offset;
    return ERR_OK;
}

static enum err find_arrays(struct image *img, struct view *v, const uint8_t *section,
                            uint64_t bytes)
{
    const struct ingot_tokenizer *t = v->head;
    const void *found[6];
    const struct {
        const char *name;
        uint32_t offset;
        uint64_t entries, entry_bytes;
    } arrays[6] = {
        { "text_offsets", t->text_offsets, (uint64_t)t->n_tokens + 1, 4 },
        { "scores", t->scores, t->n_tokens, 4 },
        { "types", t->types, t->n_tokens, 1 },
        { "sorted", t->sorted, t->n_sorted, 4 },
        { "byte_tokens", t->byte_tokens, 256, 4 },
        { "text", t->text, t->text_bytes, 1 },
    };

    for (size_t i = 0; i < 6; i++) {
        enum err e = find_array(img, arrays[i].name, arrays[i].offset, arrays[i].entries,
                                arrays[i].entry_bytes, section, bytes, &found[i]);

        if (e != ERR_OK) {
            return e;
        }
    }
    v->text_offsets = found[0];
    v->scores = found[1];
    v->types = found[2];
    v->sorted = found[3];
    v->byte_tokens = found[4];
    v->text = found[5];
    return ERR_OK;
}

static enum err check_head(struct image *img, const struct ingot_tokenizer *t, uint32_t vocab)
{
    const struct {
        const char *name;
        uint32_t id;
    } ids[] = { { "bos", t->bos }, { "eos", t->eos }, { "unk", t->unk }, { "eot", t->eot } };

    if (t->kind != INGOT_TOKENIZER_SPM) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: kind is %u, this program knows %u (SPM)",
                      t->kind, (unsigned)INGOT_TOKENIZER_SPM);
    }
    if ((t->flags & ~(uint32_t)(INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX)) != 0) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: flags is %u, this program knows 1 and 2",
                      t->flags);
    }
    if (t->n_tokens != vocab) {
        return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: n_tokens is %u, the vocabulary has %u",
                      t->n_tokens, vocab);
    }
    if (t->n_sorted > t->n_tokens) {
        return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: n_sorted is %u, more than %u tokens",
                      t->n_sorted, t->n_tokens);
    }
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (ids[i].id >= vocab && ids[i].id != INGOT_NO_TOKEN) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: %s is %u, not below %u", ids[i].name,
                          ids[i].id, vocab);
        }
    }
    if ((t->flags & INGOT_ADD_BOS) != 0 && t->bos == INGOT_NO_TOKEN) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: flags ask for a bos token and bos names none");
    }
    return ERR_OK;
}

/* Offsets ascend from 0 to text_bytes, scores are finite, types known. */
static enum err check_tokens(struct image *img, const struct view *v)
{
    uint32_t longest = 0;

    if (v->text_offsets[0] != 0 || v->text_offsets[v->head->n_tokens] != v->head->text_bytes) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: text_offsets do not run from 0 to text_bytes");
    }
    for (uint32_t id = 0; id < v->head->n_tokens; id++) {
        uint32_t bytes = v->text_offsets[id + 1] - v->text_offsets[id];

        if (v->text_offsets[id + 1] < v->text_offsets[id]) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: text_offsets descend after token %u",
                          id);
        }
        if ((v->scores[id] & 0x7f800000u) == 0x7f800000u) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: the score of token %u is not finite",
                          id);
        }
        if (v->types[id] < INGOT_TOKEN_NORMAL || v->types[id] > INGOT_TOKEN_BYTE) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: the type of token %u is %u, must be 1 to 6", id,
                          v->types[id]);
        }
        longest = bytes > longest ? bytes : longest;
    }
    if (v->head->max_token_bytes != longest) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: max_token_bytes is %u, the longest has %u",
                      v->head->max_token_bytes, longest);
    }
    return ERR_OK;
}

static int compare_texts(const struct view *v, uint32_t a, uint32_t b)
{
    uint32_t na = v->text_offsets[a + 1] - v->text_offsets[a];
    uint32_t nb = v->text_offsets[b + 1] - v->text_offsets[b];
    int order = memcmp(v->text + v->text_offsets[a], v->text + v->text_offsets[b],
                       na < nb ? na : nb);

    return order != 0 ? order : (na > nb) - (na < nb);
}

/* Strictly ascending, which also keeps equal texts out. */
static enum err check_sorted(struct image *img, const struct view *v)
{
    for (uint32_t i = 0; i < v->head->n_sorted; i++) {
        uint32_t id = v->sorted[i];

        if (id >= v->head->n_tokens) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: sorted[%u] is %u, not below %u", i,
                          id, v->head->n_tokens);
        }
        if ((v->types[id] != INGOT_TOKEN_NORMAL && v->types[id] != INGOT_TOKEN_USER) ||
            v->text_offsets[id] == v->text_offsets[id + 1]) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: sorted[%u] is %u, empty or of type %u", i, id, v->types[id]);
        }
        if (i > 0 && compare_texts(v, v->sorted[i - 1], id) >= 0) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: sorted[%u] does not come after the one before", i);
        }
    }
    return ERR_OK;
}

static enum err check_byte_tokens(struct image *img, const struct view *v)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t id = v->byte_tokens[byte];

        if (id == INGOT_NO_TOKEN) {
            continue;
        }
        if (id >= v->head->n_tokens || v->types[id] != INGOT_TOKEN_BYTE) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: byte_tokens[%u] is %u, no byte token",
                          byte, id);
        }
    }
    return ERR_OK;
}

enum err image_check_tokenizer(struct image *img, const uint8_t *section, uint64_t bytes,
                               uint32_t vocab)
{
    struct view v = { .head = (const void *)section };
    enum err e;

    if (bytes < sizeof *v.head) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: the section has %u bytes, less than its head", (unsigned)bytes);
    }
    e = check_head(img, v.head, vocab);
    if (e == ERR_OK) {
        e = find_arrays(img, &v, section, bytes);
    }
    if (e == ERR_OK) {
        e = check_tokens(img, &v);
    }
    if (e == ERR_OK) {
        e = check_sorted(img, &v);
    }
    return e == ERR_OK ? check_byte_tokens(img, &v) : e;
}
