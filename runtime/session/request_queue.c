#include "runtime/session/request_queue.h"

#include <string.h>

bool request_queue_put(struct request_queue *q, uint32_t number, uint32_t set)
{
    if (q->n == REQUEST_QUEUE_MOST) {
        return false;
    }
    q->list[q->n++] = (struct request){ number, set, 0, 0 };
    return true;
}

/* Return how many requests wait for request i's adapter set; a set in use gets a higher number. */
static uint32_t weight(const struct request_queue *q, uint32_t i, const uint32_t *sets,
                       uint32_t n_sets)
{
    uint32_t n = 0;

    for (uint32_t j = 0; j < n_sets; j++) {
        if (sets[j] == q->list[i].set) {
            n = REQUEST_QUEUE_MOST + 1;
        }
    }
    for (uint32_t j = 0; j < q->n; j++) {
        n += q->list[j].set == q->list[i].set;
    }
    return n;
}

/* Return the current round; rounds count from 1. */
static uint32_t round_of(const struct request_queue *q)
{
    return q->n_taken / REQUEST_ROUND + 1;
}

/* Return true if later requests may still overtake the oldest request. If so, they may overtake any
 * other request, too, because no request was overtaken in more rounds than the oldest. */
static bool may_pass(const struct request_queue *q)
{
    const struct request *oldest = &q->list[0];

    return oldest->passed < REQUEST_MOST_PASSED || oldest->round == round_of(q);
}

static uint32_t choose(const struct request_queue *q, const uint32_t *sets, uint32_t n_sets)
{
    uint32_t best = 0, most = weight(q, 0, sets, n_sets);

    for (uint32_t i = 1; i < q->n && may_pass(q); i++) {
        uint32_t n = weight(q, i, sets, n_sets);

        if (n > most) {
            best = i;
            most = n;
        }
    }
    return best;
}

static void pass_over(struct request *r, uint32_t round)
{
    if (r->round != round) {
        r->round = round;
        r->passed++;
    }
}

bool request_queue_take(struct request_queue *q, const uint32_t *sets, uint32_t n_sets,
                        struct request *taken)
{
    uint32_t at;

    if (q->n == 0) {
        return false;
    }
    at = choose(q, sets, n_sets);
    *taken = q->list[at];
    for (uint32_t i = 0; i < at; i++) {
        pass_over(&q->list[i], round_of(q));
    }
    memmove(&q->list[at], &q->list[at + 1], (q->n - at - 1) * sizeof q->list[0]);
    q->n--;
    q->n_taken++;
    return true;
}
