/* The smaller or the larger of two numbers: easier to read than a ternary. */
#ifndef INGOT_BOARD_MIN_MAX_H
#define INGOT_BOARD_MIN_MAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns b if a is not a number. fminf and fmaxf are not used, because they need -lm. */
static inline float min_float(float a, float b)
{
    return a < b ? a : b;
}

static inline float max_float(float a, float b)
{
    return a > b ? a : b;
}

/* Return `bits` if the condition holds, else 0, to combine flags. */
static inline uint32_t bits_if(bool condition, uint32_t bits)
{
    return bits & -(uint32_t)condition;
}

#endif
