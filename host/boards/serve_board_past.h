/* A board's context as marks of its texts so far: tells which of several boards has most of a
 * request. */
#ifndef INGOT_HOST_SERVE_BOARD_PAST_H
#define INGOT_HOST_SERVE_BOARD_PAST_H

#include "host/api/serve_request.h"

enum { BOARD_PAST_MARKS = 132 };

/* Mark i is a hash of all texts up to the i-th: equal marks mean equal pasts. */
struct board_past {
    uint64_t marks[BOARD_PAST_MARKS];
    uint32_t n;
};

/* Marks of a request; texts beyond the last mark do not count. */
void board_past_of(struct board_past *p, const struct api_request *q);

/* Also add the reply to it. */
void board_past_add(struct board_past *p, const char *text, size_t bytes);

/* The number of texts with which both begin. */
uint32_t board_past_shared(const struct board_past *a, const struct board_past *b);

#endif
