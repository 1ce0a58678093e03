/* The record of the last run in a page that survives, and the registers that end a run: the
 * watchdog's, and the pins beside them. The test plays the page and the registers. */
#include <string.h>

#include "board/drivers/soc/bcm_gpio.h"
#include "board/drivers/soc/bcm_watchdog.h"
#include "board/drivers/soc/last_run.h"
#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum { PM_RSTC = 0x1c / 4, PM_RSTS = 0x20 / 4, PM_WDOG = 0x24 / 4 };

static uint8_t *page; /* where the record lies */
static enum err map_says;
static bool mapped_wrong;
static uint32_t regs[64];

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    if (mapping != MAP_UNCACHED || base % 4096 != 0 || bytes != 4096)
        mapped_wrong = true;
    page = (uint8_t *)base;
    return map_says;
}

static struct board_last_run opened_after(bool fired)
{
    struct board_last_run last;

    last_run_open(&last, fired);
    return last;
}

static struct board_last_run opened(void)
{
    return opened_after(false);
}

static void test_record(void)
{
    struct board_last_run last = opened();

    OK(last.end == BOARD_RUN_UNKNOWN && !last.armed, "a cleared page says nothing");
    last_run_alive(1234);
    last_run_doing("loading the model", true);
    last = opened();
    OK(last.end == BOARD_RUN_RESET && last.armed && last.alive_millis == 1234 &&
           strcmp(last.doing, "loading the model") == 0,
       "a run that was cut off is told as a reset");
    last = opened();
    OK(last.end == BOARD_RUN_RESET && !last.armed && last.alive_millis == 0 &&
           strcmp(last.doing, "starting") == 0,
       "a run that got nowhere was reset");
    last_run_close(true);
    OK(opened().end == BOARD_RUN_RESTARTED, "a run that restarted is told as one");
    last_run_close(false);
    OK(opened().end == BOARD_RUN_UNKNOWN, "a run that was switched off is not told");
}

static uint8_t in_memory[4096];

static void look(void)
{
    memcpy(in_memory, page, sizeof in_memory);
}

static bool is_in_memory(void)
{
    return memcmp(in_memory, page, sizeof in_memory) == 0;
}

/* A store that still waits when a register resets the machine is lost. */
static void test_order(void)
{
    dma_log.ordered = look;
    (void)opened();
    OK(is_in_memory(), "the record is in memory when it begins");
    last_run_alive(4321);
    OK(is_in_memory(), "the record is in memory at each sign of life");
    last_run_doing("reading", true);
    OK(is_in_memory(), "the record is in memory before the watchdog is armed");
    last_run_close(true);
    OK(is_in_memory(), "the record is in memory before the machine restarts");
    dma_log.ordered = NULL;
    (void)opened();
}

static void test_long_text(void)
{
    struct board_last_run last;

    last_run_doing("a text that is a good deal longer than the record has room for", false);
    last = opened();
    OK(last.end == BOARD_RUN_RESET && strlen(last.doing) == BOARD_DOING_BYTES - 1 &&
           strncmp(last.doing, "a text that is", 14) == 0,
       "a long text is cut: %s", last.doing);
}

/* The register says "the watchdog's block reset us" after a hang, but also after restart(),
 * power_off() and another program's work. */
static void test_fired(void)
{
    (void)opened();
    last_run_alive(4000);
    last_run_doing("computing a reply", true);
    OK(opened_after(true).end == BOARD_RUN_HUNG, "a run with a watchdog and no end counts as hung");
    last_run_doing("talking", false);
    OK(opened_after(true).end == BOARD_RUN_RESET,
       "a run without a watchdog does not count as hung");
    last_run_doing("talking", true);
    last_run_close(true);
    OK(opened_after(true).end == BOARD_RUN_RESTARTED,
       "a run that restarted does not count as hung");
    last_run_doing("talking", true);
    last_run_close(false);
    OK(opened_after(true).end == BOARD_RUN_UNKNOWN,
       "a run that was switched off does not count as hung");
    last_run_doing("talking", true);
    page[9] ^= 4;
    OK(opened_after(true).end == BOARD_RUN_UNKNOWN, "a run without a record is not reported");
    memset(page, 0, 4096);
    OK(opened_after(true).end == BOARD_RUN_UNKNOWN, "cleared RAM gives no report");
    last_run_doing("talking", true);
    OK(opened_after(false).end == BOARD_RUN_RESET,
       "a run whose register was lost counts as a reset");
}

/* RAM after a power cycle: any bit may be any. */
static void test_decay(void)
{
    unsigned believed = 0;

    for (unsigned byte = 0; byte < 20 + BOARD_DOING_BYTES; byte++) {
        (void)opened();
        last_run_alive(99);
        page[byte] ^= (uint8_t)(1 << byte % 8);
        believed += opened().end != BOARD_RUN_UNKNOWN;
    }
    OK(believed == 0, "no record with a flipped bit is believed");
    memset(page, 0xff, 4096);
    OK(opened().end == BOARD_RUN_UNKNOWN, "memory of ones is not believed");
    map_says = ERR_NO_SPACE;
    OK(opened().end == BOARD_RUN_UNKNOWN, "memory that cannot be mapped is not believed");
    memset(page, 0, 4096);
    last_run_alive(5);
    last_run_doing("nothing", true);
    last_run_close(true);
    OK(page[0] == 0 && memcmp(page, page + 1, 4095) == 0,
       "memory that cannot be mapped is not written either");
    map_says = ERR_OK;
    OK(!mapped_wrong, "one page is mapped, uncached");
}

static void test_watchdog(void)
{
    uintptr_t base = (uintptr_t)regs;

    regs[PM_RSTC] = 0x102;
    bcm_watchdog_arm(base, 15000);
    OK(regs[PM_WDOG] == (0x5a000000 | 15 * 65536), "15 s become %x", (unsigned)regs[PM_WDOG]);
    OK(regs[PM_RSTC] == 0x5a000122, "the reset is full, and the other bits are kept");
    bcm_watchdog_arm(base, BCM_WATCHDOG_MAX_MILLIS);
    OK((regs[PM_WDOG] & 0xffffff) <= 0xfffff, "the longest time fits the counter");
    regs[PM_RSTC] = 0x122;
    bcm_watchdog_arm(base, 0);
    OK(regs[PM_RSTC] == 0x5a000102, "the watchdog is off again");

    regs[PM_RSTS] = 0x1000;
    OK(!bcm_watchdog_restarted(base), "power-on is not a restart");
    regs[PM_RSTS] = 0x20;
    OK(bcm_watchdog_restarted(base), "a reset by the watchdog is a restart");
    regs[PM_RSTS] = 0x1aaa;
    bcm_watchdog_halt(base);
    OK(regs[PM_RSTS] == (0x5a000000 | 0x1fff) && (regs[PM_RSTC] & 0x30) == 0x20 &&
           (regs[PM_WDOG] & 0xffffff) == 10,
       "a halt names partition 63, then resets");
    regs[PM_RSTS] = 0x1fff;
    bcm_watchdog_restart(base);
    OK(regs[PM_RSTS] == (0x5a000000 | 0x1aaa), "a restart names partition 0");
}

static void test_pins(void)
{
    uintptr_t base = (uintptr_t)regs;

    memset(regs, 0, sizeof regs);
    regs[1] = 0xffffffff;
    bcm_gpio_function(base, 14, BCM_PIN_ALT0);
    bcm_gpio_function(base, 15, BCM_PIN_INPUT);
    OK(regs[1] == (0xffffffff & ~(7u << 12) & ~(7u << 15)) + (4u << 12),
       "only the bits of pins 14 and 15 change");
    bcm_gpio_function(base, 53, BCM_PIN_ALT3);
    OK(regs[5] == 7u << 9, "pin 53 gets its function");
    bcm_gpio_write(base, 42, true);
    bcm_gpio_write(base, 29, false);
    OK(regs[0x20 / 4] == 1u << 10 && regs[0x28 / 4] == 1u << 29, "one pin is set and one cleared");
    bcm_gpio_pull(base, BCM_PULL_REGISTER, 15, true);
    OK(regs[0xe4 / 4] == 1u << 30, "BCM2711 sets its pull");
    bcm_gpio_pull(base, BCM_PULL_REGISTER, 15, false);
    OK(regs[0xe4 / 4] == 0, "BCM2711 takes its pull away");
    bcm_gpio_pull(base, BCM_PULL_CLOCKED, 50, true);
    OK(regs[0x94 / 4] == 0 && regs[0x9c / 4] == 0 && regs[0xe4 / 4] == 0,
       "the sequence of BCM2835 leaves its registers clear");
}

int main(void)
{
    test_record();
    test_order();
    test_long_text();
    test_fired();
    test_decay();
    test_watchdog();
    test_pins();
    return tap_done();
}
