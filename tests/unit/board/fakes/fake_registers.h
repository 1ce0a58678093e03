/* Registers in place of memory, for drivers that reach theirs through a bare address: the pages are
 * closed, each access stops in a signal, and a model of the device answers it. So a read can have an
 * effect and a write need not be kept, and the driver runs unchanged. For x86_64 alone, by its trap
 * flag; one access takes some 100 us. */
#ifndef INGOT_TESTS_UNIT_FAKE_REGISTERS_H
#define INGOT_TESTS_UNIT_FAKE_REGISTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MMIO_MOST_DEVICES = 4 };

/* Offsets are those of whole words; a byte is written as its word, with the other bytes as they
 * read. */
struct mmio_device {
    uint32_t (*read)(unsigned offset, bool look); /* look: without effects, as if nobody had read */
    void (*write)(unsigned offset, uint32_t value);
    uint8_t *base;
    size_t bytes;
};

static struct fake_mmio {
    struct mmio_device devices[MMIO_MOST_DEVICES];
    unsigned n;
    void (*settle)(void); /* called after each access: time passes, interrupts come; may be NULL */
    struct mmio_access {
        struct mmio_device *device;
        unsigned offset;
        bool writes;
        uint32_t next; /* the word after, as it was */
    } access;
} fake_mmio;

#if defined(__x86_64__)

enum { MMIO_TRAP_FLAG = 0x100, MMIO_FAULT_WRITES = 2 };

static inline uint32_t *mmio_word(const struct mmio_access *a, unsigned beyond)
{
    return (uint32_t *)(void *)(a->device->base + a->offset + beyond);
}

__attribute__((no_sanitize("address", "undefined"))) static void
mmio_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct mmio_access *a = &fake_mmio.access;
    uintptr_t at = (uintptr_t)info->si_addr;

    a->device = NULL;
    for (unsigned i = 0; i < fake_mmio.n; i++)
        if (at - (uintptr_t)fake_mmio.devices[i].base < fake_mmio.devices[i].bytes)
            a->device = &fake_mmio.devices[i];
    if (a->device == NULL) {
        fprintf(stderr, "# signal %d at %p: no device's\n", signal, info->si_addr);
        _Exit(1);
    }
    a->offset = (unsigned)(at - (uintptr_t)a->device->base) & ~3u;
    a->writes = (registers[REG_ERR] & MMIO_FAULT_WRITES) != 0;
    (void)mprotect(a->device->base, a->device->bytes, PROT_READ | PROT_WRITE);
    *mmio_word(a, 0) = a->device->read(a->offset, a->writes);
    if (a->offset % 8 == 0) {
        a->next = a->device->read(a->offset + 4, true);
        *mmio_word(a, 4) = a->next;
    }
    registers[REG_EFL] |= MMIO_TRAP_FLAG;
}

/* Settling may take an interrupt, whose handler accesses registers in its turn. */
__attribute__((no_sanitize("address", "undefined"))) static void
mmio_stepped(int signal, siginfo_t *info, void *context)
{
    struct mmio_access a = fake_mmio.access;
    uint32_t value = *mmio_word(&a, 0), next = a.offset % 8 == 0 ? *mmio_word(&a, 4) : 0;

    (void)signal;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~MMIO_TRAP_FLAG;
    (void)mprotect(a.device->base, a.device->bytes, PROT_NONE);
    if (a.writes)
        a.device->write(a.offset, value);
    if (a.writes && a.offset % 8 == 0 && next != a.next)
        a.device->write(a.offset + 4, next);
    if (fake_mmio.settle != NULL)
        fake_mmio.settle();
}

static inline void mmio_begin(void)
{
    struct sigaction action = { .sa_sigaction = mmio_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

    (void)sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = mmio_stepped;
    (void)sigaction(SIGTRAP, &action, NULL);
}

#else

static inline void mmio_begin(void)
{
    printf("1..0 # SKIP registers are modelled by the trap flag of x86_64\n");
    exit(0);
}

#endif

/* Returns the address of a device of so many bytes. Call it once a device. */
static inline uintptr_t mmio_add(uint32_t (*read)(unsigned offset, bool look),
                                 void (*write)(unsigned offset, uint32_t value), size_t bytes)
{
    struct mmio_device *device = &fake_mmio.devices[fake_mmio.n++];

    if (fake_mmio.n == 1)
        mmio_begin();
    bytes = (bytes + 4095) & ~(size_t)4095;
    device->base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    device->bytes = bytes;
    device->read = read;
    device->write = write;
    return (uintptr_t)device->base;
}

#endif
