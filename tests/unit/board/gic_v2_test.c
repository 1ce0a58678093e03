/* GIC-400 after firmware that used it (IHI 0048): registers as the manual has them, for one core. */
#include "tests/unit/tap.h"

#include "board/drivers/irq/core_registers.h"
#include "tests/unit/board/fakes/fake_gic.h"

enum { D_CTLR = 0, D_TYPER = 4, D_TARGETS = 0x800, D_CLEAR_SGI = 0xf10 };
enum { C_CTLR = 0, C_IAR = 0xc, C_EOIR = 0x10, C_APR = 0xd0 };

static uint32_t bypass = 3 << 5; /* as firmware left it */

static uint32_t read_distributor(unsigned offset, bool look)
{
    (void)look;
    if (offset == D_CTLR)
        return g.forwards;
    if (offset == D_TYPER)
        return WORDS - 1;
    if (offset == D_TARGETS)
        return 0x01010101;
    return gic_fake_read_lines(offset, 0, WORDS);
}

static void write_distributor(unsigned offset, uint32_t value)
{
    if (offset == D_CTLR) {
        g.forwards = (value & 1) != 0;
    } else if (offset >= D_CLEAR_SGI && offset < D_CLEAR_SGI + 16) {
        for (unsigned i = 0; i < 4; i++)
            if ((value >> 8 * i & 0xff) != 0)
                g.latched[0] &= ~(1u << (offset - D_CLEAR_SGI + i));
    } else if (offset == CLEAR_PENDING || offset == SET_PENDING) {
        gic_fake_write_lines(offset, value & 0xffff0000, 0, WORDS); /* not for SGIs (4.3.8) */
    } else {
        gic_fake_write_lines(offset, value, 0, WORDS);
    }
}

static uint32_t read_interface(unsigned offset, bool look)
{
    if (offset == C_CTLR)
        return g.interrupts | bypass;
    if (offset == C_APR)
        return g.running;
    return offset == C_IAR && !look ? gic_fake_take() : NONE;
}

static void write_interface(unsigned offset, uint32_t value)
{
    if (offset == C_CTLR) {
        g.interrupts = (value & 1) != 0;
        bypass = value & 0xf << 5;
    }
    if (offset == C_APR)
        g.running = value;
    if (offset == C_EOIR)
        gic_fake_end(value);
}

/* Version 2 has none; gic.c knows both. */
uint64_t core_register_read(const char *name)
{
    printf("# a core of version 2 has no %s\n", name);
    exit(1);
}

void core_register_write(const char *name, uint64_t value)
{
    (void)value;
    (void)core_register_read(name);
}

int main(void)
{
    struct gic gic = GIC_400(mmio_add(read_distributor, write_distributor, 0x1000),
                             mmio_add(read_interface, write_interface, 0x1000));

    gic_fake_test(&gic);
    OK(bypass == 3 << 5, "the bypass stays as firmware left it");
    return tap_done();
}
