/* Requests that wait for a place among sequences side by side (session_group.h), and who comes next. Requests
 * that run together share best with the same adapters: a set takes work space, and its matrices are in the
 * cache for all of its tokens. So requests of a set that is at work come first, then those of the set that
 * most wait for. But later ones overtake nobody for ever: in two rounds at most, a round being as
 * many requests as there are places. */
#ifndef INGOT_RUNTIME_REQUEST_QUEUE_H
#define INGOT_RUNTIME_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { REQUEST_QUEUE_MOST = 256, REQUEST_ROUND = 8, REQUEST_MOST_PASSED = 2 };

struct request {
    uint32_t number; /* the caller's */
    uint32_t set;    /* of adapters */
    uint32_t passed; /* rounds in which a later one came before it, ... */
    uint32_t round;  /* ... the last of them */
};

/* Zero it. */
struct request_queue {
    struct request list[REQUEST_QUEUE_MOST]; /* the first n, in the order in which they came */
    uint32_t n;
    uint32_t n_taken; /* of all time */
};

/* False: it is full. */
bool request_queue_put(struct request_queue *q, uint32_t number, uint32_t set);

/* One request leaves the queue for a place that is free. sets: (n_sets) of the running requests. False:
 * nobody waits. */
bool request_queue_take(struct request_queue *q, const uint32_t *sets, uint32_t n_sets,
                        struct request *taken);

#endif
