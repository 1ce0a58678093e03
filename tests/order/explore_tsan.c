/* Calls that the compiler makes for -fsanitize=thread. */
#include "tests/order/explore_memory.h"

#define PLAIN(bytes) \
    void __tsan_read##bytes(void *at); \
    void __tsan_write##bytes(void *at); \
    void __tsan_unaligned_read##bytes(void *at); \
    void __tsan_unaligned_write##bytes(void *at); \
    void __tsan_read##bytes(void *at) \
    { \
        explore_touch(at, bytes, false); \
    } \
    void __tsan_write##bytes(void *at) \
    { \
        explore_touch(at, bytes, true); \
    } \
    void __tsan_unaligned_read##bytes(void *at) \
    { \
        explore_touch(at, bytes, false); \
    } \
    void __tsan_unaligned_write##bytes(void *at) \
    { \
        explore_touch(at, bytes, true); \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void);
void __tsan_func_entry(void *call);
void __tsan_func_exit(void);
void __tsan_read_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *call)
{
    (void)call;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *at, size_t bytes)
{
    explore_touch(at, bytes, false);
}

void __tsan_write_range(void *at, size_t bytes)
{
    explore_touch(at, bytes, true);
}

/* Memory keeps the last value, which plain code finds there before and after a run. */
#define CHANGE(type, bits, name, value) \
    type __tsan_atomic##bits##_##name(volatile type *at, type operand, int order); \
    type __tsan_atomic##bits##_##name(volatile type *at, type operand, int order) \
    { \
        type old = *at; \
        unsigned index; \
\
        if (explore_runs()) \
            old = (type)explore_last(at, old, order, &index); \
        if (explore_runs()) \
            explore_change(index, at, (type)(value), order); \
        *at = (type)(value); \
        return old; \
    }

#define ATOMIC(type, bits) \
    type __tsan_atomic##bits##_load(const volatile type *at, int order); \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order); \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) \
    { \
        return (type)explore_load(at, *at, order); \
    } \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) \
    { \
        explore_store(at, *at, value, order); \
        *at = value; \
    } \
    CHANGE(type, bits, exchange, operand) \
    CHANGE(type, bits, fetch_add, old + operand) \
    CHANGE(type, bits, fetch_sub, old - operand)
ATOMIC(uint8_t, 8)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)
