#include "board/drivers/sd/jh7110_sd.h"

#include <string.h>

#include "board/drivers/soc/device_name.h"

/* SYSCRG: a register of 4 bytes for each clock, then the resets. */
enum {
    CLOCK_BUS_ROOT = 5,    /* the oscillator or PLL 2 */
    CLOCK_AXI_CFG0 = 7,    /* divides the bus root */
    CLOCK_SDIO0_AHB = 91,  /* clock of the registers: SDIO0, SDIO1 */
    CLOCK_SDIO0_CARD = 93, /* clock of the controller, divided from AXI_CFG0: SDIO0, SDIO1 */
    CLOCK_SOURCE_SHIFT = 24,
    CLOCK_SOURCE_MASK = 63,
    CLOCK_DIVISOR_MASK = 0xffffff,
    RESET_STATUS = 0x308, /* one bit per reset, which is set if the reset is released */
    RESET_SDIO0 = 64,     /* SDIO0, SDIO1 */
};
#define CLOCK_ON (1u << 31)

enum { OSCILLATOR_HZ = 24000000 };

/* SYS_SYSCON: PLL 2. */
enum {
    PLL2_FEEDBACK = 0x2c, /* 28:17 multiplier; 16 and 15 are both set if there is no fraction */
    PLL2_FRACTION = 0x30, /* 23:0 fraction in 2^24ths; 29:28 log2 of the last divider */
    PLL2_DIVIDER = 0x34,  /* 5:0 the first divider */
};

static uint32_t read_reg(uintptr_t base, unsigned offset)
{
    return *(volatile uint32_t *)(base + offset);
}

static uint32_t clock_reg(const struct jh7110_clocks *clocks, unsigned clock)
{
    return read_reg(clocks->crg, 4 * clock);
}

/* The rate of PLL 2; 0 if it does not run. */
static uint64_t pll2_hz(const struct jh7110_clocks *clocks)
{
    uint32_t feedback = read_reg(clocks->syscon, PLL2_FEEDBACK);
    uint32_t fraction = read_reg(clocks->syscon, PLL2_FRACTION);
    uint64_t times = (uint64_t)(feedback >> 17 & 0xfff) << 24;
    uint32_t divider = read_reg(clocks->syscon, PLL2_DIVIDER) & 63;

    if ((feedback >> 15 & 3) != 3)
        times += fraction & 0xffffff;
    if (divider == 0)
        return 0;
    return (OSCILLATOR_HZ * times >> 24) / divider >> (fraction >> 28 & 3);
}

static uint64_t divided(uint64_t hz, uint32_t clock)
{
    uint32_t divisor = clock & CLOCK_DIVISOR_MASK;

    if (divisor == 0)
        return 0;
    return hz / divisor;
}

uint32_t jh7110_sd_hz(const struct jh7110_clocks *clocks, unsigned slot)
{
    uint32_t source = clock_reg(clocks, CLOCK_BUS_ROOT) >> CLOCK_SOURCE_SHIFT & CLOCK_SOURCE_MASK;
    uint64_t hz = source == 0 ? OSCILLATOR_HZ : pll2_hz(clocks);

    hz = divided(hz, clock_reg(clocks, CLOCK_AXI_CFG0));
    return (uint32_t)divided(hz, clock_reg(clocks, CLOCK_SDIO0_CARD + slot));
}

/* The reason why the block is not awake, or NULL. A read of a block without a clock may never
 * end. */
static const char *why_asleep(const struct jh7110_clocks *clocks, unsigned slot)
{
    unsigned reset = RESET_SDIO0 + slot;

    if (!(clock_reg(clocks, CLOCK_SDIO0_AHB + slot) & CLOCK_ON) ||
        !(clock_reg(clocks, CLOCK_SDIO0_CARD + slot) & CLOCK_ON))
        return "the slot's clock is off: the firmware has not used it";
    if ((read_reg(clocks->crg, RESET_STATUS + reset / 32 * 4) >> reset % 32 & 1) == 0)
        return "the slot is held in reset: the firmware has not used it";
    return NULL;
}

enum err jh7110_sd_open(struct jh7110_sd *sd, const struct jh7110_clocks *clocks, unsigned slot,
                        const struct dw_mmc_setup *setup, struct block_device *out)
{
    struct dw_mmc_setup awake = *setup;
    const char *why = why_asleep(clocks, slot);
    enum err e;

    /* The firmware has set the clocks, which are only read. */
    awake.clock_hz = jh7110_sd_hz(clocks, slot);
    if (why == NULL && awake.clock_hz == 0)
        why = "the slot's clock has impossible dividers";
    if (why != NULL) {
        memset(out, 0, sizeof *out);
        device_name_set(sd->card.name, "SD card at ", setup->mmio);
        out->name = sd->card.name;
        out->error_message = why;
        return ERR_OK;
    }
    e = dw_mmc_open(&sd->host, &awake);
    if (e != ERR_OK)
        return e;
    if (slot == 0)
        sd->host.host.identify_emmc = sd_emmc_identify;
    sd_card_open(&sd->card, &sd->host.host, "SD card at ", setup->mmio, out);
    return ERR_OK;
}
