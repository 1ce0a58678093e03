/* An LED that flashes a number, by a clock that the test moves; and the pins of each Raspberry Pi's
 * LED, between neighbours that belong to the firmware. */
#include <string.h>

#include "board/drivers/soc/bcm_gpio.h"
#include "board/drivers/soc/brcmstb_gpio.h"
#include "board/board.h"
#include "board/led_code.h"
static const struct board *stage_board; /* the board of boot/stage.c */
#define board (*stage_board)
#include "boot/stage.c"
#undef board
#include "tests/unit/tap.h"

enum { HZ = 1000000, MOST_EDGES = 64 };

static uint64_t now, tick, looks;
static struct edge {
    bool lit;
    uint64_t at;
} edges[MOST_EDGES];
static unsigned n_edges;

static uint64_t ticks(void)
{
    looks++;
    now += tick;
    return now;
}

static void set(bool lit)
{
    if (n_edges < MOST_EDGES)
        edges[n_edges++] = (struct edge){ lit, now };
}

static void show(unsigned code, uint64_t hz, uint64_t each_look)
{
    const struct led led = { set, ticks, hz };

    n_edges = 0;
    looks = 0;
    tick = each_look;
    led_code_show(&led, code);
}

/* Returns the time from edge i to the next, in rounded milliseconds. */
static unsigned millis(unsigned i)
{
    uint64_t end = i + 1 < n_edges ? edges[i + 1].at : now;

    return (unsigned)((end - edges[i].at + HZ / 2000) / (HZ / 1000));
}

/* Whether the edges from `first` on, up to the pause after them, are this code. */
static bool is_code_at(unsigned first, unsigned code)
{
    unsigned last = first + 1 + 2 * code;

    if (n_edges <= last || !edges[first].lit || millis(first) != LED_CODE_LONG_MILLIS)
        return false;
    for (unsigned i = 1; i < last - first; i++)
        if (edges[first + i].lit != (i % 2 == 0) || millis(first + i) != LED_CODE_SHORT_MILLIS)
            return false;
    return !edges[last].lit && millis(last) == LED_CODE_PAUSE_MILLIS;
}

static bool is_code(unsigned code)
{
    return n_edges == 2 + 2 * code && is_code_at(0, code);
}

static void test_codes(void)
{
    for (unsigned code = 1; code <= 5; code++) {
        show(code, HZ, 7);
        OK(is_code(code), "the LED flashes once long and %u times short, then it is dark", code);
    }
    show(0, HZ, 7);
    OK(is_code(0), "a code of 0 is only the long flash");
}

/* ---- a display that stays dark (boot/main.c tells boot/stage.c) ---- */

static bool emulated;

static bool is_it_emulated(void)
{
    return emulated;
}

static uint64_t ticks_hz(void)
{
    return HZ;
}

static void warn(const struct board *of)
{
    stage_board = of;
    n_edges = 0;
    tick = 7;
    boot_stage_warn(BOOT_NO_PICTURE);
}

static void test_dark_display(void)
{
    static const struct board with = { .led = set,
                                       .ticks = ticks,
                                       .ticks_hz = ticks_hz,
                                       .is_emulated = is_it_emulated },
                              plain = { .led = set, .ticks = ticks, .ticks_hz = ticks_hz },
                              without = { .ticks = ticks, .ticks_hz = ticks_hz };
    uint64_t start = now;

    warn(&with);
    OK(n_edges == 28 && is_code_at(0, 6) && is_code_at(14, 6),
       "a dark display is told by six short flashes after a long one, twice");
    OK(now - start < 15ull * HZ, "the flashes end before a watchdog of 15 s does");
    warn(&plain);
    OK(n_edges == 28 && is_code_at(14, 6), "a board that no emulator has flashes in the same way");
    emulated = true;
    warn(&with);
    OK(is_code(6), "an emulator shows the code once");
    warn(&without);
    OK(n_edges == 0, "a board without an LED continues at once");
}

/* The firmware left CNTFRQ 0, and the counter is off. */
static void test_bad_clocks(void)
{
    show(2, 0, 1);
    OK(n_edges == 6 && looks > 1000 && looks < 200000000,
       "the flashes end without a rate, too: %lu looks", (unsigned long)looks);
    show(1, HZ, 0);
    OK(n_edges == 4 && looks < 1000000000, "a counter that stands still ends the code: %lu looks",
       (unsigned long)looks);
}

/* The layout in Linux's gpio-brcmstb: DATA at 4, IODIR at 8 of each bank of 0x20 bytes, where 1 is an input. The
 * firmware drives the card's supply (4) and RP1 (2), and reads the card's contact (5). */
static void test_always_on(void)
{
    uint32_t regs[16];

    memset(regs, 0, sizeof regs);
    regs[1] = 1u << 2 | 1u << 4;
    regs[2] = ~(1u << 2 | 1u << 3 | 1u << 4);
    brcmstb_gpio_write((uintptr_t)regs, 9, true);
    OK(regs[1] == (1u << 2 | 1u << 4 | 1u << 9) &&
           regs[2] == ~(1u << 2 | 1u << 3 | 1u << 4 | 1u << 9),
       "pin 9 of BCM2712 is an output and high, and its neighbours stay");
    brcmstb_gpio_write((uintptr_t)regs, 9, false);
    OK(regs[1] == (1u << 2 | 1u << 4), "the LED is lit if pin 9 is low");
    OK(regs[0] == 0 && regs[3] == 0 && regs[9] == 0 && regs[10] == 0, "nothing else is written");
}

static void test_pins(void)
{
    static const struct {
        unsigned pin, select, shift, word, bit;
    } leds[] = { { 29, 2, 27, 0, 29 }, { 42, 4, 6, 1, 10 } };
    uint32_t regs[64];

    for (unsigned i = 0; i < 2; i++) {
        memset(regs, 0, sizeof regs);
        regs[leds[i].select] = 0x3fffffff;
        bcm_gpio_function((uintptr_t)regs, leds[i].pin, BCM_PIN_OUTPUT);
        OK(regs[leds[i].select] == (0x3fffffff & ~(6u << leds[i].shift)),
           "pin %u is an output, and the nine others of its register stay", leds[i].pin);
        bcm_gpio_write((uintptr_t)regs, leds[i].pin, true);
        bcm_gpio_write((uintptr_t)regs, leds[i].pin, false);
        OK(regs[0x1c / 4 + leds[i].word] == 1u << leds[i].bit &&
               regs[0x28 / 4 + leds[i].word] == 1u << leds[i].bit,
           "the LED is set and cleared by a bit of its own");
    }
}

int main(void)
{
    test_codes();
    test_dark_display();
    test_bad_clocks();
    test_always_on();
    test_pins();
    return tap_done();
}
