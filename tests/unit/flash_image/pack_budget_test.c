/* Offers within a number of bytes: tables whose best answer is known, and random ones against all combinations. */
#include <math.h>
#include <string.h>

#include "flash_image/pack/pack_budget.h"
#include "tests/unit/tap.h"

enum { MOST_ITEMS = 6, TABLES = 400 };

static struct budget_item items[MOST_ITEMS];

static void set_item(size_t i, unsigned n, const uint64_t *bytes, const double *losses)
{
    items[i] = (struct budget_item){ .n = n };
    for (unsigned k = 0; k < n; k++) {
        items[i].offers[k].bytes = bytes[k];
        items[i].offers[k].loss = losses[k];
    }
}

/* Two matrices of equal size, one of which loses ten times as much, and a third that nothing helps. */
static void set_known(void)
{
    set_item(0, 3, (const uint64_t[]){ 40, 60, 80 }, (const double[]){ 100, 30, 10 });
    set_item(1, 3, (const uint64_t[]){ 40, 60, 80 }, (const double[]){ 10, 3, 1 });
    set_item(2, 3, (const uint64_t[]){ 40, 60, 80 }, (const double[]){ 5, 5, 5 });
}

static bool chosen(unsigned a, unsigned b, unsigned c)
{
    return items[0].chosen == a && items[1].chosen == b && items[2].chosen == c;
}

static void test_known(void)
{
    static const struct {
        uint64_t bytes;
        bool fits;
        unsigned chosen[3];
    } rows[] = {
        { 119, false, { 0, 0, 0 } }, /* the smallest takes 120 */
        { 120, true, { 0, 0, 0 } },  { 139, true, { 0, 0, 0 } }, { 140, true, { 1, 0, 0 } },
        { 160, true, { 2, 0, 0 } },  { 180, true, { 2, 1, 0 } }, { 200, true, { 2, 2, 0 } },
        { 999, true, { 2, 2, 0 } }, /* nothing is spent for nothing */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool fits;

        set_known();
        fits = budget_choose(items, 3, rows[i].bytes);
        OK(fits == rows[i].fits && chosen(rows[i].chosen[0], rows[i].chosen[1], rows[i].chosen[2]),
           "a budget of %u bytes chooses %u %u %u", (unsigned)rows[i].bytes, items[0].chosen,
           items[1].chosen, items[2].chosen);
    }
}

/* The most lossy item by its ratio is large: it would leave bytes over that two others use better. */
static void test_large(void)
{
    set_item(0, 2, (const uint64_t[]){ 100, 190 }, (const double[]){ 50, 4 });
    set_item(1, 2, (const uint64_t[]){ 10, 60 }, (const double[]){ 25, 1 });
    set_item(2, 2, (const uint64_t[]){ 10, 60 }, (const double[]){ 25, 1 });
    OK(budget_choose(items, 3, 220) && chosen(0, 1, 1),
       "a large item gives way to two small ones that save more together");
}

static uint32_t state = 12345;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(state >> 8) * n >> 24);
}

/* More bytes lose less as a rule, as of types. */
static void set_random(size_t i)
{
    double loss = 1000 + random_below(9000);
    uint64_t bytes = 20 + random_below(200);

    items[i] = (struct budget_item){ .n = 1 + random_below(4) };
    for (unsigned k = 0; k < items[i].n; k++) {
        items[i].offers[k].bytes = bytes;
        items[i].offers[k].loss = loss;
        bytes += 1 + random_below(100);
        loss *= (double)(1 + random_below(105)) / 100;
    }
}

static double best_of_all(size_t n, uint64_t bytes)
{
    struct budget_item all[MOST_ITEMS];
    double least = INFINITY;
    unsigned long combinations = 1;

    memcpy(all, items, sizeof all);
    for (size_t i = 0; i < n; i++) {
        combinations *= all[i].n;
    }
    for (unsigned long c = 0; c < combinations; c++) {
        unsigned long rest = c;

        for (size_t i = 0; i < n; i++) {
            all[i].chosen = (unsigned)(rest % all[i].n);
            rest /= all[i].n;
        }
        if (budget_bytes(all, n) <= bytes && budget_loss(all, n) < least) {
            least = budget_loss(all, n);
        }
    }
    return least;
}

static void test_random(void)
{
    unsigned within = 0, exact = 0, known = 0;
    double worst = 1;

    for (unsigned table = 0; table < TABLES; table++) {
        uint64_t bytes = 200 + random_below(900);
        double best;
        bool fits;

        for (size_t i = 0; i < MOST_ITEMS; i++) {
            set_random(i);
        }
        best = best_of_all(MOST_ITEMS, bytes);
        fits = budget_choose(items, MOST_ITEMS, bytes);
        known += fits == (best < INFINITY);
        if (fits) {
            double loss = budget_loss(items, MOST_ITEMS);

            within += budget_bytes(items, MOST_ITEMS) > bytes;
            exact += loss <= best * (1 + 1e-12);
            worst = fmax(worst, loss / best);
        }
    }
    OK(known == TABLES, "the smallest choice is known to fit or not: right %u of %u times", known,
       (unsigned)TABLES);
    OK(within == 0, "no choice takes more than its bytes");
    OK(exact > TABLES / 3 && worst < 1.25,
       "of %u tables %u have the best of all choices, and the worst loses %.2f times it",
       (unsigned)TABLES, exact, worst);
}

int main(void)
{
    test_known();
    test_large();
    test_random();
    return tap_done();
}
