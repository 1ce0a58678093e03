/* Describes a board's context by hashes of its texts (marks), to find the board whose context
 * already contains most of a request. */
#ifndef INGOT_HOST_SERVE_BOARD_PAST_H
#define INGOT_HOST_SERVE_BOARD_PAST_H

#include "host/api/serve_request.h"

enum { BOARD_PAST_MARKS = 132 };

/* Mark i is a hash of all texts up to text i, so equal marks mean equal pasts. */
struct board_past {
    uint64_t marks[BOARD_PAST_MARKS];
    uint32_t n;
};

/* Make the marks of a request; texts after the last mark are ignored. */
void board_past_of(struct board_past *p, const struct api_request *q);

/* Add the reply to the marks. */
void board_past_add(struct board_past *p, const char *text, size_t bytes);

/* Return how many texts a and b have in common at their beginning. */
uint32_t board_past_shared(const struct board_past *a, const struct board_past *b);

#endif
