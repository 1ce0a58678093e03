/* Perplexity of a model on a text, measured as by llama.cpp: each window begins with BOS, and its
 * second half is scored. */
#ifndef INGOT_HOST_PERPLEXITY_H
#define INGOT_HOST_PERPLEXITY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/session/session.h"

struct perplexity {
    uint32_t n;             /* tokens of a window; the caller sets it */
    const char *or_else;    /* other remedy for a short text, or ""; the caller sets it */
    const uint32_t *window; /* ids of the current window */
    uint32_t vocab;
    double sum; /* of -ln p */
    double sum_squares;
    uint64_t count;
};

/* Measures the file at path with the session s, whose context is p->n. Returns false after
 * printing the error to standard error. */
bool perplexity_measure(struct perplexity *p, struct session *s, const char *path, bool quiet);

/* Returns the perplexity, and its standard deviation in *deviation. */
double perplexity_value(const struct perplexity *p, double *deviation);

#endif
