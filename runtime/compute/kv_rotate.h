/* The rotation of heads before they are rounded: a Hadamard matrix times 1 / sqrt(n), so that no
 * dimension stands out and all share a scale well. The rotation is symmetric and its own inverse,
 * and dot products do not change. If keys are rotated, so is the query; if values are rotated, the
 * attended sum is rotated back. QuaRot, arXiv 2404.00456. */
#ifndef INGOT_RUNTIME_KV_ROTATE_H
#define INGOT_RUNTIME_KV_ROTATE_H

#include <stdint.h>

#include "kernels/kernels.h"

/* Heads of width d rotate in blocks of this many dimensions: the largest power of two that
 * divides d, from 64 to 512. 1: such a head is not rotated. */
uint32_t kv_rotation(uint32_t d);

/* Rotate x (n heads of width d) in place, in blocks of `block` = kv_rotation(d) or 1. The additions
 * are those of the butterfly with ascending strides; one multiplication comes after them. The bits
 * are the same on every machine. */
void kv_rotate_heads(const struct kernels *k, float *x, uint32_t n, uint32_t d, uint32_t block);

/* Like kv_rotate_heads, but by the C reference, which takes any power of two as `block`. */
void kv_rotate(float *x, uint32_t n, uint32_t d, uint32_t block);

#endif
