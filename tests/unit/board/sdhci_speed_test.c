/* The SD host controller's driver: its clock, and the fast modes with 1.8 V and tuning. */
#include "tests/unit/board/fakes/fake_sdhci.h"

static void test_clock(void)
{
    struct sdhci_setup setup = plain_setup();

    power_up(PLAIN_CAPS, 0, 1);
    (void)open_with(&setup);
    OK(d->card.hz == 50000000 && d->s.clock_hz == 26000000,
       "the clock is never faster than asked: %u", (unsigned)d->s.clock_hz);
    (void)sdhci_set_bus(&d->s.host, 400000, 1, SD_TIMING_DEFAULT);
    OK(d->s.clock_hz == 52000000 / 256 && (reg(SDHCI_CLOCK) & CLOCK_DIVISOR) == 0x8000,
       "version 2 divides by a power of two");
    power_up(0x01e0c880, 0, 2);
    setup.base_hz = 200000000;
    (void)open_with(&setup);
    (void)sdhci_set_bus(&d->s.host, 150000, 4, SD_TIMING_DEFAULT);
    OK(d->s.clock_hz <= 150000 && d->s.clock_hz > 149000 &&
           (reg(SDHCI_CLOCK) & CLOCK_DIVISOR) == ((667 & 255) << 8 | (667 >> 8) << 6),
       "version 3 divides by any even number");
    (void)sdhci_set_bus(&d->s.host, 150000000, 4, SD_TIMING_HIGH);
    OK(d->s.clock_hz == 100000000, "a base that is a little too fast is halved");
    (void)sdhci_set_bus(&d->s.host, 208000000, 4, SD_TIMING_SDR104);
    OK(d->s.clock_hz == 200000000 && (reg(SDHCI_CONTROL_2) & CONTROL2_MODE) == 3 << 16 &&
           reg(SDHCI_CONTROL) & CONTROL_4_BITS,
       "a base that is fast enough is not divided");
    OK((reg(SDHCI_CLOCK) & (CLOCK_CARD | CLOCK_INTERNAL)) == (CLOCK_CARD | CLOCK_INTERNAL),
       "the clock runs");
}

static void test_uhs(void)
{
    struct sdhci_setup setup = plain_setup();
    uint32_t caps_2 = CAPABLE_SDR50 | CAPABLE_SDR104 | CAPABLE_DDR50 | 5 << CAPABLE_RETUNE_SHIFT;

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, caps_2, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL && d->card.timing == SD_TIMING_SDR104 && fake.mode == 3 &&
           reg(SDHCI_CONTROL_2) & CONTROL2_1V8,
       "the card runs SDR104 at 1.8 V");
    OK(reg(SDHCI_CONTROL_2) & CONTROL2_TUNED && fake_sd_count(&fake, 19) == 3,
       "tuning takes 3 blocks");
    OK(d->s.host.retune_ticks == 16000000, "the card is tuned again after 16 s");
    OK(read_at(10, 300, 0) == ERR_OK && holds(10, 300, 0), "the tuned card reads");

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, caps_2, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    f.never_tunes = true;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL && d->card.timing == SD_TIMING_DDR50 &&
           d->card.hz == 50000000 && reg(SDHCI_CONTROL_2) & CONTROL2_1V8,
       "a card that cannot be tuned starts afresh, one step slower");
    power_up(PLAIN_CAPS | CAPABLE_ADMA2, caps_2, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    f.tunes_in_vain = true;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL && d->card.timing == SD_TIMING_DDR50,
       "the card is one step slower if the controller finds no clock, too");
    power_up(PLAIN_CAPS, caps_2, 2);
    setup.quirks = SDHCI_NO_1V8;
    fake.knows_1v8 = true;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL && fake_sd_count(&fake, 11) == 0,
       "a board without 1.8 V never asks for it");
}

/* Real cards and boards: lines that go low only after some clocks, and a supply that takes its time
 * (trees of the Pi 4 and 5, regulator-settling-time-us: 5 ms, besides the message to the firmware). */
static void test_change(const char *name, uint64_t late, uint64_t settles, bool changes)
{
    struct sdhci_setup setup = plain_setup();

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, CAPABLE_SDR50, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    f.late = late;
    f.settles = settles;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL &&
           d->card.timing == (changes ? SD_TIMING_SDR50 : SD_TIMING_HIGH),
       "%s: the card starts in its mode: %s", name, d->device.mode);
}

int main(void)
{
    test_clock();
    test_uhs();
    test_change("lines that are low 500 us after CMD11", 500, 0, true);
    test_change("a supply that takes 8 ms", 0, 8000, true);
    test_change("lines that stay high", 5000, 0, false);
    test_change("a supply that never changes", 0, 1000000, false);
    return tap_done();
}
