/* Choices between numbers, by type: a call says what a ternary has to be read for. */
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

/* A flag, or several, where the condition holds, else 0: for words that are put together of them. */
static inline uint32_t bits_if(bool condition, uint32_t bits)
{
    return bits & -(uint32_t)condition;
}

#endif
