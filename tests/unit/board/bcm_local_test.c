/* Raspberry Pi 3's two controllers, the block beside the cores (QA7) and BCM2835's (7.5), as the
 * firmware leaves them: USB's interrupt is on and asserted, and there are an FIQ, timers and
 * mailboxes. */
#include "tests/unit/tap.h"

#include "board/drivers/irq/bcm_local.h"
#include "board/drivers/irq/irq_table.c"
#include "tests/unit/board/fakes/fake_core.h"

enum {
    USB = 9,
    UART = 57,
    DOORBELL = 2,
    MAILBOX_CONTROL = 0x50,
    SOURCE = 0x60,
    MAILBOX_READ = 0xc0
};

static struct fake_bcm {
    uint32_t wire[2], enabled[2], basic_wire, basic, fiq;
    uint32_t timers[4]; /* controls of the cores; core 0's timers are all asserted */
    uint32_t mailbox, mailbox_on, local_timer, bus, counters;
    bool routed;
    uint32_t timers_assert;
} b;

static uint32_t read_arm(unsigned offset, bool look)
{
    (void)look;
    if (offset == 0)
        return b.basic_wire & b.basic;
    if (offset == 4 || offset == 8)
        return b.wire[offset / 4 - 1] & b.enabled[offset / 4 - 1];
    if (offset == 0xc)
        return b.fiq;
    return offset == 0x10 || offset == 0x14 ? b.enabled[offset / 4 - 4] : 0;
}

static void write_arm(unsigned offset, uint32_t value)
{
    if (offset == 0xc)
        b.fiq = value;
    else if (offset == 0x10 || offset == 0x14)
        b.enabled[offset / 4 - 4] |= value;
    else if (offset == 0x18)
        b.basic |= value;
    else if (offset == 0x1c || offset == 0x20)
        b.enabled[offset / 4 - 7] &= ~value;
    else if (offset == 0x24)
        b.basic &= ~value;
}

static uint32_t source(void)
{
    bool gpu = read_arm(0, true) != 0 || read_arm(4, true) != 0 || read_arm(8, true) != 0;

    return (b.timers[0] & b.timers_assert & 0xf) | (b.mailbox_on & (b.mailbox != 0)) << 4 |
           (uint32_t)(gpu && b.routed) << 8 | (b.counters & 1) << 9 | (b.bus >> 20 & 1) << 10 |
           (b.local_timer >> 29 & 1) << 11;
}

static uint32_t read_local(unsigned offset, bool look)
{
    (void)look;
    if (offset == SOURCE)
        return source();
    if (offset >= 0x40 && offset < 0x50)
        return b.timers[(offset - 0x40) / 4];
    return offset == MAILBOX_READ ? b.mailbox : 0;
}

static void write_local(unsigned offset, uint32_t value)
{
    if (offset == 0x0c)
        b.routed = value == 0;
    else if (offset == 0x14)
        b.counters &= ~value;
    else if (offset == 0x30)
        b.bus = value;
    else if (offset == 0x34)
        b.local_timer = value;
    else if (offset >= 0x40 && offset < 0x50)
        b.timers[(offset - 0x40) / 4] = value;
    else if (offset == MAILBOX_CONTROL)
        b.mailbox_on = value & 1;
    else if (offset == MAILBOX_READ)
        b.mailbox &= ~value;
}

static bool pending(void)
{
    return source() != 0;
}

static void leave_on(void)
{
    memset(&core, 0, sizeof core);
    memset(&irq_table, 0, sizeof irq_table);
    b = (struct fake_bcm){
        .wire = { 1u << USB, 0 },
        .enabled = { 1u << USB, 0 },
        .basic_wire = 1 << DOORBELL,
        .basic = 1 << DOORBELL,
        .fiq = 0x80 | USB,
        .timers = { 0x22, 2, 2, 2 },
        .timers_assert = 2,
        .mailbox = 0x100,
        .local_timer = 3u << 28,
        .bus = 1 << 20,
        .counters = 1,
    };
    core.pending = pending;
    fake_mmio.settle = core_settle;
}

static unsigned uart_served;

static bool serve_uart(void *context)
{
    (void)context;
    uart_served++;
    b.wire[UART / 32] = 0;
    return true;
}

static void test_left_on(uintptr_t local, uintptr_t arm)
{
    uint32_t line;

    leave_on();
    bcm_local_listen(local, 0);
    bcm_local_init(local, arm);
    OK(irq_take(UART, serve_uart, NULL) == ERR_OK && !core.endless && core.taken == 0,
       "interrupts that the firmware left on do not arrive (%u)", core.taken);
    OK(b.enabled[0] == 0 && b.enabled[1] == 1u << UART % 32 && b.basic == 0,
       "the UART's interrupt is on, and no other");
    OK(b.fiq == 0 && b.local_timer == 0 && b.timers[0] == 0 && b.timers[3] == 0,
       "no FIQ and no timer is left on");
    b.wire[UART / 32] = 1u << UART % 32;
    core_settle();
    OK(uart_served == 1 && core.taken == 1 && irq_strays(&line) == 0,
       "the UART's interrupt is served");
}

/* The VideoCore shares the registers. */
static void test_strays(void)
{
    uint32_t line;

    b.enabled[0] = 1u << USB;
    b.wire[UART / 32] = 1u << UART % 32;
    core.taken = 0;
    core_settle();
    OK(!core.endless && uart_served == 2, "a line that nobody took does not keep the core (%u)",
       core.taken);
    OK(irq_strays(&line) == 1 && line == USB && b.enabled[0] == 0,
       "the line is disabled, and counted");
    b.basic = 1 << DOORBELL;
    core_settle();
    OK(!core.endless && irq_strays(&line) == 2 && b.basic == 0,
       "a basic interrupt that nobody takes is counted, too");
    b.timers[0] = 2;
    b.counters = 1;
    b.bus = 1 << 20;
    b.local_timer = 3u << 28;
    core_settle();
    OK(!core.endless && irq_strays(&line) == 6 && source() == 0,
       "a stray interrupt of the block's own is counted, too");
    b.mailbox = 1;
    core_settle();
    OK(!core.endless && b.mailbox == 0 && irq_strays(&line) == 6,
       "a wake-up is not counted as a stray interrupt");
}

int main(void)
{
    uintptr_t local = mmio_add(read_local, write_local, 0x1000),
              arm = mmio_add(read_arm, write_arm, 0x1000);

    test_left_on(local, arm);
    test_strays();
    return tap_done();
}
