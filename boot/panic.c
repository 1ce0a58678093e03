#include "boot/panic.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "boot/boot.h"
#include "boot/screen.h"
#include "boot/stage.h"

/* newlib's assert.h declares this function only with assertions enabled. */
void __assert_func(const char *file, int line, const char *function, const char *expression)
    __attribute__((noreturn));

enum { NO_CORE = 0, MAX_FRAMES = 32 };

static struct panic_state {
    _Atomic unsigned owner; /* the reporting core's number + 1 */
    unsigned nested;        /* traps of the owner within its own report */
} panic_state;

static void put(char c)
{
    /* Terminals want CR and LF. */
    if (c == '\n')
        board.putc('\r');
    board.putc(c);
    boot_screen_put(c);
}

static void put_text(const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        put(*text);
}

/* Print a caller's text, but only its printable ASCII and newlines, because it may contain text
 * from outside. */
static void put_quoted(const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        put((*text >= ' ' && *text <= '~') || *text == '\n' ? *text : '?');
}

static void put_number(uint64_t value, unsigned base)
{
    char digits[20];
    unsigned n = 0;

    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (n > 0)
        put(digits[--n]);
}

/* If `wide`, the argument has 64 bits, as l, z and p have on both ISAs. */
static void put_signed(va_list *args, bool wide)
{
    int64_t value = wide ? va_arg(*args, long) : va_arg(*args, int);
    uint64_t magnitude = (uint64_t)value;

    if (value < 0) {
        put('-');
        magnitude = 0 - magnitude;
    }
    put_number(magnitude, 10);
}

static void put_unsigned(va_list *args, bool wide, unsigned base)
{
    put_number(wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), base);
}

static void put_argument(char conversion, bool wide, va_list *args)
{
    switch (conversion) {
    case 's': put_quoted(va_arg(*args, const char *)); break;
    case 'c': put((char)va_arg(*args, int)); break;
    case 'd': put_signed(args, wide); break;
    case 'p':
        put_text("0x");
        put_number((uintptr_t)va_arg(*args, void *), 16);
        break;
    case 'u': put_unsigned(args, wide, 10); break;
    case 'x':
        put_text("0x");
        put_unsigned(args, wide, 16);
        break;
    default: put(conversion); break;
    }
}

static void print_list(const char *format, va_list *args)
{
    for (; *format != '\0'; format++) {
        bool wide = false;

        if (*format != '%') {
            put(*format);
            continue;
        }
        /* Formats of panics have only l and z, followed by one letter. */
        for (format++; *format == 'l' || *format == 'z'; format++)
            wide = true;
        if (*format == '\0')
            return;
        put_argument(*format, wide, args);
    }
}

void panic_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_list(format, &args);
    va_end(args);
}

void panic_begin(void)
{
    unsigned owner = NO_CORE, self = core_number() + 1;

    (void)core_interrupts_mask();
    /* The first core reports. Another core that fails meanwhile stops, so that two reports do not
     * mix. */
    if (!atomic_compare_exchange_strong(&panic_state.owner, &owner, self)) {
        if (owner != self || panic_state.nested++ > 0)
            core_halt();
        boot_screen_drop();
        /* The report itself failed: write one more line and stop, because nothing can be trusted
         * now. */
        panic_print("\npanic: another trap inside this report\n");
        boot_stage_show();
        board.power_off(1);
    }
    if (board.flow_control != NULL)
        board.flow_control(false); /* XOFF must not delay a report */
    boot_screen_take();
    put('\n');
}

static bool in_guard(uint64_t address, const uint8_t *bottom)
{
    return address - ((uintptr_t)bottom - STACK_GUARD) < STACK_GUARD;
}

void panic_print_guard(uint64_t address)
{
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        if (in_guard(address, stack_bottom(core)) || in_guard(address, stack_trap_bottom(core)))
            panic_print(" (stack overflow: the guard of core %u)", core);
}

static bool on_stack(uintptr_t frame, const uint8_t *bottom, size_t bytes)
{
    return frame >= (uintptr_t)bottom && frame < (uintptr_t)bottom + bytes;
}

/* Print a backtrace. Frames must ascend within this core's stack, so that a broken chain
 * ends the loop, not the report. */
static void print_backtrace(uintptr_t frame)
{
    unsigned core = core_number();
    uintptr_t last = 0, address = 0;

    for (unsigned n = 0; n < MAX_FRAMES && frame > last && frame % 16 == 0; n++) {
        if (!on_stack(frame, stack_bottom(core) + 16, stack_bytes(core) - 31) &&
            !on_stack(frame, stack_trap_bottom(core) + 16, STACK_TRAP - 31))
            break;
        last = frame;
        backtrace_step(&frame, &address);
        if (address == 0)
            break;
        panic_print("  called from %lx\n", (unsigned long)address);
    }
}

void panic_end(uintptr_t pc, uintptr_t frame)
{
    panic_print("backtrace of core %u, for addr2line -fie ingot.elf:\n  at          %lx\n",
                core_number(), (unsigned long)pc);
    print_backtrace(frame);
    panic_print("power off\n");
    /* A screen shows the report for a while, because the power goes off afterwards. */
    boot_screen_hold();
    boot_stage_show();
    board.power_off(1);
}

void panic(const char *format, ...)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0), pc = 0;
    va_list args;

    panic_begin();
    panic_print("panic: ");
    va_start(args, format);
    print_list(format, &args);
    va_end(args);
    put('\n');
    backtrace_step(&frame, &pc); /* the location is where panic was called */
    panic_end(pc, frame);
}

void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    panic("%s:%d: %s: assertion failed: %s", file, line, function, expression);
}
