/* Computes with vectors of floats, for learning. The code uses only + - * / and sqrt, in a fixed
 * order and without fma, so that a step has the same bits on every ISA. Sums use several lanes, so
 * that a compiler may still use vector instructions. */
#ifndef INGOT_RUNTIME_LEARN_VECTOR_H
#define INGOT_RUNTIME_LEARN_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* sum x y in 16 lanes, which are then added by halves. */
float vector_dot(const float *x, const float *y, size_t n);

/* y += a x */
void vector_add(float *y, const float *x, float a, size_t n);

void vector_scale(float *x, float a, size_t n);

/* Return true if all n numbers are finite. */
bool vector_is_finite(const float *x, size_t n);

/* Normalize x to length 1. If its length is 0 or not finite, return false and change nothing. */
bool vector_normalize(float *x, size_t n);

/* Fill x with uniform numbers in [-size, size) from *seed, which advances. */
void vector_random(float *x, size_t n, float size, unsigned *seed);

#endif
