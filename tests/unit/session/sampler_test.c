/* The sampler against the distributions that its filters define, computed here in double precision
 * by sorting everything, and against a fixed sequence that every ISA must give. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/session/sampler.h"
#include "tests/unit/tap.h"

enum { VOCAB = 512, DRAWS = 5000, MANY = 8192 + 5, TOP_K = 40 };

static struct kernels kernels;
static _Alignas(64) float logits[VOCAB];
static _Alignas(64) float work[VOCAB];
static _Alignas(8) unsigned char scratch[VOCAB * 8];

static uint32_t pick(struct sampler *s, const float *from, uint32_t vocab, const uint32_t *recent,
                     size_t n_recent)
{
    memcpy(work, from, vocab * sizeof work[0]);
    return sampler_pick(s, work, vocab, recent, n_recent, &kernels, scratch);
}

static struct sampler greedy(float repeat)
{
    struct sampler_params p;
    struct sampler s;

    sampler_params_default(&p);
    p.temp = 0;
    p.repeat = repeat;
    sampler_init(&s, &p);
    return s;
}

static void test_greedy(void)
{
    float l[6] = { 1, 3, -2, 3, 0, 2.5f };
    uint32_t recent[3] = { 1, 1, 3 };
    struct sampler s = greedy(1);

    OK(pick(&s, l, 6, NULL, 0) == 1, "the largest logit is picked, and the lower id of equals");
    l[0] = NAN;
    l[1] = NAN;
    OK(pick(&s, l, 6, NULL, 0) == 3 && s.n_nan == 2, "NaN is ignored and counted");
    l[1] = 3;
    s = greedy(1.2f);
    OK(pick(&s, l, 6, recent, 2) == 3, "a token that was there is penalized");
    OK(pick(&s, l, 6, recent, 3) == 1, "a penalty counts once: 3 / 1.2 is still level with id 3");
    l[5] = 2.6f;
    OK(pick(&s, l, 6, recent, 3) == 5, "the penalty makes another token win");
    l[4] = -1;
    s = greedy(4);
    recent[0] = 4;
    OK(pick(&s, (float[3]){ -1, -2, -3 }, 3, (uint32_t[1]){ 0 }, 1) == 1,
       "a negative logit is multiplied");
    OK(pick(&s, l, 6, (uint32_t[2]){ 600, 0xffffffffu }, 2) == 1, "foreign ids do nothing");
}

static void test_window(void)
{
    float l[3] = { 2, 1.9f, 0 };
    uint32_t recent[65] = { 0 };
    struct sampler s = greedy(1.5f);

    for (int i = 1; i < 65; i++) {
        recent[i] = 2;
    }
    OK(pick(&s, l, 3, recent, 65) == 0, "a token 65 back no longer counts");
    OK(pick(&s, l, 3, recent, 64) == 1, "a token 64 back still counts");
}

static void test_damaged(void)
{
    float l[4] = { NAN, NAN, -INFINITY, NAN };
    struct sampler s = greedy(1);
    struct sampler_params p;

    OK(pick(&s, l, 4, NULL, 0) == SAMPLER_NO_TOKEN, "greedy sampling finds no token");
    sampler_params_default(&p);
    sampler_init(&s, &p);
    OK(pick(&s, l, 4, NULL, 0) == SAMPLER_NO_TOKEN && s.n_nan == 3, "drawing finds no token");
    l[1] = -1e30f;
    OK(pick(&s, l, 4, NULL, 0) == 1, "the only number wins");
    l[3] = INFINITY;
    OK(pick(&s, l, 4, NULL, 0) == 3, "infinity is the largest number");
    s = greedy(0.5f);
    OK(pick(&s, (float[2]){ 3e38f, 1 }, 2, (uint32_t[1]){ 0 }, 1) == 0,
       "a penalty that overflows stays defined");
    p.temp = 1e-40f;
    sampler_init(&s, &p);
    OK(pick(&s, (float[3]){ 1, 2, 1.99f }, 3, NULL, 0) == 1, "a tiny temperature is greedy");
}

/* ---- distributions ---- */

struct entry {
    double logit;
    uint32_t id;
    double p;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return x->logit > y->logit ? -1 : x->logit < y->logit ? 1 : x->id < y->id ? -1 : 1;
}

static double normalize(struct entry *e, size_t n, double temp)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        e[i].p = exp((e[i].logit - e[0].logit) / temp);
        sum += e[i].p;
    }
    for (size_t i = 0; i < n; i++) {
        e[i].p /= sum;
    }
    return sum;
}

/* Applies the filters one after the other, each to the result of the one before. Returns how many
 * tokens stay. */
static size_t expect(struct entry *e, const float *from, size_t n, const struct sampler_params *p)
{
    double sum = 0;
    size_t kept;

    for (size_t i = 0; i < n; i++) {
        e[i] = (struct entry){ from[i], (uint32_t)i, 0 };
    }
    qsort(e, n, sizeof *e, compare_entries);
    n = p->top_k > 0 && p->top_k < n ? p->top_k : n;
    normalize(e, n, 1);
    if (p->top_p < 1) {
        for (kept = 0; kept < n && sum < (double)p->top_p; kept++) {
            sum += e[kept].p;
        }
        n = kept > 0 ? kept : 1;
    }
    for (kept = 1; kept < n && e[kept].p >= (double)p->min_p * e[0].p; kept++) {
    }
    normalize(e, kept, (double)p->temp);
    return kept;
}

/* Returns chi^2 of the counts, with tokens rarer than 5 draws taken together; *n_bins of them. */
static double chi_square(const struct entry *e, const unsigned *count, size_t kept, size_t *n_bins)
{
    double chi = 0, rare_want = 0, rare = 0;

    *n_bins = 0;
    for (size_t i = 0; i < kept; i++) {
        double want = e[i].p * DRAWS;
        double miss = count[e[i].id] - want;

        if (want < 5) {
            rare_want += want;
            rare += miss;
            continue;
        }
        chi += miss * miss / want;
        (*n_bins)++;
    }
    return rare_want < 5 ? chi : chi + rare * rare / rare_want;
}

static void test_distribution(const char *name, struct sampler_params p, size_t min_kept)
{
    static struct entry e[VOCAB];
    static unsigned count[VOCAB];
    struct sampler s;
    size_t kept = expect(e, logits, VOCAB, &p);
    size_t n_bins;
    unsigned inside = 0;
    double chi;

    memset(count, 0, sizeof count);
    sampler_init(&s, &p);
    for (int i = 0; i < DRAWS; i++) {
        count[pick(&s, logits, VOCAB, NULL, 0)]++;
    }
    for (size_t i = 0; i < kept; i++) {
        inside += count[e[i].id];
    }
    OK(kept >= min_kept && inside == DRAWS, "%s: only the %zu tokens that stay are drawn", name,
       kept);
    /* mean n, deviation sqrt(2n); 5 deviations do not happen by chance, and the seed is fixed */
    chi = chi_square(e, count, kept, &n_bins);
    OK(chi < (double)n_bins + 5 * sqrt(2.0 * (double)n_bins),
       "%s: the tokens are drawn as often as they should", name);
}

static void test_distributions(void)
{
    struct sampler_params off = {
        .temp = 1, .top_p = 1, .min_p = 0, .repeat = 1, .top_k = 0, .seed = 1
    };
    struct sampler_params p = off;

    test_distribution("no filter", p, VOCAB);
    p.top_k = 7;
    test_distribution("top_k", p, 7);
    p = off;
    p.top_p = 0.6f;
    test_distribution("top_p", p, 3);
    p = off;
    p.min_p = 0.2f;
    test_distribution("min_p", p, 3);
    p = off;
    p.temp = 0.5f;
    test_distribution("temp", p, VOCAB);
    p.temp = 2;
    p.top_k = 100;
    p.top_p = 0.9f;
    p.min_p = 0.01f;
    test_distribution("all", p, 10);
    sampler_params_default(&p);
    test_distribution("defaults", p, 5);
    p.top_k = 1;
    test_distribution("top_k 1", p, 1);
    p = off;
    p.top_p = 0;
    test_distribution("top_p 0", p, 1);
    p = off;
    p.top_k = VOCAB + 1;
    p.top_p = 0.9f;
    test_distribution("top_k beyond the vocabulary", p, 10);
}

/* A token that is just as likely as min_p asks stays. */
static void test_min_p_border(void)
{
    static const float even[3] = { 2, 2, 1 };
    struct sampler_params p = {
        .temp = 1, .top_p = 1, .min_p = 1, .repeat = 1, .top_k = 0, .seed = 1
    };
    unsigned count[3] = { 0 };
    struct sampler s;

    sampler_init(&s, &p);
    for (int i = 0; i < 100; i++) {
        count[pick(&s, even, 3, NULL, 0)]++;
    }
    OK(count[0] > 30 && count[1] > 30 && count[2] == 0,
       "min_p 1 keeps the two best, which are equal");
}

/* ---- one sequence everywhere ---- */

static uint32_t sequence_hash(uint64_t seed)
{
    struct sampler_params p;
    struct sampler s;
    uint32_t recent[200];
    uint32_t hash = 2166136261u;

    sampler_params_default(&p);
    p.repeat = 1.1f;
    p.seed = seed;
    sampler_init(&s, &p);
    for (uint32_t i = 0; i < 200; i++) {
        recent[i] = pick(&s, logits, VOCAB, recent, i);
        hash = (hash ^ recent[i]) * 16777619u;
    }
    return hash;
}

static void test_sequence(void)
{
    uint32_t hash = sequence_hash(42);

    OK(hash == sequence_hash(42), "equal seeds give equal sequences");
    OK(hash != sequence_hash(43) && hash != sequence_hash(0), "other seeds give other tokens");
    if (!OK(hash == 0x87386ea7u, "every instruction set gives the same sequence")) {
        printf("# %#x\n", hash);
    }
}

/* The best token alone has exactly the requested share: no other is let in. */
static void test_exact_share(void)
{
    const float equal[4] = { 2, 2, -1000, -1000 };
    struct sampler_params p;
    struct sampler s;
    unsigned others = 0;

    sampler_params_default(&p);
    p.temp = 1;
    p.top_k = 0;
    p.min_p = 0;
    p.repeat = 1;
    p.top_p = 0.5f;
    sampler_init(&s, &p);
    for (int i = 0; i < 200; i++)
        others += pick(&s, equal, 4, NULL, 0) != 0;
    OK(others == 0, "top_p 0.5 keeps only the first of two equals (%u others)", others);
    p.top_p = 0.500001f;
    sampler_init(&s, &p);
    for (int i = 0; i < 200; i++)
        others += pick(&s, equal, 4, NULL, 0) == 1;
    OK(others > 50, "a larger top_p keeps both equals");
}

static _Alignas(64) float many[MANY], many_work[MANY];
static _Alignas(8) unsigned char many_scratch[MANY * 8];
static uint32_t order[MANY];

static int by_logit(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

    return many[i] != many[j] ? (many[i] < many[j] ? 1 : -1) : (i > j ? 1 : -1);
}

/* The best of a large vocabulary, wherever they are, are picked as if they were alone. */
static unsigned wrong_of_many(uint64_t seed)
{
    _Alignas(16) float best[TOP_K + 1];
    struct sampler_params p;
    struct sampler s, few;
    unsigned wrong = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        order[i] = i;
    }
    qsort(order, MANY, sizeof order[0], by_logit);
    sampler_params_default(&p);
    p.top_k = TOP_K;
    p.seed = seed;
    p.temp = 3;
    p.top_p = 1;
    p.min_p = 0;
    sampler_init(&s, &p);
    sampler_init(&few, &p);
    for (int i = 0; i < 200; i++) {
        for (int rank = 0; rank <= TOP_K; rank++) {
            best[rank] = many[order[rank]];
        }
        memcpy(many_work, many, sizeof many);
        wrong += sampler_pick(&s, many_work, MANY, NULL, 0, &kernels, many_scratch) !=
                 order[pick(&few, best, TOP_K + 1, NULL, 0)];
    }
    return wrong;
}

static void test_many(void)
{
    uint32_t state = 7;

    for (uint32_t i = 0; i < MANY; i++) {
        state = state * 1664525u + 1013904223u;
        many[i] = (float)(state >> 12) * 0x1p-16f;
    }
    many[MANY - 1] = 17; /* in a block that is not whole */
    OK(wrong_of_many(1) == 0, "the best of many blocks are found");
    for (uint32_t i = 0; i < TOP_K; i++) {
        many[128 * i + i] = 18 + (float)i * 0.01f;
    }
    OK(wrong_of_many(5) == 0, "one of the best is found in each of as many blocks");
    for (uint32_t i = 0; i < 30; i++) {
        many[640 + 2 * i] = 20 + (float)i * 0.1f;
    }
    OK(wrong_of_many(2) == 0, "most of the best are found in one block");
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (float)(int)(many[i] / 4);
    }
    OK(wrong_of_many(3) == 0, "the lower ids go first if logits in all blocks are equal");
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = i % 4000 < 30 ? many[i] : -INFINITY;
    }
    OK(wrong_of_many(4) == 0, "most blocks may be masked");
}

/* top_k beyond the vocabulary makes all logits candidates; without top_k those that may be picked
 * are. */
static unsigned differing(float top_p, float min_p, unsigned *others)
{
    struct sampler_params p;
    struct sampler all, likely;
    unsigned wrong = 0;

    sampler_params_default(&p);
    p.top_p = top_p;
    p.min_p = min_p;
    p.top_k = MANY + 1;
    sampler_init(&all, &p);
    p.top_k = 0;
    sampler_init(&likely, &p);
    *others = 0;
    for (int i = 0; i < 200; i++) {
        uint32_t a, b;

        memcpy(many_work, many, sizeof many);
        a = sampler_pick(&all, many_work, MANY, NULL, 0, &kernels, many_scratch);
        memcpy(many_work, many, sizeof many);
        b = sampler_pick(&likely, many_work, MANY, NULL, 0, &kernels, many_scratch);
        wrong += a != b;
        *others += a != 5000;
    }
    return wrong;
}

static void test_likely(void)
{
    static const float filters[][2] = { { 0.95f, 0.05f }, { 0.9f, 0 },  { 0.9999f, 0 },
                                        { 1, 0.05f },     { 1, 1e-5f }, { 1, 0 },
                                        { 0.5f, 1e-3f },  { 0, 0 },     { 0.99f, 1e-20f } };
    uint32_t state = 11;
    unsigned others;

    for (uint32_t i = 0; i < MANY; i++) { /* one is likely, some are possible, most are far below */
        state = state * 1664525u + 1013904223u;
        many[i] = (float)(state >> 12) * 0x1p-16f - (i % 97 == 0 ? 4.0f : 14.0f);
        many[i] = i % 3 == 0 ? -INFINITY : many[i];
    }
    many[5000] = 13.5f;
    OK(differing(0.95f, 0, &others) == 0 && others != 0, "tokens besides the largest are drawn");
    many[5000] = 1e9f; /* less 4 it is the same number */
    OK(differing(0.9999f, 0, &others) == 0 && others == 0,
       "only a token far above all others is drawn");
    many[5000] = 13.5f;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        unsigned wrong = differing(filters[i][0], filters[i][1], &others);

        OK(wrong == 0, "top_p %g, min_p %g without top_k draw as from all logits (%u others)",
           (double)filters[i][0], (double)filters[i][1], others);
    }
}

int main(void)
{
    uint32_t state = 12345;

    kernels_select(&kernels, CPU_ANY);
    for (int i = 0; i < VOCAB; i++) { /* exact in f32, some of them equal */
        state = state * 1664525u + 1013904223u;
        logits[i] = (float)(state >> 20) / 512.0f - 4.0f;
    }
    logits[77] = 5.5f;
    logits[78] = 5.0f;
    logits[300] = 5.0f;
    test_greedy();
    test_window();
    test_damaged();
    test_distributions();
    test_min_p_border();
    test_sequence();
    test_exact_share();
    test_many();
    test_likely();
    return tap_done();
}
