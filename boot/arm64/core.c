/* What a core is: number, floating-point environment, features, name, start and sleep. Sections
 * are of the Arm ARM, DDI 0487. */
#include "boot/boot.h"
#include "kernels/kernels.h"

/* start.S. */
extern uint64_t core_pen[BOARD_MAX_CORES];
void start_secondary(void);
void core_start(unsigned core) __attribute__((noreturn));

static struct core_state {
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[BOARD_MAX_CORES];
    char name[40];
} state;

unsigned core_number(void)
{
    uint64_t number;

    __asm__ volatile("mrs %0, tpidr_el1" : "=r"(number));
    return (unsigned)number;
}

/* Aff3 and Aff2 .. Aff0 of MPIDR_EL1: how PSCI and device tree name a core. */
uint64_t core_hardware_id(void)
{
    uint64_t mpidr;

    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(mpidr));
    return mpidr & 0xff00ffffff;
}

/* FPCR 0: nearest even, subnormals kept, NaN payloads propagate, no traps (C5.2.8). */
void core_fp_init(void)
{
    __asm__ volatile("msr fpcr, xzr\n\tmsr fpsr, xzr");
}

uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg)
{
    state.jobs[core].entry = entry;
    state.jobs[core].arg = arg;
    core_pen[core] = 1;
    /* A core in the pen reads past its caches; the event wakes it. */
    __asm__ volatile("dsb sy\n\tdc cvac, %0\n\tdsb sy\n\tsev" ::"r"(&core_pen[core]) : "memory");
    return (uintptr_t)start_secondary;
}

void core_start(unsigned core)
{
    core_fp_init();
    state.jobs[core].entry(state.jobs[core].arg);
    core_halt();
}

void core_halt(void)
{
    for (;;)
        __asm__ volatile("wfi");
}

/* The exclusive load arms the monitor: a store to *word is an event (D1.6.1). */
void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    uint32_t seen;

    __asm__ volatile("ldaxr %w0, [%1]\n\t"
                     "cmp   %w0, %w2\n\t"
                     "b.ne  1f\n\t"
                     "wfe\n"
                     "1:"
                     : "=&r"(seen)
                     : "r"(word), "r"(old)
                     : "cc", "memory");
}

void core_wake(const _Atomic uint32_t *word)
{
    (void)word;
    __asm__ volatile("dsb ish\n\tsev" ::: "memory");
}

/* A frame record is the caller's frame pointer, then the return address (AAPCS64, 6.4.6). */
void backtrace_step(uintptr_t *frame, uintptr_t *call)
{
    const uintptr_t *record = (const uintptr_t *)*frame;

    *call = record[1] != 0 ? record[1] - 4 : 0;
    *frame = record[0];
}

/* Implementer and part number of MIDR_EL1 (D17.2.100). */
static const struct {
    uint8_t implementer;
    uint16_t part;
    const char *name;
} core_names[] = {
    { 0x41, 0xd03, "Cortex-A53" },   { 0x41, 0xd04, "Cortex-A35" },
    { 0x41, 0xd05, "Cortex-A55" },   { 0x41, 0xd07, "Cortex-A57" },
    { 0x41, 0xd08, "Cortex-A72" },   { 0x41, 0xd09, "Cortex-A73" },
    { 0x41, 0xd0a, "Cortex-A75" },   { 0x41, 0xd0b, "Cortex-A76" },
    { 0x41, 0xd0c, "Neoverse-N1" },  { 0x41, 0xd40, "Neoverse-V1" },
    { 0x41, 0xd41, "Cortex-A78" },   { 0x41, 0xd47, "Cortex-A710" },
    { 0x41, 0xd49, "Neoverse-N2" },  { 0x41, 0xd4f, "Neoverse-V2" },
    { 0x00, 0x051, "QEMU max CPU" },
};

/* A core that the table lacks is named by its MIDR. */
static const char *core_name(uint64_t midr)
{
    static const char prefix[] = "ARMv8-A, MIDR 0x";
    size_t at = 0;

    for (size_t i = 0; i < sizeof core_names / sizeof core_names[0]; i++)
        if (core_names[i].implementer == (midr >> 24 & 0xff) &&
            core_names[i].part == (midr >> 4 & 0xfff))
            return core_names[i].name;
    for (; prefix[at] != '\0'; at++)
        state.name[at] = prefix[at];
    for (int shift = 28; shift >= 0; shift -= 4)
        state.name[at++] = "0123456789abcdef"[midr >> shift & 15];
    state.name[at] = '\0';
    return state.name;
}

uint32_t cpu_features_detect(const struct device_tree *tree, const char **name)
{
    uint64_t midr, pfr0;

    (void)tree; /* the registers say it all */
    __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    __asm__ volatile("mrs %0, id_aa64pfr0_el1" : "=r"(pfr0));
    *name = core_name(midr);
    return (pfr0 >> 20 & 15) != 15 ? CPU_ARM64_NEON : CPU_ANY; /* AdvSIMD; 15: none */
}
