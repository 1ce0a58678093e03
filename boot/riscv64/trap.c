/* A trap in words. Codes: privileged specification 1.12, table 4.2. */
#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/riscv64/trap_frame.h"

enum cause {
    CAUSE_FETCH_MISALIGNED = 0,
    CAUSE_FETCH_ACCESS = 1,
    CAUSE_FETCH_PAGE = 12,
};

enum { REGISTER_RA = 1, REGISTER_SP = 2, REGISTER_FRAME = 8 };

void trap_report(const struct trap_frame *frame) __attribute__((noreturn));

static const char *cause_text(uint64_t cause)
{
    static const char *const exceptions[] = {
        "instruction address not aligned",
        "execute: no memory answers there (access fault)",
        "illegal instruction",
        "EBREAK instruction",
        "read: address not aligned",
        "read: no memory or device answers there (access fault)",
        "write or atomic: address not aligned",
        "write or atomic: no memory or device answers there (access fault)",
        "ECALL instruction from U-mode",
        "ECALL instruction from S-mode",
        "ECALL instruction, reserved",
        "ECALL instruction from M-mode",
        "execute: not mapped or not executable (page fault)",
        "read: not mapped (page fault)",
        "reserved",
        "write or atomic: not mapped or read-only (page fault)",
    };

    if (cause >> 63 != 0)
        return "interrupt, which nobody enabled";
    return cause < sizeof exceptions / sizeof exceptions[0] ? exceptions[cause]
                                                            : "exception of a rare kind";
}

/* Which core's guard page holds the address, or -1. */
static int guard_core(uint64_t address)
{
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        if (address - ((uintptr_t)stack_bottom(core) - STACK_GUARD) < STACK_GUARD ||
            address - ((uintptr_t)stack_trap_bottom(core) - STACK_GUARD) < STACK_GUARD)
            return (int)core;
    return -1;
}

static void print_registers(const struct trap_frame *frame)
{
    static const char *const names[] = {
        "ra ", "sp ", "gp ", "tp ", "t0 ", "t1 ", "t2 ", "s0 ", "s1 ", "a0 ", "a1 ",
        "a2 ", "a3 ", "a4 ", "a5 ", "a6 ", "a7 ", "s2 ", "s3 ", "s4 ", "s5 ", "s6 ",
        "s7 ", "s8 ", "s9 ", "s10", "s11", "t3 ", "t4 ", "t5 ", "t6 ",
    };

    for (unsigned i = 1; i < 32; i++)
        panic_print("%s%s %lx", i % 4 == 1 ? "\n  " : "  ", names[i - 1],
                    (unsigned long)frame->x[i]);
    panic_print("\n");
}

static bool in_own_stack(uint64_t address, uint64_t above, uint64_t below)
{
    uint64_t bottom = (uintptr_t)stack_bottom(core_number());

    return address % 16 == 0 && address >= bottom + above &&
           address <= bottom + stack_bytes(core_number()) - below;
}

/* Where the backtrace begins. Usually the frame pointer; but a leaf function saves only its
 * caller's frame pointer, at the top of its frame, and a jump into nowhere has no frame of its
 * own. Both get the record that a call would have left, below the stack pointer, where nothing
 * lives. */
static uintptr_t first_frame(const struct trap_frame *frame)
{
    uint64_t sp = frame->x[REGISTER_SP], fp = frame->x[REGISTER_FRAME];
    uint64_t *top = (uint64_t *)(uintptr_t)sp;
    bool fetch = frame->cause == CAUSE_FETCH_MISALIGNED || frame->cause == CAUSE_FETCH_ACCESS ||
                 frame->cause == CAUSE_FETCH_PAGE;
    uint64_t saved;

    if (!in_own_stack(sp, 16, 16) || !in_own_stack(fp, 16, 16))
        return fp;
    saved = ((const uint64_t *)(uintptr_t)fp)[-1];
    if (!fetch && saved - (uintptr_t)text_start < (uintptr_t)(text_end - text_start))
        return fp;
    top[-1] = frame->x[REGISTER_RA];
    top[-2] = fetch ? fp : saved;
    return sp;
}

void trap_report(const struct trap_frame *frame)
{
    int guard = guard_core(frame->value);

    panic_begin();
    panic_print("trap: %s", cause_text(frame->cause));
    if (guard >= 0)
        panic_print(" (stack overflow: the guard page of core %d)", guard);
    panic_print("\n  core %u  hart %lu  scause %lx  sepc %lx  stval %lx  sstatus %lx", core_number(),
                (unsigned long)core_hardware_id(), (unsigned long)frame->cause,
                (unsigned long)frame->epc, (unsigned long)frame->value,
                (unsigned long)frame->status);
    print_registers(frame);
    panic_end((uintptr_t)frame->epc, first_frame(frame));
}
