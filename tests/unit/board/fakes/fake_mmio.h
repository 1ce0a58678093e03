/* Registers that react: a driver reads and writes them through its own base, unchanged, and each
 * access calls the test. The page cannot be accessed; the fault says which register and which way, the
 * page is opened for that one instruction and closed after it (x86-64's single step). */
#ifndef INGOT_TESTS_UNIT_FAKE_MMIO_H
#define INGOT_TESTS_UNIT_FAKE_MMIO_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FAKE_MMIO_WORKS 1
#else
#define FAKE_MMIO_WORKS 0
#endif

enum { FAKE_MMIO_PAGES = 4, FAKE_MMIO_BYTES = 4096 };

/* Reads and writes 32-bit registers; `at` counts bytes from the page's start. If an instruction
 * reads and writes a register, the read comes first. */
struct fake_mmio {
    uint32_t (*read)(unsigned at);
    void (*write)(unsigned at, uint32_t value);
    uintptr_t base;           /* for the driver */
    volatile uint8_t *behind; /* the same memory, always open */
};

static struct fake_mmio fake_mmio_pages[FAKE_MMIO_PAGES];
static unsigned fake_mmio_n;
static struct fake_mmio *fake_mmio_open; /* for the instruction that is stepped */
static unsigned fake_mmio_at;
static bool fake_mmio_writes;

#if FAKE_MMIO_WORKS

enum {
    FAKE_MMIO_STEP = 0x100,
    FAKE_MMIO_WROTE = 2
}; /* trap flag; a bit of the page fault's code */

static inline volatile uint32_t *fake_mmio_word(const struct fake_mmio *m, unsigned at)
{
    return (volatile uint32_t *)(m->behind + at);
}

static inline void fake_mmio_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    uintptr_t at = (uintptr_t)info->si_addr;

    for (unsigned i = 0; i < fake_mmio_n; i++) {
        struct fake_mmio *m = &fake_mmio_pages[i];

        if (at - m->base >= FAKE_MMIO_BYTES)
            continue;
        fake_mmio_open = m;
        fake_mmio_at = (unsigned)(at - m->base) & ~3u;
        fake_mmio_writes = (u->uc_mcontext.gregs[REG_ERR] & FAKE_MMIO_WROTE) != 0;
        if (!fake_mmio_writes)
            *fake_mmio_word(m, fake_mmio_at) = m->read(fake_mmio_at);
        (void)mprotect((void *)m->base, FAKE_MMIO_BYTES, PROT_READ | PROT_WRITE);
        u->uc_mcontext.gregs[REG_EFL] |= FAKE_MMIO_STEP;
        return;
    }
    (void)signal(number,
                 SIG_DFL); /* the test itself faulted: the fault happens again and ends it */
}

static inline void fake_mmio_stepped(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    struct fake_mmio *m = fake_mmio_open;

    (void)number;
    (void)info;
    u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)FAKE_MMIO_STEP;
    (void)mprotect((void *)m->base, FAKE_MMIO_BYTES, PROT_NONE);
    fake_mmio_open = NULL;
    if (fake_mmio_writes)
        m->write(fake_mmio_at, *fake_mmio_word(m, fake_mmio_at));
}

static inline void fake_mmio_listen(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

    if (sigaction(number, &action, NULL) != 0)
        abort();
}

/* Makes a page of registers and returns its address for the driver. Call it before the first
 * access. */
static inline uintptr_t fake_mmio_add(uint32_t (*read)(unsigned at),
                                      void (*write)(unsigned at, uint32_t value))
{
    struct fake_mmio *m = &fake_mmio_pages[fake_mmio_n];
    int file = (int)syscall(SYS_memfd_create, "registers", 0);
    void *front = MAP_FAILED, *back = MAP_FAILED;

    if (fake_mmio_n < FAKE_MMIO_PAGES && file >= 0 && ftruncate(file, FAKE_MMIO_BYTES) == 0) {
        front = mmap(NULL, FAKE_MMIO_BYTES, PROT_NONE, MAP_SHARED, file, 0);
        back = mmap(NULL, FAKE_MMIO_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (front == MAP_FAILED || back == MAP_FAILED)
        abort();
    (void)close(file);
    *m = (struct fake_mmio){ read, write, (uintptr_t)front, back };
    fake_mmio_n++;
    fake_mmio_listen(SIGSEGV, fake_mmio_fault);
    fake_mmio_listen(SIGTRAP, fake_mmio_stepped);
    return m->base;
}

#else

static inline uintptr_t fake_mmio_add(uint32_t (*read)(unsigned at),
                                      void (*write)(unsigned at, uint32_t value))
{
    (void)read;
    (void)write;
    printf("1..0 # SKIP registers are stepped by x86-64\n");
    exit(0);
}

#endif

#endif
