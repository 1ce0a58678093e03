#include "host/plan/board_plan.h"

#include "board/min_max.h"
#include "runtime/base/arena.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/model/model.h"
#include "runtime/session/session.h"
#include "runtime/text/format_text.h"

enum { LEAST_CONTEXT = 256 };

/* Return the given rate or, if it is 0, the board's rate. */
static uint64_t rate_of(uint64_t given, uint64_t boards)
{
    if (given != 0) {
        return given;
    }
    return boards;
}

static void set_rates(struct plan_rates *rates, const struct board_request *r)
{
    uint64_t memory = r->memory_rate, card = r->card_rate;

    if (r->board != NULL) {
        memory = rate_of(memory, r->board->memory_mb * 1000000ull);
        card = rate_of(card, r->board->card_kb * 1000ull);
    }
    rates->card = card;
    for (unsigned type = 0; memory != 0 && type < INGOT_N_TYPES; type++) {
        rates->decode[type] = (uint32_t)max_u64((1000000000000ull + memory / 2) / memory, 1);
    }
}

static enum err plan_once(struct plan *plan, const struct board_request *r, uint32_t context)
{
    uint64_t taken = INGOT_PAGE + image_meta_bytes(r->image->header);
    uint64_t ram = UINT64_MAX / 2, reserved = (uint64_t)BOARD_RESERVED_MIB << 20;
    struct plan_request p = { .image = r->image,
                              .limits = r->limits,
                              .use = r->use,
                              .work.extra_scratch = session_bytes(r->image),
                              .work.work_bytes = layer_work_bytes(r->image),
                              .work.states = layer_states_bytes(r->image) };
    enum err e;

    if (r->ram != 0) {
        ram = r->ram - min_u64(r->ram, reserved);
    }
    p.limits.context = context;
    p.cache_bytes = r->board != NULL ? (size_t)r->board->cache_kib << 10 : 0;
    p.arena_bytes = (size_t)(max_u64(ram, taken) - taken);
    p.taken_bytes = (size_t)(taken + reserved);
    set_rates(&p.rates, r);
    e = plan_make(plan, &p);
    if (e == ERR_OK && plan->residency == PLAN_STREAMED) { /* spec=auto, the default of boards */
        e = model_plan_guesses(plan, &p);
    }
    return e;
}

/* Plan with the given context. If it is 0, plan with the default context, and halve this until the
 * plan fits. */
enum err board_plan(struct plan *plan, const struct board_request *r)
{
    uint32_t context = r->limits.context;

    if (context != 0) {
        return plan_once(plan, r, context);
    }
    context = min_u32(r->image->header->params.context, PLAN_DEFAULT_CONTEXT);
    for (;;) {
        enum err e = plan_once(plan, r, context);

        if (e == ERR_OK || context < 2 * LEAST_CONTEXT) {
            return e;
        }
        context /= 2;
    }
}

uint64_t board_plan_memory(const struct plan *plan, const struct image *img)
{
    return INGOT_PAGE + image_meta_bytes(img->header) + plan->memory.pinned + plan->memory.io +
           plan->memory.kv + plan->memory.scratch + plan->memory.learn;
}

uint64_t board_plan_read(const struct plan *plan, const struct image *img)
{
    size_t row = 0;
    uint64_t offset;

    if (plan->residency != PLAN_STREAMED) {
        return plan->table.bytes;
    }
    if (plan->rows.bytes != 0) {
        plan_embedding_range(img, 0, &offset, &row);
    }
    return plan->layers.read + plan->head.read + plan->table.bytes + row;
}

const char *board_plan_head(const struct plan *plan, const struct image *img,
                            char text[BOARD_PLAN_HEAD_BYTES])
{
    unsigned percent = plan_head_percent(plan, img);

    text[0] = '\0';
    if (percent == 100) {
        format_text(text, BOARD_PLAN_HEAD_BYTES, ", and the head");
    } else if (percent != 0) {
        format_text(text, BOARD_PLAN_HEAD_BYTES, ", and %u %% of the head", percent);
    }
    return text;
}

unsigned board_rate_decimals(uint64_t decode_ns)
{
    if (decode_ns <= 100000000) {
        return 1;
    }
    if (decode_ns <= 1000000000) {
        return 2;
    }
    return 3;
}
