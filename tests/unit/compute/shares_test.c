/* Parts of jobs follow what cores do in a time, and stay equal while cores are. */
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
    uint32_t noise;  /* percent, up and down */
    uint32_t slices; /* one job in so many another program holds up the last core; 0: none */
};

/* The longest of a job, without noise. */
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

/* In thousandths of what the cores need together. */
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

    if (!shares_measures(s)) {
        return;
    }
    for (unsigned i = 0; i < c->n; i++) {
        size_t first, last;

        shares_part(s, i, ROWS, STEP, &first, &last);
        busy[i] = (last - first) * c->cost[i] * (100 - c->noise + random_below(2 * c->noise + 1)) /
                  100;
    }
    if (c->slices != 0 && random_below(c->slices) == 0) {
        busy[c->n - 1] += 3000000;
    }
    shares_take(s, busy);
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

/* most: thousandths of the ideal. */
static void test_cores(const struct cores *c, unsigned most, const char *what)
{
    struct shares s;
    unsigned before;

    shares_begin(&s, c->n, NULL);
    before = of_ideal(&s, c);
    run_jobs(&s, c);
    OK(of_ideal(&s, c) <= most, "%s: %u thousandths of the ideal time, in equal parts %u", what,
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
    OK(of_ideal(&s, &unequal) <= 1050,
       "the first job's parts follow the tree: %u thousandths of the ideal time",
       of_ideal(&s, &unequal));
    test_covers(&s, 4, "by the tree");
    run_jobs(&s, &even);
    OK(of_ideal(&s, &even) <= 1110, "a tree that is wrong is measured away: %u",
       of_ideal(&s, &even));
    shares_begin(&s, 4, wrong);
    test_covers(&s, 4, "by a tree without sense");
    run_jobs(&s, &even);
    OK(of_ideal(&s, &even) <= 1110, "that, too: %u", of_ideal(&s, &even));
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

/* Noise, slices of other programs and what the dead band allows change nothing. */
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
        OK(s.every > 1, "and few jobs are measured");
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
    OK(of_ideal(&s, &even) <= 1110, "a core that was slow has its part again: %u",
       of_ideal(&s, &even));
}

/* Nothing but zeros, or one core alone. */
static void test_extremes(void)
{
    struct shares s;
    uint64_t none[BOARD_MAX_CORES] = { 0 }, one[BOARD_MAX_CORES] = { UINT32_MAX };
    size_t first, last;

    shares_begin(&s, 3, NULL);
    for (int i = 0; i < JOBS; i++) {
        shares_take(&s, none);
    }
    OK(is_equal(&s), "what took no time says nothing");
    for (int i = 0; i < JOBS; i++) {
        shares_take(&s, one);
    }
    shares_part(&s, 0, ROWS, STEP, &first, &last);
    OK(last - first <= ROWS / 32, "a core that alone took time gets little: %zu rows",
       last - first);
    test_covers(&s, 3, "then");
    shares_begin(&s, 1, NULL);
    OK(!shares_measures(&s), "one core is not measured");
    shares_part(&s, 0, ROWS, STEP, &first, &last);
    OK(first == 0 && last == ROWS, "and gets all");
}

int main(void)
{
    static const struct cores third = { .n = 4, .cost = { 100, 100, 100, 300 }, .noise = 5 };
    static const struct cores first = { .n = 4, .cost = { 300, 100, 100, 100 }, .noise = 5 };
    static const struct cores rk3588 = { .n = 8,
                                         .cost = { 100, 100, 100, 100, 310, 310, 310, 310 },
                                         .noise = 5 };
    static const struct cores held_up = { .n = 2, .cost = { 100, 200 }, .noise = 5, .slices = 4 };

    test_cores(&third, 1150, "the last of four at a third");
    test_cores(&first, 1150, "the first of four at a third");
    test_cores(&rk3588, 1150, "four large cores and four small ones");
    test_cores(&held_up, 1150, "one at half, and held up");
    test_capacity();
    test_even();
    test_recovers();
    test_extremes();
    return tap_done();
}
