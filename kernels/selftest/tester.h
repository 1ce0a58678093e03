/* The kernel tester compares every row of kernels.inc that the CPU supports with the _ref of its op,
 * bit for bit. The tester uses no files and does not allocate. The boot option `selftest` runs it
 * in the image; tests/kernels runs it in the emulator of every ISA. */
#ifndef INGOT_KERNELS_SELFTEST_TESTER_H
#define INGOT_KERNELS_SELFTEST_TESTER_H

#include "kernels/kernels.h"

#include <stdbool.h>

enum {
    TESTER_SLOTS = 6,              /* buffers of one call */
    TESTER_NULL = TESTER_SLOTS,    /* in place of a slot number: pass a null pointer */
    TESTER_PAGE = 4096,            /* the fence after each room; a host may protect it */
    TESTER_ROOM = 20 * 4096,       /* bytes for one buffer and its guards */
    TESTER_GUARD = 128,            /* bytes watched on either side of an output */
    TESTER_STACK_BYTES = 3 * 4096, /* bytes of stack that a kernel may use */
    TESTER_STACK_GUARD = 2048,     /* bytes watched on both sides of that stack */
    /* bytes of the memory that tester_open() takes */
    TESTER_WORK_BYTES = TESTER_SLOTS * (3 * TESTER_ROOM + TESTER_PAGE) + TESTER_STACK_BYTES +
                        2 * TESTER_STACK_GUARD + TESTER_PAGE,
};

/* The fault of a kernel. */
enum tester_fault {
    TESTER_VALUE = 1 << 0,     /* an output differs from the output of the reference */
    TESTER_GUARD_HIT = 1 << 1, /* bytes next to an output changed */
    TESTER_INPUT = 1 << 2,     /* an input changed */
    TESTER_SAVED = 1 << 3,     /* a callee-saved integer register changed */
    TESTER_SAVED_FLOAT = 1 << 4,
    TESTER_STACK = 1 << 5,    /* the stack pointer changed */
    TESTER_CONTROL = 1 << 6,  /* the rounding mode or another mode of the FPU changed */
    TESTER_PLATFORM = 1 << 7, /* x18, or gp or tp, changed */
    TESTER_UNKNOWN = 1 << 8,  /* the op has no reference or no cases */
    TESTER_STACK_HIT =
        1 << 9, /* the caller's frame changed, or the kernel used more than TESTER_STACK_BYTES */
    TESTER_DIRTY =
        1 << 10, /* x86-64: upper halves of vectors are in use, so vzeroupper is missing */
};

/* One call through the trampoline of call_<isa>.S. The assembly relies on the offsets. */
struct kernel_call {
    void (*function)(void);
    uint64_t integer[6]; /* pointers, then sizes */
    float scalar[2];     /* floating-point arguments, always passed */
    float result;
    uint32_t features; /* features of the CPU; they tell which further registers to poison */
    uint32_t damage;   /* result: bits of enum tester_fault, SAVED and above */
    uint32_t reserved;
    uint8_t *stack;     /* where the kernel's stack pointer starts, 16-byte aligned */
    uint64_t saved[40]; /* the trampoline's own registers */
};
static_assert(offsetof(struct kernel_call, scalar) == 56, "call_<isa>.S relies on this");
static_assert(offsetof(struct kernel_call, result) == 64, "call_<isa>.S relies on this");
static_assert(offsetof(struct kernel_call, features) == 68, "call_<isa>.S relies on this");
static_assert(offsetof(struct kernel_call, damage) == 72, "call_<isa>.S relies on this");
static_assert(offsetof(struct kernel_call, stack) == 80, "call_<isa>.S relies on this");
static_assert(offsetof(struct kernel_call, saved) == 88, "call_<isa>.S relies on this");
static_assert(CPU_RV64_V == 1 << 2 && CPU_X86_AVX2 == 1 << 3 && CPU_ARM64_SVE == 1 << 6 &&
                  CPU_X86_AVX512 == 1 << 8,
              "call_<isa>.S relies on these");

/* Poison every register that holds no argument, call the function, and record its result and the
 * damage that it did. Not reentrant. */
void kernel_call_checked(struct kernel_call *call);

enum tester_use { TESTER_IN, TESTER_OUT, TESTER_INOUT };
enum tester_type { TESTER_F32, TESTER_F16, TESTER_BYTES }; /* any NaN equals any NaN */

struct tester_slot {
    enum tester_use use;
    enum tester_type type;
    size_t bytes;
    size_t align; /* the smallest alignment that the contract promises */
};

/* One call. Arguments are pointers, sizes, perhaps the pointer of a table, and up to two floats. */
struct tester_case {
    struct tester_slot slot[TESTER_SLOTS];
    size_t n_slots;
    size_t pointer[TESTER_SLOTS]; /* the slot of each pointer argument; equal if aliased */
    size_t n_pointers;
    bool pointer_last; /* the last pointer follows the sizes */
    size_t size[3];
    size_t n_sizes;
    bool sizes_in_slot; /* a slot has the sizes as struct gemm_shape; size[] is for the report */
    float scalar[2];
    bool returns_float; /* the result is compared too; -0 equals +0 */
    unsigned data;      /* the fill of the sources, for the report */
};

struct tester {
    void (*report)(void *context, const char *line); /* the first faults as text; may be NULL */
    void *report_context;
    void (*function)(void); /* under test */
    void (*reference)(void);
    const char *symbol;
    uint64_t random;
    uint64_t first;    /* a reference runs only every fifth case, from this one (0 to 4) on */
    uint64_t digest;   /* digest of all results of the reference */
    uint32_t features; /* of the CPU */
    uint32_t ignored;  /* faults that are ignored, because a compiler may use x18 */
    uint32_t faults;   /* bits of enum tester_fault */
    uint32_t n_drawn;  /* number of cases so far, run or skipped; sizes depend on it */
    uint32_t n_cases;  /* that were run */
    uint32_t n_reported;
};

/* Give the tester its work space: TESTER_WORK_BYTES bytes at a multiple of TESTER_PAGE. The work
 * space must stay valid until the last call. */
void tester_open(void *memory);

/* Call `protect` for the fence after each room. A host protects these pages, so that a read past
 * an input traps. */
void tester_visit_fences(void (*protect)(void *page, size_t bytes));

/* Return the buffer, of TESTER_ROOM bytes, that a case fills with the contents of slot i before
 * tester_run. */
void *tester_source(size_t slot);

/* Run the case twice: with buffers that end at the fence, and with the least alignment. */
void tester_run(struct tester *t, const struct tester_case *c);

uint64_t tester_random(struct tester *t);

/* Run all cases of an op. This function and the next one are in cases.c. */
void tester_run_op(struct tester *t, enum kernel_op op);

/* Write the faults of a mask as text to out[bytes]. */
void tester_faults_text(uint32_t faults, char *out, size_t bytes);

/* Run all cases of a row, whose features the CPU must have, against the reference of the row's op.
 * Sets t->faults, t->n_cases and t->digest. A reference is compared with itself, which tests its
 * use of registers and the edges of its buffers. It runs only every fifth case, because the other
 * rows of its op run it too. If the digests of an op are equal on every ISA and with every
 * compiler, the op gives the same results everywhere. */
void tester_run_row(struct tester *t, const struct kernel_row *row, uint32_t features,
                    uint64_t seed, void (*report)(void *context, const char *line), void *context);

#endif
