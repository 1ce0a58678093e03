/* The recurrent mixers in whole models: the logits equal the formulas in double precision, and have
 * the same bits for chunks of any size, any number of cores, weights in memory and streamed, and
 * all kernels. */
#include "board/host/host_cpu.h"
#include "tests/unit/model/hybrid_rig.h"

enum { N = 60 };

static struct workers crews[4]; /* 1 to 4 cores */
static uint32_t ids[N];
static float logits[N][H_VOCAB]; /* token by token */

struct distance {
    double difference, whole;
};

static void visit(void *context, uint32_t position, const float *row)
{
    struct distance *d = context;
    double want[H_VOCAB];

    memcpy(logits[position], row, sizeof logits[0]);
    expect_token(want, ids[position], position);
    for (uint32_t i = 0; i < H_VOCAB; i++) {
        d->difference += (want[i] - (double)row[i]) * (want[i] - (double)row[i]);
        d->whole += want[i] * want[i];
    }
}

static void test_formulas(const struct hybrid *h)
{
    struct distance d = { 0, 0 };

    rig.workers = &crews[0];
    rig.kv = kv_both(KV_F32);
    memset(expected_layers, 0, sizeof expected_layers);
    if (rig_start(0, 1, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, N);
    OK(session_append_visit(&rig.session, ids, N, visit, &d) == ERR_OK && d.whole > 1 &&
           d.difference < 1e-11 * d.whole,
       "%s: logits of %d tokens differ from the formulas by %.1e of their size", h->name, N,
       d.difference / d.whole);
    OK(memcmp(logits[N - 1], logits[N - 2], sizeof logits[0]) != 0,
       "logits of different tokens differ");
}

/* Each position's logits have the same bits, in chunks of a size. */
static void compare(void *context, uint32_t position, const float *row)
{
    *(unsigned *)context += memcmp(logits[position], row, sizeof logits[0]) == 0;
}

static unsigned count_same(size_t limit, uint32_t chunk)
{
    unsigned same = 0;

    if (rig_start(limit, chunk, false) != ERR_OK ||
        session_append_visit(&rig.session, ids, N, compare, &same) != ERR_OK)
        rig_die(rig.model.error_message);
    return same;
}

static void test_chunks(void)
{
    static const uint32_t chunks[] = { 1, 2, 3, 4, 5, 7, 31, 32, 33, N };
    unsigned same = 0, n = 0;

    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        rig.workers = &crews[i % 4];
        same += count_same(0, chunks[i]);
        n += N;
    }
    OK(same == n, "chunks of 1 to %d on 1 to 4 cores give the same bits: %u of %u", N, same, n);
}

static void test_streamed(void)
{
    size_t least;
    unsigned same = 0;

    rig.workers = &crews[2];
    least = rig_limits().least;
    same += count_same(least, 1);
    OK(rig.model.plan.residency == PLAN_STREAMED, "the model streams with %zu bytes of weights",
       least);
    same += count_same(least, 16);
    OK(same == 2 * N, "the streamed model gives the same bits: %u", same);
}

static void test_kernels(void)
{
    unsigned same;

    rig.workers = &crews[1];
    rig.features = host_cpu_features();
    same = count_same(0, 9);
    rig.features = CPU_ANY;
    OK(same == N, "this CPU's own kernels give the same logits: %u", same);
}

/* A layer without attention takes no room for keys and values. */
static void test_memory(void)
{
    const struct plan *p = &rig.model.plan;
    struct kv_layers layers = { rig.model.image.layers, H_LAYERS };
    size_t all = kv_cache_bytes(&layers, KV_TILE, kv_both(KV_F32)), heads = 0;

    for (unsigned i = 0; i < H_LAYERS; i++)
        heads += hybrid_source.params.layers[i].n_kv_heads;
    OK(all == 2 * heads * H_HEAD_DIM * KV_TILE * sizeof(float) && p->kv.states != 0 &&
           p->memory.kv == kv_cache_bytes(&layers, p->context, kv_both(KV_F32)) + p->kv.states,
       "the plan has %zu bytes of states, and keys and values of the layers that attend",
       p->kv.states);
}

int main(void)
{
    for (unsigned i = 0; i < 4; i++)
        workers_start(&crews[i], rig_platform(), i + 1);
    for (size_t i = 0; i < N_HYBRIDS; i++) {
        hybrid_make(&hybrids[i], INGOT_F32);
        test_formulas(&hybrids[i]);
        test_chunks();
        test_memory();
        test_streamed();
        test_kernels();
    }
    for (unsigned i = 0; i < 4; i++)
        workers_stop(&crews[i]);
    return tap_done();
}
