/* Vectors of floats for learning. Only + - * / and sqrt, in a fixed order and without fma, so that a
 * step has the same bits on every ISA, and a compiler may still use vectors: lanes are apart. */
#ifndef INGOT_RUNTIME_LEARN_VECTOR_H
#define INGOT_RUNTIME_LEARN_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* sum x y in 16 lanes, which fold by halves. */
float vector_dot(const float *x, const float *y, size_t n);

/* y += a x */
void vector_add(float *y, const float *x, float a, size_t n);

void vector_scale(float *x, float a, size_t n);

/* No NaN and no infinity among them. */
bool vector_is_finite(const float *x, size_t n);

/* Length 1. False, and x as it was: it has no length, or one beyond floats. */
bool vector_normalize(float *x, size_t n);

/* Uniform in [-size, size), from *seed, which goes on. Not 0. */
void vector_random(float *x, size_t n, float size, unsigned *seed);

#endif
