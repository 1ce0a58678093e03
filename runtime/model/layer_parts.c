/* Parts of blocks that distribute products between cores, prepare their inputs, and wait for
 * bytes. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/packed.h"
#include "runtime/model/layer.h"

/* The number of rows between two polls of the card, as many as a gemm of RVV takes at once. Without
 * polls inside a large matrix, the requests in flight would end and the card would idle. A narrow
 * matrix takes more rows, up to POLL_PRODUCTS products, because starting a gemm costs as much as a
 * row or two. */
enum { POLL_ROWS = 128, POLL_PRODUCTS = 1 << 19, PADDED_COLS = 32 };

static size_t rows_between_polls(const struct ingot_tensor *w, const struct linear_input *in)
{
    size_t rows = POLL_PRODUCTS / ((size_t)w->cols_padded * in->n_tokens);

    return max_size(rows / POLL_ROWS, 1) * POLL_ROWS;
}

static void multiply_rows(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                          const uint8_t *rows, const struct linear_input *in, float *y,
                          size_t y_stride, size_t first, size_t n)
{
    if (image_type_is_packed(w->type)) {
        packed_rows(t->kernels, &t->act, w, rows, in, y, y_stride, first, n,
                    t->act.unpacked + core * t->act.unpacked_bytes);
        return;
    }
    linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, first, n);
}

void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride)
{
    size_t first, last, step = rows_between_polls(w, in);

    workers_share(t->workers, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += step) {
        size_t n = min_size(last - r, step);

        multiply_rows(t, core, w, rows, in, y, y_stride, r, n);
        layer_expand(t, w, r, n, y, y_stride, in);
        if (core == 0) {
            stream_poll(t->stream);
        }
    }
}

/* Add a bias to the rows that this core has just computed. */
static void add_bias(const struct transformer *t, unsigned core, const float *bias, size_t n,
                     float *y, size_t stride)
{
    size_t first, last;

    workers_share(t->workers, core, n, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        t->kernels->add_f32(y + i * stride + first, bias + first, last - first);
    }
}

void layer_matrix(const struct transformer *t, unsigned core, enum ingot_role role,
                  enum ingot_role bias, const struct linear_input *in, float *y, size_t y_stride)
{
    const struct ingot_tensor *w = t->tensors[role];
    const float *added = layer_vector(t, bias);

    layer_multiply(t, core, w, t->segment + w->offset, w->rows, in, y, y_stride);
    if (added != NULL) {
        add_bias(t, core, added, w->rows, y, y_stride);
    }
}

/* Return the first row of the activations that this core prepares. */
static uint32_t own_row(const struct transformer *t, unsigned core)
{
    return layer_alone(t) ? core : 0;
}

struct linear_input layer_normed(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    uint32_t row = own_row(t, core);

    return (struct linear_input){ a->norm + row * a->dim_stride, a->dim_stride, t->n_tokens, row };
}

void layer_step_shared(const struct transformer *t, unsigned core)
{
    if (!layer_alone(t)) {
        layer_step(t, core);
    }
}

void layer_share_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    workers_share(t->workers, core, t->n_tokens, LINEAR_GROUP, first, last);
}

size_t layer_stride(const struct transformer *t, enum ingot_role role)
{
    return (t->tensors[role]->cols + PADDED_COLS - 1) / PADDED_COLS * PADDED_COLS;
}

void layer_pad(const struct transformer *t, unsigned core, float *rows, size_t stride,
               enum ingot_role role)
{
    const struct ingot_tensor *w = t->tensors[role];
    size_t first, last;

    if (w->cols_padded == w->cols) {
        return;
    }
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        memset(rows + i * stride + w->cols, 0, (w->cols_padded - w->cols) * sizeof *rows);
    }
}

/* Return the types of the layer's matrices in these roles, or of all its tensors if the tensors
 * need only one form of the inputs. */
static uint32_t types_of(const struct transformer *t, uint64_t roles)
{
    uint32_t types = 0;

    if ((t->layer_types & ACTIVATIONS_Q8) == 0 || (t->layer_types & ACTIVATIONS_Q8K) == 0) {
        return t->layer_types;
    }
    for (uint32_t i = 0; i < t->data->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[t->data->first_tensor + i];

        if ((roles & LAYER_ROLE(w->role)) != 0) {
            types |= 1u << w->type;
        }
    }
    return types;
}

/* Prepare tokens [first, last) in the forms that the matrices in these roles and their adapters
 * take. */
static void prepare(const struct transformer *t, uint64_t roles, const struct linear_input *in,
                    size_t first, size_t last)
{
    linear_prepare(t->kernels, &t->act, types_of(t, roles), in, first, last);
    layer_shrink(t, roles, in, first, last);
}

void layer_own_tokens(const struct transformer *t, unsigned core, size_t *first, size_t *last)
{
    if (layer_alone(t)) {
        *first = 0;
        *last = 1;
    } else {
        layer_share_tokens(t, core, first, last);
    }
}

void layer_quantize(const struct transformer *t, unsigned core, uint64_t roles,
                    const struct linear_input *in)
{
    size_t first, last;

    layer_own_tokens(t, core, &first, &last);
    prepare(t, roles, in, first, last);
}

void layer_step(const struct transformer *t, unsigned core)
{
    if (core == 0) {
        stream_poll(t->stream);
    }
    workers_barrier(t->workers, core);
}

/* Return the phase in which a tensor of the layer arrives. */
static unsigned phase_of(const struct transformer *t, const struct ingot_tensor *w)
{
    unsigned phase = 0;

    while (w->offset >= image_phase_end(t->image, t->layer, phase)) {
        phase++;
    }
    return phase;
}

static bool wait_phase(const struct transformer *t, unsigned core, unsigned phase)
{
    if (core == 0) {
        uint64_t begin = workers_wait_begin(t->workers);

        stream_need(t->stream, phase, image_phase_end(t->image, t->layer, phase));
        workers_wait_end(t->workers, core, begin);
    }
    layer_step(t, core);
    return !t->stream->now.missing[phase];
}

bool layer_wait(const struct transformer *t, unsigned core, enum ingot_role role)
{
    return wait_phase(t, core, phase_of(t, t->tensors[role]));
}

static bool needs_pad(const struct transformer *t, enum ingot_role role)
{
    return t->tensors[role]->cols != t->tensors[role]->cols_padded;
}

/* If cores share the tokens, each quantizes its own before the barrier. Otherwise each quantizes
 * all tokens after the barrier, when all data can be read. */
bool layer_take(const struct transformer *t, unsigned core, enum ingot_role role, float *rows,
                size_t stride, struct linear_input *in)
{
    bool there;

    *in = (struct linear_input){ rows, stride, t->n_tokens, own_row(t, core) };
    layer_pad(t, core, rows, stride, role);
    if (!layer_alone(t)) {
        layer_quantize(t, core, LAYER_ROLE(role), in);
    }
    there = layer_wait(t, core, role);
    if (layer_alone(t)) {
        layer_quantize(t, core, LAYER_ROLE(role), in);
    }
    return there;
}

bool layer_ready(const struct transformer *t, unsigned core, enum ingot_role role,
                 const float *norm, size_t n, float *rows, struct linear_input *in)
{
    size_t stride = layer_stride(t, role), first, last;

    if (!layer_alone(t) || norm != NULL || needs_pad(t, role)) {
        layer_step(t, core);
    }
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last && norm != NULL; i++) {
        float *row = rows + i * stride;

        t->kernels->rmsnorm_f32(row, row, norm, n, params(t)->norm_eps, 0.0f);
    }
    return layer_take(t, core, role, rows, stride, in);
}

bool layer_wait_rest(const struct transformer *t, unsigned core)
{
    return wait_phase(t, core, INGOT_PHASES - 1);
}
