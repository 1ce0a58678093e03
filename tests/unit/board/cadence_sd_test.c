/* Cadence's SD4HC in the PolarFire SoC: it is woken before it is touched, and a card is waited for
 * until the switch of its slot has settled. fake_sdhci.h has the standard registers; those before them
 * and SYSREG are pages that see each access. */
#include "board/drivers/sd/cadence_sd.h"

#include <string.h>

#include "tests/unit/board/fakes/fake_mmio.h"
#include "tests/unit/board/fakes/fake_sdhci.h"

enum {
    HRS00 = 0x00,
    HRS04 = 0x10,
    HRS06 = 0x18,
    CLOCK_CR = 0x84,
    RESET_CR = 0x88,
    MMC = 1 << 3,
    OTHERS = 0x0fc7fff7, /* blocks in use */
    PHY_DELAYS = 0x0a0b,
    BOUNCE_TICKS = 16000, /* 16 ms: as long as the maker's drivers ask HRS01 for */
};

static uint32_t hrs[0x200 / 4], sysreg[0x1000 / 4];
static uint64_t settles_at;
static bool lets_write; /* there is a SYSREG; the emulator has none */
static unsigned n_asleep;
static struct block_device device;

static bool is_awake(void)
{
    return (sysreg[CLOCK_CR / 4] & MMC) && !(sysreg[RESET_CR / 4] & MMC);
}

/* Moves the card's switch as time goes by. */
static uint64_t ticks(void)
{
    uint32_t card = f.now < settles_at ? 0 : PRESENT_INSERTED | PRESENT_STABLE;

    f.regs[SDHCI_PRESENT / 4] = card | PRESENT_UNLOCKED;
    return fake_ticks();
}

static void reset_all(void)
{
    memset(hrs, 0, sizeof hrs);
    settles_at = f.now + BOUNCE_TICKS;
    (void)ticks();
}

static uint32_t read_hrs(unsigned at)
{
    n_asleep += lets_write && !is_awake();
    return at < sizeof hrs ? hrs[at / 4] : 0;
}

static void write_hrs(unsigned at, uint32_t value)
{
    n_asleep += lets_write && !is_awake();
    if (at == HRS00 && (value & 1))
        reset_all();
    else if (at < sizeof hrs)
        hrs[at / 4] = value;
}

static uint32_t read_sysreg(unsigned at)
{
    return sysreg[at / 4];
}

static void write_sysreg(unsigned at, uint32_t value)
{
    if (!lets_write)
        return;
    sysreg[at / 4] = value;
    if (at == RESET_CR && (value & MMC))
        reset_all();
}

/* Sets a controller as a firmware leaves it that has read from the card, or has not. */
static void power_on(uint32_t clock, uint32_t soft_reset)
{
    power_up(PLAIN_CAPS | CAPABLE_ADMA2, 0, 3);
    memset(sysreg, 0, sizeof sysreg);
    memset(hrs, 0, sizeof hrs);
    sysreg[CLOCK_CR / 4] = clock;
    sysreg[RESET_CR / 4] = soft_reset;
    hrs[HRS04 / 4] = PHY_DELAYS;
    hrs[HRS06 / 4] = 0x1502; /* the firmware read an eMMC, with a tuning value */
    settles_at = n_asleep = 0;
    lets_write = true;
    (void)ticks();
}

static enum err open_card(void)
{
    static uintptr_t mmio, at_sysreg;
    struct sdhci_setup setup = plain_setup();

    if (mmio == 0) {
        mmio = fake_mmio_add(read_hrs, write_hrs);
        at_sysreg = fake_mmio_add(read_sysreg, write_sysreg);
    }
    setup.mmio = mmio;
    setup.ticks = ticks;
    memset(&device, 0, sizeof device);
    return cadence_sd_open((struct cadence_sd *)(void *)world, &setup, at_sysreg, &device);
}

static void test_starts(const char *name)
{
    enum err e = open_card();

    OK(e == ERR_OK && device.error_message == NULL, "%s: the card starts: %s: %s", name,
       err_text(e), device.error_message != NULL ? device.error_message : "no problem");
    OK(n_asleep == 0, "%s: nothing is touched while the block sleeps", name);
    OK((hrs[HRS06 / 4] & 7) == 0, "%s: the controller is told that this is an SD card", name);
}

static void test_awake(void)
{
    power_on(OTHERS | MMC, ~(uint32_t)(OTHERS | MMC));
    test_starts("as the firmware left it");
    OK(hrs[HRS04 / 4] == PHY_DELAYS && settles_at == 0,
       "the PHY's delays and the card's switch are kept");
    OK(sysreg[CLOCK_CR / 4] == (OTHERS | MMC) && sysreg[RESET_CR / 4] == ~(uint32_t)(OTHERS | MMC),
       "clocks and resets stay");
    OK(hrs[HRS06 / 4] == 0x1500, "HRS06 keeps what is not the kind of card");
}

static void test_asleep(const char *name, uint32_t clock, uint32_t soft_reset)
{
    power_on(clock, soft_reset);
    test_starts(name);
    OK(sysreg[CLOCK_CR / 4] == (OTHERS | MMC) && sysreg[RESET_CR / 4] == ~(uint32_t)(OTHERS | MMC),
       "%s: the clock is on, the reset off, and those of others stay", name);
    OK(settles_at > 0, "%s: the block is reset, and its clock has settled", name);
}

static void test_switch(void)
{
    power_on(OTHERS | MMC, 0);
    settles_at = f.now + BOUNCE_TICKS;
    (void)ticks();
    test_starts("a switch that bounces");
    power_on(OTHERS | MMC, 0);
    settles_at = UINT64_MAX;
    (void)ticks();
    OK(open_card() == ERR_OK && device.error_message != NULL && f.now > 1000000 && f.now < 1200000,
       "a controller that never settles is given up after a second: %s", device.error_message);
}

/* An eMMC up to 26 MHz is an SD card to HRS06, and one of its kind from high speed on (Linux, sdhci-cadence.c). */
static void test_kind(void)
{
    struct cadence_sd *sd = (void *)world;

    power_on(OTHERS | MMC, 0);
    (void)open_card();
    OK(sd->host.setup.identify_emmc != NULL && sd->host.setup.prepare_timing != NULL,
       "HRS06 follows the timing");
    sd->is_emmc = true;
    sd->host.setup.prepare_timing(sd, SD_TIMING_DEFAULT);
    OK(hrs[HRS06 / 4] == 0x1500, "an eMMC up to 26 MHz has kind %x", hrs[HRS06 / 4] & 7);
    sd->host.setup.prepare_timing(sd, SD_TIMING_HIGH);
    OK(hrs[HRS06 / 4] == 0x1502, "an eMMC at high speed has kind %x", hrs[HRS06 / 4] & 7);
    sd->is_emmc = false;
    sd->host.setup.prepare_timing(sd, SD_TIMING_HIGH);
    OK(hrs[HRS06 / 4] == 0x1500, "an SD card at high speed has kind %x", hrs[HRS06 / 4] & 7);
    /* No eMMC answers CMD1 here, so an SD card may come later. */
    (void)sd->host.setup.identify_emmc(&sd->host.host, &sd->card);
    OK(!sd->is_emmc && hrs[HRS06 / 4] == 0x1500,
       "a card that does not answer as an eMMC may still be an SD card");
}

int main(void)
{
    test_awake();
    test_kind();
    test_asleep("its clock is off", OTHERS, ~(uint32_t)(OTHERS | MMC));
    test_asleep("it is held in reset", OTHERS | MMC, ~(uint32_t)OTHERS);
    test_asleep("both", OTHERS, ~(uint32_t)OTHERS);
    test_switch();
    power_on(0, 0);
    lets_write = false;
    test_starts("SYSREG that reads as 0");
    return tap_done();
}
