/* Describe a trap in words. Encodings: Arm ARM, DDI 0487, D17.2.37 (ESR_EL1). */
#include "boot/arm64/trap_frame.h"
#include "boot/boot.h"
#include "boot/panic.h"

void trap_report(unsigned vector, const struct trap_frame *frame) __attribute__((noreturn));

static const char *class_text(uint64_t class)
{
    switch (class) {
    case 0x00: return "undefined instruction";
    case 0x07: return "floating point or SIMD is switched off";
    case 0x0e: return "illegal execution state";
    case 0x15: return "SVC instruction";
    case 0x16: return "HVC instruction";
    case 0x17: return "SMC instruction";
    case 0x18: return "system register not accessible";
    case 0x19: return "SVE is switched off";
    case 0x20:
    case 0x21: return "instruction fetch";
    case 0x22: return "PC not aligned";
    case 0x24:
    case 0x25: return "data access";
    case 0x26: return "stack pointer not aligned to 16";
    case 0x2c: return "floating-point exception";
    case 0x2f: return "SError";
    case 0x3c: return "BRK instruction";
    default: return "exception of another class";
    }
}

/* Fault status of instruction and data aborts; bits 0 and 1 are the level, if there is one. */
static const char *fault_text(uint64_t status)
{
    switch (status & 0x3c) {
    case 0x00: return "address size fault";
    case 0x04: return "nothing is mapped there";
    case 0x08: return "access flag fault";
    case 0x0c: return "not permitted there";
    case 0x10: return "external abort, no device answers";
    case 0x14: return "external abort on a table walk";
    case 0x18:
    case 0x1c: return "parity or ECC error";
    case 0x20: return "address not aligned";
    case 0x30: return "conflict in the TLB";
    case 0x34: return "memory forbids exclusive or atomic access";
    default: return "fault of another kind";
    }
}

static void print_abort(const struct trap_frame *frame, bool fetch)
{
    uint64_t status = frame->esr & 0x3f;
    /* Bits of ESR_EL1: 6 is WnR (a write), 10 is FnV (FAR_EL1 holds no address). */
    bool write = (frame->esr >> 6 & 1) != 0, far_valid = (frame->esr >> 10 & 1) == 0;
    const char *access = "read";

    if (fetch)
        access = "execute";
    else if (write)
        access = "write";
    panic_print(": %s", access);
    if (far_valid)
        panic_print(" at %lx", (unsigned long)frame->far);
    panic_print(": %s", fault_text(status));
    if (far_valid)
        panic_print_guard(frame->far);
}

static void print_cause(unsigned vector, const struct trap_frame *frame)
{
    static const char *const kinds[4] = {
        "",
        "IRQ that was not enabled",
        "FIQ that was not enabled",
        "SError: a device or memory failed",
    };
    uint64_t class = frame->esr >> 26 & 0x3f;

    panic_print("trap: ");
    /* For each of four origins the table has four kinds: synchronous, IRQ, FIQ, SError. */
    if (vector % 4 != 0) {
        panic_print("%s", kinds[vector % 4]);
    } else {
        panic_print("%s", class_text(class));
        if (class == 0x20 || class == 0x21 || class == 0x24 || class == 0x25)
            print_abort(frame, class < 0x24);
    }
    /* The last two origins are lower levels, in AArch64 and AArch32. */
    if (vector >= 8)
        panic_print(", from a lower exception level");
    panic_print("\n");
}

static void print_pstate(uint64_t pstate)
{
    static const char *const stacks[2] = { "t", "h" };
    static const struct {
        unsigned bit;
        const char *name;
    } flags[] = {
        { 31, " N" },        { 30, " Z" },        { 29, " C" },        { 28, " V" },
        { 9, ", D masked" }, { 8, ", A masked" }, { 7, ", I masked" }, { 6, ", F masked" },
    };

    panic_print("  pstate %lx: EL%u%s", (unsigned long)pstate, (unsigned)(pstate >> 2 & 3),
                stacks[pstate & 1]);
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (pstate >> flags[i].bit & 1)
            panic_print("%s", flags[i].name);
    panic_print("\n");
}

/* Print the registers in four aligned columns. */
static void print_registers(const struct trap_frame *frame)
{
    for (unsigned i = 0; i < 31; i++) {
        if (i % 4 == 0)
            panic_print("\n");
        panic_print("  x%u ", i);
        if (i < 10)
            panic_print(" ");
        panic_print("%lx", (unsigned long)frame->x[i]);
    }
    panic_print("  sp  %lx\n", (unsigned long)frame->sp);
    print_pstate(frame->spsr);
}

/* Return the start of the backtrace: the frame pointer. After a jump to an invalid address there is
 * no frame: then write the record that a call would have left. It goes below the stack pointer,
 * where there are no data. */
static uintptr_t first_frame(const struct trap_frame *frame)
{
    uint64_t bottom = (uintptr_t)stack_bottom(core_number()), class = frame->esr >> 26 & 0x3f;
    uint64_t *record = (uint64_t *)(uintptr_t)(frame->sp - 16);
    bool fetch = class >= 0x20 && class <= 0x22;

    if (!fetch || frame->sp % 16 != 0 || frame->sp < bottom + 32 ||
        frame->sp > bottom + stack_bytes(core_number()))
        return (uintptr_t)frame->x[29];
    /* The form that backtrace_step() reads: the caller's frame pointer, then the return address. */
    record[0] = frame->x[29];
    record[1] = frame->x[30];
    return (uintptr_t)record;
}

void trap_report(unsigned vector, const struct trap_frame *frame)
{
    panic_begin();
    print_cause(vector, frame);
    panic_print("  core %u  esr %lx  elr %lx  far %lx", core_number(), (unsigned long)frame->esr,
                (unsigned long)frame->elr, (unsigned long)frame->far);
    print_registers(frame);
    panic_end((uintptr_t)frame->elr, first_frame(frame));
}
