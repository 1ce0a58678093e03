#include "runtime/compute/shares.h"

#include "board/min_max.h"

enum {
    RARELY = 8,         /* jobs from one that is measured to the next, where parts fit */
    LEAST_TICKS = 64,   /* of all cores' work: less says nothing */
    WHOLE = 65535,      /* of a job's busy time */
    WEIGHTS = 1 << 16,  /* of all cores together, once they differ */
    LEAST_WEIGHT = 512, /* a core that gets nothing could not show that it is fast again */
    DEAD_BAND = 10,     /* the part of a core's time that is not a reason to change: 1 / 10 */
};

/* Parts follow the speeds of the cores, in any unit. */
static void weigh(struct shares *s, const uint64_t *speed)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        sum += speed[i];
    }
    /* Sums of weights: core i takes what lies between before[i] and before[i + 1]. */
    for (unsigned i = 0; i < s->n_cores; i++) {
        uint64_t weight = speed[i] / (sum / WEIGHTS + 1);

        s->before[i + 1] = s->before[i] + max_u32((uint32_t)weight, LEAST_WEIGHT);
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
    /* Equal shares until something is known. */
    for (unsigned i = 0; i <= n_cores; i++) {
        s->before[i] = i;
    }
    /* The device tree may say how fast cores are beside each other. */
    for (unsigned i = 0; i < n_cores && capacity != NULL; i++) {
        speed[i] = (uint64_t)capacity[i] << 28; /* weigh divides; eight of them still fit */
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

/* The middle one: a core that another program or an interrupt held up in some jobs is not slow. */
static uint32_t middle(uint16_t *parts)
{
    /* Insertion sort: there are only a few samples. */
    for (unsigned i = 1; i < SHARES_SAMPLES; i++) {
        uint16_t part = parts[i];
        unsigned at = i;

        for (; at > 0 && parts[at - 1] > part; at--) {
            parts[at] = parts[at - 1];
        }
        parts[at] = part;
    }
    return max_u32(parts[SHARES_SAMPLES / 2], 1);
}

/* Whether each core is busy about as long as the others. */
static bool is_even(const struct shares *s, const uint32_t *part)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        sum += part[i];
    }
    for (unsigned i = 0; i < s->n_cores; i++) {
        uint32_t n = part[i] * s->n_cores, off = n > sum ? n - sum : sum - n;

        if (off > sum / DEAD_BAND) {
            return false;
        }
    }
    return true;
}

static void decide(struct shares *s)
{
    uint32_t part[BOARD_MAX_CORES];
    uint64_t speed[BOARD_MAX_CORES];

    /* A core's speed is what it was given over the time that it took. */
    for (unsigned i = 0; i < s->n_cores; i++) {
        part[i] = middle(s->parts[i]);
        speed[i] = ((uint64_t)(s->before[i + 1] - s->before[i]) << 32) / part[i];
    }
    s->n_samples = 0;
    s->every = RARELY;
    if (!is_even(s, part)) { /* a core's weight over the time that it took for it is its speed */
        weigh(s, speed);
        s->every = 1;
    }
}

void shares_take(struct shares *s, const uint64_t *busy)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < s->n_cores; i++) {
        sum += busy[i];
    }
    /* Too short to be measured. */
    if (sum < LEAST_TICKS) {
        return;
    }
    /* Parts of the whole, so that jobs of different lengths can be compared. */
    for (unsigned i = 0; i < s->n_cores; i++) {
        s->parts[i][s->n_samples] = (uint16_t)(busy[i] * WHOLE / sum);
    }
    if (++s->n_samples == SHARES_SAMPLES) {
        decide(s);
    }
}

void shares_part(const struct shares *s, unsigned core, size_t n, size_t step, size_t *first,
                 size_t *last)
{
    /* Whole steps for each core; n cuts off the last one. */
    size_t steps = (n + step - 1) / step, whole = s->before[s->n_cores];
    size_t from = steps * s->before[core] / whole * step;
    size_t to = steps * s->before[core + 1] / whole * step;

    *first = min_size(from, n);
    *last = min_size(to, n);
}
