/* Check the tensor table: each tensor must be in its place, with the shape that its layer
 * requires. */
#include "runtime/image/image_check.h"

#include <string.h>

/* The next entry, and where the previous entry ended in its segment. */
struct cursor {
    struct image *img;
    uint32_t index;
    uint64_t end;
    uint64_t expert_end; /* where the previous entry ended in an expert's extent */
};

static enum err refuse_field(struct image *img, const char *place, const char *field,
                             uint64_t value, uint64_t right)
{
    return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: %s is %llu, must be %llu", place, field,
                  (unsigned long long)value, (unsigned long long)right);
}

/* A FIG4 tensor has its own table; the sum of two products of values with activations must fit 16
 * bits. */
static enum err check_values(struct image *img, const struct ingot_tensor *t, const char *place)
{
    if (t->type != INGOT_FIG4 && !image_all_zero(t->values, sizeof t->values)) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "tensors: %s: it has a table of values, which %s does not use", place,
                      image_type_name(t->type));
    }
    for (size_t i = 0; i < sizeof t->values; i++) {
        if (t->values[i] == INT8_MIN) {
            return REFUSE(img, ERR_BAD_HEADER,
                          "tensors: %s: value %zu is -128, must be -127 to 127", place, i);
        }
    }
    return ERR_OK;
}

/* Check type, shape and the numbers that follow from them. */
static enum err check_shape(struct image *img, const struct ingot_tensor *t,
                            const struct ingot_layer *layer, const char *place)
{
    enum ingot_role role = (enum ingot_role)t->role;
    uint32_t padding = image_type_padding(t->type);
    uint32_t rows, cols;

    if (!image_role_is_matrix(role) && t->type != INGOT_F32 &&
        !(role == INGOT_POSITION_EMBEDDING && t->type == INGOT_F16)) {
        return REFUSE(img, ERR_UNSUPPORTED, "tensors: %s: type is %u (%s), it must be f32", place,
                      t->type, image_type_name(t->type));
    }
    if (padding == 0) {
        return REFUSE(img, ERR_UNSUPPORTED, "tensors: %s: type is %u, this program knows 0 to %u",
                      place, t->type, (unsigned)INGOT_N_TYPES - 1);
    }
    if ((role == INGOT_ATTN_K_B || role == INGOT_ATTN_V_B) && !image_type_suits_head(t->type)) {
        return REFUSE(img, ERR_UNSUPPORTED,
                      "tensors: %s: type is %u (%s), which a head cannot have", place, t->type,
                      image_type_name(t->type));
    }
    image_role_shape(&img->header->params, layer, role, &rows, &cols);
    if (rows == 0 || cols == 0) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: the layer defines no size for it", place);
    }
    if (!image_type_takes(t->type, cols)) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: cols is %u, %s demands a multiple of %u",
                      place, cols, image_type_name(t->type), padding);
    }
    const struct {
        const char *name;
        uint64_t value, right;
    } fields[] = {
        { "interleave", t->interleave, image_type_interleave(t->type) },
        { "chunk", t->chunk, image_type_chunk(t->type) },
        { "reserved", t->reserved0 | t->reserved, 0 },
        { "rows", t->rows, rows },
        { "cols", t->cols, cols },
        { "cols_padded", t->cols_padded, image_round_up(cols, padding) },
        { "bytes", t->bytes, image_tensor_bytes(t->type, rows, cols) },
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value != fields[i].right) {
            return refuse_field(img, place, fields[i].name, fields[i].value, fields[i].right);
        }
    }
    return check_values(img, t, place);
}

/* Return the end of the part of a segment that holds the tensor. */
static uint64_t limit_of(const struct image *img, const struct ingot_tensor *t,
                         const struct ingot_layer *l)
{
    if (l == NULL || l->ffn != INGOT_FFN_EXPERTS) {
        return img->segments[t->segment].bytes;
    }
    if (image_role_is_expert((enum ingot_role)t->role)) {
        return l->expert_bytes;
    }
    return l->expert_offset;
}

/* Check a tensor's place. Tensors of a segment ascend; *end is where the previous tensor
 * ended in the same segment or extent. */
static enum err check_place(struct image *img, const struct ingot_tensor *t,
                            const struct ingot_layer *layer, uint32_t segment, const char *place,
                            uint64_t *end)
{
    uint64_t limit;

    if (t->segment != segment) {
        return refuse_field(img, place, "segment", t->segment, segment);
    }
    limit = limit_of(img, t, layer);
    if (t->offset % INGOT_TENSOR_ALIGN != 0 || t->offset < *end) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: offset %llu is unaligned or below %llu",
                      place, (unsigned long long)t->offset, (unsigned long long)*end);
    }
    if (t->offset > limit || t->bytes > limit - t->offset) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "tensors: %s: offset %llu leaves the segment's %llu bytes", place,
                      (unsigned long long)t->offset, (unsigned long long)limit);
    }
    *end = t->offset + t->bytes;
    return ERR_OK;
}

/* Check an output that is the token embedding under another name. */
static enum err check_tied(struct image *img, const struct ingot_tensor *t)
{
    const struct ingot_tensor *embedding = img->tensors;

    if (t->segment != embedding->segment || t->offset != embedding->offset ||
        t->type != embedding->type || memcmp(t->values, embedding->values, sizeof t->values) != 0) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "tensors: output is tied, but does not name the bytes of token_embedding");
    }
    return ERR_OK;
}

/* Check the next entry, which must have this role. */
static enum err check_tensor(struct cursor *c, const struct ingot_layer *layer, uint32_t segment,
                             const char *place)
{
    struct image *img = c->img;
    const struct ingot_tensor *t = &img->tensors[c->index++];
    enum err e = check_shape(img, t, layer, place);

    if (e != ERR_OK) {
        return e;
    }
    if (t->role == INGOT_OUTPUT && img->header->params.tied != 0) {
        return check_tied(img, t);
    }
    if (image_role_is_expert((enum ingot_role)t->role)) {
        return check_place(img, t, layer, segment, place, &c->expert_end);
    }
    return check_place(img, t, layer, segment, place, &c->end);
}

static void name_tensor(enum ingot_role role, unsigned layer, char *text, size_t text_bytes)
{
    if (layer == INGOT_NO_LAYER) {
        format_text(text, text_bytes, "%s", image_role_name(role));
        return;
    }
    format_text(text, text_bytes, "layer %u %s", layer, image_role_name(role));
}

/* Check the tensor of a role, if it exists. */
static enum err check_role(struct cursor *c, enum ingot_role role, unsigned layer, uint32_t segment)
{
    struct image *img = c->img;
    const struct ingot_layer *l = layer == INGOT_NO_LAYER ? NULL : &img->layers[layer];
    enum image_presence presence = image_role_presence(&img->header->params, l, role);
    char place[IMAGE_PLACE_BYTES];

    name_tensor(role, layer, place, sizeof place);
    if (c->index < img->header->tensors.count && img->tensors[c->index].role == role &&
        img->tensors[c->index].layer == layer && presence != IMAGE_ABSENT) {
        return check_tensor(c, l, segment, place);
    }
    if (presence != IMAGE_DEMANDED) {
        return ERR_OK;
    }
    if (c->index == img->header->tensors.count) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s is missing", place);
    }
    return REFUSE(img, ERR_BAD_HEADER, "tensors: expected %s, found role %u of layer %u", place,
                  img->tensors[c->index].role, img->tensors[c->index].layer);
}

/* Check the existing tensors of the roles [first, last), in order. */
static enum err check_roles(struct cursor *c, unsigned first, unsigned last, unsigned layer,
                            uint32_t segment)
{
    for (unsigned role = first; role < last; role++) {
        enum err e = check_role(c, (enum ingot_role)role, layer, segment);

        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Check that only the padding of a page follows a segment's last tensor: the planner's buffers
 * rely on this. In the next segment, offsets begin at 0. */
static enum err check_end(struct cursor *c, uint32_t segment)
{
    struct image *img = c->img;
    uint64_t bytes = img->segments[segment].bytes, end = c->end;
    char place[IMAGE_PLACE_BYTES];

    c->end = 0;
    if (bytes == image_round_up(end, INGOT_PAGE)) {
        return ERR_OK;
    }
    image_segment_name(img, segment, place, sizeof place);
    return REFUSE(img, ERR_BAD_HEADER, "segments: %s: bytes is %llu, the tensors end at %llu",
                  place, (unsigned long long)bytes, (unsigned long long)end);
}

static bool begins_tensor(const struct image *img, const struct ingot_layer *l, uint64_t offset)
{
    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *t = &img->tensors[l->first_tensor + i];

        if (t->offset == offset && !image_role_is_expert((enum ingot_role)t->role)) {
            return true;
        }
    }
    return l->ffn == INGOT_FFN_EXPERTS && offset == l->expert_offset;
}

/* Check the extents of experts: they follow the tensors that the layer always needs, without gaps
 * up to the segment's end, and each has its checksum. */
static enum err check_extents(struct cursor *c, const struct ingot_layer *l, uint32_t layer,
                              uint32_t *first_expert)
{
    struct image *img = c->img;
    uint64_t bytes = img->segments[l->segment].bytes;

    if (l->expert_offset != image_round_up(c->end, INGOT_PAGE) ||
        l->expert_bytes != image_round_up(c->expert_end, INGOT_PAGE) || l->expert_offset > bytes ||
        l->expert_bytes > bytes || bytes != l->expert_offset + l->n_experts * l->expert_bytes) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "layer %u: expert_offset is %llu and expert_bytes %llu, the tensors end at "
                      "%llu and %llu, the segment at %llu",
                      layer, (unsigned long long)l->expert_offset,
                      (unsigned long long)l->expert_bytes, (unsigned long long)c->end,
                      (unsigned long long)c->expert_end, (unsigned long long)bytes);
    }
    if (l->first_expert != *first_expert ||
        l->n_experts > img->header->experts.count - *first_expert) {
        return REFUSE(img, ERR_BAD_HEADER, "layer %u: first_expert is %u, must be %u (of %u)",
                      layer, l->first_expert, *first_expert, img->header->experts.count);
    }
    *first_expert += l->n_experts;
    c->end = c->expert_end = 0;
    return ERR_OK;
}

/* Check that no phase ends inside a tensor. */
static enum err check_phases(struct image *img, const struct ingot_layer *l, uint32_t layer)
{
    const struct ingot_segment *s = &img->segments[l->segment];

    for (unsigned i = 0; i < INGOT_PHASES; i++) {
        if (s->phase_end[i] != s->bytes && !begins_tensor(img, l, s->phase_end[i])) {
            return REFUSE(img, ERR_BAD_HEADER,
                          "segments: layer %u: phase_end[%u] is not the "
                          "start of a tensor",
                          layer, i);
        }
    }
    return ERR_OK;
}

static enum err check_layer(struct cursor *c, uint32_t layer, uint32_t *first_expert)
{
    struct image *img = c->img;
    const struct ingot_layer *l = &img->layers[layer];
    uint32_t first = c->index;
    enum err e;

    if (l->segment >= img->header->segments.count || img->segments[l->segment].layer != layer) {
        return REFUSE(img, ERR_BAD_HEADER, "layer %u: segment is %u, which is not its own", layer,
                      l->segment);
    }
    e = check_roles(c, INGOT_ATTN_NORM, INGOT_OUTPUT_NORM, layer, l->segment);
    if (e != ERR_OK) {
        return e;
    }
    if (l->first_tensor != first || l->n_tensors != c->index - first) {
        return REFUSE(img, ERR_BAD_HEADER, "layer %u: has tensors %u to %u, the table %u to %u",
                      layer, l->first_tensor, l->first_tensor + l->n_tensors, first, c->index);
    }
    e = check_phases(img, l, layer);
    if (e != ERR_OK) {
        return e;
    }
    if (l->ffn == INGOT_FFN_EXPERTS) {
        return check_extents(c, l, layer, first_expert);
    }
    if (l->first_expert != 0 || l->expert_offset != 0 || l->expert_bytes != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "layer %u: has extents but no experts", layer);
    }
    return check_end(c, l->segment);
}

/* Learned positions come first in layer 0's segment, because layer 0 needs them. */
static enum err check_front(struct cursor *c)
{
    enum err e = check_roles(c, INGOT_TOKEN_EMBEDDING, INGOT_PER_LAYER_EMBEDDING, INGOT_NO_LAYER,
                             0);

    if (e == ERR_OK) {
        e = check_end(c, 0);
    }
    if (e == ERR_OK && c->img->header->params.per_layer_dim != 0) {
        e = check_roles(c, INGOT_PER_LAYER_EMBEDDING, INGOT_POSITION_EMBEDDING, INGOT_NO_LAYER, 1);
        if (e == ERR_OK) {
            e = check_end(c, 1);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_roles(c, INGOT_POSITION_EMBEDDING, INGOT_ATTN_NORM, INGOT_NO_LAYER,
                       c->img->layers[0].segment);
}

enum err image_check_tensors(struct image *img)
{
    uint32_t head = img->header->segments.count - 1, n_experts = 0;
    struct cursor c = { .img = img };
    enum err e = check_front(&c);

    for (uint32_t layer = 0; layer < img->header->params.n_layers && e == ERR_OK; layer++) {
        e = check_layer(&c, layer, &n_experts);
    }
    if (e == ERR_OK) {
        e = check_roles(&c, INGOT_OUTPUT_NORM, INGOT_N_ROLES, INGOT_NO_LAYER, head);
    }
    if (e == ERR_OK) {
        e = check_end(&c, head);
    }
    if (e == ERR_OK && c.index != img->header->tensors.count) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: count is %u, the layers have %u",
                      img->header->tensors.count, c.index);
    }
    img->first_row = n_experts;
    if (img->header->params.per_layer_dim != 0) {
        n_experts += img->header->params.vocab;
    }
    if (e == ERR_OK && n_experts != img->header->experts.count) {
        return REFUSE(img, ERR_BAD_HEADER, "experts: count is %u, the model has %u",
                      img->header->experts.count, n_experts);
    }
    return e;
}
