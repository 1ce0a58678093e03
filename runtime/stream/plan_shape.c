/* Chooses a plan's context, chunk and number of sequences, and makes the plan.
 *
 *   chunk      the request's, or 128, 64, 32, 16: the first that keeps all weights in memory, else
 *              the first that fits; if nothing streams, the first down to 32 whose inputs stay
 *              in a core's second-level cache
 *   sequences  the request's, and spare ones as long as they hardly reduce the memory of weights
 */
#include <string.h>

#include "board/min_max.h"
#include "runtime/stream/plan_private.h"
#include "runtime/text/format_text.h"

/* Return true if every weight can stay in memory with plan->chunk. The check is quick, whereas a
 * streaming plan tries many candidates. */
static bool may_stay(const struct plan *plan, const struct plan_request *r,
                     const struct plan_weights *w)
{
    struct plan_layout l;

    plan_lay_out(&l, plan, r, plan->context);
    return r->limits.kv_card || r->in_place || w->total <= l.limit;
}

/* Halve the chunk repeatedly if the model does not fit with it, or if a smaller chunk lets every
 * weight stay in memory, which is worth more than a long chunk. If no chunk is small enough, keep
 * the error of the smallest one, which needs the least and knows the cures that suffice. */
static enum err shrink_chunk(struct plan *plan, const struct plan_request *r,
                             const struct plan_weights *w, const struct plan *start, enum err e)
{
    struct plan other;

    for (uint32_t chunk = plan->chunk / 2; chunk >= PLAN_LEAST_CHUNK; chunk /= 2) {
        enum err found;

        other = *start;
        other.chunk = chunk;
        if (e == ERR_OK && !may_stay(&other, r, w)) {
            continue;
        }
        found = plan_with_chunk(&other, r, w);
        if (found == ERR_OK && (e != ERR_OK || other.residency != PLAN_STREAMED)) {
            *plan = other;
            return ERR_OK;
        }
        if (e != ERR_OK) {
            *plan = other;
        }
    }
    return e;
}

/* Make the chunk's inputs fit in seven eighths of the cache, because all inputs are read again for
 * every few rows of weights. If weights stream, the chunk stays as long as possible. */
static void fit_cache(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                      const struct plan *start)
{
    size_t room = r->cache_bytes - r->cache_bytes / 8, each = plan_input_bytes(plan, r);
    struct plan other = *start;

    other.chunk = plan->chunk;
    while (other.chunk / 2 >= max_u32(PLAN_CACHED_CHUNK, plan->sequences) &&
           other.chunk * each > room) {
        other.chunk /= 2;
    }
    if (other.chunk != plan->chunk && plan_with_chunk(&other, r, w) == ERR_OK &&
        other.residency == plan->residency) {
        *plan = other;
    }
}

/* ---- the request ---------------------------------------------------------------------------- */

static enum err check_request(struct plan *plan, const struct plan_request *r)
{
    const struct ingot_params *p = &r->image->header->params;

    if (r->limits.context > p->context) {
        format_text(plan->error_message, sizeof plan->error_message,
                    "ctx=%u is more than the %u tokens the model was trained for: lower ctx=",
                    (unsigned)r->limits.context, (unsigned)p->context);
        return ERR_BAD_ARGUMENT;
    }
    return ERR_OK;
}

static uint32_t or_default(uint32_t asked, uint32_t otherwise)
{
    if (asked != 0) {
        return asked;
    }
    return otherwise;
}

/* Choose context, chunk and rows of logits, as requested or by default. The context limits the
 * chunk, and the chunk the rows, but a pass takes at least a token of each sequence, and a lesson
 * compares two rows. */
static void choose_shape(struct plan *plan, const struct plan_request *r, uint32_t sequences)
{
    uint32_t most = r->image->header->params.context;
    uint32_t usual = or_default(r->limits.usual_context, PLAN_DEFAULT_CONTEXT);

    plan->context = or_default(r->limits.context, min_u32(most, usual));
    plan->sequences = sequences;
    plan->chunk = min_u32(or_default(r->limits.chunk, PLAN_DEFAULT_CHUNK), plan->context);
    plan->chunk = max_u32(plan->chunk, plan->sequences);
    if (r->work.learn_bytes != 0) {
        plan->chunk = max_u32(plan->chunk, PLAN_LEARN_CHUNK);
    }
    plan->logits_rows = max_u32(min_u32(r->work.logits_rows, plan->chunk), plan->sequences);
}

/* Plan with this many sequences. The caller has zeroed *plan. */
static enum err plan_sequences(struct plan *plan, const struct plan_request *r,
                               const struct plan_weights *w, uint32_t sequences)
{
    struct plan start;
    enum err e;

    choose_shape(plan, r, sequences);
    start = *plan;
    e = plan_with_chunk(plan, r, w);
    if (r->limits.chunk != 0) {
        return e;
    }
    if (e != ERR_OK || plan->residency == PLAN_STREAMED) {
        e = shrink_chunk(plan, r, w, &start, e);
    }
    if (e == ERR_OK && plan->residency != PLAN_STREAMED && r->cache_bytes != 0) {
        fit_cache(plan, r, w, &start);
    }
    return e;
}

/* Make room for n more sequences, unless pinned weights then lose more than a sixteenth of their
 * memory, or prompts get shorter chunks. */
static bool add_sequences(struct plan *plan, const struct plan_request *r,
                          const struct plan_weights *w, uint32_t n)
{
    struct plan more;
    size_t pinned = plan->memory.pinned;

    memset(&more, 0, sizeof more);
    if (plan_sequences(&more, r, w, plan->sequences + n) != ERR_OK ||
        more.residency != plan->residency || more.chunk != plan->chunk ||
        more.memory.pinned < pinned - pinned / 16) {
        return false;
    }
    *plan = more;
    return true;
}

enum err plan_make(struct plan *plan, const struct plan_request *r)
{
    uint32_t n = r->limits.kv_card ? 0 : r->work.spare_sequences;
    struct plan_weights w;
    enum err e;

    memset(plan, 0, sizeof *plan);
    e = check_request(plan, r);
    if (e != ERR_OK) {
        return e;
    }
    plan_weigh(&w, r->image, false);
    e = plan_sequences(plan, r, &w, or_default(r->work.sequences, 1));
    while (e == ERR_OK && n != 0 && !add_sequences(plan, r, &w, n)) {
        n /= 2;
    }
    return e;
}
