/* Sequences that a plan adds if they cost hardly any weights in memory. */
#include "runtime/stream/plan.h"

#include "tests/unit/stream/plan_rig.h"
#include "tests/unit/tap.h"

enum { SPARE = 4, STEP = 16381, MOST_BYTES = 24 << 20 };

static struct plan alone;

static void make_small(void)
{
    set_params(256, 1024, 12, 8, 2, 2000, 64, false);
    make_image(INGOT_Q8_0, 0);
    request.work.extra_scratch = 1000 * 64;
}

/* `plan` with spare sequences, and `alone` without. */
static bool make_both(void)
{
    request.work.spare_sequences = 0;
    if (plan_make(&alone, &request) != ERR_OK) {
        return false;
    }
    request.work.spare_sequences = SPARE;
    return plan_with(0) == ERR_OK;
}

static void test_room(void)
{
    make_small();
    OK(make_both() && plan.sequences == 1 + SPARE && plan.residency == alone.residency &&
           plan.memory.pinned == alone.memory.pinned && plan.chunk == alone.chunk &&
           plan.context == alone.context && plan.memory.kv >= 5 * (alone.memory.kv - INGOT_PAGE),
       "enough memory gives %u sequences, and the rest is as with one", plan.sequences);
    request.work.sequences = 2;
    OK(make_both() && alone.sequences == 2 && plan.sequences == 2 + SPARE,
       "spare sequences are added to those that are asked for");
    request.work.sequences = 0;
    request.limits.kv_card = true;
    OK(make_both() && plan.sequences == 1,
       "there are no spare sequences if keys and values may spill");
}

/* /bad compares the logits of two rows, also with a chunk of one token. */
static void test_lessons(void)
{
    make_small();
    request.limits.chunk = 1;
    request.work.spare_sequences = 0;
    OK(plan_with(0) == ERR_OK && plan.chunk == 1 && plan.logits_rows == 1,
       "a chunk of one token has one row of logits");
    request.work.learn_bytes = 1 << 16;
    request.work.logits_rows = 4;
    OK(plan_with(0) == ERR_OK && plan.chunk == 2 && plan.logits_rows == 2,
       "lessons have a second row: chunk %u, %u rows", plan.chunk, plan.logits_rows);
}

/* Every arena, from one that is too small to one with room for everything. */
static void test_arenas(void)
{
    unsigned n[1 + SPARE + 1] = { 0 }, streamed = 0, n_plans = 0, shares = 0;
    bool same = true, fits = true, other = false;

    make_small();
    for (size_t bytes = 0; bytes < MOST_BYTES; bytes += STEP) {
        request.arena_bytes = bytes;
        if (!make_both()) {
            other = other || n_plans != 0;
            continue;
        }
        n_plans++;
        n[plan.sequences <= 1 + SPARE ? plan.sequences : 0]++;
        streamed += plan.residency == PLAN_STREAMED;
        shares += plan.residency == PLAN_STREAMED && plan.sequences > 1;
        same = same && plan.residency == alone.residency && plan.chunk == alone.chunk &&
               plan.context == alone.context &&
               plan.memory.pinned >= alone.memory.pinned - alone.memory.pinned / 16 &&
               (plan.residency == PLAN_STREAMED || plan.memory.pinned == alone.memory.pinned);
        fits = fits && up(plan.memory.pinned, INGOT_PAGE) + up(plan.memory.io, INGOT_PAGE) +
                               up(plan.memory.kv, INGOT_PAGE) +
                               up(plan.memory.scratch, INGOT_PAGE) <=
                           bytes;
    }
    OK(n[1] != 0 && n[2] != 0 && n[3] != 0 && n[5] != 0 && n[0] == 0 && n[4] == 0 && streamed != 0,
       "%u plans, %u of them streamed, have 1, 2, 3 or 5 sequences, as memory allows", n_plans,
       streamed);
    OK(same, "spare sequences change neither chunks nor what stays, but for a sixteenth");
    OK(shares != 0, "%u streamed plans have more than one", shares);
    OK(fits, "a plan with spare sequences fits the arena");
    OK(!other, "spare sequences never make a plan impossible");
}

int main(void)
{
    test_room();
    test_lessons();
    test_arenas();
    return tap_done();
}
