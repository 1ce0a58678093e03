/* An image that does one forbidden thing: "NAME" as the boot arguments does it on core 0, "NAME 1"
 * on core 1 while the other cores work, "NAME all" on all at once. traps.t reads the report. "screen" before the
 * name opens the display. */
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "boot/panic.h"
#include "boot/platform.h"
#include "boot/screen.h"

enum { UNMAPPED = 28u, GIB_SHIFT = 30, FAR_CORE = 50000, LEAP_BYTES = 16 * 1024 - 512, CORES = 4 };

static const uint32_t constant[4] = { 1, 2, 3, 4 };
static uint32_t data[16];

static struct traps_state {
    void (*volatile trap)(void);
    bool all;
    _Atomic uint32_t at_work; /* cores that count, or are about to trap together */
    _Atomic uint32_t counts[BOARD_MAX_CORES];
} state;

/* The compiler may neither see what is there nor turn the call before it into a jump. */
static uintptr_t hidden(uintptr_t address)
{
    __asm__ volatile("" : "+r"(address)::"memory");
    return address;
}

static void write_word(uintptr_t address)
{
    *(volatile uint32_t *)hidden(address) = 0x1badd00d;
}

static void read_word(uintptr_t address)
{
    (void)hidden(*(volatile uint32_t *)hidden(address)); /* used: the frame outlives the read */
}

static void trap_write_code(void)
{
    write_word((uintptr_t)text_start);
}

static void trap_write_rodata(void)
{
    write_word((uintptr_t)constant);
}

static void trap_execute_data(void)
{
    ((void (*)(void))hidden((uintptr_t)data))();
    (void)hidden(0);
}

static void trap_execute_rodata(void)
{
    ((void (*)(void))hidden((uintptr_t)constant))();
    (void)hidden(0);
}

static void trap_read_null(void)
{
    read_word(8);
}

static void trap_read_unmapped(void)
{
    read_word((uintptr_t)UNMAPPED << GIB_SHIFT);
}

/* A frame a call, a small one. */
__attribute__((noinline)) static unsigned descend(unsigned depth)
{
    volatile unsigned frame[64];

    frame[depth % 64] = depth;
    return depth == UINT32_MAX ? 0 : descend(depth + 1) + frame[depth % 64];
}

static void trap_stack_overflow(void)
{
    data[0] = descend(0);
}

/* The largest frame that a guard stops: its lowest byte is touched first. */
__attribute__((noinline)) static unsigned leap(unsigned depth)
{
    volatile uint8_t frame[LEAP_BYTES];

    frame[0] = (uint8_t)depth;
    return depth == UINT32_MAX ? 0 : leap(depth + 1) + frame[0];
}

static void trap_stack_leap(void)
{
    data[0] = leap(0);
}

/* Writes just below this core's trap stack, as its own overflow would. */
static void trap_trap_stack(void)
{
    write_word((uintptr_t)stack_trap_bottom(core_number()) - sizeof(uint32_t));
}

__attribute__((noinline)) static void fill(volatile uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = 0x41;
}

/* Writes beyond its array, up to its record of the caller. */
__attribute__((noinline)) static void smash(size_t n)
{
    volatile uint8_t bytes[64];

    fill(bytes, n);
    (void)hidden(bytes[0]);
}

static void trap_stack_smash(void)
{
    smash(hidden(64 + 16));
    (void)hidden(0);
}

/* Is not a trap: two boots are to have two of them. */
static void trap_canary(void)
{
    extern uintptr_t __stack_chk_guard;

    panic("the canary is %lx", (unsigned long)__stack_chk_guard);
}

/* All zero bits are undefined for ever on both ISAs. The registers are the first, a middle and a
 * late one. */
static void trap_undefined(void)
{
#ifdef __aarch64__
    __asm__ volatile("mov x0, #0x1111\n\tmov x17, #0x2222\n\tmov x28, #0x3333\n\t.4byte 0" ::
                         : "x0", "x17", "x28");
#else
    __asm__ volatile("li ra, 0x4444\n\tli a0, 0x1111\n\tli s11, 0x2222\n\tli t6, 0x3333\n\t"
                     ".4byte 0" ::
                         : "ra", "a0", "s11", "t6");
#endif
}

static void trap_breakpoint(void)
{
#ifdef __aarch64__
    __asm__ volatile("brk #7");
#else
    __asm__ volatile("ebreak");
#endif
}

static void trap_assert(void)
{
    assert(hidden(1) == 2);
}

static void trap_panic(void)
{
    panic("%s: %d of %u, %x, %lx, %c%%", "as asked", -3, 4u, 0xabcu, 0x123456789abcdeful, 'z');
}

/* Makes the report read from an address that is not mapped. */
static void trap_in_panic(void)
{
    panic("one %s", (const char *)hidden((uintptr_t)UNMAPPED << GIB_SHIFT));
}

/* On the trap stack, the backtrace of a core that does not exist follows a frame pointer to where
 * that core's stack would be. Nor is there a stack of C left for the second trap. */
static void trap_in_trap(void)
{
    uintptr_t frame = (uintptr_t)stack_bottom(FAR_CORE) + 1024, core = FAR_CORE;

#ifdef __aarch64__
    __asm__ volatile("msr tpidr_el1, %0\n\tmov x29, %1\n\tmov sp, %2\n\tbrk #7" ::"r"(core),
                     "r"(frame), "r"(hidden(0)));
#else
    __asm__ volatile("mv tp, %0\n\tmv s0, %1\n\tmv sp, zero\n\tebreak" ::"r"(core), "r"(frame));
#endif
}

static void say(const char *text)
{
    for (; *text != '\0'; text++)
        board.putc(*text);
}

/* Is not a trap: newlib's malloc, which gets nothing from _sbrk. */
static void trap_malloc(void)
{
    static const size_t sizes[] = { 1, 100, 4096, 1u << 20 };
    bool refused = true;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        errno = 0;
        if (hidden((uintptr_t)malloc(hidden(sizes[i]))) != 0 || errno != ENOMEM)
            refused = false;
    }
    free(NULL);
    say(refused ? "malloc: NULL and ENOMEM\n" : "malloc: gave memory\n");
    board.power_off(refused ? 0 : 1);
}

static const struct {
    const char *name;
    void (*trap)(void);
} traps[] = {
    { "write-code", trap_write_code },
    { "write-rodata", trap_write_rodata },
    { "execute-data", trap_execute_data },
    { "execute-rodata", trap_execute_rodata },
    { "read-null", trap_read_null },
    { "read-unmapped", trap_read_unmapped },
    { "stack-overflow", trap_stack_overflow },
    { "stack-leap", trap_stack_leap },
    { "trap-stack", trap_trap_stack },
    { "stack-smash", trap_stack_smash },
    { "canary", trap_canary },
    { "undefined", trap_undefined },
    { "breakpoint", trap_breakpoint },
    { "assert", trap_assert },
    { "panic", trap_panic },
    { "in-panic", trap_in_panic },
    { "in-trap", trap_in_trap },
    { "malloc", trap_malloc },
};

/* Puts two frames above every trap, neither of them a tail call. */
__attribute__((noinline)) static void spring(void)
{
    state.trap();
    (void)hidden(0);
}

static void core_main(void *arg)
{
    unsigned core = core_number();
    bool springs = *(const bool *)arg;

    if (springs) {
        if (state.all)
            atomic_fetch_add(&state.at_work, 1);
        while (atomic_load(&state.at_work) + (state.all ? 0 : 1) < CORES) {
        }
        spring();
        say("nothing happened\n");
        board.power_off(0);
    }
    atomic_fetch_add(&state.at_work, 1);
    for (;;)
        atomic_fetch_add(&state.counts[core], 1);
}

static void start_others(void)
{
    static const bool yes = true, no = false;

    for (unsigned core = 1; core < CORES; core++) {
        const bool *springs = core == 1 || state.all ? &yes : &no;

        if (board.start_core(core, core_main, (void *)(uintptr_t)springs) == ERR_OK)
            continue;
        say("a core does not start\n");
        board.power_off(1);
    }
    core_main((void *)(uintptr_t)(state.all ? &yes : &no));
}

/* Finds the start of the name of the trap. */
static const char *open_screen(const struct machine *machine)
{
    static const char word[] = "screen ";
    static struct platform platform;

    if (strncmp(machine->args, word, sizeof word - 1) != 0)
        return machine->args;
    board_platform(&platform, machine);
    boot_screen_open(&platform, machine);
    return machine->args + sizeof word - 1;
}

void image_main(const struct machine *machine)
{
    const char *name = open_screen(machine), *end = strchr(name, ' ');
    size_t length = end != NULL ? (size_t)(end - name) : strlen(name);

    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
        if (strlen(traps[i].name) == length && memcmp(traps[i].name, name, length) == 0)
            state.trap = traps[i].trap;
    state.all = end != NULL && strcmp(end, " all") == 0;
    if (state.trap != NULL && end != NULL)
        start_others();
    if (state.trap != NULL)
        spring();
    say("nothing happened\n");
    board.power_off(0);
}
