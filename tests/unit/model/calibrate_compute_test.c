/* The measurement of the cores: its results, that it stays in its memory for every size, and that
 * it changes no logit. */
#include "runtime/model/calibrate_compute.h"

#include "tests/unit/rig.h"

enum { PROMPT = 40, MOST_VOCAB = 640 };

static struct workers crews[3];

static const struct plan_rates *probe(struct memory_range memory)
{
    struct plan_rates *r = &rig.model.request.rates;

    *r = (struct plan_rates){ 0 };
    calibrate_compute(&rig.model, rig.workers, memory);
    return r;
}

static bool is_measured(const struct plan_rates *r, enum ingot_type type)
{
    return r->decode[type] != 0 && r->prefill[type] != 0;
}

static bool is_empty(const struct plan_rates *r)
{
    static const struct plan_rates none;

    return memcmp(r, &none, sizeof none) == 0;
}

/* Layers and their matrices: on a busy computer a matrix may seem to take longer than its layer,
 * but not every time. */
static bool finds_rest(struct memory_range memory)
{
    const struct plan_rates *r = probe(memory);

    for (int i = 0; i < 30 && r->layer == 0; i++)
        r = probe(memory);
    return r->layer != 0;
}

static void test_rates(enum ingot_type type)
{
    enum { BYTES = 8 << 20 };
    struct memory_range memory = { aligned_alloc(4096, BYTES), BYTES };

    for (int i = 0; i < 2; i++) {
        const struct plan_rates *r;

        rig.workers = &crews[i];
        rig_open(0, 0, false);
        r = probe(memory);
        OK(is_measured(r, type) && r->check != 0,
           "%d cores: a matrix takes %u ps a byte and token, "
           "in a chunk %u, a checksum %u",
           1 + i, r->decode[type], r->prefill[type], r->check);
        OK(!is_measured(r, INGOT_F32) && !is_measured(r, INGOT_F16),
           "other types are not measured");
        OK(finds_rest(memory), "the rest of a small layer takes %u ns", r->layer);
    }
    free(memory.base);
}

/* Gives exactly so much memory; the sanitizer watches its end. */
static void test_little_memory(enum ingot_type type)
{
    const struct image *image = &rig.model.image;
    size_t least = 0;
    unsigned none = 0;
    struct memory_range memory;
    const struct plan_rates *r;

    rig.workers = &crews[0];
    rig_open(0, 0, false);
    do {
        least += 4096;
        memory = (struct memory_range){ aligned_alloc(4096, least), least };
        r = probe(memory);
        free(memory.base);
        none += is_empty(r);
    } while (!is_measured(r, type) && least < RIG_RAM);
    OK(none > 0 && least < RIG_RAM, "nothing is measured with up to %u KiB", none * 4);
    OK(r->check != 0, "a matrix and a checksum are measured with %zu KiB", least >> 10);
    for (size_t i = 1; i < 8; i++) {
        size_t bytes = (size_t)image->segments[1].bytes - 4096 + i * 5000;

        memory = (struct memory_range){ malloc(least + bytes), least + bytes };
        (void)probe(memory);
        free(memory.base);
    }
    least += (size_t)image->segments[1].bytes;
    memory = (struct memory_range){ aligned_alloc(4096, least), least };
    OK(finds_rest(memory), "layers are measured with room for one layer");
    free(memory.base);
}

/* ---- others at work on the cores: a clock that the test turns ---- */

enum { QUIET, BURSTS, MESS };

static struct {
    int others;
    unsigned calls;
    uint64_t now, step; /* microseconds */
} played;

/* A call takes 100 us, and so does a layer; now and then another program has the core for 3 ms. */
static uint64_t played_ticks(void *context)
{
    (void)context;
    played.now += played.step;
    if (played.others == BURSTS && ++played.calls % 24 == 0) {
        played.now += 3000;
    }
    if (played.others == MESS) {
        played.step += played.step / 4;
    }
    return played.now;
}

/* Layers whose matrices take almost no time, so that all of their time is measured. */
static struct plan_rates probe_beside(int others, enum ingot_type type, struct memory_range memory)
{
    struct plan_rates *r = &rig.model.request.rates;

    played.others = others;
    played.calls = 0;
    played.step = 100;
    *r = (struct plan_rates){ 0 };
    r->decode[type] = r->prefill[type] = 1;
    calibrate_compute(&rig.model, rig.workers, memory);
    return *r;
}

static void test_others(enum ingot_type type)
{
    static struct platform platform;
    enum { BYTES = 8 << 20 };
    struct memory_range memory = { aligned_alloc(4096, BYTES), BYTES };
    struct plan_rates quiet, bursts;

    platform = *rig_platform();
    platform.clock = (struct platform_clock){ .ticks = played_ticks, .hz = 1000000 };
    workers_start(&crews[2], &platform, 1);
    rig.workers = &crews[2];
    rig_open(0, 0, false);
    quiet = probe_beside(QUIET, type, memory);
    bursts = probe_beside(BURSTS, type, memory);
    OK(quiet.layer > 90000 && quiet.layer <= 100000 && !quiet.disturbed, "a layer takes %u ns",
       quiet.layer);
    OK(bursts.layer == quiet.layer && !bursts.disturbed,
       "a layer takes %u ns beside a process that uses the core now and then", bursts.layer);
    OK(probe_beside(MESS, type, memory).disturbed, "a time that never comes again is doubted");
    free(memory.base);
}

static void test_logits(size_t limit, const char *what)
{
    static float expected[MOST_VOCAB];
    uint32_t ids[PROMPT];
    enum err e = rig_start(limit, 0, false);

    rig_ids(ids, PROMPT);
    if (e != ERR_OK || session_append(&rig.session, ids, PROMPT, NULL) != ERR_OK)
        rig_die(rig.model.error_message);
    memcpy(expected, rig.session.logits, rig_logits_bytes());
    memset(rig.ram, 0x7f, RIG_RAM);
    rig_open(limit, 0, false);
    rig.setup.calibrate = true;
    e = model_open(&rig.model, &rig.setup);
    e = e == ERR_OK ? rig_load() : e;
    e = e == ERR_OK ? session_append(&rig.session, ids, PROMPT, NULL) : e;
    OK(e == ERR_OK && rig.model.plan.prediction.decode_ns != 0 &&
           memcmp(expected, rig.session.logits, rig_logits_bytes()) == 0,
       "%s: the speed is predicted, and the logits are the same as without", what);
}

int main(void)
{
    workers_start(&crews[0], rig_platform(), 1);
    workers_start(&crews[1], rig_platform(), 2);
    rig_make_model("tiny", INGOT_Q8_0);
    test_rates(INGOT_Q8_0);
    test_little_memory(INGOT_Q8_0);
    test_others(INGOT_Q8_0);
    rig.workers = &crews[0];
    rig.kv = kv_both(KV_F32);
    test_logits(0, "resident");
    rig.kv = kv_both(KV_F16);
    test_logits(rig_limits().least, "streamed");
    rig_make_model("untied", INGOT_Q4_0);
    test_rates(INGOT_Q4_0);
    return tap_done();
}
