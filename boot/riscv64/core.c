/* What a core is: number, floating-point environment, features, name, start and sleep. */
#include <stdbool.h>

#include "board/device_tree.h"
#include "boot/boot.h"
#include "boot/riscv64/harts.h"
#include "boot/riscv64/sbi_call.h"
#include "kernels/kernels.h"

#define SSTATUS_VS (3u << 9)
#define SIP_SSIP   2 /* supervisor software interrupt: what send_ipi makes pending */

/* start.S; its first entry is written there. By core number. */
extern uint64_t core_harts[BOARD_MAX_CORES];
uint64_t core_harts[BOARD_MAX_CORES];
void start_secondary(void);
void core_start(unsigned core, uint64_t hart) __attribute__((noreturn));

static struct core_state {
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[BOARD_MAX_CORES];
    _Atomic uint32_t started; /* bit n: core n runs C, and core_harts[n] is its hart */
    _Atomic uint32_t asleep;  /* bit n: core n is about to sleep, or does */
    char name[32];
} state;

unsigned core_number(void)
{
    uint64_t number;

    __asm__ volatile("mv %0, tp" : "=r"(number));
    return (unsigned)number;
}

uint64_t core_hardware_id(void)
{
    return core_harts[core_number()];
}

/* start.S asks for V; the field stays 0 on a hart without it. */
static bool vector_on(void)
{
    uint64_t status;

    __asm__ volatile("csrr %0, sstatus" : "=r"(status));
    return (status & SSTATUS_VS) != 0;
}

/* fcsr 0: nearest even, flags clear. RISC-V has neither traps nor flushing of subnormals, and its
 * NaNs are canonical. */
void core_fp_init(void)
{
    __asm__ volatile("fscsr zero");
    if (vector_on())
        __asm__ volatile("csrw vstart, zero\n\tcsrw vcsr, zero");
}

/* ---- calls to other harts ------------------------------------------------------------------ */

/* SBI takes a window of 64 hart ids; ids may be far apart, so there is a call for each window. */
static void harts_call(uint32_t cores, uint64_t extension, uint64_t function, uint64_t start,
                       uint64_t bytes)
{
    while (cores != 0) {
        uint64_t base = UINT64_MAX, mask = 0;

        for (unsigned i = 0; i < BOARD_MAX_CORES; i++)
            if ((cores >> i & 1) != 0 && core_harts[i] < base)
                base = core_harts[i];
        for (unsigned i = 0; i < BOARD_MAX_CORES; i++) {
            if ((cores >> i & 1) == 0 || core_harts[i] - base >= 64)
                continue;
            mask |= (uint64_t)1 << (core_harts[i] - base);
            cores &= ~((uint32_t)1 << i);
        }
        sbi_call_harts(extension, function, mask, base, start, bytes);
    }
}

void harts_flush_tlb(uintptr_t start, uint64_t bytes)
{
    uint32_t others = atomic_load(&state.started) & ~((uint32_t)1 << core_number());

    harts_call(others, SBI_RFENCE, SBI_REMOTE_SFENCE_VMA, start, bytes);
}

/* ---- start and sleep ----------------------------------------------------------------------- */

uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg)
{
    state.jobs[core].entry = entry;
    state.jobs[core].arg = arg;
    atomic_thread_fence(memory_order_seq_cst);
    return (uintptr_t)start_secondary;
}

void core_start(unsigned core, uint64_t hart)
{
    core_harts[core] = hart;
    atomic_fetch_or(&state.started, (uint32_t)1 << core);
    /* What core 0 mapped between this hart's mmu_enable and the line above. */
    __asm__ volatile("sfence.vma" ::: "memory");
    core_fp_init();
    state.jobs[core].entry(state.jobs[core].arg);
    core_halt();
}

/* Reports of a trap come here on every core but one, so interrupts may be pending. */
void core_halt(void)
{
    __asm__ volatile("csrw sie, zero");
    for (;;)
        __asm__ volatile("wfi");
}

/* WFI ends when an interrupt that sie allows is pending, taken or not; sstatus.SIE stays clear, so
 * it never is taken (privileged specification 1.12, section 3.3.3).
 *
 * No wake-up is lost. The waker changes *word, then looks who is asleep, then interrupts them. We
 * say that we are asleep, clear the interrupt, then look at *word. Whichever way these
 * interleave, either we see the change, or the interrupt comes after our clear and stays pending
 * until WFI, which it then ends at once. */
void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    uint32_t me = (uint32_t)1 << core_number();

    __asm__ volatile("csrs sie, %0" ::"r"(SIP_SSIP));
    atomic_fetch_or(&state.asleep, me);
    __asm__ volatile("csrc sip, %0\n\tfence iorw, iorw" ::"r"(SIP_SSIP) : "memory");
    if (atomic_load(word) == old)
        __asm__ volatile("wfi" ::: "memory");
    atomic_fetch_and(&state.asleep, ~me);
}

/* The firmware's call costs more than a small matrix product: it is made for sleepers alone. */
void core_wake(const _Atomic uint32_t *word)
{
    uint32_t others;

    (void)word;
    atomic_thread_fence(memory_order_seq_cst);
    others = atomic_load(&state.asleep) & ~((uint32_t)1 << core_number());
    /* The change of *word is seen before the interrupt. */
    __asm__ volatile("fence iorw, iorw" ::: "memory");
    harts_call(others, SBI_IPI, 0, 0, 0);
}

/* ---- backtrace ----------------------------------------------------------------------------- */

/* The frame pointer is the stack pointer before the call; the return address and the caller's frame
 * pointer lie below it (RISC-V psABI, frame pointer convention). */
void backtrace_step(uintptr_t *frame, uintptr_t *return_address)
{
    const uintptr_t *top = (const uintptr_t *)*frame;

    *return_address = top[-1];
    *frame = top[-2];
}

/* ---- features ------------------------------------------------------------------------------ */

/* Does "rv64imafdcv_zicsr..." name the extension of one letter? Longer names begin after an
 * underscore, or with s, x or z (unprivileged specification, chapter 27). */
static bool isa_names(const char *isa, char letter)
{
    if (isa[0] != 'r' || isa[1] != 'v' || isa[2] != '6' || isa[3] != '4')
        return false;
    for (isa += 4; *isa != '\0' && *isa != '_' && *isa != 's' && *isa != 'x' && *isa != 'z'; isa++)
        if (*isa == letter)
            return true;
    return false;
}

/* Every core that may be used must have V; ids beyond BOARD_MAX_CORES only make this stricter. */
static bool tree_has_vector(const struct device_tree *tree)
{
    struct device_tree_node node;
    unsigned with = 0, all = 0;

    device_tree_begin(&node);
    while (device_tree_next_type(tree, &node, "cpu")) {
        const char *isa = device_tree_string(tree, &node, "riscv,isa");

        all++;
        if (device_tree_lists(tree, &node, "riscv,isa-extensions", "v") ||
            (isa != NULL && isa_names(isa, 'v')))
            with++;
    }
    return all > 0 && with == all;
}

static const char *vector_name(uint64_t bits)
{
    static const char prefix[] = "rv64gcv, VLEN ";
    char digits[20];
    size_t at = 0, n = 0;

    for (; prefix[at] != '\0'; at++)
        state.name[at] = prefix[at];
    for (; bits != 0 && n < sizeof state.name - sizeof prefix; bits /= 10)
        digits[n++] = (char)('0' + bits % 10);
    while (n > 0)
        state.name[at++] = digits[--n];
    state.name[at] = '\0';
    return state.name;
}

uint32_t cpu_features_detect(const struct device_tree *tree, const char **name)
{
    uint64_t vlen_bytes = 0;

    *name = "rv64gc";
    if (tree == NULL || !vector_on() || !tree_has_vector(tree))
        return CPU_RV64_GC;
    __asm__ volatile("csrr %0, vlenb" : "=r"(vlen_bytes));
    *name = vector_name(vlen_bytes * 8);
    return vlen_bytes >= 16 ? CPU_RV64_GC | CPU_RV64_V : CPU_RV64_GC;
}
