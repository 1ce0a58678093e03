/* Describe a trap in words. Causes: RISC-V privileged architecture 20211203, table 4.2. */
#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/riscv64/trap_frame.h"

void trap_report(const struct trap_frame *frame) __attribute__((noreturn));

#define CAUSE_INTERRUPT ((uint64_t)1 << 63)

static const char *cause_text(uint64_t cause)
{
    static const char *const text[] = {
        "instruction address not aligned",
        "instruction fetch: no such memory",
        "illegal instruction",
        "breakpoint",
        "read: address not aligned",
        "read: no such memory",
        "write: address not aligned",
        "write: no such memory",
        "system call from user mode",
        "system call",
        NULL,
        NULL,
        "execute: nothing executable is mapped there",
        "read: nothing readable is mapped there",
        NULL,
        "write: nothing writable is mapped there",
    };

    if ((cause & CAUSE_INTERRUPT) != 0)
        return "interrupt that was not enabled";
    if (cause < sizeof text / sizeof text[0] && text[cause] != NULL)
        return text[cause];
    return "exception of another cause";
}

static bool has_address(uint64_t cause)
{
    /* stval is an address for these causes only; for an illegal instruction it is the
     * instruction. */
    return (cause & CAUSE_INTERRUPT) == 0 &&
           (cause <= 1 || (cause >= 4 && cause <= 7) || (cause >= 12 && cause <= 15));
}

static void print_cause(const struct trap_frame *frame)
{
    panic_print("trap: %s", cause_text(frame->scause));
    if (has_address(frame->scause)) {
        panic_print(" at %lx", (unsigned long)frame->stval);
        panic_print_guard(frame->stval);
    }
    panic_print("\n");
}

static void print_registers(const struct trap_frame *frame)
{
    static const char *const names[] = {
        NULL, "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
        "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
        "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    };

    for (unsigned i = 1; i < 32; i++) {
        if (i % 4 == 1)
            panic_print("\n");
        panic_print("  %s ", names[i]);
        if (names[i][2] == '\0')
            panic_print(" ");
        panic_print("%lx", (unsigned long)frame->x[i]);
    }
    panic_print("\n");
}

static bool in_own_stack(uint64_t address)
{
    uint64_t bottom = (uintptr_t)stack_bottom(core_number());

    return address % 16 == 0 && address >= bottom + 16 &&
           address < bottom + stack_bytes(core_number());
}

/* Return the start of the backtrace: usually the frame pointer. A leaf function saves only its
 * caller's frame pointer, in the slot of the return address, and a jump to an invalid address has
 * no frame. In both cases, write the record that a call would have left. It goes below the stack
 * pointer, where there are no data. */
static uint64_t first_frame(const struct trap_frame *frame)
{
    uint64_t ra = frame->x[1], sp = frame->x[2], fp = frame->x[8], saved;
    bool fetch = frame->scause == 0 || frame->scause == 1 || frame->scause == 12;
    uint64_t *record = (uint64_t *)(uintptr_t)sp;

    if (!in_own_stack(sp) || !in_own_stack(fp))
        return fp;
    /* The word below the frame pointer: usually an address of code; in a leaf, the caller's frame
     * pointer. */
    saved = ((const uint64_t *)(uintptr_t)fp)[-1];
    if (!fetch && saved - (uintptr_t)text_start < (uintptr_t)(text_end - text_start))
        return fp;
    record[-1] = ra;
    record[-2] = saved;
    if (fetch)
        record[-2] = fp;
    return sp;
}

void trap_report(const struct trap_frame *frame)
{
    panic_begin();
    print_cause(frame);
    panic_print("  core %u  scause %lx  sepc %lx  stval %lx  sstatus %lx", core_number(),
                (unsigned long)frame->scause, (unsigned long)frame->sepc,
                (unsigned long)frame->stval, (unsigned long)frame->sstatus);
    print_registers(frame);
    panic_end((uintptr_t)frame->sepc, (uintptr_t)first_frame(frame));
}
