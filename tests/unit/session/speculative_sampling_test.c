/* Samples with a draft have the same distribution as without one, by chi-square; and wrong rules of
 * acceptance are found. Seeds are fixed, so that every run is the same. */
#include "runtime/session/speculative.h"

#include <math.h>

#include "tests/unit/session/draft.h"

enum { VOCAB = 512 };

enum { MOST_BINS = 64 };

/* Returns chi-square of counts against probabilities; those expected less than 5 times are one
 * bin. */
static double chi_square(const unsigned *count, const double *p, int bins, unsigned total,
                         int *freedom)
{
    double sum = 0, rare = 0, rare_count = 0;

    *freedom = -1;
    for (int i = 0; i < bins; i++) {
        double e = p[i] * total;

        if (e < 5) {
            rare += e;
            rare_count += count[i];
            continue;
        }
        sum += (count[i] - e) * (count[i] - e) / e;
        ++*freedom;
    }
    if (rare_count > 0 && rare < 1)
        rare = 1; /* a very unlikely one may come once */
    if (rare > 0) {
        sum += (rare_count - rare) * (rare_count - rare) / rare;
        ++*freedom;
    }
    return sum;
}

/* Returns the bound that one in a million exceeds by chance (Wilson and Hilferty's cube). */
static double chi_bound(int freedom)
{
    double a = 2.0 / (9.0 * freedom), t = 1 - a + 4.75 * sqrt(a);

    return freedom * t * t * t;
}

enum { SMALL = 12, DRAWS = 20000 };

/* Wrong rules that a test must find. */
enum rule { RIGHT, ALWAYS, REDRAW, THRESHOLD, N_RULES };
static const char *const rules[] = { "min(1, p / q) and the rest", "always accepted",
                                     "redrawn from p", "accepted above a threshold" };

/* The logits of two models that are similar and not equal. */
static void make_logits(float *p, float *q, uint32_t *random)
{
    for (int i = 0; i < SMALL; i++) {
        *random = *random * 1664525u + 1013904223u;
        p[i] = (float)(*random >> 8) / (float)(1 << 23);
        *random = *random * 1664525u + 1013904223u;
        q[i] = 0.5f * p[i] + (float)(*random >> 8) / (float)(1 << 23);
    }
}

static uint32_t draw(struct sampler *s, const float *p, const float *q, const uint32_t *recent,
                     enum rule rule)
{
    static _Alignas(64) float logits[16];
    static _Alignas(16) uint64_t scratch[64];
    const struct kernels *k = &rig.kernels;
    struct sampler_guess g;
    uint32_t id, next;

    memcpy(logits, q, SMALL * sizeof *q);
    id = sampler_guess(s, logits, SMALL, recent, 4, k, scratch, &g);
    memcpy(logits, p, SMALL * sizeof *p);
    if (rule == ALWAYS)
        return id;
    if (rule == THRESHOLD) {
        for (uint32_t i = 0; i < g.n; i++)
            g.share[i] *= 0.3f;
    }
    next = sampler_judge(s, logits, SMALL, recent, 4, k, scratch, &g, id);
    if (rule == REDRAW && next != id) {
        memcpy(logits, p, SMALL * sizeof *p);
        next = sampler_pick(s, logits, SMALL, recent, 4, k, scratch);
    }
    return next;
}

static double test_rule(const struct sampler_params *params, enum rule rule, double *bound)
{
    static const uint32_t recent[4] = { 3, 5, 3, 7 };
    float p[SMALL], q[SMALL];
    uint32_t random = 99;
    double worst = 0;

    for (int round = 0; round < 3; round++) {
        static _Alignas(64) float logits[16];
        static _Alignas(16) uint64_t scratch[64];
        unsigned count[SMALL] = { 0 };
        double share[SMALL] = { 0 };
        struct sampler_guess exact;
        struct sampler s;
        int freedom;
        double chi;

        make_logits(p, q, &random);
        sampler_init(&s, params);
        memcpy(logits, p, sizeof p);
        sampler_guess(&s, logits, SMALL, recent, 4, &rig.kernels, scratch, &exact);
        for (uint32_t i = 0; i < exact.n; i++)
            share[exact.ids[i]] = (double)exact.share[i];
        for (int i = 0; i < DRAWS; i++)
            count[draw(&s, p, q, recent, rule)]++;
        chi = chi_square(count, share, SMALL, DRAWS, &freedom);
        if (freedom > 0 && chi / chi_bound(freedom) > worst) {
            worst = chi / chi_bound(freedom);
            *bound = chi;
        }
    }
    return worst;
}

static void test_distributions(void)
{
    static const struct sampler_params all[] = {
        { .temp = 1, .top_p = 1, .repeat = 1, .seed = 1 },
        { .temp = 0.7f, .top_p = 0.9f, .min_p = 0.05f, .repeat = 1, .top_k = 8, .seed = 2 },
        { .temp = 1.5f,
          .top_p = 1,
          .repeat = 1.4f,
          .repeat_last = 64,
          .top_k = 5,
          .seed = 3,
          .presence = 0.3f },
    };

    for (size_t i = 0; i < 3; i++) {
        for (int rule = 0; rule < N_RULES; rule++) {
            double chi = 0, worst = test_rule(&all[i], (enum rule)rule, &chi);

            OK((worst < 1) == (rule == RIGHT),
               "filters %d, %s: the chi-square %.1f is %.2f of its bound", (int)i, rules[rule], chi,
               worst);
        }
    }
}

/* ---- a model's distribution over three tokens ------------------------------------------------ */

enum { DEPTH = 3, WIDTH = 3, PATHS = 27, RUNS = 1200 };

struct tree {
    uint32_t ids[WIDTH][WIDTH][WIDTH][DEPTH];
    double p[PATHS];
};

/* Returns the plain model's probability of every path: WIDTH candidates a step. */
static void grow(struct tree *tree, struct sampler *s, const uint32_t *front, uint32_t n_front)
{
    for (int path = 0; path < PATHS; path++) {
        int branch[DEPTH] = { path / 9, path / 3 % 3, path % 3 };
        struct session *t = &rig.session;
        double p = 1;

        session_clear(t);
        session_append(t, front, n_front, NULL);
        for (int d = 0; d < DEPTH; d++) {
            struct sampler_guess g;
            uint32_t id;

            sampler_guess(s, t->logits, VOCAB, t->ids, t->n_cached, t->model->kernels,
                          t->scratch.memory, &g);
            id = g.ids[branch[d]];
            p *= (double)g.share[branch[d]];
            tree->ids[branch[0]][branch[1]][branch[2]][d] = id;
            session_append(t, &id, 1, NULL);
        }
        tree->p[path] = p;
    }
}

/* Makes a run of three tokens, and returns its path. wrong: it claims that q is small, so that all
 * is accepted. */
static int run_path(const struct tree *tree, struct speculative *s, struct sampler *sampler,
                    const uint32_t *front, uint32_t n_front, bool wrong)
{
    struct session *t = &rig.session;
    uint32_t said[DEPTH];

    session_clear(t);
    session_append(t, front, n_front, NULL);
    s->rate[0] = 0.7f;
    for (uint32_t d = 0; d < DEPTH; d++) {
        for (int i = 0; i < SPECULATIVE_MOST && wrong; i++) {
            for (uint32_t j = 0; j < s->guesses[i].n; j++)
                s->guesses[i].share[j] = 1e-9f;
        }
        said[d] = speculative_pick(s, sampler);
        session_put_next(t, said[d]);
        if (d + 1 < DEPTH && speculative_run(s, sampler, DEPTH - 1 - d + 1, NULL) != ERR_OK)
            return -1;
    }
    for (int path = 0; path < PATHS; path++) {
        if (memcmp(tree->ids[path / 9][path / 3 % 3][path % 3], said, sizeof said) == 0)
            return path;
    }
    return -1;
}

static void test_model(void)
{
    static const struct sampler_params params = {
        .temp = 1, .top_p = 1, .repeat = 1.2f, .repeat_last = 64, .top_k = WIDTH, .seed = 5
    };
    static const uint32_t front[] = { 1, 300, 17 };
    static struct speculative s;
    static const struct speculative_params drafted = { .has_draft = true };
    static struct tree tree;
    struct sampler sampler;

    start_with_draft(0);
    speculative_open(&s, &rig.session, &draft_session, &drafted);
    sampler_init(&sampler, &params);
    grow(&tree, &sampler, front, 3);
    for (int wrong = 0; wrong < 2; wrong++) {
        unsigned count[PATHS] = { 0 }, strangers = 0, n_runs = wrong ? RUNS / 4 : RUNS;
        int freedom;
        double chi;

        s.stats = (struct speculative_stats){ 0 };
        for (unsigned i = 0; i < n_runs; i++) {
            int path = run_path(&tree, &s, &sampler, front, 3, wrong);

            if (path < 0)
                strangers++;
            else
                count[path]++;
        }
        chi = chi_square(count, tree.p, PATHS, n_runs, &freedom) + 1000.0 * strangers;
        OK((chi < chi_bound(freedom)) == !wrong && s.stats.right > n_runs / 10 &&
               (wrong || s.stats.right < s.stats.guessed),
           "three tokens of a model, %s: the chi-square is %.1f of %.1f, and %u of %u guesses are "
           "right",
           wrong ? "a wrong rule" : "its draft judged", chi, chi_bound(freedom), s.stats.right,
           s.stats.guessed);
    }
}

int main(void)
{
    make_models();
    kernels_select(&rig.kernels, CPU_ANY);
    test_distributions();
    rig_compute(false);
    test_model();
    return tap_done();
}
