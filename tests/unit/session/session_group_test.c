/* Sequences side by side: ids and logits have the bits of each sequence alone, whichever others are in the
 * pass and whenever they come and go; on one to four cores, in memory and streamed, for every way to keep
 * keys and values, with experts and with recurrent states. */
#include "flash_image/format/adapter.h"
#include "runtime/session/session_group.h"
#include "tests/unit/model/hybrid_rig.h"

enum { N = GROUP_MOST, NEW = 8, MOST_PROMPT = 70, VOCAB = 4096 };

static struct workers crews[4]; /* 1 to 4 cores */
static struct session sessions[N];
static struct session_group group;

static struct sequence {
    uint32_t prompt[MOST_PROMPT], n_prompt;
    uint32_t begins; /* before this pass */
    uint32_t ids[NEW], n;
    float logits[NEW][VOCAB];
} sequences[N];

static uint32_t best(const float *logits)
{
    uint32_t vocab = rig.model.image.header->params.vocab, at = 0;

    for (uint32_t i = 1; i < vocab; i++) {
        if (logits[i] > logits[at])
            at = i;
    }
    return at;
}

static void make_prompts(void)
{
    uint32_t ids[N * MOST_PROMPT];

    rig_ids(ids, N * MOST_PROMPT);
    for (uint32_t i = 0; i < N; i++) {
        struct sequence *q = &sequences[i];

        q->n_prompt = i % 3 == 2 ? 1 : 3 + i * 9; /* over the end of a tile, too */
        q->begins = i < 3 ? 0 : i;
        memcpy(q->prompt, ids + i * MOST_PROMPT, sizeof q->prompt);
    }
}

/* ---- adapters: three of their own, in sets of none to two ---- */

enum { ADAPTERS = 3, SETS = 4, RANK = 4, CHUNK_MOST = 128, MOST_PAIRS = 32 };

static struct adapter_header headers[ADAPTERS];
static struct adapter_pair pairs[ADAPTERS][MOST_PAIRS];
static _Alignas(64) float adapter_data[ADAPTERS][1 << 18];
static struct lora_adapter adapters[ADAPTERS];
static _Alignas(64) float work[SETS][CHUNK_MOST * 512];
static struct lora sets[SETS];
static bool adapted; /* sequence i has set i % SETS; the first set is empty */

/* Lists them in the order of a file, by layer and role: queries, gates and results of the first and
 * the last layer, the head, and the embedding, whose A has a row for each token. */
static void make_adapter(unsigned which)
{
    static const enum ingot_role roles[] = { INGOT_ATTN_Q, INGOT_ATTN_OUT, INGOT_FFN_GATE };
    struct adapter_header *h = &headers[which];
    uint32_t layers = rig.model.image.header->params.n_layers;
    size_t at = 0;

    memset(h, 0, sizeof *h);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t layer = i >= 6 ? INGOT_NO_LAYER : i < 3 ? 0 : layers - 1;
        enum ingot_role role = i == 6   ? INGOT_TOKEN_EMBEDDING
                               : i == 7 ? INGOT_OUTPUT
                                        : roles[i % 3];
        const struct ingot_tensor *w = image_tensor(&rig.model.image, role, layer);
        uint32_t rows = i == 6 ? w->cols : w->rows, cols = i == 6 ? w->rows : w->cols;
        struct adapter_pair *p = &pairs[which][h->n_pairs++];
        size_t n_a, n_b;

        *p = (struct adapter_pair){ .role = (uint16_t)role,
                                    .layer = (uint16_t)layer,
                                    .rank = RANK,
                                    .rows = rows,
                                    .cols = cols,
                                    .scale = 0.5f };
        n_a = RANK * (size_t)((cols + ADAPTER_COLS - 1) / ADAPTER_COLS * ADAPTER_COLS);
        n_b = RANK * (size_t)((rows + 7) / 8 * 8);
        p->a = at * sizeof(float);
        at += (n_a + 15) / 16 * 16;
        p->b = at * sizeof(float);
        at += (n_b + 15) / 16 * 16;
        if (at > sizeof adapter_data[0] / sizeof(float))
            rig_die("an adapter is too large");
    }
    h->most_ranks = 3 * RANK;
    h->header_crc32c = which + 1;
    hybrid_seed = which + 1;
    for (size_t i = 0; i < at; i++)
        adapter_data[which][i] = 0.2f * hybrid_uniform();
    adapters[which] = (struct lora_adapter){ h, pairs[which], (const uint8_t *)adapter_data[which],
                                             INGOT_F32 };
}

static void make_sets(void)
{
    for (unsigned i = 0; i < ADAPTERS; i++)
        make_adapter(i);
    for (unsigned i = 1; i < SETS; i++) {
        sets[i] = (struct lora){ .n = i == 3 ? 2 : 1, .u = work[i] };
        sets[i].uses[0] = (struct lora_use){ &adapters[i - 1], 1.0f };
        sets[i].uses[1] = (struct lora_use){ &adapters[0], -0.5f };
        sets[i].stride = lora_stride(sets[i].n * 3 * RANK);
    }
    adapted = true;
}

static struct lora *set_of(uint32_t sequence)
{
    return adapted && sequence % SETS != 0 ? &sets[sequence % SETS] : NULL;
}

/* Computes each by itself, with its own session; the others are compared with that. */
static void run_alone(void)
{
    rig.sequences = 0;
    for (uint32_t i = 0; i < N; i++) {
        struct sequence *q = &sequences[i];
        const uint32_t *next = q->prompt;
        uint32_t n;

        if (rig_start(0, 32, false) != ERR_OK)
            rig_die(rig.model.error_message);
        make_prompts();
        rig.model.transformer.lora = set_of(i);
        n = q->n_prompt;
        for (q->n = 0; q->n < NEW; q->n++) {
            if (session_append(&rig.session, next, n, NULL) != ERR_OK)
                rig_die(rig.session.error_message);
            memcpy(q->logits[q->n], rig.session.logits, rig_logits_bytes());
            q->ids[q->n] = best(rig.session.logits);
            next = &q->ids[q->n];
            n = 1;
        }
    }
}

/* ---- side by side ---- */

struct outcome {
    unsigned same, wrong, passes;
};

/* Takes a sequence that has logits: compares them, and goes on, or leaves when it has enough. */
static void take(struct outcome *o, uint32_t i, uint32_t *n_new)
{
    const struct sequence *q = &sequences[i];
    struct session *s = &sessions[i];
    uint32_t id;

    if (s->logits == NULL)
        return;
    id = best(s->logits);
    if (memcmp(s->logits, q->logits[*n_new], rig_logits_bytes()) == 0 && id == q->ids[*n_new])
        o->same++;
    else
        o->wrong++;
    if (++*n_new < NEW && session_put(s, &id, 1) != ERR_OK)
        rig_die(s->error_message);
}

static void set_members(const uint32_t *n_new, uint32_t pass, uint32_t n)
{
    group.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (sequences[i].begins <= pass && n_new[i] < NEW)
            group.sessions[group.n++] = &sessions[i];
    }
}

static void begin_all(size_t limit, uint32_t chunk, bool in_place, uint32_t n)
{
    rig.sequences = n;
    if (rig_open(limit, chunk, in_place) != ERR_OK || model_load(&rig.model, &rig.setup) != ERR_OK)
        rig_die(rig.model.error_message);
    for (uint32_t i = 0; i < n; i++) {
        session_open(&sessions[i], &rig.model, &rig.setup);
        sessions[i].lora = set_of(i);
        if (session_put(&sessions[i], sequences[i].prompt, sequences[i].n_prompt) != ERR_OK)
            rig_die(sessions[i].error_message);
    }
    memset(&group, 0, sizeof group);
}

static struct outcome run_group(size_t limit, uint32_t chunk, bool in_place, uint32_t n)
{
    struct outcome o = { 0, 0, 0 };
    uint32_t n_new[N] = { 0 };

    begin_all(limit, chunk, in_place, n);
    for (uint32_t pass = 0; pass < 1000; pass++) {
        set_members(n_new, pass, n);
        if (group.n == 0 && pass > N)
            break;
        if (group.n == 0)
            continue;
        if (session_group_pass(&group, NULL) != ERR_OK)
            rig_die(group.sessions[0]->error_message);
        for (uint32_t i = 0; i < n; i++) {
            if (sequences[i].begins <= pass && n_new[i] < NEW)
                take(&o, i, &n_new[i]);
        }
    }
    o.passes = (unsigned)group.n_passes;
    return o;
}

static bool all_same(struct outcome o, uint32_t n)
{
    return o.wrong == 0 && o.same == n * NEW;
}

static void test_sizes(const char *name)
{
    static const uint32_t chunks[] = { 8, 9, 16, 33, 128 };
    unsigned good = 0, n = 0;
    struct outcome o = { 0, 0, 0 };

    for (uint32_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++, n++) {
        rig.workers = &crews[i % 4];
        o = run_group(0, chunks[i], i == 3, N);
        good += all_same(o, N);
    }
    OK(good == n,
       "%s: %d sequences in any chunks, on 1 to 4 cores, have the bits of each alone, %u of %u",
       name, N, good, n);
    OK(o.passes < 3 * NEW, "the sequences of a group need only %u passes", o.passes);
    for (uint32_t i = 1; i < N; i++) {
        rig.workers = &crews[i % 4];
        good += all_same(run_group(0, 16, false, i), i);
        n++;
    }
    OK(good == n, "groups of 1 to %d sequences have the bits of each alone", N - 1);
}

static void test_streamed(const char *name)
{
    size_t least;
    struct outcome a, b;

    rig.workers = &crews[2];
    rig.sequences = N;
    least = rig_limits().least;
    a = run_group(least, 16, false, N);
    OK(rig.model.plan.residency == PLAN_STREAMED && all_same(a, N),
       "%s: streamed weights with the head in tiles give the same bits: %u of %d", name, a.same,
       N * NEW);
    rig.fail_percent = 0;
    rig.workers = &crews[3];
    rig.sequences = N;
    b = run_group(rig_limits().untiled, 8, false, N);
    OK(all_same(b, N), "streamed weights with the head in memory give the same bits: %u", b.same);
}

/* Bytes arrive wrong: the layer is computed again, for all sequences. */
static void test_again(const char *name)
{
    struct outcome o = { 0, 0, 0 };
    uint32_t n_new[N] = { 0 };
    size_t least;

    rig.workers = &crews[1];
    rig.sequences = N;
    least = rig_limits().least;
    begin_all(least, 8, false, N);
    rig.fail_percent = 5;
    for (uint32_t pass = 0; pass < 1000; pass++) {
        enum err e;

        set_members(n_new, pass, N);
        if (group.n == 0 && pass > N)
            break;
        e = group.n == 0 ? ERR_OK : session_group_pass(&group, NULL);
        for (uint32_t i = 0; i < N && e == ERR_OK; i++) {
            if (sequences[i].begins <= pass && n_new[i] < NEW)
                take(&o, i, &n_new[i]);
        }
        o.passes += e != ERR_OK;
    }
    rig.fail_percent = 0;
    OK(all_same(o, N), "%s: a card that fails often gives the same bits: %u (%u passes failed)",
       name, o.same, o.passes);
}

/* Sequences of other sets must have other logits, or the test would show nothing. */
static void test_adapters(const char *name)
{
    static float plain[VOCAB];
    unsigned others = 0;

    rig.workers = &crews[1];
    if (rig_start(0, 32, false) != ERR_OK)
        rig_die(rig.model.error_message);
    make_sets();
    run_alone();
    for (uint32_t i = 1; i < SETS; i++) {
        rig.model.transformer.lora = NULL;
        if (session_append(&rig.session, sequences[i].prompt, sequences[i].n_prompt, NULL) !=
            ERR_OK)
            rig_die(rig.session.error_message);
        memcpy(plain, rig.session.logits, rig_logits_bytes());
        others += memcmp(plain, sequences[i].logits[0], rig_logits_bytes()) != 0;
        session_clear(&rig.session);
    }
    OK(others == SETS - 1, "%s: adapters change logits", name);
    test_sizes("... each with its own adapters");
    test_streamed("... and so");
    adapted = false;
}

static void test_refused(void)
{
    struct session_group empty = { .n = 0 };

    OK(session_group_pass(&empty, NULL) == ERR_BAD_ARGUMENT,
       "a group with nothing pending is refused");
}

static void test_kv(const char *types)
{
    unsigned good = 0;

    if (!kv_types_parse(types, &rig.kv))
        rig_die(types);
    rig.workers = &crews[3];
    run_alone();
    good += all_same(run_group(0, 16, false, N), N);
    good += all_same(run_group(0, 64, false, N), N);
    OK(good == 2, "kv=%s: a group has the bits of each sequence alone, %u of 2", types, good);
    rig.kv = kv_both(KV_F16);
}

static void test_model(const char *name)
{
    rig.workers = &crews[0];
    run_alone();
    test_sizes(name);
    test_streamed(name);
    test_again(name);
}

int main(void)
{
    rig.kv = kv_both(KV_F16);
    rig_compute(false);
    for (unsigned i = 0; i < 4; i++)
        workers_start(&crews[i], rig_platform(), i + 1);
    test_refused();
    rig_make_model("tiny", INGOT_Q8_0);
    test_model("Llama");
    test_adapters("Llama");
    test_kv("rot_q8,rot_q4");
    test_kv("tiers:64,64,kivi");
    rig_make_model("experts", INGOT_Q8_0);
    test_model("experts");
    for (size_t i = 0; i < N_HYBRIDS; i++) {
        hybrid_make(&hybrids[i], INGOT_Q8_0);
        test_model(hybrids[i].name);
    }
    hybrid_make(&hybrid_latent, INGOT_F32);
    test_model(hybrid_latent.name);
    for (unsigned i = 0; i < 4; i++)
        workers_stop(&crews[i]);
    return tap_done();
}
