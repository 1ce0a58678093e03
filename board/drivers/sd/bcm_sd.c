#include "board/drivers/sd/bcm_sd.h"

#include "board/drivers/soc/brcmstb_gpio.h"
#include "board/min_max.h"

/* A channel that the firmware's device trees leave to the operating system on every model
 * (brcm,dma-channel-mask). The channel is not one of the "lite" ones, which move at most 64 KiB. */
enum { DMA_CHANNEL = 4 };

/* Linux keeps EMMC2's clock above this (sdhci-iproc), because the controller hangs with a slower
 * clock if the core's clock is 500 MHz. */
enum { EMMC2_MIN_HZ = 200000 };

/* BCM2712's registers between the controller and the pins, as in Linux (sdhci-brcmstb). */
enum {
    CONFIG_CONTROL = 0x00,
    CONTROL_DETECT_OUT = 1 << 30, /* if set, the override reports "no card" */
    CONTROL_DETECT_OVERRIDE = 1u << 31,
    CONFIG_PINS = 0x44,
    PINS_EMMC = 1,
    PINS_SD = 2,
    PINS = 3,
    CONFIG_50_MHZ = 0x1ac, /* if set, sampling bypasses the delay line, which tuning moves */
    LIMIT_ON = 1 << 0,
    LIMIT_OVERRIDE = 1u << 31,
};

/* Pins of the always-on GPIO, called SD_IOVDD_SEL and SD_PWR_ON in the device tree. */
enum { PIN_1V8 = 3, PIN_POWER = 4 };

static void bcm_sd_configure(const struct bcm_sd *sd, unsigned offset, uint32_t mask,
                             uint32_t value)
{
    volatile uint32_t *reg = (volatile uint32_t *)(sd->place.config + offset);

    *reg = (*reg & ~mask) | value;
}

static void bcm_sd_switch_power(void *context, bool on)
{
    const struct bcm_sd *sd = context;

    if (sd->place.gpio != 0)
        brcmstb_gpio_write(sd->place.gpio, PIN_POWER, on);
    else
        sd->place.switch_power(on);
}

static enum err bcm_sd_switch_1v8(void *context, bool on)
{
    const struct bcm_sd *sd = context;

    if (sd->place.gpio == 0)
        return sd->place.switch_1v8(on);
    brcmstb_gpio_write(sd->place.gpio, PIN_1V8, on);
    return ERR_OK;
}

/* An eMMC that has left its initial speed uses the pins' eMMC mode; everything else uses the card
 * mode. */
static void bcm_sd_select_pins(void *context, enum sd_timing timing)
{
    const struct bcm_sd *sd = context;
    bool emmc = sd->card.facts.is_emmc && timing != SD_TIMING_DEFAULT;

    bcm_sd_configure(sd, CONFIG_PINS, PINS, emmc ? PINS_EMMC : PINS_SD);
}

static bool bcm_sd_switches_1v8(const struct bcm_sd_place *place)
{
    return place->gpio != 0 || place->switch_1v8 != NULL;
}

/* The card-detect switch of a slot is never connected to the controller; on the Pi 5 it is
 * connected to a GPIO. The Arasan has the registers of version 3, but no capabilities; it does not
 * report when a card stops being busy. */
static uint32_t bcm_sd_quirks(const struct bcm_sd_place *place)
{
    uint32_t quirks = SDHCI_NO_DETECT | bits_if(!bcm_sd_switches_1v8(place), SDHCI_NO_1V8) |
                      bits_if(place->is_soldered, SDHCI_8_BITS) |
                      bits_if(place->only_1v8, SDHCI_ONLY_1V8);

    if (place->pio)
        quirks |= SDHCI_NO_DMA;
    if (place->kind == BCM_SD_ARASAN)
        quirks |= SDHCI_WRITE_GAP | SDHCI_NO_DMA | SDHCI_NO_HIGH_BIT | SDHCI_NO_BUSY_EVENT |
                  SDHCI_NO_1V8;
    if (place->kind == BCM_SD_EMMC2)
        quirks |= SDHCI_SLOW_GAP;
    return quirks;
}

/* Before the controller starts: force "card present", and sampling through the delay line. */
static void bcm_sd_prepare(const struct bcm_sd *sd)
{
    if (sd->place.kind != BCM_SD_2712)
        return;
    bcm_sd_configure(sd, CONFIG_50_MHZ, LIMIT_ON, LIMIT_OVERRIDE);
    bcm_sd_configure(sd, CONFIG_PINS, PINS, PINS_SD);
    if (sd->place.is_soldered)
        bcm_sd_configure(sd, CONFIG_CONTROL, CONTROL_DETECT_OUT, CONTROL_DETECT_OVERRIDE);
}

static struct sdhci_setup bcm_sd_setup(struct bcm_sd *sd)
{
    const struct bcm_sd_place *place = &sd->place;
    bool has_power = place->gpio != 0 || place->switch_power != NULL;

    return (struct sdhci_setup){
        .mmio = place->mmio,
        .quirks = bcm_sd_quirks(place),
        .base_hz = place->clock_hz,
        .min_hz = place->kind == BCM_SD_EMMC2 ? EMMC2_MIN_HZ : 0,
        .window = place->window,
        .context = sd,
        .switch_power = has_power ? bcm_sd_switch_power : NULL,
        .switch_1v8 = bcm_sd_switches_1v8(place) ? bcm_sd_switch_1v8 : NULL,
        .prepare_timing = place->kind == BCM_SD_2712 ? bcm_sd_select_pins : NULL,
        .identify_emmc = place->is_soldered ? sd_emmc_identify : NULL,
        .ticks = place->ticks,
        .ticks_hz = place->ticks_hz,
    };
}

enum err bcm_sd_open(struct bcm_sd *sd, const struct bcm_sd_place *place, struct block_device *out)
{
    struct sdhci_setup setup;
    enum err e;

    sd->place = *place;
    setup = bcm_sd_setup(sd);
    /* The Arasan has no DMA: a channel of the SoC's engine reads its FIFO. */
    if (place->kind == BCM_SD_ARASAN && place->dma != 0 && !place->pio) {
        bcm_dma_init(&sd->dma, place->dma, DMA_CHANNEL, BCM_DREQ_EMMC, &place->window);
        sd->mover = (struct sdhci_mover){ &sd->dma, bcm_dma_start, bcm_dma_poll, bcm_dma_stop };
        setup.mover = &sd->mover;
    }
    bcm_sd_prepare(sd);
    e = sdhci_open(&sd->host, &setup);
    if (e == ERR_OK)
        sd_card_open(&sd->card, &sd->host.host, "SD card at ", place->mmio, out);
    return e;
}

void bcm_sd_close(struct bcm_sd *sd)
{
    sdhci_close(&sd->host);
}
