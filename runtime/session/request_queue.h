/* Requests that wait for a slot among parallel sequences (session_group.h), and their order. It is
 * best to run requests with the same adapters in parallel: a set of adapters takes work space, and
 * its matrices stay in the cache for all tokens of these requests. So requests of a set in use come
 * first, then requests of the set with the most waiting requests. A request can be overtaken in at
 * most two rounds; a round has as many requests as there are slots. */
#ifndef INGOT_RUNTIME_REQUEST_QUEUE_H
#define INGOT_RUNTIME_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { REQUEST_QUEUE_MOST = 256, REQUEST_ROUND = 8, REQUEST_MOST_PASSED = 2 };

struct request {
    uint32_t number; /* the caller's number for the request */
    uint32_t set;    /* the adapters that the request needs */
    uint32_t passed; /* number of rounds in which later requests overtook this one */
    uint32_t round;  /* last round in which a later request overtook this one */
};

/* The caller zeroes this struct. */
struct request_queue {
    struct request list[REQUEST_QUEUE_MOST]; /* the first n are used, in the order of arrival */
    uint32_t n;
    uint32_t n_taken; /* number of requests taken so far */
};

/* Add a request. Return false if the queue is full. */
bool request_queue_put(struct request_queue *q, uint32_t number, uint32_t set);

/* Take the next request for a free slot. sets: (n_sets) adapter sets of the running requests.
 * Return false if no request waits. */
bool request_queue_take(struct request_queue *q, const uint32_t *sets, uint32_t n_sets,
                        struct request *taken);

#endif
