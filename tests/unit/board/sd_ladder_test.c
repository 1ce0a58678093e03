/* The speeds of an SD card: which is tried first, and which after one has failed. */
#include "tests/unit/board/fakes/fake_sd_host.h"

static void test_uhs(void)
{
    uint32_t uhs = PLAIN | SD_CAN_1V8 | SD_CAN_SDR50 | SD_CAN_SDR104 | SD_CAN_DDR50;

    set_up(uhs);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    open_card();
    OK(h.timing == SD_TIMING_SDR104 && h.hz == 208000000 && h.n_tunes == 1 && fake.mode == 3,
       "SDR104 is tuned");
    h.host.wants_tuning = true;
    OK(read_at(0, 2) == ERR_OK && h.n_tunes == 2,
       "the card is tuned again when the controller asks");
    fake.garbled = 1;
    OK(read_at(0, 2) == ERR_OK && holds(0, 2) && h.n_tunes == 3,
       "the card is tuned again after a wrong CRC");
    h.host.retune_ticks = 1;
    OK(read_at(0, 2) == ERR_OK && h.n_tunes == 4, "the card is tuned again when its time has come");

    set_up(uhs & ~(uint32_t)SD_CAN_SDR104);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    open_card();
    OK(h.timing == SD_TIMING_DDR50 && h.n_tunes == 0 && h.hz == 50000000,
       "a card without SDR104 runs at DDR50, which comes before SDR50");
    OK(strcmp(device.mode, "DDR50") == 0 && device.bus_bits == 4 && device.bus_hz == 50000000,
       "the device reports its mode");
    set_up(uhs & ~(uint32_t)(SD_CAN_SDR104 | SD_CAN_DDR50));
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    open_card();
    OK(h.timing == SD_TIMING_SDR50 && h.n_tunes == 0,
       "a card without SDR104 and DDR50 runs at SDR50, which needs no tuning here");
    set_up(uhs);
    fake.modes = 0x1f;
    open_card();
    OK(h.timing == SD_TIMING_HIGH && fake_sd_count(&fake, 11) == 0,
       "a card that stays at 3.3 V gets high speed");
}

/* ---- down the ladder ---- */

enum { UHS = PLAIN | SD_CAN_1V8 | SD_CAN_SDR50 | SD_CAN_SDR104 | SD_CAN_DDR50 | SD_TUNES_SDR50 };

/* Returns the mode in which the start ends, and how often the card was started for it. */
static void test_rung(unsigned untunable, unsigned noisy, enum sd_timing timing, unsigned n_resets)
{
    set_up(UHS);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    h.untunable = untunable;
    open_card();
    h.noisy = noisy;
    OK(device.error_message == NULL && read_at(7, 3) == ERR_OK && holds(7, 3),
       "a card that cannot tune %x and is noisy at %x still reads", untunable, noisy);
    OK(h.timing == timing && h.n_resets == n_resets,
       "the card has timing %u after %u starts, expected %u after %u", (unsigned)h.timing,
       h.n_resets, (unsigned)timing, n_resets);
}

static void test_ladder(void)
{
    enum {
        SDR104 = 1 << SD_TIMING_SDR104,
        SDR50 = 1 << SD_TIMING_SDR50,
        DDR50 = 1 << SD_TIMING_DDR50,
        HIGH = 1 << SD_TIMING_HIGH
    };

    test_rung(0, 0, SD_TIMING_SDR104, 1);
    test_rung(SDR104, 0, SD_TIMING_DDR50, 2);
    test_rung(SDR104, DDR50, SD_TIMING_SDR50, 3);
    test_rung(SDR104 | SDR50, DDR50, SD_TIMING_HIGH, 4);
    test_rung(0, SDR104, SD_TIMING_DDR50, 2);
    test_rung(0, SDR104 | DDR50, SD_TIMING_SDR50, 3);
    test_rung(SDR104 | SDR50, DDR50 | HIGH, SD_TIMING_DEFAULT, 5);
    set_up(UHS);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    open_card();
    h.untunable = SDR104;
    h.host.wants_tuning = true;
    OK(read_at(7, 3) == ERR_OK && holds(7, 3) && h.timing == SD_TIMING_DDR50,
       "a later tuning that fails costs one step, too");
}

int main(void)
{
    test_uhs();
    test_ladder();
    return tap_done();
}
