#include "runtime/model/layer_kinds.h"

#include "board/min_max.h"
#include "runtime/base/arena.h"
#include "runtime/model/layer.h"
#include "runtime/model/state_none.h"
#include "runtime/text/format_text.h"

/* Return the roles of a layer's tensors. */
static uint64_t roles_of(const struct image *image, const struct ingot_layer *l)
{
    uint64_t roles = 0;

    for (uint32_t i = 0; i < l->n_tensors; i++) {
        roles |= LAYER_ROLE(image->tensors[l->first_tensor + i].role);
    }
    return roles;
}

static enum err refuse(struct image *image, uint32_t layer, const char *error_message,
                       const char *name)
{
    format_text(image->error_message, sizeof image->error_message, "layer %u: %s %s", layer,
                error_message, name);
    return ERR_UNSUPPORTED;
}

static const char *first_name(uint64_t roles)
{
    unsigned role = 0;

    while ((roles & LAYER_ROLE(role)) == 0) {
        role++;
    }
    return image_role_name(role);
}

static enum err check_block(struct image *image, uint32_t layer, const struct layer_block *b)
{
    uint64_t missing = b->needs & ~roles_of(image, image_layer(image, layer));

    if (missing != 0) {
        return refuse(image, layer, "there is no tensor", first_name(missing));
    }
    return ERR_OK;
}

/* Check the phases. Computing begins before the whole layer has arrived, so a block must wait for
 * each tensor that begins a phase. */
static enum err check_phases(struct image *image, uint32_t layer, uint64_t waits)
{
    const struct ingot_layer *l = image_layer(image, layer);
    const struct ingot_segment *s = &image->segments[l->segment];

    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &image->tensors[l->first_tensor + i];

        for (unsigned phase = 0; phase < INGOT_PHASES; phase++) {
            if (!image_role_is_expert((enum ingot_role)w->role) &&
                w->offset == s->phase_end[phase] && (waits & LAYER_ROLE(w->role)) == 0) {
                return refuse(image, layer, "no phase may begin with", image_role_name(w->role));
            }
        }
    }
    return ERR_OK;
}

/* Check a kind of block that the layer names. b is the kind's row. */
static enum err check_kind(struct image *image, uint32_t layer, const struct layer_block *b,
                           uint64_t *waits)
{
    if (b == NULL) {
        return ERR_OK;
    }
    *waits |= b->waits;
    return check_block(image, layer, b);
}

/* Check a second mixer. A second mixer has its own result, and layers that norm both results are
 * not supported yet. */
static enum err check_parallel(struct image *image, uint32_t layer)
{
    const struct ingot_layer *l = image_layer(image, layer);

    if (layer_parallel(l) == NULL) {
        return refuse(image, layer,
                      "this program has no such mixer:", image_mixer_name(l->parallel));
    }
    if ((l->norms & INGOT_NORM_AFTER) != 0) {
        return refuse(image, layer,
                      "no norm may follow two mixers:", image_mixer_name(l->parallel));
    }
    return ERR_OK;
}

static enum err check_layer(struct image *image, uint32_t layer)
{
    const struct ingot_layer *l = image_layer(image, layer);
    const struct layer_block *mixer = layer_mixer(l), *ffn = layer_ffn(l);
    uint64_t waits = LAYER_ROLE(INGOT_FFN_NORM);
    enum err e = ERR_OK;

    if (mixer == NULL && l->mixer != INGOT_MIXER_NONE) {
        return refuse(image, layer, "this program has no such mixer:", image_mixer_name(l->mixer));
    }
    if (ffn == NULL && l->ffn != INGOT_FFN_NONE) {
        return refuse(image, layer, "this program has no such ffn:", image_ffn_name(l->ffn));
    }
    if (l->parallel != INGOT_MIXER_NONE) {
        e = check_parallel(image, layer);
    }
    if (e == ERR_OK) {
        e = check_kind(image, layer, mixer, &waits);
    }
    if (e == ERR_OK) {
        e = check_kind(image, layer, layer_parallel(l), &waits);
    }
    if (e == ERR_OK) {
        e = check_kind(image, layer, ffn, &waits);
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_phases(image, layer, waits);
}

enum err layer_check(struct image *image)
{
    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        enum err e = check_layer(image, i);

        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- states --------------------------------------------------------------------------------- */

static uint32_t n_layers(const struct image *image)
{
    return image->header->params.n_layers;
}

uint32_t layer_state_count(const struct image *image)
{
    for (uint32_t i = 0; i < n_layers(image); i++) {
        if (image_layer(image, i)->parallel != INGOT_MIXER_NONE) {
            return 2 * n_layers(image);
        }
    }
    return n_layers(image);
}

uint32_t layer_state_layer(const struct image *image, uint32_t i)
{
    return i % n_layers(image);
}

const struct layer_state_kind *layer_state_kind(const struct image *image, uint32_t i)
{
    const struct ingot_layer *l = image_layer(image, layer_state_layer(image, i));
    const struct layer_block *mixer = i < n_layers(image) ? layer_mixer(l) : layer_parallel(l);

    if (mixer == NULL || mixer->state == NULL) {
        return &state_none;
    }
    return mixer->state;
}

size_t layer_state_bytes(const struct image *image, uint32_t i)
{
    const struct layer_state_kind *kind = layer_state_kind(image, i);

    if (kind->bytes == NULL) {
        return 0;
    }
    return kind->bytes(image_layer(image, layer_state_layer(image, i)));
}

size_t layer_states_bytes(const struct image *image)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < layer_state_count(image); i++) {
        bytes += arena_take_bytes(layer_state_bytes(image, i));
    }
    return bytes;
}

/* ---- work space ------------------------------------------------------------------------------ */

static size_t block_bytes(const struct layer_block *b, const struct image *image, uint32_t layer)
{
    if (b == NULL || b->work_bytes == NULL) {
        return 0;
    }
    return b->work_bytes(&image->header->params, image_layer(image, layer));
}

size_t layer_work_bytes(const struct image *image)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < n_layers(image); i++) {
        const struct ingot_layer *l = image_layer(image, i);

        bytes = max_size(bytes, block_bytes(layer_mixer(l), image, i));
        bytes = max_size(bytes, block_bytes(layer_parallel(l), image, i));
        bytes = max_size(bytes, block_bytes(layer_ffn(l), image, i));
    }
    return bytes;
}
