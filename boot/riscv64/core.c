/* Cores: number, floating-point environment, features, name, start and sleep. Section numbers
 * refer to the RISC-V privileged architecture 20211203 unless stated otherwise. */
#include "boot/boot.h"

#include <string.h>

#include "board/device_tree.h"
#include "board/drivers/soc/sbi.h"
#include "board/facts.h"
#include "boot/riscv64/core.h"
#include "boot/riscv64/core_set.h"
#include "kernels/kernels.h"
#include "kernels/tuning.h"

enum {
    SIE_SOFTWARE = 1 << 1,
    SIE_TIMER = 1 << 5,
    SIE_EXTERNAL = 1 << 9,
    SSTATUS_SIE = 1 << 1,
    MIN_VLEN_BYTES = 16
};

/* Hart id of each core. This is a separate object, because start.S fills it. */
extern uint64_t core_hart[BOARD_MAX_CORES];
uint64_t core_hart[BOARD_MAX_CORES];
void start_secondary(void);
void core_start(unsigned core) __attribute__((noreturn));

static struct core_state {
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[BOARD_MAX_CORES];
    struct core_set started; /* core n has its MMU on; core_hart[n] is valid */
    struct core_set asleep;  /* core n sleeps, or is about to sleep */
    uint32_t features;
    char name[40];
} core_state;

unsigned core_number(void)
{
    uint64_t number;

    __asm__ volatile("mv %0, tp" : "=r"(number));
    return (unsigned)number;
}

/* mhartid can be read only in M-mode: this is the number that the firmware passed at the start. */
uint64_t core_hardware_id(void)
{
    return core_hart[core_number()];
}

/* The image runs in S-mode, so it asks the firmware for registers of M-mode. */
void core_facts(const struct facts *f)
{
    fact_text(f, "entered in mode", "S");
    fact_number(f, "boot hart", FACT_COUNT, core_hardware_id());
    fact_number(f, "sbi version", FACT_HEX, sbi_base(SBI_SPEC_VERSION));
    fact_number(f, "sbi implementation", FACT_COUNT, sbi_base(SBI_IMPLEMENTATION));
    fact_number(f, "sbi implementation version", FACT_HEX, sbi_base(SBI_IMPLEMENTATION_VERSION));
    fact_number(f, "mvendorid", FACT_HEX, sbi_base(SBI_MVENDORID));
    fact_number(f, "marchid", FACT_HEX, sbi_base(SBI_MARCHID));
    fact_number(f, "mimpid", FACT_HEX, sbi_base(SBI_MIMPID));
}

/* fcsr 0: nearest even, flags clear. Subnormals are always kept (unprivileged ISA, 11.4). */
void core_fp_init(void)
{
    __asm__ volatile("csrw fcsr, zero");
}

/* Zkr's seed can be read only in machine mode. */
uint64_t core_random(void)
{
    return 0;
}

uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg)
{
    core_state.jobs[core].entry = entry;
    core_state.jobs[core].arg = arg;
    /* The firmware starts the core by a device write. In RVWMO, only
     * a fence with o orders memory stores before that write. */
    __asm__ volatile("fence rw, iorw" ::: "memory");
    return (uintptr_t)start_secondary;
}

void core_start(unsigned core)
{
    core_fp_init();
    core_set_add(&core_state.started, core);
    /* From now on core_flush_tlbs includes this core; pages may have been mapped since
     * mmu_enable. */
    __asm__ volatile("sfence.vma" ::: "memory");
    core_state.jobs[core].entry(core_state.jobs[core].arg);
    core_halt();
}

void core_halt(void)
{
    __asm__ volatile("csrw sie, zero");
    for (;;)
        __asm__ volatile("wfi");
}

/* ---- other harts --------------------------------------------------------------------------- */

void core_flush_tlbs(uintptr_t start, uint64_t bytes)
{
    /* A core that starts later flushes its own TLB, in core_start(). */
    for (unsigned word = 0; word < CORE_SET_WORDS; word++) {
        uint64_t cores = core_set_others(&core_state.started, word, core_number());
        uint64_t base, mask;

        while (cores != 0) {
            mask = core_set_take_window(core_hart, word, &cores, &base);
            sbi_flush_tlb(mask, base, start, bytes);
        }
    }
}

/* WFI ends when a software interrupt is pending and enabled in sie, although sstatus.SIE prevents
 * it from being taken (3.3.3).
 *
 * No wake-up is lost. The waker changes *word, then looks for sleepers, then interrupts them.
 * This core marks itself as sleeping, clears the interrupt, then reads *word. In any order
 * of these steps, either this core sees the change, or the interrupt comes after the clear and
 * ends the WFI at once. */
void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    unsigned self = core_number();
    bool on = core_interrupts_mask();

    __asm__ volatile("csrs sie, %0" ::"r"(SIE_SOFTWARE) : "memory");
    core_set_add(&core_state.asleep, self);
    __asm__ volatile("csrc sip, %0\n\tfence iorw, iorw" ::"r"(SIE_SOFTWARE) : "memory");
    if (atomic_load(word) == old)
        __asm__ volatile("wfi" ::: "memory");
    core_set_remove(&core_state.asleep, self);
    __asm__ volatile("csrc sie, %0" ::"r"(SIE_SOFTWARE) : "memory"); /* it is never taken */
    core_interrupts_restore(on);
}

/* An interrupt costs its target a trap to firmware, so only sleepers get one. */
void core_wake(const _Atomic uint32_t *word)
{
    (void)word;
    __asm__ volatile("fence iorw, iorw" ::: "memory");
    for (unsigned i = 0; i < CORE_SET_WORDS; i++) {
        uint64_t cores = core_set_others(&core_state.asleep, i, core_number());
        uint64_t base, mask;

        while (cores != 0) {
            mask = core_set_take_window(core_hart, i, &cores, &base);
            sbi_send_ipi(mask, base);
        }
    }
}

/* ---- interrupts (start.S uses the offsets of this struct) ------------------------------------ */

extern struct core_interrupt core_interrupt;
struct core_interrupt {
    void (*handler)(void *context);
    void *context;
} core_interrupt;

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    core_interrupt = (struct core_interrupt){ handler, context };
    __asm__ volatile("csrs sie, %0" ::"r"(SIE_EXTERNAL) : "memory");
    core_interrupts_restore(true);
}

bool core_interrupts_mask(void)
{
    uint64_t status;

    __asm__ volatile("csrrc %0, sstatus, %1" : "=r"(status) : "r"(SSTATUS_SIE) : "memory");
    return (status & SSTATUS_SIE) != 0;
}

void core_interrupts_restore(bool on)
{
    if (on)
        __asm__ volatile("csrs sstatus, %0" ::"r"(SSTATUS_SIE) : "memory");
}

void core_idle(void)
{
    __asm__ volatile("fence iorw, iorw\n\twfi" ::: "memory");
}

/* The timer interrupt is enabled only during a sleep with interrupts masked: it is never taken. */
void core_timer_start(uint64_t ticks)
{
    uint64_t now;

    __asm__ volatile("rdtime %0" : "=r"(now));
    sbi_set_timer(now + ticks);
    __asm__ volatile("csrs sie, %0" ::"r"(SIE_TIMER) : "memory");
}

void core_timer_stop(void)
{
    __asm__ volatile("csrc sie, %0" ::"r"(SIE_TIMER) : "memory");
}

bool core_interrupt_pending(void)
{
    uint64_t pending, enabled;

    __asm__ volatile("csrr %0, sip\n\tcsrr %1, sie" : "=r"(pending), "=r"(enabled)::"memory");
    return (pending & enabled) != 0;
}

/* ---- backtrace and features ---------------------------------------------------------------- */

/* The return address is at -8 from the frame pointer, the caller's frame pointer at -16 (RISC-V ELF
 * psABI, frame pointer convention). */
void backtrace_step(uintptr_t *frame, uintptr_t *call)
{
    const uintptr_t *record = (const uintptr_t *)*frame;

    *call = record[-1] != 0 ? record[-1] - 2 : 0; /* 2 bytes: a compressed call, or half of
                                                   * another instruction */
    *frame = record[-2];
}

/* "rv64imafdcv_zicsr_zvfh1p0" has single letters, then longer names that begin with z, s or x; a
 * version may follow each (unprivileged ISA, chapter 27). */
static bool isa_names(const char *isa, const char *name)
{
    size_t bytes = strlen(name);

    if (strlen(isa) < 4 || memcmp(isa, "rv64", 4) != 0)
        return false;
    for (isa += 4; *isa != '\0'; isa++) {
        bool longer = strchr("zsx", *isa) != NULL;

        if (strlen(isa) >= bytes && memcmp(isa, name, bytes) == 0 &&
            (!longer || isa[bytes] == '_' || isa[bytes] == '\0' ||
             (isa[bytes] >= '0' && isa[bytes] <= '9')))
            return true;
        while (longer && isa[1] != '_' && isa[1] != '\0')
            isa++;
    }
    return false;
}

static bool node_names(const struct device_tree *tree, const struct device_tree_node *node,
                       const char *name)
{
    const char *isa = device_tree_string(tree, node, "riscv,isa");

    return device_tree_lists(tree, node, "riscv,isa-extensions", name) ||
           (isa != NULL && isa_names(isa, name));
}

static const struct kernel_tuning *node_tuning(const struct device_tree *tree,
                                               const struct device_tree_node *node)
{
    return kernel_tuning_riscv64(device_tree_string(tree, node, "compatible"));
}

static uint32_t node_features(const struct device_tree *tree, const struct device_tree_node *node)
{
    uint32_t features = CPU_RV64_GC;

    if (node_names(tree, node, "zbc"))
        features |= CPU_RV64_ZBC;
    if (node_names(tree, node, "zbb"))
        features |= CPU_RV64_ZBB;
    if (node_names(tree, node, "v")) {
        features |= CPU_RV64_V;
        if (node_names(tree, node, "zvfh") || node_names(tree, node, "zvfhmin"))
            features |= CPU_RV64_ZVFH;
        if (node_names(tree, node, "zvknha") || node_names(tree, node, "zvknhb"))
            features |= CPU_RV64_ZVKNHA;
    }
    return features & ~node_tuning(tree, node)->without;
}

/* Work is split over all cores, so none uses a feature that another lacks. */
static void read_tree(const struct device_tree *tree, struct machine *machine)
{
    struct device_tree_node node;
    uint32_t common = UINT32_MAX;
    uint64_t id;

    device_tree_begin(&node);
    while (device_tree_next_cpu(tree, &node)) {
        common &= node_features(tree, &node);
        if (device_tree_reg(tree, &node, 0, &id, NULL) && id == core_hardware_id())
            machine->tuning = node_tuning(tree, &node);
    }
    /* A tree without CPUs does not change the basic set. */
    if (common != UINT32_MAX)
        core_state.features = common;
    machine->cache_bytes = device_tree_cache(tree);
}

/* "rv64gc", "rv64gcv, VLEN 128", "SpacemiT X60, VLEN 256". */
static const char *core_name(const char *core, unsigned vector_bits)
{
    const char *parts[] = { core, ", VLEN " };
    char digits[8];
    size_t at = 0, n = 0;

    for (size_t i = 0; i < (vector_bits != 0 ? 2 : 1); i++)
        for (const char *c = parts[i]; *c != '\0' && at + sizeof digits < sizeof core_state.name;
             c++)
            core_state.name[at++] = *c;
    for (; vector_bits != 0; vector_bits /= 10)
        digits[n++] = (char)('0' + vector_bits % 10);
    while (n > 0)
        core_state.name[at++] = digits[--n];
    core_state.name[at] = '\0';
    return core_state.name;
}

void cpu_detect(const struct device_tree *tree, struct machine *machine)
{
    uint64_t vlen_bytes = 0;
    const char *core;

    core_state.features = CPU_RV64_GC;
    machine->tuning = kernel_tuning_riscv64(NULL);
    if (tree != NULL)
        read_tree(tree, machine);
    if (core_state.features & CPU_RV64_V)
        __asm__ volatile("csrr %0, 0xc22" : "=r"(vlen_bytes)); /* vlenb (V 1.0, 3.8) */
    /* The application profile has a VLEN of at least 128; kernels rely on it. */
    if (vlen_bytes < MIN_VLEN_BYTES) {
        core_state.features &= CPU_RV64_GC | CPU_RV64_ZBC | CPU_RV64_ZBB;
        vlen_bytes = 0;
    }
    core = machine->tuning->core;
    if (core == NULL)
        core = vlen_bytes != 0 ? "rv64gcv" : "rv64gc";
    machine->cpu_features = core_state.features;
    machine->cpu_name = core_name(core, (unsigned)(8 * vlen_bytes));
}

/* The device tree has described all harts already. */
uint32_t cpu_features_common(unsigned n_cores)
{
    (void)n_cores;
    return core_state.features;
}
