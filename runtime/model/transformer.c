#include "runtime/model/transformer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/base/trace.h"
#include "runtime/model/layer.h"
#include "runtime/model/layer_embedding.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/model/mtp.h"
#include "runtime/model/narrow.h"
#include "runtime/model/pass_states.h"
#include "runtime/model/rotations.h"

void transformer_open(struct transformer *t, const struct image *image,
                      const struct kernels *kernels, struct workers *workers, struct stream *stream,
                      const struct plan *plan, struct arena *arena)
{
    memset(t, 0, sizeof *t);
    t->image = image;
    t->kernels = kernels;
    t->workers = workers;
    t->stream = stream;
    t->n_states = layer_state_count(image);
    t->last_written = image_last_written(image);
    activations_take(&t->act,
                     &(struct activations_request){
                         &image->header->params, plan->chunk, image_types(image), plan->logits_rows,
                         layer_work_bytes(image), image_most_experts(image), image_inner_dim(image),
                         image_queries(image) },
                     arena);
}

static enum err embed(struct transformer *t, const uint32_t *tokens, uint32_t n)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);

    for (uint32_t i = 0; i < n; i++) {
        float *x = t->act.norm; /* copy only dim, because cols_padded may be larger */
        const struct lora *lora = layer_part(t, i)->lora;
        const uint8_t *group;
        uint32_t row;
        enum err e = stream_embedding(t->stream, tokens[i], &group, &row);

        if (e != ERR_OK) {
            return e;
        }
        linear_row(t->kernels, w, x, group, row);
        t->kernels->scale_f32(t->act.x + i * t->act.dim_stride, x, w->cols,
                              params(t)->embedding_scale);
        if (lora != NULL) {
            lora_embed(lora, t->kernels, tokens[i], params(t)->embedding_scale,
                       t->act.x + i * t->act.dim_stride);
        }
    }
    memset(t->act.norm, 0, t->act.dim_stride * sizeof(float));
    return ERR_OK;
}

static bool sees(const struct hidden_watch *w)
{
    return w->see != NULL && (w->sees == NULL || *w->sees);
}

/* Return true if a watcher needs the last hidden state of every token. */
static bool is_watched(const struct transformer *t)
{
    const struct hidden_watch *w = t->watches;

    while (w != NULL && !sees(w)) {
        w = w->next;
    }
    return w != NULL;
}

/* Copy x from before the layer, in case the layer must be computed again. */
static void copy_x(float *to, const float *from, const struct transformer *t)
{
    memcpy(to, from, t->n_tokens * t->act.dim_stride * sizeof(float));
}

static void layer_work(void *arg, struct workers *workers, unsigned core)
{
    const struct transformer *t = arg;
    uint64_t begin = trace_begin(workers->trace);

    (void)workers;
    layer_run(t, core);
    trace_end(workers->trace, TRACE_LAYER, t->layer, core, begin);
}

/* Return true if tokens are left out in this pass. A short pass leaves none out, because it begins
 * layers before all their bytes have arrived, and may compute them again. */
static bool leaves_out(const struct transformer *t)
{
    uint32_t skipped = 0;

    for (uint32_t i = 0; i < t->n_pass_parts; i++) {
        skipped += t->pass_parts[i].skip;
    }
    return skipped != 0 && t->n_tokens > ACTIVATIONS_SAVED && !is_watched(t);
}

/* Run the layer on all cores. */
static void compute_once(struct transformer *t)
{
    if (t->layer == t->last_written && leaves_out(t)) {
        narrow_run(t);
        rotations_make(t);
        narrow_run_rest(t);
    } else if (t->n_tokens != 0) {
        workers_run(t->workers, layer_work, t);
    }
}

/* Compute the layer. If its checksum was wrong, restore its input and state, and compute it
 * again. */
static enum err compute_layer(struct transformer *t)
{
    bool again = false;
    enum err e;

    if (t->stream->now.early != NULL) {
        copy_x(t->act.saved, t->act.x, t);
        pass_states_mark(t, t->layer);
    }
    compute_once(t);
    e = stream_layer_check(t->stream, t->layer, &again);
    if (e == ERR_OK && again) {
        pass_states_put_back(t, t->layer);
        copy_x(t->act.x, t->act.saved, t);
        workers_run(t->workers, layer_work, t);
    }
    return e;
}

/* Run one layer. With few tokens the layer begins before all of it has arrived, because the
 * transfer takes longest. The checksum is checked afterwards, and results from wrong bytes are
 * undone. */
static enum err run_layer(struct transformer *t, uint32_t layer)
{
    bool early = t->n_tokens <= ACTIVATIONS_SAVED && !t->is_narrow;
    uint64_t first = early ? image_phase_end(t->image, layer, 0) : UINT64_MAX;
    enum err e = stream_layer(t->stream, layer, first, &t->segment);

    if (e != ERR_OK) {
        return e;
    }
    e = pass_states_enter(t, layer);
    if (e != ERR_OK) {
        return e;
    }
    layer_enter(t, layer);
    e = compute_layer(t);
    if (e != ERR_OK) {
        return e;
    }
    stream_layer_done(t->stream, layer);
    return pass_states_leave(t, layer);
}

static void set_parts(struct transformer *t, const struct transformer_part *parts, uint32_t n)
{
    t->parts = parts;
    t->n_parts = n;
}

static void begin_pass(struct transformer *t, const struct transformer_pass *pass)
{
    t->n_tokens = pass->n;
    assert(pass->n_parts <= TRANSFORMER_PARTS);
    memcpy(t->pass_parts, pass->parts, pass->n_parts * sizeof *pass->parts);
    t->n_pass_parts = pass->n_parts;
    t->is_narrow = false;
    set_parts(t, t->pass_parts, t->n_pass_parts);
    layer_enter_adapters(t, INGOT_NO_LAYER);
    stream_begin(t->stream, pass->want_head);
    for (uint32_t i = 0; i < t->n_parts; i++) {
        for (uint32_t j = 0; j < t->n_states; j++) {
            layer_state_begin(&t->parts[i].states[j], t->parts[i].position);
        }
    }
}

/* Apply the final norm to one token. */
static void output_norm(const struct transformer *t, float *y, const float *x)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT_NORM, INGOT_NO_LAYER);
    const struct ingot_tensor *b = image_tensor(t->image, INGOT_OUTPUT_NORM_BIAS, INGOT_NO_LAYER);
    const uint8_t *segment = t->stream->segments[w->segment];
    const uint8_t *at = segment != NULL ? segment + w->offset : t->stream->head + w->offset;
    const float *weights = (const void *)at;

    if (b != NULL) {
        const float *bias = (const void *)(at + (b->offset - w->offset));

        t->kernels->layernorm_f32(y, x, weights, bias, params(t)->dim, params(t)->norm_eps);
    } else {
        t->kernels->rmsnorm_f32(y, x, weights, params(t)->dim, params(t)->norm_eps, 0.0f);
    }
}

void transformer_unwatch(struct transformer *t, struct hidden_watch *w)
{
    struct hidden_watch **at = &t->watches;

    while (*at != NULL && *at != w) {
        at = &(*at)->next;
    }
    if (*at == w) {
        *at = w->next;
    }
}

void transformer_watch(struct transformer *t, struct hidden_watch *w)
{
    transformer_unwatch(t, w);
    w->next = t->watches;
    t->watches = w;
}

static void show(struct transformer *t, const struct transformer_part *p)
{
    const struct activations *a = &t->act;

    for (uint32_t i = 0; i < p->n; i++) {
        output_norm(t, a->norm, a->x + (p->first + i) * a->dim_stride);
        for (const struct hidden_watch *w = t->watches; w != NULL; w = w->next) {
            if (sees(w)) {
                w->see(w->context, p->position + i, a->norm);
            }
        }
    }
}

enum err transformer_pass(struct transformer *t, const struct transformer_pass *pass,
                          const struct stop *stop)
{
    enum err e;

    begin_pass(t, pass);
    layer_embedding_ask(t, pass->tokens, pass->n);
    e = params(t)->mtp != 0 ? mtp_embed(t, pass->tokens, pass->n) : embed(t, pass->tokens, pass->n);
    if (e == ERR_OK) {
        e = layer_embedding_read(t, pass->n);
    }
    rotations_make(t);
    for (uint32_t layer = 0; layer < params(t)->n_layers && e == ERR_OK; layer++) {
        if (stop_is_asked(stop)) {
            stream_reset(t->stream);
            return ERR_ABORTED;
        }
        e = run_layer(t, layer);
    }
    set_parts(t, t->pass_parts, t->n_pass_parts);
    if (e == ERR_OK && is_watched(t)) {
        show(t, &t->pass_parts[0]);
    }
    return e;
}

static void head_work(void *arg, struct workers *workers, unsigned core)
{
    const struct transformer *t = arg;
    struct linear_input in = { t->act.norm, t->act.dim_stride, t->n_tokens, 0 };
    uint64_t begin = trace_begin(workers->trace);

    (void)workers;
    layer_multiply(t, core, image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER), t->rows,
                   t->n_rows, &in, t->act.logits + t->first_row, t->act.logits_stride);
    trace_end(workers->trace, TRACE_HEAD, t->first_row, core, begin);
}

static void run_rows(struct transformer *t, const uint8_t *rows, uint32_t first, uint32_t n)
{
    t->rows = rows;
    t->first_row = first;
    t->n_rows = n;
    workers_run(t->workers, head_work, t);
}

static enum err run_tiles(struct transformer *t)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < t->stream->plan->head.n_tiles && e == ERR_OK; i++) {
        struct plan_share share = plan_head_share(t->stream->plan, i);
        struct plan_tile tile;
        const uint8_t *rows;

        if (share.n_rows != 0) {
            rows = stream_head_row(t->stream, share.first_row);
            run_rows(t, rows, share.first_row, share.n_rows);
        }
        e = stream_tile(t->stream, i, &tile, &rows);
        if (e == ERR_OK) {
            run_rows(t, rows, tile.first_row, tile.n_rows);
            stream_tile_done(t->stream, i);
        }
    }
    return e;
}

static enum err tiled_head(struct transformer *t)
{
    bool again = true;
    enum err e = ERR_OK;

    while (again && e == ERR_OK) {
        e = run_tiles(t);
        if (e == ERR_OK) {
            e = stream_head_check(t->stream, &again);
        }
    }
    return e;
}

static void finish_logits(const struct transformer *t, float *logits, size_t n)
{
    float scale = params(t)->logits_scale;

    if (scale < 1.0f || scale > 1.0f) {
        t->kernels->scale_f32(logits, logits, n, scale);
    }
    if (params(t)->final_softcap != 0.0f) {
        t->kernels->softcap_f32(logits, n, params(t)->final_softcap);
    }
}

/* Let every watcher that adapts hidden states change this state. */
void transformer_adapt(const struct transformer *t, float *hidden)
{
    for (const struct hidden_watch *w = t->watches; w != NULL; w = w->next) {
        if (w->adapt != NULL) {
            w->adapt(w->context, hidden);
        }
    }
}

/* Compute the head for n normed and adapted tokens; t->parts describes their rows. */
static enum err compute_head(struct transformer *t, uint32_t n, float **logits)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    const struct activations *a = &t->act;
    struct linear_input in = { a->norm, a->dim_stride, n, 0 };

    linear_prepare(t->kernels, a, 1u << w->type, &in, 0, n);
    layer_enter_adapters(t, INGOT_NO_LAYER);
    layer_shrink(t, (uint64_t)1 << INGOT_OUTPUT, &in, 0, n);
    t->n_tokens = n;
    *logits = a->logits;
    if (t->stream->plan->head.tiled) {
        enum err e = tiled_head(t);

        if (e != ERR_OK) {
            return e;
        }
    } else {
        run_rows(t, t->stream->segments[w->segment] + w->offset, 0, w->rows);
    }
    for (uint32_t i = 0; i < n; i++) {
        finish_logits(t, a->logits + i * a->logits_stride, w->rows);
    }
    return ERR_OK;
}

static enum err run_head(struct transformer *t, uint32_t n, float **logits)
{
    enum err e;

    assert(n == 1 || n <= t->stream->plan->logits_rows);
    set_parts(t, t->head_parts, t->n_head_parts);
    t->n_head_parts = 0;
    e = compute_head(t, n, logits);
    set_parts(t, t->pass_parts, t->n_pass_parts);
    return e;
}

/* Add row i of the head's input, of a sequence with these adapters. Rows with the same adapters
 * form one part. */
static void add_head_row(struct transformer *t, uint32_t i, struct lora *lora)
{
    uint32_t n = t->n_head_parts;

    if (n != 0 && t->head_parts[n - 1].lora == lora) {
        t->head_parts[n - 1].n++;
    } else {
        assert(t->n_head_parts < TRANSFORMER_PARTS);
        t->head_parts[t->n_head_parts++] =
            (struct transformer_part){ .first = i, .n = 1, .lora = lora };
    }
}

/* Copy a token's row to row i of the head's input. Tokens must ascend. */
static void take_hidden(struct transformer *t, uint32_t i, uint32_t token)
{
    float *hidden = t->act.norm + i * t->act.dim_stride;

    add_head_row(t, i, layer_part(t, token)->lora);
    output_norm(t, hidden, narrow_row(t, token));
    transformer_adapt(t, hidden);
}

const float *transformer_hidden(struct transformer *t, uint32_t token)
{
    output_norm(t, t->act.norm, narrow_row(t, token));
    return t->act.norm;
}

enum err transformer_logits(struct transformer *t, uint32_t first, uint32_t n, float **logits)
{
    if (!image_has_output(params(t))) {
        return mtp_logits(t, first, n, logits);
    }
    for (uint32_t i = 0; i < n; i++) {
        take_hidden(t, i, first + i);
    }
    return run_head(t, n, logits);
}

enum err transformer_logits_at(struct transformer *t, const uint32_t *tokens, uint32_t n,
                               float **logits)
{
    for (uint32_t i = 0; i < n; i++) {
        take_hidden(t, i, tokens[i]);
    }
    return run_head(t, n, logits);
}

bool transformer_has_head(const struct transformer *t)
{
    return !t->stream->plan->head.tiled;
}

/* Copy a hidden state (dim) to row i of the head's input. */
static float *put_hidden(struct transformer *t, uint32_t i, const float *hidden)
{
    float *norm = t->act.norm + i * t->act.dim_stride;

    memcpy(norm, hidden, params(t)->dim * sizeof *hidden);
    add_head_row(t, i, t->lora);
    return norm;
}

enum err transformer_logits_of(struct transformer *t, const float *hidden, uint32_t n,
                               float **logits)
{
    assert(transformer_has_head(t));
    for (uint32_t i = 0; i < n; i++) {
        transformer_adapt(t, put_hidden(t, i, hidden + (size_t)i * params(t)->dim));
    }
    return run_head(t, n, logits);
}

enum err transformer_logits_of_adapted(struct transformer *t, const float *hidden, uint32_t n,
                                       float **logits)
{
    assert(transformer_has_head(t));
    for (uint32_t i = 0; i < n; i++) {
        (void)put_hidden(t, i, hidden + (size_t)i * params(t)->dim);
    }
    return run_head(t, n, logits);
}

/* Return a dot product, computed in sixteen sums, so that no addition waits for another. */
static float dot(const float *a, const float *b, uint32_t n)
{
    float lane[16] = { 0 };
    uint32_t i = 0;

    for (; i + 16 <= n; i += 16) {
        for (uint32_t k = 0; k < 16; k++) {
            lane[k] += a[i + k] * b[i + k];
        }
    }
    for (uint32_t k = 0; i + k < n; k++) {
        lane[k] += a[i + k] * b[i + k];
    }
    return fold16(lane);
}

void transformer_logits_of_rows(const struct transformer *t, const float *hidden,
                                const uint32_t *ids, uint32_t n, float *row, float *logits)
{
    for (uint32_t i = 0; i < n; i++) {
        transformer_head_row(t, ids[i], row);
        logits[i] = dot(row, hidden, params(t)->dim);
    }
    finish_logits(t, logits, n);
}

void transformer_head_row(const struct transformer *t, uint32_t id, float *row)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);

    assert(transformer_has_head(t) && id < w->rows);
    linear_row(t->kernels, w, row, t->stream->segments[w->segment] + w->offset, id);
}
