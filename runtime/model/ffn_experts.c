/* A token's experts are always added in ascending order of their number. So a chunk that is
 * computed expert by expert has the same bits as single tokens. */
#include "runtime/model/ffn_experts.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/image/image.h"
#include "runtime/model/ffn_dense.h"
#include "runtime/model/ffn_experts_private.h"
#include "runtime/model/router.h"

static size_t work_bytes(const struct ingot_params *p, const struct ingot_layer *l)
{
    (void)p;
    return experts_work_bytes(l);
}

/* ---- the matrices of an expert --------------------------------------------------------------- */

/* Compute this core's rows of an expert's matrix, with its bias. */
static void multiply(const struct transformer *t, unsigned core, const uint8_t *extent,
                     enum ingot_role role, enum ingot_role bias, const struct linear_input *in,
                     float *y, size_t y_stride)
{
    const struct ingot_tensor *w = t->tensors[role], *b = t->tensors[bias];
    size_t first, last;

    layer_multiply(t, core, w, extent + w->offset, w->rows, in, y, y_stride);
    if (b == NULL) {
        return;
    }
    /* These are the rows that layer_multiply gives this core. */
    workers_share(t->workers, core, w->rows, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < in->n_tokens; i++) {
        t->kernels->add_f32(y + i * y_stride + first,
                            (const float *)(const void *)(extent + b->offset) + first,
                            last - first);
    }
}

/* Return the floats from one row of an expert's hidden values to the next. */
static size_t hidden_stride(const struct transformer *t)
{
    return t->tensors[INGOT_EXPERT_DOWN]->cols_padded;
}

/* Compute this core's hidden values for an input: multiply by the gate and up matrices, and write
 * the activation to `gate`. */
static void widen(const struct transformer *t, unsigned core, const uint8_t *extent,
                  const struct linear_input *in, float *gate, float *up)
{
    size_t stride = hidden_stride(t), first, last;

    if (t->tensors[INGOT_EXPERT_GATE] != NULL) {
        multiply(t, core, extent, INGOT_EXPERT_GATE, INGOT_EXPERT_GATE_BIAS, in, gate, stride);
    }
    multiply(t, core, extent, INGOT_EXPERT_UP, INGOT_EXPERT_UP_BIAS, in, up, stride);
    /* A core applies the activation to the rows that it computed, so that no core waits. */
    workers_share(t->workers, core, t->data->expert_hidden, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < in->n_tokens; i++) {
        ffn_activate(t, gate + i * stride + first, up + i * stride + first, last - first);
        if (first < last && last == t->data->expert_hidden) { /* padding columns count as
                                                               * zero */
            memset(gate + i * stride + last, 0, (stride - last) * sizeof *gate);
        }
    }
}

/* Quantize this core's rows of hidden values. */
static void quantize_hidden(const struct transformer *t, unsigned core, float *hidden,
                            uint32_t n_rows)
{
    struct linear_input in = { hidden, hidden_stride(t), n_rows, 0 };
    size_t first, last;

    workers_share(t->workers, core, n_rows, LINEAR_GROUP, &first, &last);
    linear_prepare(t->kernels, &t->act, 1u << t->tensors[INGOT_EXPERT_DOWN]->type, &in, first,
                   last);
}

/* Add an expert's result for one token, in this core's rows, to the block's result. */
static void add_expert(const struct transformer *t, unsigned core, size_t token, const float *y,
                       float weight)
{
    size_t first, last;

    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    t->kernels->add_scaled_f32(t->act.out + token * t->act.dim_stride + first, y + first,
                               last - first, weight);
}

/* ---- one token, or a chunk ------------------------------------------------------------------- */

/* Trace a core's work for an expert, if experts come from a cache. */
static void trace_run(const struct transformer *t, unsigned core, uint32_t expert, uint64_t begin)
{
    if (is_cached(t)) {
        trace_end(t->workers->trace, TRACE_EXPERT, trace_expert(t->layer, expert), core, begin);
    }
}

/* Compute the hidden values of expert number i of a token, and write them to row i. */
static void widen_token(const struct transformer *t, unsigned core, uint32_t i)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core);
    uint32_t expert = work_of(t, 0).chosen[i].expert;
    uint64_t begin = trace_begin(t->workers->trace);
    size_t at = i * hidden_stride(t);

    widen(t, core, expert_extent(t, i, expert), &normed, a->gate + at, a->up + at);
    trace_run(t, core, expert, begin);
}

/* While missing experts arrive, compute the experts in the cache; then compute the missing ones. */
static bool widen_all(const struct transformer *t, unsigned core)
{
    uint32_t n = t->data->n_experts_used;

    for (uint32_t i = 0; i < n; i++) {
        if (expert_is_there(t, i)) {
            widen_token(t, core, i);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (expert_is_there(t, i)) {
            continue;
        }
        if (!expert_wait(t, core, i)) {
            return false;
        }
        widen_token(t, core, i);
    }
    return true;
}

/* Run the experts of a token together, with their hidden values as the rows of one input. */
static bool run_parallel(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct router_choice *chosen = work_of(t, 0).chosen;
    size_t stride = hidden_stride(t);

    if (!widen_all(t, core)) {
        return false;
    }
    /* After this barrier the hidden values of all cores are complete. */
    layer_step(t, core);
    /* Quantize all experts' rows at once; cores share them as one input. */
    quantize_hidden(t, core, a->gate, t->data->n_experts_used);
    layer_step(t, core);
    /* Add in ascending order, so that the sum has the same bits whatever arrived first. */
    for (uint32_t i = 0; i < t->data->n_experts_used; i++) {
        struct linear_input one = { a->gate + i * stride, stride, 1, i };

        multiply(t, core, expert_extent(t, i, chosen[i].expert), INGOT_EXPERT_DOWN,
                 INGOT_EXPERT_DOWN_BIAS, &one, a->gathered, a->dim_stride);
        add_expert(t, core, 0, a->gathered, chosen[i].weight);
    }
    return true;
}

/* Return the index of the first quantized row for hidden values. The rows before it hold the
 * token's input, which experts that arrive later still read. Each core has its own row. */
static uint32_t first_own_row(const struct transformer *t)
{
    size_t stride = hidden_stride(t);

    return (uint32_t)(t->workers->n_cores * ((t->act.dim_stride + stride - 1) / stride));
}

/* Return true if some experts are missing, and there is room to compute each expert completely by
 * itself. */
static bool runs_one_by_one(const struct transformer *t)
{
    bool all = true;

    for (uint32_t i = 0; i < t->data->n_experts_used; i++) {
        all = all && expert_is_there(t, i);
    }
    return !all && t->act.chunk >= t->data->n_experts_used &&
           t->act.chunk >= first_own_row(t) + t->workers->n_cores;
}

/* Write the result of a token's expert number i, not yet weighted, to row i of act.gathered. Each
 * core quantizes the hidden values itself, which costs less than a barrier. */
static void narrow_token(const struct transformer *t, unsigned core, uint32_t i)
{
    const struct activations *a = &t->act;
    uint32_t expert = work_of(t, 0).chosen[i].expert;
    size_t stride = hidden_stride(t);
    struct linear_input one = { a->gate + i * stride, stride, 1, first_own_row(t) + core };
    uint64_t begin = trace_begin(t->workers->trace);

    linear_prepare(t->kernels, a, 1u << t->tensors[INGOT_EXPERT_DOWN]->type, &one, 0, 1);
    multiply(t, core, expert_extent(t, i, expert), INGOT_EXPERT_DOWN, INGOT_EXPERT_DOWN_BIAS, &one,
             a->gathered + i * a->dim_stride, a->dim_stride);
    trace_run(t, core, expert, begin);
}

/* Compute a token's missing expert number i. The expert's last matrix may arrive while its hidden
 * values are computed. */
static bool run_missing(const struct transformer *t, unsigned core, uint32_t i)
{
    if (!expert_wait_first(t, core, i)) {
        return false;
    }
    widen_token(t, core, i);
    layer_step(t, core); /* wait until no core uses bytes that may be read again */
    if (!expert_wait(t, core, i)) {
        return false;
    }
    if (t->stream->experts.list[i].again) { /* the checksum of the expert's first bytes was wrong */
        widen_token(t, core, i);
        layer_step(t, core);
    }
    narrow_token(t, core, i);
    return true;
}

/* While missing experts arrive, compute the experts in the cache completely; then compute each
 * missing expert. Then add all results in ascending order. */
static bool run_one_by_one(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    uint32_t n = t->data->n_experts_used;

    /* Compute the first matrices of the experts in the cache while the card continues. */
    for (uint32_t i = 0; i < n; i++) {
        if (expert_is_there(t, i)) {
            widen_token(t, core, i);
        }
    }
    /* The last matrix reads rows of all cores. */
    layer_step(t, core);
    for (uint32_t i = 0; i < n; i++) {
        if (expert_is_there(t, i)) {
            narrow_token(t, core, i);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!expert_is_there(t, i) && !run_missing(t, core, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        add_expert(t, core, 0, a->gathered + i * a->dim_stride, work_of(t, 0).chosen[i].weight);
    }
    return true;
}

static bool run_token(const struct transformer *t, unsigned core)
{
    return runs_one_by_one(t) ? run_one_by_one(t, core) : run_parallel(t, core);
}

/* Return the types of the matrices that read a token's input. */
static uint32_t input_types(const struct transformer *t)
{
    const struct ingot_tensor *gate = t->tensors[INGOT_EXPERT_GATE];

    return 1u << t->tensors[INGOT_EXPERT_UP]->type | (gate != NULL ? 1u << gate->type : 0);
}

/* Copy a token's kept quantized form to a row of an expert's input, and also the floats if a matrix
 * reads them. */
static void gather_token(const struct transformer *t, uint32_t types, size_t row, size_t token)
{
    const struct activations *a = &t->act;

    linear_take(a, types, row, token);
    if ((types & ~(ACTIVATIONS_Q8 | ACTIVATIONS_Q8K)) != 0) {
        memcpy(a->gathered + row * a->dim_stride, a->norm + token * a->dim_stride,
               a->dim_stride * sizeof(float));
    }
}

/* Gather this core's share of the inputs of the n tokens that take an expert, as consecutive
 * rows. */
static void gather(const struct transformer *t, unsigned core, uint32_t expert,
                   const struct linear_input *in)
{
    uint32_t types = input_types(t), row = 0;
    size_t first, last;

    workers_share(t->workers, core, in->n_tokens, LINEAR_GROUP, &first, &last);
    /* Row number `row` belongs to the row-th token that takes the expert. */
    for (uint32_t i = 0; i < t->n_tokens && row < last; i++) {
        if (experts_weight(t, i, expert) != NULL && row++ >= first) {
            gather_token(t, types, row - 1, i);
        }
    }
    /* Form groups of four rows, as a gemm reads them. */
    linear_group(t->kernels, &t->act, types, in, first, last);
}

/* Add the results of an expert to the tokens that take it. */
static void scatter(const struct transformer *t, unsigned core, uint32_t expert)
{
    uint32_t row = 0;

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        const float *weight = experts_weight(t, i, expert);

        if (weight != NULL) {
            add_expert(t, core, i, t->act.gathered + row++ * t->act.dim_stride, *weight);
        }
    }
}

/* Compute the hidden values of the n tokens that take an expert, into rows from `row` on. */
static void widen_chunk(const struct transformer *t, unsigned core, uint32_t expert,
                        const uint8_t *extent, uint32_t n, size_t row)
{
    const struct activations *a = &t->act;
    struct linear_input in = { a->gathered, a->dim_stride, n, 0 };
    size_t at = row * hidden_stride(t);
    uint64_t begin = trace_begin(t->workers->trace);

    gather(t, core, expert, &in);
    layer_step(t, core);
    widen(t, core, extent, &in, a->gate + at, a->up + at);
    trace_run(t, core, expert, begin);
    layer_step(t, core);
}

/* Compute the expert's contributions to the tokens from these hidden values. */
static void narrow_chunk(const struct transformer *t, unsigned core, uint32_t expert,
                         const uint8_t *extent, uint32_t n, size_t row)
{
    const struct activations *a = &t->act;
    struct linear_input hidden = { a->gate + row * hidden_stride(t), hidden_stride(t), n, 0 };
    uint64_t begin = trace_begin(t->workers->trace);

    quantize_hidden(t, core, a->gate + row * hidden.stride, n);
    layer_step(t, core);
    multiply(t, core, extent, INGOT_EXPERT_DOWN, INGOT_EXPERT_DOWN_BIAS, &hidden, a->gathered,
             a->dim_stride);
    /* Each core adds its own rows, so no barrier is needed. */
    scatter(t, core, expert);
    trace_run(t, core, expert, begin);
    layer_step(t, core);
}

/* Experts of the list whose hidden values are computed early, before their turn. */
struct early {
    uint32_t end;    /* cached experts with a smaller index in the list are early */
    uint32_t n_rows; /* rows of hidden values of early experts; the current expert uses later
                      * rows */
};

/* Return how many rows of hidden values fit. An expert needs a row for each of its tokens. */
static uint32_t rows_for_hidden(const struct transformer *t)
{
    const struct activations *a = &t->act;
    uint32_t rows = max_u32(a->chunk, t->data->n_experts_used);

    return (uint32_t)(rows * a->hidden_stride / hidden_stride(t));
}

/* While the first missing expert arrives, compute the hidden values of experts in the cache, as far
 * as rows are left. Do not add yet, because the order of addition must not depend on the cache. */
static struct early widen_early(const struct transformer *t, unsigned core)
{
    const struct stream_experts *x = &t->stream->experts;
    uint32_t rows = rows_for_hidden(t), most = 0, i;
    struct early early = { 0, 0 };
    bool all = true;

    /* Keep enough rows free for the largest expert, because an expert that arrives needs them. */
    for (i = 0; i < x->n; i++) {
        most = max_u32(most, x->counts[x->list[i].expert]);
        all = all && x->list[i].there;
    }
    for (i = 0; i < x->n && !all; i++) {
        uint32_t expert = x->list[i].expert, n = x->counts[expert];

        /* If there are no rows left, the rest is computed later. */
        if (x->list[i].there && early.n_rows + n + most > rows) {
            break;
        }
        if (x->list[i].there) {
            widen_chunk(t, core, expert, x->list[i].at, n, early.n_rows);
            early.n_rows += n;
        }
        early.end = i + 1;
    }
    return early;
}

/* Compute each expert once for all tokens that take it. Begin with experts in the cache while the
 * rest arrives. Results are added in ascending order, so that a token's sum has the same bits as
 * without other tokens. */
static bool run_chunk(const struct transformer *t, unsigned core)
{
    struct early early = { 0, 0 };
    uint32_t i = 0;
    size_t first, last, row = 0;

    layer_share_tokens(t, core, &first, &last);
    /* Inputs are quantized once and kept, because each expert takes other tokens. */
    linear_keep(&t->act, input_types(t), first, last);
    layer_step(t, core);
    if (is_cached(t)) {
        early = widen_early(t, core);
    }
    for (uint32_t expert = 0; expert < t->data->n_experts; expert++) {
        uint32_t n = experts_count_tokens(t, expert);
        bool is_early;

        if (n == 0) {
            continue;
        }
        if (!expert_wait(t, core, i)) {
            return false;
        }
        is_early = i < early.end && expert_is_there(t, i);
        if (!is_early) {
            widen_chunk(t, core, expert, expert_extent(t, i, expert), n, early.n_rows);
        }
        narrow_chunk(t, core, expert, expert_extent(t, i, expert), n,
                     is_early ? row : early.n_rows);
        row += is_early ? n : 0;
        if (core == 0 && is_cached(t)) {
            stream_expert_done(t->stream, i);
        }
        i++;
    }
    return true;
}

/* Compute the dense part first, with its weight. Without a dense part the sum begins at zero. */
static bool run_shared(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core);
    bool dense = t->tensors[INGOT_FFN_UP] != NULL;
    size_t first, last;

    if (dense && !ffn_dense_run(t, core)) {
        return false;
    }
    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *out = a->out + i * a->dim_stride + first;

        if (!dense) {
            memset(out, 0, (last - first) * sizeof *out);
        } else if (t->tensors[INGOT_SHARED_SCALE] != NULL) {
            t->kernels->scale_f32(out, out, last - first, work_of(t, i).shared);
        }
    }
    if (dense) { /* the dense part has overwritten the quantized input */
        layer_step(t, core);
        layer_quantize(t, core, ffn_experts.reads, &normed);
    }
    return true;
}

static bool run(const struct transformer *t, unsigned core)
{
    experts_choose(t, core);
    if (core == t->workers->n_cores - 1) {
        experts_choose_next(t);
    }
    layer_step(t, core);
    if (core == 0 && is_cached(t)) {
        experts_ask(t);
        experts_ask_next(t);
    }
    if (!run_shared(t, core) || !layer_wait_rest(t, core)) {
        return false;
    }
    return t->n_tokens == 1 ? run_token(t, core) : run_chunk(t, core);
}

const struct layer_block ffn_experts = {
    .kind = INGOT_FFN_EXPERTS,
    .name = "experts",
    .needs = LAYER_ROLE(INGOT_ROUTER) | LAYER_ROLE(INGOT_EXPERT_UP) | LAYER_ROLE(INGOT_EXPERT_DOWN),
    .reads = LAYER_ROLE(INGOT_EXPERT_GATE) | LAYER_ROLE(INGOT_EXPERT_UP) |
             LAYER_ROLE(INGOT_FFN_GATE) | LAYER_ROLE(INGOT_FFN_UP),
    .waits = LAYER_ROLE(INGOT_FFN_DOWN),
    .work_bytes = work_bytes,
    .run = run,
};
