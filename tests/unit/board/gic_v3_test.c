/* GICv3 after firmware that used it (IHI 0069), with one security state: the distributor, a
 * redistributor and the core's registers. */
#include "tests/unit/tap.h"

#include "board/drivers/irq/core_registers.h"
#include "board/left_out.h"
#include "tests/unit/board/fakes/fake_gic.h"
#include "tests/unit/board/fakes/tree_writer.h"

enum {
    D_CTLR = 0,
    D_TYPER = 4,
    D_BYTES = 0x10000,
    R_TYPER = 8,
    R_WAKER = 0x14,
    R_LINES = 0x10000,
    R_BYTES = 0x20000,
    ONE_STATE = 1 << 6,
    LAST = 1 << 4,
    ASLEEP = 3 << 1
};

static uint32_t ctlr, waker;
static uint64_t sre;

enum { LPI = 8192 };
static bool left_lpi; /* firmware left one pending */
static unsigned lpis_ended;
static uint64_t priority_bits = 5; /* of the core; the number of running ones that it has follows */
static unsigned cleared;           /* bit n: ICC_AP1R<n>_EL1 */

static uint32_t read_distributor(unsigned offset, bool look)
{
    (void)look;
    if (offset == D_CTLR)
        return ctlr | ONE_STATE;
    if (offset == D_TYPER)
        return WORDS - 1;
    return offset < 0xc00 ? gic_fake_read_lines(offset, 1, WORDS) : 0;
}

static void write_distributor(unsigned offset, uint32_t value)
{
    if (offset == D_CTLR) {
        ctlr = value;
        g.forwards = (value & 2) != 0;
    } else if (offset < 0xc00) {
        gic_fake_write_lines(offset, value, 1, WORDS);
    }
}

static uint32_t read_redistributor(unsigned offset, bool look)
{
    (void)look;
    if (offset == R_TYPER)
        return LAST;
    if (offset == R_WAKER)
        return waker;
    return offset >= R_LINES && offset < R_LINES + 0xc00
               ? gic_fake_read_lines(offset - R_LINES, 0, 1)
               : 0;
}

static void write_redistributor(unsigned offset, uint32_t value)
{
    if (offset == R_WAKER)
        waker = (value & 2) != 0 ? ASLEEP : 0;
    else if (offset >= R_LINES && offset < R_LINES + 0xc00)
        gic_fake_write_lines(offset - R_LINES, value, 0, 1);
}

uint64_t core_register_read(const char *name)
{
    if (strcmp(name, "icc_iar1_el1") == 0 && left_lpi) {
        left_lpi = false;
        g.running = 1;
        return LPI;
    }
    if (strcmp(name, "icc_iar1_el1") == 0)
        return gic_fake_take();
    if (strcmp(name, "icc_ctlr_el1") == 0)
        return (priority_bits - 1) << 8;
    if (strcmp(name, "id_aa64pfr0_el1") == 0)
        return 1 << 24; /* it has these registers */
    return strcmp(name, "icc_sre_el1") == 0 ? sre : 0;
}

void core_register_write(const char *name, uint64_t value)
{
    if (strncmp(name, "icc_ap1r", 8) == 0 && value == 0)
        cleared |= 1u << (name[8] - '0');
    if (strcmp(name, "icc_sre_el1") == 0)
        sre = value;
    else if (strcmp(name, "icc_igrpen1_el1") == 0)
        g.interrupts = (value & 1) != 0;
    else if (strcmp(name, "icc_ap1r0_el1") == 0)
        g.running = (uint32_t)value;
    else if (strcmp(name, "icc_eoir1_el1") == 0 && value == LPI)
        g.running = 0, lpis_ended++;
    else if (strcmp(name, "icc_eoir1_el1") == 0)
        gic_fake_end((uint32_t)value);
    else if (strcmp(name, "icc_sgi1r_el1") == 0 && (value & 1) != 0)
        g.latched[0] |= 1u << (value >> 24 & 15); /* to the first core of the first cluster */
    core_settle();
}

/* Linux, irq-gic-v3.c, gic_cpu_sys_reg_init. */
static void test_running(const struct gic *gic, unsigned bits, unsigned all)
{
    priority_bits = bits;
    cleared = 0;
    core.masked = true; /* as when a core begins */
    OK(gic_v3.listen(gic, 0) == ERR_OK && cleared == all,
       "with %u bits of priority, an interrupt that firmware never ended does not hold back ours",
       bits);
    core.masked = false;
}

/* IHI 0069, 2.2.1: LPIs begin at 8192. */
static void test_lpi(void)
{
    unsigned served = uart_served;
    uint32_t line, strays = irq_strays(&line);

    left_lpi = true;
    gic_fake_wire(UART, true);
    core_settle();
    OK(lpis_ended == 1 && uart_served == served + 1 && irq_strays(&line) == strays && !core.endless,
       "an LPI that firmware left on is ended, and the UART's comes after it");
}

/* A machine with more regions than the driver has room for: the cores in the rest get no
 * wake-ups. */
static void test_regions(uint32_t regions, uint32_t left_out)
{
    static struct writer w;
    struct device_tree tree;
    struct gic gic;
    uint32_t reg[2 * 8], before = left_out_number(LEFT_OUT_REGIONS);

    memset(&w, 0, sizeof w);
    begin(&w, "");
    CELLS(&w, "#address-cells", 1);
    CELLS(&w, "#size-cells", 1);
    begin(&w, "interrupt-controller@8000000");
    text(&w, "compatible", "arm,gic-v3");
    CELLS(&w, "#redistributor-regions", regions);
    for (uint32_t i = 0; i <= regions; i++) {
        reg[2 * i] = 0x8000000 + 0x1000000 * i;
        reg[2 * i + 1] = D_BYTES;
    }
    cells(&w, "reg", 2 * (regions + 1), reg);
    end(&w);
    end(&w);
    finish(&w, 0);
    OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK && gic_v3.find(&gic, &tree) == ERR_OK &&
           gic.n_ranges == 1 + regions - left_out &&
           left_out_number(LEFT_OUT_REGIONS) == before + left_out,
       "%u of %u regions of redistributors are left out, by name", (unsigned)regions,
       (unsigned)left_out);
}

int main(void)
{
    struct gic gic = { .version = &gic_v3, .n_ranges = 2 };

    gic.ranges[0] = (struct gic_range){ mmio_add(read_distributor, write_distributor, D_BYTES),
                                        D_BYTES };
    gic.ranges[1] = (struct gic_range){ mmio_add(read_redistributor, write_redistributor, R_BYTES),
                                        R_BYTES };
    ctlr = 1 << 4;
    waker = ASLEEP;
    gic_fake_test(&gic);
    test_lpi();
    test_running(&gic, 5, 1);
    test_running(&gic, 6, 3);
    test_running(&gic, 7, 15);
    test_regions(4, 0);
    test_regions(6, 2);
    return tap_done();
}
