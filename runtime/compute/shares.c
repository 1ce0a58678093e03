#include "runtime/compute/shares.h"

#include "board/min_max.h"

enum {
    RARELY = 8,         /* jobs from one measured job to the next, while the parts fit */
    LEAST_TICKS = 64,   /* ticks of work; shorter measurements are ignored */
    WHOLE = 65535,      /* sum of the speeds of all cores */
    WEIGHTS = 1 << 16,  /* sum of the weights of all cores, once their speeds differ */
    LEAST_WEIGHT = 512, /* least weight, because a core without work cannot show that it is fast
                         * again */
    LEAST_PART = 16,    /* with many cores, the least weight is 1 / 16 of an equal share */
    DEAD_BAND =
        10, /* equal parts stay until a core differs by 1 / 10; until then few jobs are measured */
    ALIKE = 20, /* cores that differ by less than 1 / 20 get equal parts again */
};

/* Set the parts in proportion to the speeds of the cores, in any unit. */
static void weigh(struct shares *s, const uint64_t *speed)
{
    uint32_t least = min_u32(LEAST_WEIGHT, WEIGHTS / LEAST_PART / s->n_cores);
    uint64_t sum = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        sum += speed[i];
    }
    /* Prefix sums of weights: core i takes the part between before[i] and before[i + 1]. */
    for (unsigned i = 0; i < s->n_cores; i++) {
        uint64_t weight = speed[i] / (sum / WEIGHTS + 1);

        s->before[i + 1] = s->before[i] + max_u32((uint32_t)weight, least);
    }
}

void shares_begin(struct shares *s, unsigned n_cores, const uint32_t *capacity)
{
    uint64_t speed[BOARD_MAX_CORES];
    bool differ = false;

    s->n_cores = n_cores;
    s->n_jobs = 0;
    s->every = 1;
    s->n_samples = 0;
    /* Parts are equal until speeds are known. */
    for (unsigned i = 0; i <= n_cores; i++) {
        s->before[i] = i;
    }
    /* The device tree may give the relative speeds of the cores. */
    for (unsigned i = 0; i < n_cores && capacity != NULL; i++) {
        speed[i] = (uint64_t)capacity[i] << 24; /* weigh divides by the sum; 128 such numbers do not
                                                 * overflow */
        differ = differ || capacity[i] != capacity[0];
    }
    if (differ) {
        weigh(s, speed);
    }
}

bool shares_are_equal(const struct shares *s)
{
    return s->before[s->n_cores] == s->n_cores;
}

unsigned shares_percent(const struct shares *s, unsigned core)
{
    return (s->before[core + 1] - s->before[core]) * 100 / s->before[s->n_cores];
}

bool shares_measures(struct shares *s)
{
    if (s->n_cores <= 1 || ++s->n_jobs < s->every) {
        return false;
    }
    s->n_jobs = 0;
    return true;
}

/* Return the median: a core is not slow because another program or an interrupt delayed it in a few
 * jobs. */
static uint32_t middle(uint16_t *speeds)
{
    /* Insertion sort, because there are only a few samples. */
    for (unsigned i = 1; i < SHARES_SAMPLES; i++) {
        uint16_t speed = speeds[i];
        unsigned at = i;

        for (; at > 0 && speeds[at - 1] > speed; at--) {
            speeds[at] = speeds[at - 1];
        }
        speeds[at] = speed;
    }
    return max_u32(speeds[SHARES_SAMPLES / 2], 1);
}

/* Return true if each core's speed differs from the expected speed by at most 1 / part. */
static bool is_within(unsigned n, const uint64_t *speed, const uint64_t *expected, unsigned part)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t is = speed[i], want = expected[i];

        if ((is > want ? is - want : want - is) > want / part) {
            return false;
        }
    }
    return true;
}

/* For each core: its part of all speeds, its part of all weights, and an equal part. Each sums up
 * to 1 << 32. */
struct core_parts {
    uint64_t speed[BOARD_MAX_CORES], weight[BOARD_MAX_CORES], equal[BOARD_MAX_CORES];
};

static void set_core_parts(struct shares *s, struct core_parts *b)
{
    uint32_t measured[BOARD_MAX_CORES], sum = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        measured[i] = middle(s->speeds[i]);
        sum += measured[i];
    }
    for (unsigned i = 0; i < s->n_cores; i++) {
        uint64_t weight = s->before[i + 1] - s->before[i];

        b->speed[i] = ((uint64_t)measured[i] << 32) / sum;
        b->weight[i] = (weight << 32) / s->before[s->n_cores];
        b->equal[i] = (UINT64_C(1) << 32) / s->n_cores;
    }
}

static void decide(struct shares *s)
{
    struct core_parts b;
    bool fits;

    set_core_parts(s, &b);
    fits = is_within(s->n_cores, b.speed, b.weight, DEAD_BAND);
    s->n_samples = 0;
    s->every = fits ? RARELY : 1;
    if (shares_are_equal(s) && fits) {
        return;
    }
    if (is_within(s->n_cores, b.speed, b.equal, ALIKE)) {
        shares_begin(s, s->n_cores, NULL);
        s->every = RARELY;
        return;
    }
    /* Parts that almost fit are improved with a mean of many measurements, in which newer
     * measurements count more. */
    for (unsigned i = 0; i < s->n_cores && fits; i++) {
        b.speed[i] = (3 * b.weight[i] + b.speed[i]) / 4;
    }
    weigh(s, b.speed);
}

/* Compute the relative speeds of the cores in a job, so that jobs of different lengths can be
 * compared. */
static bool speeds_of(const struct shares *s, const uint64_t *busy, const uint32_t *given,
                      uint64_t *speed, uint64_t *sum)
{
    *sum = 0;
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (given[i] == 0) {
            return false;
        }
        speed[i] = ((uint64_t)given[i] << 20) / max_u64(busy[i], 1);
        *sum += speed[i];
    }
    return *sum != 0;
}

void shares_take(struct shares *s, const uint64_t *busy, const uint32_t *given)
{
    uint64_t speed[BOARD_MAX_CORES], all, ticks = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        ticks += busy[i];
    }
    if (ticks < LEAST_TICKS || !speeds_of(s, busy, given, speed, &all)) {
        return;
    }
    for (unsigned i = 0; i < s->n_cores; i++) {
        s->speeds[i][s->n_samples] = (uint16_t)(speed[i] * WHOLE / all);
    }
    if (++s->n_samples == SHARES_SAMPLES) {
        decide(s);
    }
}

/* Return true if core a would finish one more step earlier than core b would. */
static bool is_sooner(const struct shares *s, const size_t *count, unsigned a, unsigned b)
{
    uint64_t its = s->before[a + 1] - s->before[a], other = s->before[b + 1] - s->before[b];

    return (count[a] + 1) * other < (count[b] + 1) * its;
}

/* Write the steps of each core to count (n_cores): the whole steps of its weight; each leftover
 * step goes to the core that would finish it first. */
static void cut_steps(const struct shares *s, size_t steps, size_t *count)
{
    size_t left = steps;

    for (unsigned i = 0; i < s->n_cores; i++) {
        count[i] = steps * (s->before[i + 1] - s->before[i]) / s->before[s->n_cores];
        left -= count[i];
    }
    for (; left != 0; left--) {
        unsigned best = 0;

        for (unsigned i = 1; i < s->n_cores; i++) {
            best = is_sooner(s, count, i, best) ? i : best;
        }
        count[best]++;
    }
}

/* shares_part for cores of different speed. */
static void cut_part(const struct shares *s, unsigned core, size_t n, size_t step, size_t *first,
                     size_t *last)
{
    size_t count[BOARD_MAX_CORES], from = 0;

    cut_steps(s, (n + step - 1) / step, count);
    for (unsigned i = 0; i < core; i++) {
        from += count[i];
    }
    *first = min_size(from * step, n);
    *last = min_size((from + count[core]) * step, n);
}

void shares_part(const struct shares *s, unsigned core, size_t n, size_t step, size_t *first,
                 size_t *last)
{
    size_t steps;

    *first = 0;
    *last = n;
    if (s->n_cores == 1) { /* a small model divides its work eighty times a token */
        return;
    }
    if (!shares_are_equal(s)) {
        cut_part(s, core, n, step, first, last);
        return;
    }
    /* Give each core whole steps; the job's last step may be shorter. */
    steps = (n + step - 1) / step;
    *first = min_size(steps * core / s->n_cores * step, n);
    *last = min_size(steps * (core + 1) / s->n_cores * step, n);
}
