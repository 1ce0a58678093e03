/* Reset, power and the capabilities of a controller. Sections are those of the SD Host Controller
 * Simplified Specification 4.20. */
#include "board/drivers/sd/sdhci.h"

#include <string.h>

#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci_registers.h"
#include "board/min_max.h"

enum {
    POWER_MICROS = 10000, /* time for the supply to fall, and to rise (Physical Layer 6.4.1) */
    CLOCKS_74_MICROS = 1000,
    START_HZ = 400000,
    MEGA = 1000000,
};

/* Switch on the highest voltage that the controller supports; 3.3 V if it reports none (3.3). */
static void sdhci_power(struct sdhci *s)
{
    uint32_t caps = sdhci_read(s, SDHCI_CAPABILITIES);
    uint32_t voltage = !(caps & CAPABLE_3V3) && (caps & CAPABLE_3V0) ? CONTROL_3V0 : CONTROL_3V3;

    if (s->setup.switch_power != NULL)
        s->setup.switch_power(s->setup.context, false);
    sdhci_change(s, SDHCI_CONTROL, CONTROL_POWER | CONTROL_VOLTAGE, 0);
    if (s->setup.switch_1v8 != NULL)
        (void)s->setup.switch_1v8(s->setup.context, false);
    sd_host_delay(&s->host, POWER_MICROS);
    if (s->setup.switch_power != NULL)
        s->setup.switch_power(s->setup.context, true);
    sdhci_change(s, SDHCI_CONTROL, CONTROL_VOLTAGE, voltage);
    sdhci_change(s, SDHCI_CONTROL, CONTROL_POWER, CONTROL_POWER);
    if (s->setup.quirks & SDHCI_ONLY_1V8)
        sdhci_change(s, SDHCI_CONTROL_2, CONTROL2_1V8, CONTROL2_1V8);
    sd_host_delay(&s->host, POWER_MICROS);
}

/* Descriptors of 128 bits need version 4 mode, descriptors of 96 bits do not (2.2.25). */
static void sdhci_choose_width(struct sdhci *s)
{
    uint32_t wide = CONTROL2_VERSION_4 | CONTROL2_64_BITS;

    if (s->descriptor_bytes == 16)
        sdhci_change(s, SDHCI_CONTROL_2, wide, wide);
}

/* 2.2.9 */
static void sdhci_look_at_slide(struct sdhci *s)
{
    bool open = (s->setup.quirks & SDHCI_NO_DETECT) ||
                (sdhci_read(s, SDHCI_PRESENT) & PRESENT_UNLOCKED);

    s->host.abilities &= ~(uint32_t)SD_CAN_WRITE;
    s->host.abilities |= bits_if(open, SD_CAN_WRITE);
}

static enum err sdhci_reset(struct sd_host *host)
{
    struct sdhci *s = (struct sdhci *)host;
    enum err e;

    s->command = NULL;
    s->gap_hz = START_HZ; /* the old clock is at least this fast */
    e = sdhci_soft_reset(s, CLOCK_RESET_ALL);
    if (e != ERR_OK)
        return e;
    sdhci_look_at_slide(s);
    sdhci_choose_width(s);
    sdhci_write(s, SDHCI_SIGNAL_ENABLE, 0); /* polled: no interrupt line is raised */
    sdhci_write(s, SDHCI_STATUS_ENABLE, STATUS_WANTED);
    sdhci_power(s);
    sdhci_change(s, SDHCI_CLOCK, CLOCK_TIMEOUT, CLOCK_TIMEOUT_MAX);
    e = sdhci_set_bus(host, START_HZ, 1, SD_TIMING_DEFAULT);
    sd_host_delay(host, CLOCKS_74_MICROS);
    return e;
}

static const struct sd_host_ops ops = {
    .start = sdhci_start,
    .poll = sdhci_poll,
    .stop = sdhci_stop,
    .reset = sdhci_reset,
    .set_bus = sdhci_set_bus,
    .set_1v8 = sdhci_set_1v8,
    .tune = sdhci_tune,
    .is_present = sdhci_is_present,
    .identify = sd_bus_identify,
};

/* Modes at 1.8 V exist from version 3 on (2.2.26). */
static uint32_t sdhci_abilities(const struct sdhci *s, uint32_t caps, uint32_t caps_2)
{
    uint32_t quirks = s->setup.quirks, abilities = SD_CAN_4_BITS | SD_STOPS;

    if (quirks & SDHCI_8_BITS)
        abilities |= SD_CAN_8_BITS;
    if (caps & CAPABLE_HIGH_SPEED)
        abilities |= SD_CAN_HIGH_SPEED;
    if (s->version < 2 || (quirks & SDHCI_NO_1V8))
        return abilities;
    abilities |= bits_if(caps_2 & CAPABLE_SDR50, SD_CAN_SDR50);
    abilities |= bits_if(caps_2 & CAPABLE_SDR104, SD_CAN_SDR104);
    abilities |= bits_if(caps_2 & CAPABLE_DDR50, SD_CAN_DDR50);
    abilities |= bits_if(caps_2 & CAPABLE_TUNES_SDR50, SD_TUNES_SDR50);
    if (abilities & (SD_CAN_SDR50 | SD_CAN_SDR104 | SD_CAN_DDR50))
        abilities |= SD_CAN_1V8;
    return abilities;
}

/* The size of ADMA2's descriptors: the longer ones only if there is memory beyond 4 GiB
 * (1.13.3). */
static uint32_t sdhci_descriptor_bytes(const struct sdhci *s, uint32_t caps)
{
    bool far = s->setup.window.end + s->setup.window.offset > (uint64_t)1 << 32;

    if (!(caps & CAPABLE_ADMA2) || (s->setup.quirks & SDHCI_NO_DMA))
        return 0;
    if (far && s->version >= 3 && (caps & CAPABLE_64_BITS_4))
        return 16;
    if (far && (caps & CAPABLE_64_BITS_3))
        return 12;
    return 8;
}

/* 2.2.26: n in 1 to 14 means 2^(n-1) seconds. */
static uint64_t sdhci_retune_ticks(const struct sdhci *s, uint32_t caps_2)
{
    uint32_t n = caps_2 >> CAPABLE_RETUNE_SHIFT & 15;

    if (n < 1 || n > 14)
        return 0;
    return s->setup.ticks_hz << (n - 1);
}

static void sdhci_read_capabilities(struct sdhci *s)
{
    uint32_t caps = sdhci_read(s, SDHCI_CAPABILITIES);
    uint32_t caps_2 = sdhci_read(s, SDHCI_CAPABILITIES + 4);
    uint32_t mhz = caps >> CAPABLE_BASE_MHZ_SHIFT & (s->version >= 2 ? 255 : 63);

    s->host.capabilities[0] = caps;
    s->host.capabilities[1] = caps_2;
    if (caps == 0) /* the register is missing (BCM2835): use what every controller supports */
        caps = CAPABLE_3V3 | CAPABLE_HIGH_SPEED;
    s->base_hz = s->setup.base_hz;
    if (s->base_hz == 0)
        s->base_hz = mhz * MEGA;
    if (s->base_hz == 0)
        s->base_hz = 50 *
                     MEGA; /* the rate is neither in the register nor from the board: a cautious
                              guess */
    s->descriptor_bytes = sdhci_descriptor_bytes(s, caps);
    s->has_sdma = (caps & CAPABLE_SDMA) != 0 && !(s->setup.quirks & SDHCI_NO_DMA);
    if (s->descriptor_bytes <= 8 &&
        s->setup.window.end > ((uint64_t)1 << 32) - s->setup.window.offset)
        s->setup.window.end = ((uint64_t)1 << 32) - s->setup.window.offset;
    if (s->descriptor_bytes != 0 || s->has_sdma || s->setup.mover != NULL)
        s->host.dma_end = s->setup.window.end;
    s->host.abilities = sdhci_abilities(s, caps, caps_2);
    s->host.retune_ticks = sdhci_retune_ticks(s, caps_2);
}

enum err sdhci_open(struct sdhci *s, const struct sdhci_setup *setup)
{
    memset(s, 0, sizeof *s);
    s->setup = *setup;
    s->gap_hz = START_HZ; /* the clock that the firmware left is unknown */
    s->host.ops = &ops;
    s->host.ticks = setup->ticks;
    s->host.ticks_hz = setup->ticks_hz;
    s->host.identify_emmc = setup->identify_emmc;
    s->host.max_blocks = SDHCI_MAX_BLOCKS;
    s->host.max_hz = setup->max_hz != 0 ? setup->max_hz : UINT32_MAX;
    if (sdhci_read(s, SDHCI_CAPABILITIES) == 0xffffffff)
        return ERR_NO_DEVICE;
    s->version = sdhci_read(s, SDHCI_VERSION) >> 16 & 255;
    sdhci_read_capabilities(s);
    return sdhci_soft_reset(s, CLOCK_RESET_ALL);
}

void sdhci_close(struct sdhci *s)
{
    if (s->setup.switch_1v8 == NULL)
        return;
    s->host.abilities &= ~(uint32_t)SD_CAN_1V8; /* in case another core starts the card again */
    s->gap_hz = START_HZ;
    (void)sdhci_soft_reset(s, CLOCK_RESET_ALL); /* this ends transfers, but another core's command
                                                   stays unfinished */
    sdhci_power(s);
}
