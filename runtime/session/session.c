#include "runtime/session/session.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/kv_tiers.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_private.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

#define FNV_OFFSET 0xcbf29ce484222325u /* FNV-1a, 64 bits */
#define FNV_PRIME 0x100000001b3u

/* ---- opening -------------------------------------------------------------------------------- */

static size_t states_bytes(const struct image *image)
{
    return arena_take_bytes(layer_state_count(image) * sizeof(struct layer_state));
}

static size_t scratch_bytes(const struct image *image)
{
    return max_size(tokenizer_scratch_bytes(SESSION_TEXT_BYTES),
                    sampler_scratch_bytes(image->header->params.vocab));
}

size_t session_draft_bytes(const struct image *image)
{
    return states_bytes(image);
}

size_t session_bytes(const struct image *image)
{
    return states_bytes(image) + arena_take_bytes(scratch_bytes(image));
}

static void open_kv(struct session *s, const struct model_setup *setup)
{
    struct model *m = s->model;
    struct kv_layers layers = { m->image.layers, m->image.header->params.n_layers };
    size_t bytes = m->plan.memory.kv / m->plan.sequences - m->plan.kv.states;

    kv_cache_open(&s->kv, &layers, m->plan.context, setup->limits.kv,
                  arena_take(&m->arena, ARENA_KV, m->plan.kv.n_spilled != 0 ? 0 : bytes));
    if (m->plan.kv.n_spilled != 0) {
        /* Layers that spill have pages instead of one piece of memory. */
        assert(setup->kv_file != NULL);
        kv_pages_open(&s->pages, &s->kv, &m->image, m->plan.kv.n_spilled, setup->kv_file,
                      &m->stream, &m->arena);
    }
}

static void open_state(struct session *s, uint32_t i)
{
    struct model *m = s->model;
    size_t bytes = layer_state_bytes(&m->image, i);
    uint32_t layer = layer_state_layer(&m->image, i);
    struct layer_state *st = &s->states[i];

    *st = (struct layer_state){ layer_state_kind(&m->image, i), layer, &s->kv };
    if (bytes != 0) {
        st->self = arena_take(&m->arena, ARENA_KV, bytes);
        memset(st->self, 0, bytes);
    }
    if (st->kind->open != NULL) {
        st->kind->open(st, image_layer(&m->image, layer));
    }
}

static void open_states(struct session *s)
{
    struct model *m = s->model;
    uint32_t n = layer_state_count(&m->image);

    s->n_states = n;
    s->states = arena_take(&m->arena, ARENA_SCRATCH, n * sizeof *s->states);
    for (uint32_t i = 0; i < n; i++) {
        open_state(s, i);
    }
}

void session_open(struct session *s, struct model *m, const struct model_setup *setup)
{
    memset(s, 0, sizeof *s);
    s->model = m;
    s->context = m->plan.context;
    s->long_context = image_long_context(&m->image);
    s->hash.on = true;
    /* Open keys and values first, because states refer to them. */
    open_kv(s, setup);
    open_states(s);
    s->ids = arena_take(&m->arena, ARENA_SCRATCH, s->context * sizeof *s->ids);
    /* A draft needs no scratch memory: it encodes no text, and its tokens are drawn in the
     * model's. */
    if (!setup->draft) {
        s->scratch.bytes = scratch_bytes(&m->image);
        s->scratch.memory = arena_take(&m->arena, ARENA_SCRATCH, s->scratch.bytes);
    }
    session_clear(s);
}

/* ---- the counts ----------------------------------------------------------------------------- */

static void clear_states(struct session *s)
{
    for (uint32_t i = 0; i < s->n_states; i++) {
        s->states[i].kind->clear(&s->states[i]);
    }
}

void session_clear(struct session *s)
{
    /* If a prefix is kept, states need not be empty. */
    if (!session_prefix_hold(s, 0)) {
        clear_states(s);
    }
    s->n_cached = 0;
    s->n_exact = UINT32_MAX;
    s->n_ids = 0;
    s->n_ahead = 0;
    s->logits = NULL;
    /* Logits are hashed from the beginning of a conversation. */
    s->hash.value = FNV_OFFSET;
    s->hash.rows = 0;
}

/* Let all states go back to n tokens, or to fewer if one of the states has to go back farther. */
uint32_t session_cut_states(struct session *s, uint32_t n)
{
    uint32_t kept;

    /* A state may go back farther than requested; then all others go back as far. */
    do {
        kept = n;
        for (uint32_t i = 0; i < s->n_states; i++) {
            n = min_u32(n, s->states[i].kind->cut(&s->states[i], n));
        }
    } while (n < kept);
    if (n <= s->n_exact) {
        s->n_exact = UINT32_MAX;
    }
    s->n_cached = n;
    s->n_ahead = 0;
    return n;
}

void session_forget_guesses(struct session *s)
{
    if (s->n_ahead != 0) {
        (void)session_cut_states(s, s->n_cached);
    }
}

uint32_t session_cut(struct session *s, uint32_t n)
{
    s->n_ids = min_u32(n, s->n_ids);
    if (!session_prefix_hold(s, s->n_ids)) {
        (void)session_cut_states(s, min_u32(s->n_cached, s->n_ids));
    }
    /* The logits belong to a token that was removed. */
    s->logits = NULL;
    return s->n_cached;
}

void session_weights_changed(struct session *s)
{
    session_forget_guesses(s);
    session_prefix_settle(s);
    session_forget_prefix(s);
    /* Results from other weights are not valid. */
    (void)session_cut_states(s, 0);
    s->logits = NULL;
}

uint32_t session_model_crc(const struct session *s)
{
    return s->model->image.header->header_crc32c ^ lora_crc(session_lora(s));
}

void session_mark(struct session *s)
{
    session_forget_guesses(s);
    if (s->n_ids == 0) {
        return;
    }
    /* Recurrent states can only go back to a mark. */
    session_prefix_settle(s);
    for (uint32_t i = 0; i < s->n_states; i++) {
        layer_state_mark(&s->states[i], s->n_cached, LAYER_MARK_KEPT);
    }
}

/* ---- adding --------------------------------------------------------------------------------- */

static enum err check_room(struct session *s, size_t n)
{
    uint32_t room = s->context - s->n_ids;

    if (n <= room) {
        return ERR_OK;
    }
    format_text(s->error_message, sizeof s->error_message,
                "the text has %lu %s and the context has room for %u of %u: shorten it, "
                "or raise ctx=",
                (unsigned long)n, plural((unsigned long)n, "token", "tokens"), (unsigned)room,
                (unsigned)s->context);
    return ERR_TOO_LONG;
}

uint32_t *session_room(struct session *s, uint32_t *n)
{
    *n = s->context - s->n_ids;
    return s->ids + s->n_ids;
}

enum err session_put(struct session *s, const uint32_t *ids, size_t n)
{
    enum err e = check_room(s, n);

    if (e != ERR_OK) {
        return e;
    }
    session_forget_guesses(s);
    memmove(s->ids + s->n_ids, ids, n * sizeof *ids); /* the ids are often already there */
    s->n_ids += (uint32_t)n;
    session_prefix_adopt(s);
    return ERR_OK;
}

/* ---- computing ------------------------------------------------------------------------------ */

void session_hash_logits(struct session *s)
{
    const uint8_t *bytes = (const uint8_t *)s->logits;
    size_t n = s->model->image.header->params.vocab * sizeof(float);

    if (!s->hash.on || s->hash.rows == SESSION_HASHED_ROWS) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        s->hash.value = (s->hash.value ^ bytes[i]) * FNV_PRIME;
    }
    s->hash.rows++;
}

enum err session_pass_failed(struct session *s, enum err error)
{
    (void)session_cut_states(s, s->n_cached);
    s->logits = NULL;
    if (error != ERR_ABORTED) {
        format_text(s->error_message, sizeof s->error_message, "%s",
                    s->model->stream.error_message);
    }
    return error;
}

void session_pass_begin(struct session *s, uint32_t n)
{
    kv_cache_write(&s->kv, s->n_cached, s->n_cached + n);
    kv_tiers_begin(&s->kv, s->model->kernels, s->n_cached,
                   s->model->transformer.act.attention[0].q);
}

enum err session_run_layers(struct session *s, uint32_t n, uint32_t n_read, bool want_head,
                            const struct stop *stop)
{
    struct transformer_part part = session_part(s, 0, n);
    struct transformer_pass pass = { s->ids + s->n_cached, n, &part, 1, want_head };
    enum err e;

    part.skip = s->follower != NULL ? 0 : n - n_read;
    session_pass_begin(s, n);
    model_lend_core(s->model, n);
    e = transformer_pass(&s->model->transformer, &pass, stop);
    if (e != ERR_OK) {
        return session_pass_failed(s, e);
    }
    return ERR_OK;
}

/* Compute the logits of the pass's tokens [first, first + n). */
static enum err run_head(struct session *s, uint32_t first, uint32_t n)
{
    enum err e = transformer_logits(&s->model->transformer, first, n, &s->logits);

    if (e != ERR_OK) {
        return session_pass_failed(s, e);
    }
    return ERR_OK;
}

uint32_t session_pass_limit(const struct session *s, uint32_t n)
{
    return kv_tiers_limit(&s->kv, s->n_cached, session_prefix_limit(s, n));
}

/* Compute pending tokens in whole chunks, until `last` of them remain. */
static enum err run_chunks(struct session *s, uint32_t last, const struct stop *stop)
{
    session_rope_settle(s);
    session_prefix_settle(s);
    while (s->n_ids - s->n_cached > last) {
        uint32_t pending = s->n_ids - s->n_cached;
        uint32_t most = session_watch_limit(s, min_u32(pending - last, s->model->plan.chunk));
        uint32_t n = session_pass_limit(s, most);
        enum err e = session_run_layers(s, n, n == pending, n == pending, stop);

        /* Run the head only after the last token, because other logits are not used. */
        if (e == ERR_OK && n == pending) {
            e = run_head(s, n - 1, 1);
        }
        if (e != ERR_OK && e != ERR_ABORTED) {
            session_forget_prefix(s); /* the prefix's pages on the card may be unreadable */
        }
        if (e != ERR_OK) {
            return e;
        }
        /* Tokens of a prompt count as cached only after their pass. */
        s->n_cached += n;
        session_prefix_reached(s);
        session_watch_passed(s);
    }
    return ERR_OK;
}

enum err session_run(struct session *s, const struct stop *stop)
{
    enum err e;

    /* Drop guesses that were not taken, and states with the short factors of RoPE if the
     * sequence is too long for them. */
    session_forget_guesses(s);
    session_rope_settle(s);
    if (s->n_cached == s->n_ids) {
        format_text(s->error_message, sizeof s->error_message,
                    "%.100s: the text is empty, and the model has no BOS to begin with",
                    s->model->file->name);
        return ERR_BAD_ARGUMENT;
    }
    e = run_chunks(s, 0, stop);
    if (e != ERR_OK) {
        return e;
    }
    session_hash_logits(s);
    return ERR_OK;
}

enum err session_append(struct session *s, const uint32_t *ids, size_t n, const struct stop *stop)
{
    enum err e = session_put(s, ids, n);

    if (e != ERR_OK) {
        return e;
    }
    return session_run(s, stop);
}

/* Run a pass over the next n tokens, and pass on the logits of each token from number `first`
 * of the sequence on. */
static enum err visit_chunk(struct session *s, uint32_t n, uint32_t first, session_visit_fn *visit,
                            void *context)
{
    uint32_t known = min_u32(n, max_u32(first, s->n_cached) - s->n_cached);
    enum err e = session_run_layers(s, n, n - known, known < n, NULL);

    /* Tokens before `first` were visited before. */
    for (uint32_t i = known; i < n && e == ERR_OK; i++) {
        e = run_head(s, i, 1);
        if (e == ERR_OK) {
            session_hash_logits(s);
            visit(context, s->n_cached + i, s->logits);
        }
    }
    if (e == ERR_OK) {
        s->n_cached += n;
    }
    return e;
}

enum err session_append_visit(struct session *s, const uint32_t *ids, size_t n,
                              session_visit_fn *visit, void *context)
{
    uint32_t chunk = s->model->plan.head.tiled ? 1 : s->model->plan.chunk;
    enum err e = session_put(s, ids, n);
    uint32_t first;

    session_prefix_settle(s);
    first = s->n_cached; /* earlier tokens may be computed again, but are not visited again */
    session_rope_settle(s);
    while (e == ERR_OK && s->n_cached < s->n_ids) {
        e = visit_chunk(s, session_pass_limit(s, min_u32(s->n_ids - s->n_cached, chunk)), first,
                        visit, context);
    }
    return e;
}

/* ---- guesses -------------------------------------------------------------------------------- */

enum err session_run_guesses(struct session *s, uint32_t n, const struct stop *stop)
{
    enum err e = check_room(s, n);

    assert(n <= session_rope_limit(s, model_most_guesses(s->model)) && s->n_cached < s->n_ids);
    s->n_ahead = 0;
    if (e == ERR_OK) {
        e = run_chunks(s, 1, stop);
    }
    if (e != ERR_OK) {
        return e;
    }
    /* States return to here if a guess is wrong. */
    for (uint32_t i = 0; i < s->n_states && n != 0; i++) {
        layer_state_mark(&s->states[i], s->n_cached, LAYER_MARK_PASS);
    }
    e = session_run_layers(s, n + 1, n + 1, true, stop);
    if (e == ERR_OK) {
        e = run_head(s, 0, n + 1);
    }
    if (e != ERR_OK) {
        return e;
    }
    /* The first token is certain; the guesses wait for session_take_guess. */
    s->n_cached++;
    s->n_ahead = n;
    session_hash_logits(s);
    return ERR_OK;
}

bool session_put_next(struct session *s, uint32_t id)
{
    assert(s->n_ids < s->context);
    /* The guess was right, and its logits are known. */
    if (s->n_ahead != 0 && s->ids[s->n_ids] == id) {
        s->n_ids++;
        return true;
    }
    session_forget_guesses(s);
    s->ids[s->n_ids++] = id;
    return false;
}

void session_take_guess(struct session *s)
{
    assert(s->n_ahead != 0 && s->n_cached + 1 == s->n_ids);
    s->n_ahead--;
    s->n_cached++;
    s->logits += s->model->transformer.act.logits_stride;
    session_hash_logits(s);
}
