/* Parts of jobs follow each core's work in a time, and stay equal while the cores are. */
#include "runtime/compute/shares.h"

#include <string.h>

#include "tests/unit/tap.h"

enum { ROWS = 1536, STEP = 8, JOBS = 400 };

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* The cores' speeds: a row takes cost[i]. */
struct cores {
    unsigned n;
    uint32_t cost[BOARD_MAX_CORES];
    uint32_t noise; /* percent, up and down */
    uint32_t
        slices; /* one job in so many is held up by another program on the last core; 0: none */
};

/* Returns the longest time of a job, without noise. */
static uint64_t longest(const struct shares *s, const struct cores *c)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < c->n; i++) {
        size_t first, last;

        shares_part(s, i, ROWS, STEP, &first, &last);
        if ((last - first) * c->cost[i] > most) {
            most = (last - first) * c->cost[i];
        }
    }
    return most;
}

/* Returns thousandths of the time that the cores need together. */
static unsigned of_ideal(const struct shares *s, const struct cores *c)
{
    double capacity = 0;

    for (unsigned i = 0; i < c->n; i++) {
        capacity += 1.0 / c->cost[i];
    }
    return (unsigned)((double)longest(s, c) * 1000 * capacity / ROWS);
}

static void run_job(struct shares *s, const struct cores *c)
{
    uint64_t busy[BOARD_MAX_CORES];
    uint32_t given[BOARD_MAX_CORES];

    if (!shares_measures(s)) {
        return;
    }
    for (unsigned i = 0; i < c->n; i++) {
        size_t first, last;

        shares_part(s, i, ROWS, STEP, &first, &last);
        given[i] = (uint32_t)(last - first);
        busy[i] = (last - first) * c->cost[i] * (100 - c->noise + random_below(2 * c->noise + 1)) /
                  100;
    }
    if (c->slices != 0 && random_below(c->slices) == 0) {
        busy[c->n - 1] += 3000000;
    }
    shares_take(s, busy, given);
}

static void run_jobs(struct shares *s, const struct cores *c)
{
    for (int i = 0; i < JOBS; i++) {
        run_job(s, c);
    }
}

static void test_covers(const struct shares *s, unsigned n, const char *what)
{
    size_t end = 0, wrong = 0;

    for (size_t rows = 0; rows < 200; rows++) {
        end = 0;
        for (unsigned i = 0; i < n; i++) {
            size_t first, last;

            shares_part(s, i, rows, STEP, &first, &last);
            wrong += first != end || last < first || (last % STEP != 0 && last != rows);
            end = last;
        }
        wrong += end != rows;
    }
    OK(wrong == 0, "%s: each row has one core, in whole groups", what);
}

/* most: thousandths of the ideal time. */
static void test_cores(const struct cores *c, unsigned most, const char *what)
{
    struct shares s;
    unsigned before;

    shares_begin(&s, c->n, NULL);
    before = of_ideal(&s, c);
    run_jobs(&s, c);
    OK(of_ideal(&s, c) <= most,
       "%s: the shares take %u thousandths of the ideal time, equal parts %u", what,
       of_ideal(&s, c), before);
    test_covers(&s, c->n, what);
}

/* The tree's shares hold from the first job, and measurements have the last word. */
static void test_capacity(void)
{
    static const uint32_t told[] = { 1024, 1024, 341, 341 }, alike[] = { 7, 7, 7, 7 };
    static const uint32_t wrong[] = { 1, 100000, 100000, UINT32_MAX };
    struct cores unequal = { .n = 4, .cost = { 100, 100, 300, 300 }, .noise = 5 };
    struct cores even = { .n = 4, .cost = { 100, 100, 100, 100 }, .noise = 5 };
    struct shares s, equal;

    shares_begin(&s, 4, told);
    OK(of_ideal(&s, &unequal) <= 1030,
       "the first job's parts follow the tree: %u thousandths of the ideal time",
       of_ideal(&s, &unequal));
    test_covers(&s, 4, "by the tree");
    run_jobs(&s, &even);
    OK(of_ideal(&s, &even) <= 1030, "a wrong tree is corrected by measurements: %u",
       of_ideal(&s, &even));
    shares_begin(&s, 4, wrong);
    test_covers(&s, 4, "by a tree without sense");
    run_jobs(&s, &even);
    OK(of_ideal(&s, &even) <= 1030, "a tree without sense is corrected by measurements, too: %u",
       of_ideal(&s, &even));
    shares_begin(&s, 4, alike);
    shares_begin(&equal, 4, NULL);
    OK(memcmp(s.before, equal.before, sizeof s.before[0] * 5) == 0,
       "cores that are alike have equal parts");
}

static bool is_equal(const struct shares *s)
{
    struct shares equal;

    shares_begin(&equal, s->n_cores, NULL);
    return memcmp(s->before, equal.before, (s->n_cores + 1) * sizeof s->before[0]) == 0;
}

/* Noise, slices of other programs and small differences change nothing. */
static void test_even(void)
{
    static const struct cores even[] = {
        { .n = 2, .cost = { 100, 100 }, .noise = 8 },
        { .n = 4, .cost = { 100, 103, 98, 100 }, .noise = 8 },
        { .n = 4, .cost = { 100, 100, 100, 100 }, .noise = 5, .slices = 8 },
    };

    for (size_t i = 0; i < sizeof even / sizeof even[0]; i++) {
        struct shares s;

        shares_begin(&s, even[i].n, NULL);
        run_jobs(&s, &even[i]);
        OK(is_equal(&s), "cores that are alike keep equal parts, row %zu", i);
        OK(s.every > 1, "few jobs are measured");
    }
}

static void test_recovers(void)
{
    struct cores slow = { .n = 4, .cost = { 100, 100, 100, 5000 }, .noise = 5 };
    struct cores even = { .n = 4, .cost = { 100, 100, 100, 100 }, .noise = 5 };
    struct shares s;

    shares_begin(&s, 4, NULL);
    run_jobs(&s, &slow);
    run_jobs(&s, &even);
    OK(of_ideal(&s, &even) <= 1030, "a core that was slow has its part again: %u",
       of_ideal(&s, &even));
}

/* ---- a model on cores of two speeds ----------------------------------------------------------- */

/* A job of a token: matrices of so many rows that a core multiplies one after the other, before all cores meet. */
struct job {
    unsigned n;
    uint32_t rows[3], columns[3];
};

/* Qwen3 0.6B: queries, keys and values; their output; gate and up; down. */
static const struct job layer[] = { { 3, { 2048, 1024, 1024 }, { 1024, 1024, 1024 } },
                                    { 1, { 1024 }, { 2048 } },
                                    { 2, { 3072, 3072 }, { 1024, 1024 } },
                                    { 1, { 1024 }, { 3072 } } };
enum { LAYER_JOBS = sizeof layer / sizeof layer[0], LAYERS = 28 };

/* Returns the time of core i for its part of a job, without noise. *given: how much that is, as
 * workers.c counts. */
static double part_time(const struct shares *s, const struct cores *c, const struct job *j,
                        unsigned i, uint32_t *given)
{
    double time = 0;

    *given = 0;
    for (unsigned k = 0; k < j->n; k++) {
        size_t first, last;

        shares_part(s, i, j->rows[k], STEP, &first, &last);
        time += (double)(last - first) * j->columns[k] * c->cost[i] / 1024;
        *given += (uint32_t)(((last - first) << 16) / j->rows[k]);
    }
    return time;
}

static void measure_layer(struct shares *s, const struct cores *c)
{
    for (unsigned at = 0; at < LAYER_JOBS; at++) {
        uint64_t busy[BOARD_MAX_CORES];
        uint32_t given[BOARD_MAX_CORES];

        if (!shares_measures(s)) {
            continue;
        }
        for (unsigned i = 0; i < c->n; i++) {
            double noise = 1 + ((double)random_below(2 * c->noise + 1) - c->noise) / 100;

            busy[i] = (uint64_t)(part_time(s, c, &layer[at], i, &given[i]) * noise);
        }
        shares_take(s, busy, given);
    }
}

/* Returns by how many thousandths a layer takes longer than it would if no core waited for
 * another. */
static unsigned waits(const struct shares *s, const struct cores *c)
{
    double takes = 0, wanted = 0, capacity = 0;

    for (unsigned i = 0; i < c->n; i++) {
        capacity += 1.0 / c->cost[i];
    }
    for (unsigned at = 0; at < LAYER_JOBS; at++) {
        double longest = 0, all = 0;
        uint32_t given;

        for (unsigned i = 0; i < c->n; i++) {
            double time = part_time(s, c, &layer[at], i, &given);

            longest = time > longest ? time : longest;
            all += time / c->cost[i];
        }
        takes += longest;
        wanted += all / capacity;
    }
    return (unsigned)((takes / wanted - 1) * 1000 + 0.5);
}

static unsigned after_tokens(struct shares *s, const struct cores *c, unsigned tokens)
{
    for (unsigned i = 0; i < tokens * LAYERS; i++) {
        measure_layer(s, c);
    }
    return waits(s, c);
}

/* All cores of an RK3588; K1's two clusters; small cores that get hot and slower, and cold
 * again. */
static void test_two_speeds(void)
{
    static const struct cores rk3588 = { .n = 8,
                                         .cost = { 100, 100, 100, 100, 310, 310, 310, 310 },
                                         .noise = 5 };
    static const struct cores hot = { .n = 8,
                                      .cost = { 130, 130, 130, 130, 310, 310, 310, 310 },
                                      .noise = 5 };
    static const struct cores k1 = { .n = 8,
                                     .cost = { 100, 100, 100, 100, 125, 125, 125, 125 },
                                     .noise = 5 };
    static const struct cores *const rows[] = { &rk3588, &hot, &rk3588, &k1 };
    struct shares s;

    shares_begin(&s, 8, NULL);
    OK(waits(&s, &rk3588) > 500,
       "four fast cores wait for four slow ones with equal parts: %u thousandths",
       waits(&s, &rk3588));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned first = after_tokens(&s, rows[i], 8), worst = first;

        for (unsigned token = 0; token < 50; token++) {
            unsigned now = after_tokens(&s, rows[i], 1);

            worst = now > worst ? now : worst;
        }
        OK(first <= 30 && worst <= 30,
           "row %zu: cores wait for others %u thousandths after 8 tokens, then %u at most", i,
           first, worst);
    }
}

/* Nothing but zeros, or one core alone. */
static void test_extremes(void)
{
    struct shares s;
    uint64_t none[BOARD_MAX_CORES] = { 0 }, one[BOARD_MAX_CORES] = { UINT32_MAX };
    uint32_t given[BOARD_MAX_CORES] = { ROWS / 3, ROWS / 3, ROWS / 3 };
    size_t first, last;

    shares_begin(&s, 3, NULL);
    for (int i = 0; i < JOBS; i++) {
        shares_take(&s, none, given);
    }
    OK(is_equal(&s), "a measurement without time is ignored");
    for (int i = 0; i < JOBS; i++) {
        shares_take(&s, one, given);
    }
    shares_part(&s, 0, ROWS, STEP, &first, &last);
    OK(last - first <= ROWS / 32, "a core that took all the time gets few rows: %zu", last - first);
    test_covers(&s, 3, "then");
    shares_begin(&s, 1, NULL);
    OK(!shares_measures(&s), "the speed of a single core is not measured");
    shares_part(&s, 0, ROWS, STEP, &first, &last);
    OK(first == 0 && last == ROWS, "a single core gets all rows");
}

int main(void)
{
    static const struct cores third = { .n = 4, .cost = { 100, 100, 100, 300 }, .noise = 5 };
    static const struct cores first = { .n = 4, .cost = { 300, 100, 100, 100 }, .noise = 5 };
    static const struct cores rk3588 = { .n = 8,
                                         .cost = { 100, 100, 100, 100, 310, 310, 310, 310 },
                                         .noise = 5 };
    static const struct cores held_up = { .n = 2, .cost = { 100, 200 }, .noise = 5, .slices = 4 };

    test_cores(&third, 1030, "the last of four at a third");
    test_cores(&first, 1030, "the first of four at a third");
    test_cores(&rk3588, 1030, "four large cores and four small ones");
    test_cores(&held_up, 1030, "one at half, and held up");
    test_capacity();
    test_even();
    test_recovers();
    test_two_speeds();
    test_extremes();
    return tap_done();
}
