/* Keys and values on a card in models where some layers have none, others have pages of another
 * size, and recurrent states stay in memory: the logits equal those with everything in memory. */
#include "runtime/stream/kv_spread.h"
#include "tests/unit/model/hybrid_rig.h"
#include "tests/unit/stream/kv_pages_rig.h"

enum { N = 100 };

static uint32_t ids[N];
static float expected[N][H_VOCAB];

static void keep(void *context, uint32_t position, const float *row)
{
    (void)context;
    memcpy(expected[position], row, sizeof expected[0]);
}

static void compare(void *context, uint32_t position, const float *row)
{
    *(unsigned *)context += memcmp(expected[position], row, sizeof expected[0]) == 0;
}

/* Half of it, back to a third, and on to the end: counts the equal logits of *n. */
static unsigned walk(uint32_t chunk, uint32_t n_spilled, unsigned *n)
{
    struct session *s = &rig.session;
    unsigned same = 0;
    uint32_t kept;

    if (open_pages(0, chunk, n_spilled) != ERR_OK)
        rig_die(rig.model.error_message);
    if (session_append_visit(s, ids, N / 2, compare, &same) != ERR_OK)
        rig_die(s->error_message);
    kept = session_cut(s, N / 3);
    (void)session_cut(s, kept);
    if (session_append_visit(s, ids + kept, N - kept, compare, &same) != ERR_OK)
        rig_die(s->error_message);
    *n = N / 2 + N - kept;
    return same;
}

static void test(const struct hybrid *h)
{
    const struct plan *p = &rig.model.plan;
    uint32_t keepers, good = 0, n = 0;

    hybrid_make(h, INGOT_F32);
    limits = rig_limits();
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, N);
    (void)session_append_visit(&rig.session, ids, N, keep, NULL);
    keepers = kv_spread_most(&rig.model.image);
    for (uint32_t chunk = 1; chunk < 40; chunk += 19, n++) {
        unsigned all, same = walk(chunk, keepers, &all);

        good += same == all && p->kv.n_spilled == keepers && p->kv.states != 0;
    }
    OK(good == n && keepers < H_LAYERS + (h->mixer == INGOT_MIXER_ATTENTION),
       "%s: %u of %u walks are right with %u of %d layers on the card", h->name, good, n, keepers,
       H_LAYERS);
}

int main(void)
{
    rig_alone();
    rig.kv = kv_both(KV_F32);
    test(&hybrids[1]);
    test(&hybrids[5]);
    test(&hybrid_latent);
    return tap_done();
}
