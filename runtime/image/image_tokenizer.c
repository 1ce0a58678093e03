/* Check the tokenizer section, so that runtime/tokenizer/tokenizer.c needs no bounds checks. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/image/image_check.h"

/* The section and its arrays. */
struct view {
    const struct ingot_tokenizer *head;
    const uint32_t *text_offsets;
    const uint32_t *scores; /* as bits */
    const uint8_t *types;
    const uint32_t *sorted;
    const uint32_t *byte_tokens;
    const uint8_t *text;
    const struct ingot_merges *merges; /* kinds 2 and 3, otherwise NULL */
    const uint32_t *rows;
    const struct ingot_merge *entries;
};

static enum err find_array(struct image *img, const char *name, uint32_t offset, uint64_t entries,
                           uint64_t entry_bytes, const uint8_t *section, uint64_t bytes,
                           const void **array)
{
    uint64_t size = entries * entry_bytes; /* at most 2^32 * 12 */

    if (offset % 4 != 0 || offset < sizeof(struct ingot_tokenizer) || offset > bytes ||
        size > bytes - offset) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: %s is %u, but %llu bytes from there end beyond the section", name,
                      offset, (unsigned long long)size);
    }
    *array = section + offset;
    return ERR_OK;
}

static enum err find_arrays(struct image *img, struct view *v, const uint8_t *section,
                            uint64_t bytes)
{
    const struct ingot_tokenizer *t = v->head;
    static const struct ingot_merges none;
    const struct ingot_merges *m = &none;
    bool merges = v->merges != NULL;
    const void *found[8] = { NULL };

    if (merges) {
        m = v->merges;
    }
    const struct {
        const char *name;
        uint32_t offset;
        uint64_t entries, entry_bytes;
        bool wanted;
    } arrays[8] = {
        { "text_offsets", t->text_offsets, (uint64_t)t->n_tokens + 1, 4, true },
        { "scores", t->scores, t->n_tokens, 4, !merges },
        { "types", t->types, t->n_tokens, 1, true },
        { "sorted", t->sorted, t->n_sorted, 4, true },
        { "byte_tokens", t->byte_tokens, 256, 4, true },
        { "text", t->text, t->text_bytes, 1, true },
        { "rows", m->rows, (uint64_t)t->n_tokens + 1, 4, merges },
        { "entries", m->entries, m->n_merges, sizeof(struct ingot_merge), merges },
    };

    for (size_t i = 0; i < 8; i++) {
        enum err e = ERR_OK;

        if (arrays[i].wanted) {
            e = find_array(img, arrays[i].name, arrays[i].offset, arrays[i].entries,
                           arrays[i].entry_bytes, section, bytes, &found[i]);
        }
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
    v->rows = found[6];
    v->entries = found[7];
    return ERR_OK;
}

static enum err check_head(struct image *img, const struct ingot_tokenizer *t, uint32_t vocab)
{
    const struct {
        const char *name;
        uint32_t id;
    } ids[] = { { "bos", t->bos }, { "eos", t->eos }, { "unk", t->unk }, { "eot", t->eot } };

    const uint32_t of_spaces = INGOT_ADD_SPACE_PREFIX | INGOT_SPLIT_SPACES | INGOT_SQUEEZE_SPACES |
                               INGOT_PREFIX_ONCE | INGOT_PREFIX_FIRST | INGOT_USER_INSIDE;

    if (t->kind < INGOT_TOKENIZER_SPM || t->kind > INGOT_TOKENIZER_UNIGRAM) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: kind is %u, this program knows 1 to 4",
                      t->kind);
    }
    if ((t->flags & ~(uint32_t)INGOT_ALL_TOKENIZER_FLAGS) != 0 ||
        (t->kind == INGOT_TOKENIZER_BPE && (t->flags & of_spaces) != 0)) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: flags is %u, not known for kind %u",
                      t->flags, t->kind);
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
                      "tokenizer: flags ask for a bos token, but bos names none");
    }
    if ((t->flags & INGOT_ADD_EOS) != 0 && t->eos == INGOT_NO_TOKEN) {
        return REFUSE(img, ERR_BAD_TOKENIZER,
                      "tokenizer: flags ask for an eos token, but eos names none");
    }
    return ERR_OK;
}

/* Return true if a type is known. Only tokens that are matched as a whole may strip white space
 * around them. */
static bool type_fits(uint8_t type)
{
    uint8_t number = type & INGOT_TOKEN_TYPE;

    if (number == INGOT_TOKEN_CONTROL || number == INGOT_TOKEN_USER) {
        return (type & ~(INGOT_TOKEN_TYPE | INGOT_TOKEN_LSTRIP | INGOT_TOKEN_RSTRIP)) == 0;
    }
    return type >= INGOT_TOKEN_NORMAL && type <= INGOT_TOKEN_BYTE;
}

static uint32_t type_of(const struct view *v, uint32_t id)
{
    return v->types[id] & INGOT_TOKEN_TYPE;
}

/* Check that offsets ascend from 0 to text_bytes, scores are finite, and types are known. */
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
        if (v->scores != NULL && (v->scores[id] & 0x7f800000u) == 0x7f800000u) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: the score of token %u is not finite",
                          id);
        }
        if (!type_fits(v->types[id])) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: the type of token %u is %u, must be 1 to 6", id,
                          v->types[id]);
        }
        longest = max_u32(longest, bytes);
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
    int order = memcmp(v->text + v->text_offsets[a], v->text + v->text_offsets[b], min_u32(na, nb));

    if (order != 0) {
        return order;
    }
    return (na > nb) - (na < nb);
}

/* Check that texts ascend strictly, which also excludes equal texts. */
static enum err check_sorted(struct image *img, const struct view *v)
{
    for (uint32_t i = 0; i < v->head->n_sorted; i++) {
        uint32_t id = v->sorted[i];

        if (id >= v->head->n_tokens) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: sorted[%u] is %u, not below %u", i,
                          id, v->head->n_tokens);
        }
        if ((type_of(v, id) != INGOT_TOKEN_NORMAL && type_of(v, id) != INGOT_TOKEN_USER) ||
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

/* Return true if a token stands for a byte. In byte-level BPE this is a plain token whose text is
 * this one byte, otherwise any token of type BYTE. */
static bool stands_for_byte(const struct view *v, uint32_t id, unsigned byte)
{
    if (id >= v->head->n_tokens) {
        return false;
    }
    if (v->head->kind != INGOT_TOKENIZER_BPE) {
        return type_of(v, id) == INGOT_TOKEN_BYTE;
    }
    return type_of(v, id) == INGOT_TOKEN_NORMAL &&
           v->text_offsets[id + 1] - v->text_offsets[id] == 1 &&
           v->text[v->text_offsets[id]] == byte;
}

static enum err check_byte_tokens(struct image *img, const struct view *v)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t id = v->byte_tokens[byte];

        if (id != INGOT_NO_TOKEN && !stands_for_byte(v, id, byte)) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: byte_tokens[%u] is %u, not a byte "
                          "token",
                          byte, id);
        }
    }
    return ERR_OK;
}

static enum err check_merges_head(struct image *img, const struct view *v)
{
    const struct ingot_merges *m = v->merges;

    if (m->pre >= INGOT_N_PRES ||
        (v->head->kind == INGOT_TOKENIZER_CHARACTERS && m->pre != INGOT_PRE_NONE)) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: pre is %u, not known for kind %u", m->pre,
                      v->head->kind);
    }
    if (!image_all_zero(m->reserved, sizeof m->reserved)) {
        return REFUSE(img, ERR_UNSUPPORTED, "tokenizer: reserved words of merges are not zero");
    }
    return ERR_OK;
}

/* Check that the result of a merge is a plain token with the joined text. So no text can merge into
 * a control token, and merged text prints unchanged. */
static bool merge_fits(const struct view *v, uint32_t left, const struct ingot_merge *m)
{
    const uint32_t *at = v->text_offsets;
    uint32_t n_left = at[left + 1] - at[left];
    uint32_t n_right;

    if (m->right >= v->head->n_tokens || m->id >= v->head->n_tokens ||
        (type_of(v, m->id) != INGOT_TOKEN_NORMAL && type_of(v, m->id) != INGOT_TOKEN_USER)) {
        return false;
    }
    n_right = at[m->right + 1] - at[m->right];
    return at[m->id + 1] - at[m->id] == (uint64_t)n_left + n_right &&
           memcmp(v->text + at[m->id], v->text + at[left], n_left) == 0 &&
           memcmp(v->text + at[m->id] + n_left, v->text + at[m->right], n_right) == 0;
}

static enum err check_merges(struct image *img, const struct view *v)
{
    if (v->rows[0] != 0 || v->rows[v->head->n_tokens] != v->merges->n_merges) {
        return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: rows do not run from 0 to n_merges");
    }
    for (uint32_t id = 0; id < v->head->n_tokens; id++) { /* check all offsets before any entry is
                                                           * read */
        if (v->rows[id + 1] < v->rows[id]) {
            return REFUSE(img, ERR_BAD_TOKENIZER, "tokenizer: rows descend after token %u", id);
        }
    }
    for (uint32_t id = 0; id < v->head->n_tokens; id++) {
        for (uint32_t i = v->rows[id]; i < v->rows[id + 1]; i++) {
            if (!merge_fits(v, id, &v->entries[i]) ||
                (i > v->rows[id] && v->entries[i - 1].right >= v->entries[i].right)) {
                return REFUSE(img, ERR_BAD_TOKENIZER,
                              "tokenizer: merge %u of token %u is out of order or makes no token",
                              i, id);
            }
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
    if (e == ERR_OK && ingot_kind_has_merges(v.head->kind)) {
        if (bytes < sizeof *v.head + sizeof *v.merges) {
            return REFUSE(img, ERR_BAD_TOKENIZER,
                          "tokenizer: the section has %u bytes, less than its two heads",
                          (unsigned)bytes);
        }
        v.merges = (const void *)(v.head + 1);
        e = check_merges_head(img, &v);
    }
    if (e == ERR_OK) {
        e = find_arrays(img, &v, section, bytes);
    }
    if (e == ERR_OK) {
        e = check_tokens(img, &v);
    }
    if (e == ERR_OK) {
        e = check_sorted(img, &v);
    }
    if (e == ERR_OK) {
        e = check_byte_tokens(img, &v);
    }
    if (e != ERR_OK || v.merges == NULL) {
        return e;
    }
    return check_merges(img, &v);
}
