/* Requests that wait for a slot among parallel sequences (session_group.h), and their order.
 * Requests that run in parallel share best with the same adapters: a set takes work space, and
 * its matrices are in the cache for all of its tokens. Requests of a set in use therefore come
 * first, then those of the set for which most wait. Later requests cannot overtake forever: at most
 * in two rounds, where a round is as many requests as there are slots. */
#ifndef INGOT_RUNTIME_REQUEST_QUEUE_H
#define INGOT_RUNTIME_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { REQUEST_QUEUE_MOST = 256, REQUEST_ROUND = 8, REQUEST_MOST_PASSED = 2 };

struct request {
    uint32_t number; /* the caller's */
    uint32_t set;    /* of adapters */
    uint32_t passed; /* rounds in which a later one overtook it, ... */
    uint32_t round;  /* ... the last of them */
};

/* Zero it. */
struct request_queue {
    struct request list[REQUEST_QUEUE_MOST]; /* the first n, in the order of arrival */
    uint32_t n;
    uint32_t n_taken; /* count of all requests */
};

/* False: it is full. */
bool request_queue_put(struct request_queue *q, uint32_t number, uint32_t set);

/* One request leaves the queue for a free slot. sets: (n_sets) of the running requests. False:
 * nobody waits. */
bool request_queue_take(struct request_queue *q, const uint32_t *sets, uint32_t n_sets,
                        struct request *taken);

#endif
