/* Raspberry Pi's SD controllers: how each differs from a standard one. Time runs at the 19.2 MHz of
 * the Pi 3's counter, so that a card's clocks count. */
#include "tests/unit/board/fakes/fake_sdhci.h"

enum { TICKS_HZ = 19200000, CONFIG_WORDS = BCM_SD_CONFIG_BYTES / 4, GPIO_WORDS = 16 };
enum { EMMC2_CAPS = 0x45ee6432, EMMC2_CAPS_2 = 0x0000a525 }; /* as a Pi 4 has them */
enum { C2712_CAPS = 0x15eac832, C2712_CAPS_2 = 0x00002577 }; /* as on a Pi 5, but without HS400 */
enum { PIN_SELECT = 0x44 / 4, LIMIT = 0x1ac / 4, PIN_1V8 = 1 << 3, PIN_POWER = 1 << 4 };

static uint32_t config[CONFIG_WORDS], gpio[GPIO_WORDS];

static void turn_on(uint32_t caps, uint32_t caps_2, uint32_t base_hz)
{
    power_up(caps, caps_2, 2);
    f.ticks_hz = TICKS_HZ;
    f.base_hz = base_hz;
    f.loses_writes = true;
    f.now = TICKS_HZ;
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
}

static struct bcm_sd_place place_of(enum bcm_sd_kind kind)
{
    return (struct bcm_sd_place){
        .kind = kind,
        .clock_hz = f.base_hz,
        .window = plain_setup().window,
        .ticks = fake_ticks,
        .ticks_hz = TICKS_HZ,
    };
}

static bool opens(const struct bcm_sd_place *place)
{
    return bcm_sd_open(&d->bcm, place, &d->device) == ERR_OK && d->device.error_message == NULL;
}

static bool reads(uint64_t sector, uint32_t n)
{
    return read_at(sector, n, 64) == ERR_OK && holds(sector, n, 64);
}

/* ---- BCM2835's Arasan: a write within two clocks of the card after another is lost ---- */

static void test_arasan(void)
{
    struct sd_command stop = { .index = 12, .response = SD_RESPONSE_SHORT_BUSY };
    struct bcm_sd_place place;

    turn_on(0, 0, 250000000);
    place = place_of(BCM_SD_ARASAN);
    OK(opens(&place), "Arasan: the card starts: %s", d->device.error_message);
    OK(f.n_lost == 0, "Arasan: %u writes are lost at the start", f.n_lost);
    OK(d->card.timing == SD_TIMING_HIGH && d->s.clock_hz == card_hz() && card_hz() > 40000000,
       "Arasan: the clock has the rate that the driver computes: %u", (unsigned)card_hz());
    OK(reads(7, 40) && f.n_lost == 0, "Arasan: sectors are read");
    (void)d->device.reset(&d->device);
    OK(f.n_lost == 0 && reads(9, 2) && d->s.clock_hz == card_hz(),
       "Arasan: no write is lost from a fast clock to a slow one and back");
    (void)sdhci_start(&d->s.host, &stop);
    f.pending = 0; /* the write before is still on its way to the card */
    (void)sdhci_poll(&d->s.host);
    OK(d->s.waits_for & STATUS_TRANSFER,
       "Arasan: the driver waits for a command before the end of busy");
}

/* ---- BCM2711's EMMC2 ---- */

static void set_power(bool on)
{
    set_rails(on, f.rail_1v8);
}

static enum err set_1v8(bool on)
{
    set_rails(f.rail_power, on);
    return ERR_OK;
}

static struct bcm_sd_place emmc2(void)
{
    struct bcm_sd_place place;

    turn_on(EMMC2_CAPS, EMMC2_CAPS_2, 100000000);
    f.has_rails = f.rail_power = true;
    place = place_of(BCM_SD_EMMC2);
    place.switch_power = set_power;
    place.switch_1v8 = set_1v8;
    return place;
}

static void test_emmc2(void)
{
    struct bcm_sd_place place = emmc2();

    OK(opens(&place) && f.n_lost == 0, "EMMC2: no write is lost at 400 kHz: %u", f.n_lost);
    OK(d->card.timing == SD_TIMING_DDR50 && fake.mode == 4 && card_hz() == 50000000 &&
           strcmp(d->device.mode, "DDR50") == 0,
       "EMMC2: DDR50 comes before SDR50: %s", d->device.mode);
    OK(reads(3, 9), "EMMC2: sectors are read");
    (void)sdhci_set_bus(&d->s.host, 100000, 4, SD_TIMING_DEFAULT);
    OK(f.slowest_hz >= 200000, "EMMC2: the clock is never slower than 200 kHz: %u",
       (unsigned)f.slowest_hz);

    place = emmc2();
    f.noisy = 1 << 4; /* DDR50 */
    OK(opens(&place) && reads(3, 9) && d->card.timing == SD_TIMING_SDR50 &&
           reg(SDHCI_CONTROL_2) & CONTROL2_TUNED,
       "EMMC2: wrong data of DDR50 lead to SDR50, tuned: %u", (unsigned)d->card.timing);
    place = emmc2();
    f.noisy = 1 << 4;
    f.untunable = 1 << 2; /* SDR50 */
    OK(opens(&place) && reads(3, 9) && d->card.timing == SD_TIMING_HIGH && !fake.at_1v8 &&
           d->device.error_message == NULL,
       "EMMC2: after more wrong data the card runs at high speed and 3.3 V");
}

/* A Compute Module 4 has eight lines if they are wired. */
static void test_module(unsigned wired)
{
    struct bcm_sd_place place;

    turn_on(EMMC2_CAPS, EMMC2_CAPS_2, 100000000);
    f.has_rails = f.rail_power = true;
    f.wired = wired;
    fake.is_emmc = true;
    fake.ext_csd[196] = 7;
    fake.ext_csd[213] = 0x10;
    place = place_of(BCM_SD_EMMC2);
    place.is_soldered = true;
    OK(opens(&place) && d->card.bits == wired && d->card.timing == SD_TIMING_HIGH,
       "an eMMC uses %u bits of %u that are wired", d->card.bits, wired);
    OK(fake.ext_csd[183] == (wired == 8 ? 2 : 1) && reads(3, 9) && d->device.bus_bits == wired,
       "eMMC: the card uses all lines that are wired, and reads");
}

/* ---- BCM2712 ---- */

static struct bcm_sd_place slot(void)
{
    struct bcm_sd_place place;

    turn_on(C2712_CAPS, C2712_CAPS_2, 200000000);
    f.loses_writes = false;
    memset(config, 0, sizeof config);
    memset(gpio, 0, sizeof gpio);
    config[PIN_SELECT] = 1 | 1 << 8; /* its state before anybody set it; other bits are not ours */
    config[LIMIT] = 1;
    gpio[1] = PIN_POWER | 1 << 2; /* the firmware: power, and RP1's reset */
    gpio[2] = ~(uint32_t)(PIN_POWER | PIN_1V8 | 1 << 2);
    f.gpio = gpio;
    f.has_rails = f.rail_power = true;
    place = place_of(BCM_SD_2712);
    place.config = (uintptr_t)config;
    place.gpio = (uintptr_t)gpio;
    return place;
}

static void test_slot(void)
{
    struct bcm_sd_place place = slot();

    OK(opens(&place), "BCM2712: the card starts: %s", d->device.error_message);
    OK(config[PIN_SELECT] == (2 | 1 << 8), "BCM2712: the pins are the card's: %x",
       (unsigned)config[PIN_SELECT]);
    OK(config[LIMIT] == 1u << 31, "BCM2712: the delay line is in use");
    OK(f.n_power_cycles == 1 && gpio[1] == (PIN_POWER | PIN_1V8 | 1 << 2) &&
           !(gpio[2] & (PIN_POWER | PIN_1V8)),
       "BCM2712: the card gets a power cycle, then 1.8 V, and other pins stay: %x",
       (unsigned)gpio[1]);
    OK(d->card.timing == SD_TIMING_SDR104 && reg(SDHCI_CONTROL_2) & CONTROL2_TUNED &&
           d->device.bus_hz == 200000000,
       "BCM2712: the card is tuned at SDR104: %s", d->device.mode);
    OK(reads(3, 300), "BCM2712: sectors are read");
    OK(d->device.reset(&d->device) == ERR_OK && reads(3, 9) && f.n_power_cycles == 2 &&
           d->card.timing == SD_TIMING_SDR104,
       "BCM2712: recovery takes the power away: %u", f.n_power_cycles);
    place = slot();
    f.untunable = 1 << 3;
    OK(opens(&place) && reads(3, 9) && d->card.timing == SD_TIMING_DDR50 && f.n_power_cycles == 2,
       "BCM2712: a card that cannot be tuned starts anew, as DDR50");
}

/* The core that serves the card continues its command while another core closes. */
static void test_close_under_way(void)
{
    struct bcm_sd_place place = emmc2();
    struct sd_command status = { .index = 13, .response = SD_RESPONSE_SHORT };

    (void)opens(&place);
    (void)sdhci_start(&d->s.host, &status);
    bcm_sd_close(&d->bcm);
    OK(d->s.command == &status, "a command that is under way is still there after the close");
}

/* The next command finds a card that answers at 3.3 V. */
static void test_close(void)
{
    struct bcm_sd_place place = slot();
    uint32_t reply[4];

    OK(opens(&place) && fake.at_1v8, "a card that can runs at 1.8 V");
    fake.lines_1v8 = false; /* a reset of the chip, and its pins */
    OK(!fake_sd_command(&fake, 8, 0x1aa, reply),
       "a card left at 1.8 V does not answer after a restart");
    fake.lines_1v8 = true;
    bcm_sd_close(&d->bcm);
    OK(!fake.at_1v8 && !fake.lines_1v8 && fake_sd_command(&fake, 8, 0x1aa, reply),
       "a card that was closed answers at 3.3 V");
    OK((gpio[1] & (PIN_POWER | PIN_1V8)) == PIN_POWER, "a card that was closed has its power");
    OK(d->device.reset(&d->device) == ERR_OK && !fake.at_1v8 && d->card.timing == SD_TIMING_HIGH,
       "a core that starts the card again leaves it at 3.3 V");
    place = emmc2();
    OK(opens(&place) && fake.at_1v8, "EMMC2 runs at 1.8 V");
    bcm_sd_close(&d->bcm);
    OK(!fake.at_1v8 && !fake.lines_1v8 && f.rail_power, "EMMC2 returns to 3.3 V");
    memset(&d->bcm, 0, sizeof d->bcm);
    bcm_sd_close(&d->bcm);
    OK(true, "a controller that was never opened is not touched");
}

/* A Compute Module 5 switches nothing, stays at 1.8 V, and does not detect a card. */
static void test_module_5(void)
{
    struct bcm_sd_place place = slot();

    f.gpio = NULL;
    fake.is_emmc = true;
    fake.ext_csd[196] = 7;
    fake.ext_csd[213] = 0x10;
    place.gpio = 0;
    place.is_soldered = place.only_1v8 = true;
    config[0] = 1 << 30;
    OK(opens(&place) && d->card.facts.is_emmc && reads(3, 9), "CM5: the eMMC starts and reads: %s",
       d->device.error_message);
    OK(config[0] == 1u << 31, "CM5: the controller sees a card");
    OK(d->card.bits == 8 && d->card.timing == SD_TIMING_HIGH && reg(SDHCI_CONTROL_2) & CONTROL2_1V8,
       "the eMMC of a CM5 has eight bits at 1.8 V");
    OK((config[PIN_SELECT] & 3) == 1, "CM5: the pins are an eMMC's");
    OK(gpio[1] == (PIN_POWER | 1 << 2), "CM5: no pin is touched");
    (void)sdhci_set_bus(&d->s.host, 400000, 1, SD_TIMING_DEFAULT);
    OK((config[PIN_SELECT] & 3) == 2, "the pins are a card's at its first speed");
}

int main(void)
{
    test_arasan();
    test_emmc2();
    test_module(8);
    test_module(4);
    test_slot();
    test_close();
    test_close_under_way();
    test_module_5();
    return tap_done();
}
