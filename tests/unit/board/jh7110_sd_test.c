/* JH7110: a controller whose clock is off or that is held in reset is not touched, and the card's
 * clock is divided from the registers' values. */
#include "board/drivers/sd/jh7110_sd.h"

#include <string.h>

#include "tests/unit/board/fakes/fake_dw_mmc.h"

enum {
    CARD = 1,
    EMMC = 0,
    ON = 31,
    RELEASED = 0x310 / 4, /* resets 64 and 65: bits 0 and 1 */
};

static uint32_t crg[JH7110_CRG_BYTES / 4], syscon[JH7110_SYSCON_BYTES / 4];
static struct jh7110_sd *sd; /* they are in the world, because the descriptors are */
static struct block_device device;

/* The clocks as U-Boot leaves them, with both slots in use: PLL 2 at 1188 MHz, AXI_CFG0 a third of
 * it, SDIO an eighth of that. */
static struct jh7110_clocks firmware(void)
{
    memset(crg, 0, sizeof crg);
    memset(syscon, 0, sizeof syscon);
    syscon[0x2c / 4] = 99u << 17 | 3u << 15;
    syscon[0x34 / 4] = 2;
    crg[5] = 1 << 24;
    crg[7] = 3;
    for (unsigned i = 0; i < 2; i++) {
        crg[91 + i] = 1u << ON;
        crg[93 + i] = 1u << ON | 8;
    }
    crg[RELEASED] = 3;
    return (struct jh7110_clocks){ (uintptr_t)crg, (uintptr_t)syscon };
}

static enum err open_slot(const struct jh7110_clocks *clocks, unsigned slot)
{
    struct dw_mmc_setup setup = dw_setup();

    setup.clock_hz = 0;
    sd = (struct jh7110_sd *)(void *)world;
    memset(&device, 0x5a, sizeof device);
    return jh7110_sd_open(sd, clocks, slot, &setup, &device);
}

/* ---- what the registers say ---- */

static void test_rates(void)
{
    struct jh7110_clocks clocks = firmware();

    OK(jh7110_sd_hz(&clocks, CARD) == 49500000,
       "the clock of the card is as U-Boot sets it: 49.5 MHz");
    crg[94] = 1u << ON | 2;
    OK(jh7110_sd_hz(&clocks, CARD) == 198000000 && jh7110_sd_hz(&clocks, EMMC) == 49500000,
       "each slot has a divider of its own");
    crg[5] = 0;
    OK(jh7110_sd_hz(&clocks, EMMC) == 1000000, "a bus that runs by the oscillator has its clock");
    crg[5] = 1 << 24;
    syscon[0x2c / 4] = 99u << 17;
    syscon[0x30 / 4] = 1u << 28 | 1u << 23;
    syscon[0x34 / 4] = 1;
    OK(jh7110_sd_hz(&clocks, EMMC) == 49750000,
       "a PLL with a fraction is computed, and halved at its end");
    syscon[0x34 / 4] = 0;
    OK(jh7110_sd_hz(&clocks, EMMC) == 0, "a PLL without a divider gives no clock");
    crg[5] = crg[7] = 0;
    OK(jh7110_sd_hz(&clocks, EMMC) == 0, "a clock without a divider gives no clock");
}

/* ---- slots ---- */

static const char *error_message(void)
{
    return device.error_message != NULL ? device.error_message : "no problem";
}

static void test_card(unsigned divider, uint32_t block_hz, uint32_t card_hz)
{
    struct jh7110_clocks clocks = firmware();

    power_up(0, 0x40000000);
    crg[94] = 1u << ON | divider;
    f.clock_hz = block_hz;
    OK(open_slot(&clocks, CARD) == ERR_OK && device.error_message == NULL,
       "the card starts at %u Hz: %s", block_hz, error_message());
    OK(f.card_hz == card_hz && sd->card.timing == SD_TIMING_HIGH, "the card runs at %u Hz",
       f.card_hz);
}

static void test_emmc(void)
{
    struct jh7110_clocks clocks = firmware();

    power_up(0, 0x40000000);
    fake.is_emmc = true;
    fake.ext_csd[213] = 0x10;
    OK(open_slot(&clocks, EMMC) == ERR_OK && device.error_message == NULL && sd->card.facts.is_emmc,
       "slot 0 opens an eMMC");
    power_up(0, 0x40000000);
    fake.is_emmc = true;
    OK(open_slot(&clocks, CARD) == ERR_OK && device.error_message != NULL,
       "slot 1 refuses an eMMC");
}

static void test_asleep(const char *name, unsigned word, uint32_t mask, unsigned slot,
                        const char *sentence)
{
    struct jh7110_clocks clocks = firmware();

    power_up(0, 0x40000000);
    crg[word] &= ~mask;
    f.gated = true;
    OK(open_slot(&clocks, slot) == ERR_OK && f.n_gated == 0, "%s: nothing is touched", name);
    OK(strstr(error_message(), sentence) != NULL &&
           strncmp(device.name, "SD card at 0x", 13) == 0 && device.submit == NULL &&
           device.n_sectors == 0,
       "%s: %s has an error message: %s", name, device.name, error_message());
}

int main(void)
{
    test_rates();
    test_card(8, 49500000, 49500000);
    test_card(2, 198000000, 49500000);
    test_card(4, 99000000, 49500000);
    test_emmc();
    test_asleep("SDIO0's registers", 91, 1u << ON, 0, "clock is off");
    test_asleep("SDIO1's registers", 92, 1u << ON, 1, "clock is off");
    test_asleep("SDIO0's card", 93, 1u << ON, 0, "clock is off");
    test_asleep("SDIO1's card", 94, 1u << ON, 1, "clock is off");
    test_asleep("SDIO0 in reset", RELEASED, 1, 0, "held in reset");
    test_asleep("SDIO1 in reset", RELEASED, 2, 1, "held in reset");
    test_asleep("SDIO1 without a divider", 94, 15, 1, "impossible dividers");
    return tap_done();
}
