#include "flash_image/pack/pack_tables.h"

#include "flash_image/pack/pack_types.h"
#include "flash_image/source/source_layers.h"
#include "runtime/image/image.h"

static uint64_t round_up(uint64_t n, uint64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

uint32_t pack_count_tensors(const struct source *s)
{
    uint32_t n = s->params.tied;

    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        n += source_has_role(s, at.role, at.layer);
    }
    return n;
}

static uint32_t count_experts(const struct source *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->params.n_layers; i++) {
        n += s->params.layers[i].ffn == INGOT_FFN_EXPERTS ? s->params.experts.n : 0;
    }
    return n;
}

uint32_t pack_count_extents(const struct source *s)
{
    uint32_t rows = s->params.per_layer_dim != 0 ? s->params.vocab : 0;

    return count_experts(s) + rows;
}

/* The position after the last tensor, in the current segment and in the table. */
struct layout {
    struct pack_tables *to;
    struct ingot_tensor *next;
    uint32_t segment;
    uint64_t bytes;        /* size of the segment so far, without its experts' extents */
    uint64_t expert_bytes; /* of an extent */
    uint32_t n_experts;    /* number of experts of the layers so far */
};

/* Add one tensor at the end of the segment, or of the extent. */
static void lay_tensor(struct layout *l, enum ingot_role role, unsigned layer)
{
    struct source *s = l->to->source;
    const struct source_tensor *t = source_tensor(s, role, layer);
    enum ingot_type type = pack_choose_type(l->to->options, s, role, layer);
    uint64_t *end = image_role_is_expert(role) ? &l->expert_bytes : &l->bytes;
    struct ingot_tensor *entry = l->next++;

    *entry = (struct ingot_tensor){
        .role = (uint16_t)role,
        .layer = (uint16_t)layer,
        .type = (uint8_t)type,
        .interleave = (uint8_t)image_type_interleave(type),
        .chunk = (uint8_t)image_type_chunk(type),
        .rows = t->rows,
        .cols = t->cols,
        .cols_padded = (uint32_t)round_up(t->cols, image_type_padding(type)),
        .segment = l->segment,
        .offset = round_up(*end, INGOT_TENSOR_ALIGN),
        .bytes = image_tensor_bytes(type, t->rows, t->cols),
    };
    *end = entry->offset + entry->bytes;
}

/* Add the tensors of roles [first, last) that the model has. */
static void lay_roles(struct layout *l, unsigned first, unsigned last, unsigned layer)
{
    for (unsigned role = first; role < last; role++) {
        if (source_has_role(l->to->source, (enum ingot_role)role, layer)) {
            lay_tensor(l, (enum ingot_role)role, layer);
        }
    }
}

/* Complete the segment. The segment has one phase, unless it is divided into phases afterwards. */
static struct ingot_segment *end_segment(struct layout *l, enum ingot_segment_kind kind,
                                         unsigned layer)
{
    struct ingot_segment *s = &l->to->segments[l->segment++];

    s->kind = (uint16_t)kind;
    s->layer = (uint16_t)layer;
    s->bytes = round_up(l->bytes, INGOT_PAGE);
    s->offset = l->to->header->file_bytes;
    for (unsigned i = 0; i < INGOT_PHASES; i++) {
        s->phase_end[i] = s->bytes;
    }
    l->to->header->file_bytes += s->bytes;
    l->bytes = 0;
    return s;
}

/* True if a phase may begin with this role: there the computation of a layer pauses anyway, and can
 * wait for the bytes. */
static bool begins_phase(unsigned role)
{
    return role == INGOT_ATTN_OUT || role == INGOT_SSM_OUT || role == INGOT_FFN_NORM ||
           role == INGOT_FFN_DOWN;
}

/* Cut the segment into phases; if too many tensors can begin a phase, the last phase has the
 * rest. */
static void cut_phases(struct ingot_segment *s, const struct ingot_tensor *t, uint32_t n)
{
    unsigned phase = 0;

    for (uint32_t i = 0; i < n && phase < INGOT_PHASES - 1; i++) {
        if (begins_phase(t[i].role) && t[i].offset != 0) {
            s->phase_end[phase++] = t[i].offset;
        }
    }
}

/* The experts' extents follow the tensors that the layer always needs. */
static void lay_extents(struct layout *l, struct ingot_layer *layer)
{
    if (layer->ffn != INGOT_FFN_EXPERTS) {
        return;
    }
    layer->first_expert = l->n_experts;
    layer->expert_offset = round_up(l->bytes, INGOT_PAGE);
    layer->expert_bytes = round_up(l->expert_bytes, INGOT_PAGE);
    l->bytes = layer->expert_offset + layer->n_experts * layer->expert_bytes;
    l->expert_bytes = 0;
    l->n_experts += layer->n_experts;
}

static void lay_layer(struct layout *l, uint32_t number)
{
    struct pack_tables *t = l->to;
    struct ingot_layer *layer = &t->layers[number];

    source_layer(&t->source->params, number, layer);
    layer->segment = l->segment;
    layer->first_tensor = (uint32_t)(l->next - t->tensors);
    lay_roles(l, INGOT_ATTN_NORM, INGOT_OUTPUT_NORM, number);
    layer->n_tensors = (uint32_t)(l->next - t->tensors) - layer->first_tensor;
    lay_extents(l, layer);
    cut_phases(end_segment(l, INGOT_SEGMENT_LAYER, number), t->tensors + layer->first_tensor,
               layer->n_tensors);
}

void pack_lay_tables(struct pack_tables *t)
{
    struct layout l = { .to = t, .next = t->tensors };

    t->header->file_bytes = t->first_byte;
    lay_roles(&l, INGOT_TOKEN_EMBEDDING, INGOT_PER_LAYER_EMBEDDING, INGOT_NO_LAYER);
    (void)end_segment(&l, INGOT_SEGMENT_EMBEDDING, INGOT_NO_LAYER);
    if (t->header->params.per_layer_dim != 0) {
        lay_roles(&l, INGOT_PER_LAYER_EMBEDDING, INGOT_POSITION_EMBEDDING, INGOT_NO_LAYER);
        (void)end_segment(&l, INGOT_SEGMENT_TABLE, INGOT_NO_LAYER);
    }
    lay_roles(&l, INGOT_POSITION_EMBEDDING, INGOT_ATTN_NORM, INGOT_NO_LAYER); /* of layer 0 */
    for (uint32_t i = 0; i < t->source->params.n_layers; i++) {
        lay_layer(&l, i);
    }
    lay_roles(&l, INGOT_OUTPUT_NORM, INGOT_MTP_TOKEN_NORM, INGOT_NO_LAYER);
    if (t->source->params.tied) {
        *l.next = t->tensors[0]; /* the embedding's entry again, in another role */
        l.next++->role = INGOT_OUTPUT;
    }
    lay_roles(&l, INGOT_MTP_TOKEN_NORM, INGOT_N_ROLES, INGOT_NO_LAYER);
    (void)end_segment(&l, INGOT_SEGMENT_HEAD, INGOT_NO_LAYER);
}
