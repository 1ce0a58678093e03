/* A core's part of its interrupt controller: system registers and barriers. A program under
 * Linux may not use them, so a test supplies these functions and simulates a core
 * (tests/unit/board/gic_v3_test.c). */
#ifndef INGOT_BOARD_DRIVERS_IRQ_CORE_REGISTERS_H
#define INGOT_BOARD_DRIVERS_IRQ_CORE_REGISTERS_H

#include <stdint.h>

#if defined(INGOT_FREESTANDING)

#define READ_SYSTEM(name) \
    ({ \
        uint64_t value_; \
        __asm__ volatile("mrs %0, " #name : "=r"(value_)::"memory"); \
        value_; \
    })
#define WRITE_SYSTEM(name, value) \
    __asm__ volatile("msr " #name ", %0" ::"r"((uint64_t)(value)) : "memory")
#define CORE_BARRIER(instruction) \
    __asm__ volatile(instruction ::: "memory") /* DDI 0487, DSB, ISB */

#else

uint64_t core_register_read(const char *name);
void core_register_write(const char *name, uint64_t value);

#define READ_SYSTEM(name) core_register_read(#name)
#define WRITE_SYSTEM(name, value) core_register_write(#name, (uint64_t)(value))
#define CORE_BARRIER(instruction) __asm__ volatile("" ::: "memory")

#endif

#endif
