/* Ten thousand random operations on a session and the sequences beside it: tokens added, cut, sequences
 * kept, swapped and dropped, beams, sequences saved and loaded, in one type and in tiers whose tiles move.
 * A record has every sequence's tokens; cached tokens are compared with the same tokens computed afresh. */
#include "runtime/compute/kv_tiers.h"
#include "runtime/session/beams.h"
#include "runtime/session/session_rope.h"
#include "tests/unit/model/hybrid_rig.h"

enum { SEQUENCES = 3, CONTEXT = 256, SAVED_BYTES = 4 << 20, STEPS = 10000, VOCAB_LEAST = 4 };

struct record {
    uint32_t ids[CONTEXT], n;
};

static struct session_sequence sequences[SEQUENCES];
static struct beams beams;
static struct record now, of_line[SEQUENCES], of_save;
static uint8_t saved[SAVED_BYTES];
static size_t at;
static uint32_t saved_cached;
static uint32_t seed = 20261123;
static unsigned n_shared, n_lost, n_loaded, n_full, n_searched, n_compared, untrue, failed;

static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

/* ---- operations ----------------------------------------------------------------------------- */

static void add(void)
{
    uint32_t ids[24], n = 1 + draw(24);

    if (now.n + n > CONTEXT) {
        n_full++;
        n = CONTEXT - now.n;
        if (session_put(&rig.session, ids, n + 1) != ERR_TOO_LONG)
            failed++;
    }
    for (uint32_t i = 0; i < n; i++)
        ids[i] = VOCAB_LEAST + draw(100);
    memcpy(now.ids + now.n, ids, n * sizeof *ids);
    now.n += n;
    if (n != 0 && session_append(&rig.session, ids, n, NULL) != ERR_OK)
        failed++;
}

static void cut(void)
{
    uint32_t n = draw(now.n + 1);

    if (draw(3) != 0) /* mostly a little, so that sequences get long */
        n = now.n - n / 8;
    now.n = n;
    (void)session_cut(&rig.session, n);
}

static void keep(void)
{
    uint32_t i = draw(SEQUENCES);

    session_sequence_keep(&rig.session, &sequences[i]);
    of_line[i] = now;
}

static void swap(void)
{
    uint32_t i = draw(SEQUENCES);
    struct record was = now;

    n_lost += sequences[i].table != NULL && sequences[i].n_ids != 0 && sequences[i].table->n == 0;
    session_sequence_swap(&rig.session, &sequences[i]);
    now = of_line[i];
    of_line[i] = was;
}

static void drop(void)
{
    uint32_t i = draw(SEQUENCES);

    session_sequence_drop(&rig.session, &sequences[i]);
    of_line[i].n = 0;
}

static enum err put(void *context, void *memory, size_t bytes)
{
    (void)context;
    memcpy(saved + at, memory, bytes);
    at += bytes;
    return ERR_OK;
}

static enum err get(void *context, void *memory, size_t bytes)
{
    (void)context;
    memcpy(memory, saved + at, bytes);
    at += bytes;
    return ERR_OK;
}

static void save(void)
{
    struct layer_state_io io = { put, NULL, false, false };

    at = 0;
    of_save = now;
    session_rope_settle(&rig.session); /* as whoever saves does */
    saved_cached = rig.session.n_cached;
    failed += session_move(&rig.session, now.n, saved_cached, &io) != ERR_OK;
}

static void load(void)
{
    struct layer_state_io io = { get, NULL, true, false };

    if (of_save.n == 0)
        return;
    at = 0;
    n_loaded++;
    now = of_save;
    failed += session_move(&rig.session, now.n, saved_cached, &io) != ERR_OK ||
              session_restore(&rig.session, now.n, saved_cached) != ERR_OK;
}

static bool never(void *context, uint32_t id)
{
    (void)context;
    return id == 0;
}

static void search(void)
{
    struct beams_job job = { NULL, never, NULL, 1 + draw(6), NULL, NULL };
    struct beams_result r;

    if (beams.n == 0 || rig.session.logits == NULL)
        return;
    n_searched++;
    failed += beams_search(&beams, &rig.session, &job, &r) != ERR_OK;
    now.n = rig.session.n_ids;
    memcpy(now.ids, rig.session.ids, now.n * sizeof *now.ids);
}

/* ---- what must be so ------------------------------------------------------------------------ */

static bool is(const struct record *r, const uint32_t *ids, uint32_t n)
{
    return r->n == n && memcmp(r->ids, ids, n * sizeof *ids) == 0;
}

/* Each place has as many holders as it counts, or lies once among the free. */
static bool places_right(void)
{
    const struct kv_pool *p = rig.session.kv.pool;
    uint32_t holders[CONTEXT] = { 0 };

    if (p == NULL)
        return true;
    for (uint32_t i = 0; i < p->n_tables; i++) {
        for (uint32_t j = 0; j < p->tables[i].n; j++)
            n_shared += holders[p->tables[i].slots[j]]++ != 0;
    }
    for (uint32_t i = 0; i < p->n_free; i++)
        holders[p->free[i]] += 1u << 16;
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (holders[i] != (p->owners[i] == 0 ? 1u << 16 : p->owners[i]))
            return false;
    }
    return true;
}

static bool all_right(void)
{
    bool good = is(&now, rig.session.ids, rig.session.n_ids) && places_right();

    for (uint32_t i = 0; i < SEQUENCES; i++)
        good = good && is(&of_line[i], sequences[i].ids, sequences[i].n_ids);
    return good;
}

/* Returns one more token's logits, from the cache and from nothing. */
static void compare(void)
{
    static float cached[8192];
    struct session *s = &rig.session;
    uint32_t next = 7, n = now.n;

    if (n == 0 || n == CONTEXT)
        return;
    n_compared++;
    failed += session_append(s, &next, 1, NULL) != ERR_OK;
    memcpy(cached, s->logits, rig_logits_bytes());
    (void)session_cut(s, 0);
    failed += session_append(s, now.ids, n, NULL) != ERR_OK ||
              session_append(s, &next, 1, NULL) != ERR_OK;
    untrue += memcmp(cached, s->logits, rig_logits_bytes()) != 0;
    (void)session_cut(s, n);
}

static void step(void)
{
    switch (draw(16)) {
    case 0: keep(); break;
    case 1:
    case 2: swap(); break;
    case 3: drop(); break;
    case 4: save(); break;
    case 5: load(); break;
    case 6:
    case 7: cut(); break;
    case 8: search(); break;
    default: add();
    }
    if (now.n > CONTEXT - 12 && draw(4) == 0) {
        now.n = 0;
        session_clear(&rig.session);
    }
}

static void test_random(const char *types, unsigned steps)
{
    struct session_sequence *all[SEQUENCES + BEAMS_MOST];
    unsigned wrong = 0;

    if (!kv_types_parse(types, &rig.kv) || rig_start(0, 16, false) != ERR_OK)
        rig_die(types);
    for (uint32_t i = 0; i < SEQUENCES + BEAMS_MOST; i++)
        all[i] = i < SEQUENCES ? &sequences[i] : &beams.sequences[i - SEQUENCES];
    session_sequences_open(&rig.session, all, SEQUENCES + BEAMS_MOST);
    beams.n = rig.session.kv.pool != NULL ? 3 : 0;
    now.n = of_save.n = 0;
    for (uint32_t i = 0; i < SEQUENCES; i++)
        of_line[i].n = 0;
    n_shared = n_lost = n_loaded = n_full = n_searched = n_compared = untrue = failed = 0;
    for (unsigned i = 0; i < steps; i++) {
        step();
        wrong += !all_right();
        if (i % 64 == 0)
            compare();
    }
    OK(wrong == 0 && failed == 0,
       "%s: each sequence has its tokens after %u steps, and no place is lost or held too often "
       "(%u, %u)",
       types, steps, wrong, failed);
    OK(untrue == 0 && n_compared > steps / 80,
       "the cached keys are those of the sequences: %u of %u are not", untrue, n_compared);
    OK(n_loaded > steps / 40 && n_full > 0 &&
           (beams.n == 0 || (n_shared > steps / 4 && n_lost > 10 && n_searched > steps / 40)),
       "the steps had %u loads, %u full contexts, %u shared tiles, %u lost ones and %u searches",
       n_loaded, n_full, n_shared, n_lost, n_searched);
}

int main(void)
{
    static const struct hybrid by_length = { "LongRoPE", INGOT_MIXER_ATTENTION, .attends = 0x3f,
                                             .long_context = 120 };
    static struct workers crew;

    workers_start(&crew, rig_platform(), 1);
    rig.workers = &crew;
    rig.kept_sequences = SEQUENCES + BEAMS_MOST;
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    test_random("f16", STEPS);
    test_random("rot_q8,rot_q4", STEPS / 8);
    test_random("tiers:64,64,kivi", STEPS / 8);
    hybrid_make(&by_length, INGOT_Q8_0);
    test_random("f16", STEPS / 2);
    return tap_done();
}
