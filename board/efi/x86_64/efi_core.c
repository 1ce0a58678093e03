/* The functions of a core that board/isa.h and boot/boot.h declare, for x86-64. Volumes are those
 * of Intel's Software Developer's Manual. */
#include <cpuid.h>
#include <string.h>

#include "board/facts.h"
#include "board/isa.h"
#include "boot/boot.h"
#include "board/efi/x86_64/efi_core.h"
#include "kernels/kernels.h"
#include "kernels/tuning.h"

enum { LOOKS = 1000, FLAG_INTERRUPTS = 1 << 9, MXCSR_RESET = 0x1f80 };

static struct core_state {
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[BOARD_MAX_CORES];
    uint32_t features[BOARD_MAX_CORES]; /* each core writes its own element */
    bool has_mwait;
    _Alignas(4) char name[49];
} core_state;

/* The stack shows which core runs, because the firmware uses every register that could hold the
 * number. */
unsigned core_number(void)
{
    uintptr_t at = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stacks_start;

    if (at < STACK_OTHERS_START || at >= STACK_TRAPS_START)
        return 0;
    return 1 + (unsigned)((at - STACK_OTHERS_START) / (STACK_GUARD + STACK_OTHER));
}

/* The initial APIC id (volume 2, CPUID leaf 1). */
uint64_t core_hardware_id(void)
{
    unsigned a, b = 0, c, d;

    (void)__get_cpuid(1, &a, &b, &c, &d);
    return b >> 24;
}

void core_facts(const struct facts *f)
{
    unsigned a = 0, b, c, d;

    (void)__get_cpuid(1, &a, &b, &c, &d);
    fact_number(f, "cpuid signature", FACT_HEX, a);
    fact_number(f, "apic id", FACT_COUNT, core_hardware_id());
}

/* Set MXCSR as after a reset: round to nearest even, keep subnormals, no traps (volume 1,
 * 10.2.3). */
void core_fp_init(void)
{
    uint32_t mxcsr = MXCSR_RESET;

    __asm__ volatile("fninit\n\tldmxcsr %0" ::"m"(mxcsr));
}

uint64_t core_random(void)
{
    enum { RDRAND = 1 << 30 };
    unsigned a, b, c = 0, d;
    uint64_t number = 0;

    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & RDRAND) != 0)
        __asm__ volatile("rdrand %0" : "=r"(number)::"cc");
    return number;
}

void core_keep_job(unsigned core, void (*entry)(void *arg), void *arg)
{
    core_state.jobs[core].entry = entry;
    core_state.jobs[core].arg = arg;
}

/* ---- features ------------------------------------------------------------------------------- */

static bool has(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

/* Features that CPUID names and XCR0 enables. start.S has refused a CPU without AVX2, FMA and
 * F16C. */
static uint32_t features_read(void)
{
    enum {
        F = 1 << 16,
        DQ = 1 << 17,
        BW = 1 << 30,
        VNNI = 1 << 11,
        AVX_VNNI = 1 << 4,
        XCR0_AVX512 = 0xe0
    };
    uint32_t features = CPU_ANY | CPU_X86_AVX2, xcr0, high;
    unsigned a, b, c, d;

    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
        return features;
    if (has(b, F | DQ | BW) && b >> 31 != 0 /* VL */ && has(xcr0, XCR0_AVX512)) {
        features |= CPU_X86_AVX512;
        if (has(c, VNNI))
            features |= CPU_X86_VNNI;
    }
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && has(a, AVX_VNNI))
        features |= CPU_X86_AVX_VNNI;
    return features;
}

void core_start(unsigned core)
{
    core_fp_init();
    core_state.features[core] = features_read();
    core_state.jobs[core].entry(core_state.jobs[core].arg);
    core_halt();
}

/* The brand string of leaves 0x80000002 to 4, without blanks at its ends. */
static const char *read_name(void)
{
    enum { BRAND = 0x80000002u, LEAVES = 3 };
    unsigned *words = (unsigned *)(void *)core_state.name;
    char *name = core_state.name;
    size_t n;

    for (unsigned i = 0; i < LEAVES; i++)
        (void)__get_cpuid(BRAND + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                          &words[4 * i + 3]);
    while (*name == ' ')
        name++;
    n = strlen(name);
    while (n > 0 && name[n - 1] == ' ')
        name[--n] = '\0';
    return n != 0 ? name : "x86-64";
}

/* Bytes of the second-level cache. Intel and AMD have leaf 0x80000006 (volume 2, CPUID), which
 * counts in KiB. */
static size_t read_cache(void)
{
    enum { SECOND_LEVEL = 0x80000006u };
    unsigned a, b, c = 0, d;

    (void)__get_cpuid(SECOND_LEVEL, &a, &b, &c, &d);
    return (size_t)(c >> 16) * 1024;
}

void cpu_detect(const struct device_tree *tree, struct machine *machine)
{
    unsigned most, vendor[4] = { 0, 0, 0, 0 };
    unsigned a, b, c = 0, d;

    (void)tree;
    (void)__get_cpuid(1, &a, &b, &c, &d);
    core_state.has_mwait = (c & 1 << 3) != 0; /* MONITOR */
    (void)__get_cpuid(0, &most, &vendor[0], &vendor[2], &vendor[1]);
    core_state.features[0] = features_read();
    machine->cpu_features = core_state.features[0];
    machine->tuning = kernel_tuning_x86_64((const char *)vendor);
    machine->cache_bytes = read_cache();
    machine->cpu_name = read_name();
}

uint32_t cpu_features_common(unsigned n_cores)
{
    uint32_t common = core_state.features[0];

    for (unsigned core = 1; core < n_cores; core++)
        common &= core_state.features[core];
    return common;
}

/* ---- sleep and interrupts ------------------------------------------------------------------- */

void core_halt(void)
{
    for (;;)
        __asm__ volatile("cli\n\thlt");
}

/* MONITOR comes before the last look at the word, so that a later write ends MWAIT (volume 2). A
 * core without these instructions polls the word. */
void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    for (unsigned i = 0; i < LOOKS && atomic_load(word) == old; i++)
        __asm__ volatile("pause");
    if (!core_state.has_mwait)
        return;
    __asm__ volatile("monitor" ::"a"(word), "c"(0), "d"(0) : "memory");
    if (atomic_load(word) == old)
        __asm__ volatile("mwait" ::"a"(0), "c"(0) : "memory");
}

void core_wake(const _Atomic uint32_t *word)
{
    (void)word;
}

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    (void)handler;
    (void)context;
}

bool core_interrupts_mask(void)
{
    uint64_t flags;

    __asm__ volatile("pushfq\n\tpop %0\n\tcli" : "=r"(flags)::"memory");
    return (flags & FLAG_INTERRUPTS) != 0;
}

void core_interrupts_restore(bool on)
{
    if (on)
        __asm__ volatile("sti" ::: "memory");
}

void core_idle(void)
{
    __asm__ volatile("pause");
}

void core_timer_start(uint64_t ticks)
{
    (void)ticks;
}

void core_timer_stop(void)
{
}

bool core_interrupt_pending(void)
{
    return false;
}

/* A frame has the caller's frame pointer, then the return address (System V ABI, 3.2.2). */
void backtrace_step(uintptr_t *frame, uintptr_t *call)
{
    const uintptr_t *record = (const uintptr_t *)*frame;

    *call = record[1] != 0 ? record[1] - 1 : 0;
    *frame = record[0];
}
