/* The order of requests: requests of Zipf's traces over sets of adapters come, run for a while and
 * go. By the test's own count nobody is passed over in more than two rounds, everybody's turn comes,
 * and fewer sets are at work than under first come, first served. */
#include <string.h>

#include "runtime/session/request_queue.h"
#include "tests/unit/tap.h"

enum { SETS = 32, SLOTS = 8, REQUESTS = 20000 };

static uint32_t seed = 20261123;

static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

/* Set i is asked for in proportion to 1 / (i + 1). */
static uint32_t draw_zipf(void)
{
    uint32_t whole = 0, at;

    for (uint32_t i = 0; i < SETS; i++)
        whole += 1000000 / (i + 1);
    at = draw(whole);
    for (uint32_t i = 0; i < SETS; i++) {
        if (at < 1000000 / (i + 1))
            return i;
        at -= 1000000 / (i + 1);
    }
    return SETS - 1;
}

static struct {
    uint32_t number, set, left; /* left 0: the slot is free */
} slots[SLOTS];
static struct request_queue queue;
static uint32_t passed[REQUESTS], last_round[REQUESTS]; /* rounds, counted here */
static bool waits[REQUESTS], served[REQUESTS];
static uint32_t n_served, n_twice, most_passed, n_passed;
static uint64_t sets_at_work, n_rounds;

static uint32_t running_sets(uint32_t *sets)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < SLOTS; i++) {
        if (slots[i].left != 0)
            sets[n++] = slots[i].set;
    }
    return n;
}

static uint32_t distinct(const uint32_t *sets, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;

        while (sets[j] != sets[i])
            j++;
        count += j == i;
    }
    return count;
}

static void serve(const struct request *r)
{
    uint32_t i = 0;

    while (slots[i].left != 0)
        i++;
    slots[i].number = r->number;
    slots[i].set = r->set;
    slots[i].left = 1 + draw(30);
    n_twice += served[r->number] || !waits[r->number];
    served[r->number] = true;
    waits[r->number] = false;
    n_served++;
}

/* All older requests that wait were passed over by it, in its round. */
static void count_passed(uint32_t number)
{
    uint32_t round = (n_served - 1) / SLOTS + 1;

    for (uint32_t i = 0; i < number; i++) {
        if (waits[i] && last_round[i] != round) {
            last_round[i] = round;
            n_passed += passed[i]++ == 0;
            most_passed = passed[i] > most_passed ? passed[i] : most_passed;
        }
    }
}

/* in_order: first come, first served. */
static void fill_slots(bool in_order)
{
    struct request r;
    uint32_t sets[SLOTS], n_sets = running_sets(sets);

    while (n_sets < SLOTS && queue.n != 0) {
        if (in_order) {
            r = queue.list[0];
            memmove(queue.list, queue.list + 1, --queue.n * sizeof r);
        } else if (!request_queue_take(&queue, sets, n_sets, &r)) {
            return;
        }
        serve(&r);
        count_passed(r.number);
        n_sets = running_sets(sets);
    }
}

/* One pass in `every` brings up to 11. */
static void run_trace(bool in_order, uint32_t every)
{
    uint32_t next = 0;

    memset(&queue, 0, sizeof queue);
    memset(slots, 0, sizeof slots);
    memset(passed, 0, sizeof passed);
    memset(last_round, 0, sizeof last_round);
    memset(served, 0, sizeof served);
    memset(waits, 0, sizeof waits);
    n_served = n_twice = most_passed = n_passed = 0;
    sets_at_work = n_rounds = 0;
    seed = 20261123;
    for (uint32_t pass = 0; n_served < REQUESTS && pass < 40 * REQUESTS; pass++) {
        uint32_t sets[SLOTS], coming = draw(every) == 0 ? draw(12) : 0;

        for (; coming > 0 && next < REQUESTS; coming--) {
            if (!request_queue_put(&queue, next, draw_zipf()))
                break;
            waits[next++] = true;
        }
        fill_slots(in_order);
        sets_at_work += distinct(sets, running_sets(sets));
        n_rounds++;
        for (uint32_t i = 0; i < SLOTS; i++)
            slots[i].left -= slots[i].left != 0;
    }
}

static void test_traces(const char *load, uint32_t every, double most)
{
    double grouped, in_order;

    run_trace(true, every);
    in_order = (double)sets_at_work / (double)n_rounds;
    OK(n_served == REQUESTS && most_passed == 0, "%s: %u requests are served in their order", load,
       n_served);
    run_trace(false, every);
    grouped = (double)sets_at_work / (double)n_rounds;
    OK(n_served == REQUESTS && n_twice == 0,
       "each of %u requests is served once if they are grouped", n_served);
    OK(most_passed == REQUEST_MOST_PASSED && n_passed > REQUESTS / 20,
       "later requests come before %u of them, in %u rounds at most", n_passed, most_passed);
    OK(grouped < most * in_order, "%.2f sets are at work in a pass, and %.2f if the order is kept",
       grouped, in_order);
}

static uint32_t take(const uint32_t *at_work, uint32_t n)
{
    struct request r = { .number = UINT32_MAX };

    (void)request_queue_take(&queue, at_work, n, &r);
    return r.number;
}

static void test_order(void)
{
    uint32_t at_work = 7, n = 0;

    memset(&queue, 0, sizeof queue);
    OK(take(NULL, 0) == UINT32_MAX, "an empty queue gives no request");
    request_queue_put(&queue, 0, 1);
    request_queue_put(&queue, 1, 2);
    request_queue_put(&queue, 2, 2);
    request_queue_put(&queue, 3, 7);
    OK(take(&at_work, 1) == 3, "a set that is at work comes first");
    OK(take(NULL, 0) == 1 && queue.list[0].passed == 1 && queue.list[1].passed == 1,
       "the set that most wait for comes next, then the older one of the same round");
    for (uint32_t i = 4; i < 40; i++)
        request_queue_put(&queue, i, 2);
    while (n < 40 && take(NULL, 0) != 0)
        n++;
    OK(n == 2 * REQUEST_ROUND - 2,
       "a sequence that was skipped in two rounds comes first in the third: after %u", n);
    memset(&queue, 0, sizeof queue);
    for (uint32_t i = 0; i < REQUEST_QUEUE_MOST; i++)
        (void)request_queue_put(&queue, i, i);
    OK(!request_queue_put(&queue, 1, 1) && queue.n == REQUEST_QUEUE_MOST,
       "a full queue takes no more");
}

int main(void)
{
    test_order();
    test_traces("more than there are slots for", 8, 0.92);
    test_traces("nine tenths of the slots", 12, 0.95);
    return tap_done();
}
