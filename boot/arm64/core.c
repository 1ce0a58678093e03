/* Cores: number, floating-point environment, features, name, start and sleep. Section numbers
 * refer to the Arm ARM, DDI 0487. */
#include "boot/boot.h"

#include <string.h>

#include "board/facts.h"
#include "kernels/kernels.h"
#include "kernels/tuning.h"

/* start.S. */
extern uint64_t core_pen[BOARD_MAX_CORES];
/* The exception level at which the firmware entered core 0. start.S writes this variable, which
 * therefore has its own cache line. */
extern uint32_t core_entry_level;
uint32_t core_entry_level;
void start_secondary(void);
void start_released(void);
void core_store_physical(uintptr_t address, uint64_t value);
void core_start(unsigned core) __attribute__((noreturn));

static void features_note(void);

static struct core_state {
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[BOARD_MAX_CORES];
    struct {
        uint32_t features;
        uint64_t vector_bytes; /* vector bytes of SVE; 0: no SVE */
    } cpus[BOARD_MAX_CORES];   /* each core writes its own entry */
    char name[48];             /* BSS: empty until cpu_detect */
} core_state;

unsigned core_number(void)
{
    uint64_t number;

    __asm__ volatile("mrs %0, tpidr_el1" : "=r"(number));
    return (unsigned)number;
}

/* Aff3 to Aff0 of MPIDR_EL1: the number by which PSCI and the device tree name a core. */
uint64_t core_hardware_id(void)
{
    uint64_t mpidr;

    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(mpidr));
    return mpidr & 0xff00ffffff;
}

#define FACT_REGISTER(f, name, reg) \
    do { \
        uint64_t value_; \
        __asm__ volatile("mrs %0, " reg : "=r"(value_)); \
        fact_number((f), (name), FACT_HEX, value_); \
    } while (0)

void core_facts(const struct facts *f)
{
    fact_number(f, "entered at exception level", FACT_COUNT, core_entry_level);
    FACT_REGISTER(f, "midr", "midr_el1");
    FACT_REGISTER(f, "revidr", "revidr_el1");
    FACT_REGISTER(f, "mpidr", "mpidr_el1");
    FACT_REGISTER(f, "ctr", "ctr_el0");
    FACT_REGISTER(f, "id_aa64pfr0", "id_aa64pfr0_el1");
    FACT_REGISTER(f, "id_aa64isar0", "id_aa64isar0_el1");
    FACT_REGISTER(f, "id_aa64mmfr0", "id_aa64mmfr0_el1");
    FACT_REGISTER(f, "cntfrq", "cntfrq_el0");
}

/* FPCR 0: nearest even, subnormals kept, NaN payloads propagate, no traps (C5.2.8). */
void core_fp_init(void)
{
    __asm__ volatile("msr fpcr, xzr\n\tmsr fpsr, xzr");
}

/* Return RNDR, or 0 if ID_AA64ISAR0_EL1.RNDR says that it does not exist (D17.2.63, C5.2.15). */
uint64_t core_random(void)
{
    uint64_t isar0, number = 0;

    __asm__ volatile("mrs %0, id_aa64isar0_el1" : "=r"(isar0));
    if (isar0 >> 60 != 0)
        __asm__ volatile("mrs %0, s3_3_c2_c4_0" : "=r"(number)::"cc");
    return number;
}

uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg)
{
    core_state.jobs[core].entry = entry;
    core_state.jobs[core].arg = arg;
    core_pen[core] = 1;
    /* A core in the pen reads without caches, so clean the cache line; the event wakes the core. */
    __asm__ volatile("dsb sy\n\tdc cvac, %0\n\tdsb sy\n\tsev" ::"r"(&core_pen[core]) : "memory");
    return (uintptr_t)start_secondary;
}

void core_release(uintptr_t release, unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)core_prepare(core, entry, arg);
    core_store_physical(release, (uintptr_t)start_released);
}

void core_start(unsigned core)
{
    core_fp_init();
    features_note();
    core_state.jobs[core].entry(core_state.jobs[core].arg);
    core_halt();
}

void core_halt(void)
{
    (void)core_interrupts_mask();
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

/* ---- interrupts (vectors.S uses the offsets of this struct) ---------------------------------- */

extern struct core_interrupt core_interrupt;
struct core_interrupt {
    void (*handler)(void *context);
    void *context;
} core_interrupt;

/* DAIF.I is bit 7; in daifset and daifclr it is bit 1 (C5.2.2). */
enum { DAIF_I = 1 << 7 };

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    core_interrupt = (struct core_interrupt){ handler, context };
    core_interrupts_restore(true);
}

bool core_interrupts_mask(void)
{
    uint64_t daif;

    __asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(daif)::"memory");
    return (daif & DAIF_I) == 0;
}

void core_interrupts_restore(bool on)
{
    if (on)
        __asm__ volatile("msr daifclr, #2" ::: "memory");
}

void core_idle(void)
{
    __asm__ volatile("dsb sy\n\twfi" ::: "memory");
}

/* The virtual timer. EL1 may use this timer, whichever level the firmware entered at. Bit 0 of
 * CNTV_CTL_EL0 (DDI 0487) enables the timer, and bit 1 would mask its interrupt. */
void core_timer_start(uint64_t ticks)
{
    __asm__ volatile("msr cntv_tval_el0, %0\n\tmsr cntv_ctl_el0, %1\n\tisb" ::"r"(ticks),
                     "r"(UINT64_C(1))
                     : "memory");
}

void core_timer_stop(void)
{
    __asm__ volatile("msr cntv_ctl_el0, xzr\n\tisb" ::: "memory");
}

/* Bit 7 of ISR_EL1 (I) says that an interrupt is pending. */
bool core_interrupt_pending(void)
{
    uint64_t pending;

    __asm__ volatile("mrs %0, isr_el1" : "=r"(pending)::"memory");
    return (pending & 1 << 7) != 0;
}

/* A frame record is the caller's frame pointer followed by the return address (AAPCS64, 6.4.6). */
void backtrace_step(uintptr_t *frame, uintptr_t *call)
{
    const uintptr_t *record = (const uintptr_t *)*frame;

    *call = record[1] != 0 ? record[1] - 4 : 0;
    *frame = record[0];
}

/* ---- features ------------------------------------------------------------------------------ */

static uint32_t features_read(void)
{
    uint64_t pfr0, isar0, isar1;

    __asm__ volatile("mrs %0, id_aa64pfr0_el1" : "=r"(pfr0));
    __asm__ volatile("mrs %0, id_aa64isar0_el1" : "=r"(isar0));
    __asm__ volatile("mrs %0, id_aa64isar1_el1" : "=r"(isar1));
    return kernel_features_arm64(pfr0, isar0, isar1);
}

/* start.S has enabled SVE and asked for the longest vectors. */
static void features_note(void)
{
    unsigned core = core_number();
    uint64_t bytes = 0;

    core_state.cpus[core].features = features_read();
    if (core_state.cpus[core].features & CPU_ARM64_SVE)
        __asm__ volatile(".arch_extension sve\n\t"
                         "rdvl %0, #1\n\t"
                         ".arch_extension nosve"
                         : "=r"(bytes));
    core_state.cpus[core].vector_bytes = bytes;
}

static void name_append(const char *text)
{
    size_t at = strlen(core_state.name);

    for (; *text != '\0' && at + 1 < sizeof core_state.name; text++)
        core_state.name[at++] = *text;
}

/* Make the CPU's name. A core that is not in the table of tuning.c is named by its MIDR. */
static void name_make(const char *core, uint64_t midr, unsigned vector_bits)
{
    char digits[] = "00000000", bits[] = "0000";

    for (unsigned i = 0; i < 8; i++)
        digits[i] = "0123456789abcdef"[midr >> (28 - 4 * i) & 15];
    for (unsigned i = 0, rest = vector_bits; i < 4; i++, rest /= 10)
        bits[3 - i] = (char)('0' + rest % 10);
    if (core != NULL) {
        name_append(core);
    } else {
        name_append("ARMv8-A, MIDR 0x");
        name_append(digits);
    }
    if (vector_bits != 0) {
        name_append(", SVE ");
        name_append(vector_bits < 1000 ? bits + 1 : bits); /* 128 to 2048 bits */
    }
}

static size_t read_cache(void)
{
    uint64_t clidr, mmfr2, ccsidr;

    __asm__ volatile("msr csselr_el1, %0\n\tisb" : : "r"((uint64_t)KERNEL_CACHE_ARM64));
    __asm__ volatile("mrs %0, ccsidr_el1" : "=r"(ccsidr));
    __asm__ volatile("mrs %0, clidr_el1" : "=r"(clidr));
    __asm__ volatile("mrs %0, id_aa64mmfr2_el1" : "=r"(mmfr2));
    return kernel_cache_arm64(clidr, mmfr2, ccsidr);
}

void cpu_detect(const struct device_tree *tree, struct machine *machine)
{
    uint64_t midr;

    (void)tree; /* the registers say everything */
    __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    features_note();
    machine->cpu_features = core_state.cpus[0].features;
    machine->tuning = kernel_tuning_arm64(midr);
    machine->cache_bytes = read_cache();
    name_make(machine->tuning->core, midr, (unsigned)(8 * core_state.cpus[0].vector_bytes));
    machine->cpu_name = core_state.name;
}

/* Cores of one machine may differ (big.LITTLE), and only a core itself can read its features.
 * SVE is used only if all cores have the same vector length. */
uint32_t cpu_features_common(unsigned n_cores)
{
    uint32_t common = core_state.cpus[0].features;

    for (unsigned core = 1; core < n_cores; core++) {
        common &= core_state.cpus[core].features;
        if (core_state.cpus[core].vector_bytes != core_state.cpus[0].vector_bytes)
            common &= ~(uint32_t)CPU_ARM64_SVE;
    }
    return common;
}
