#include "board/drivers/bus/sifive_spi.h"

/* Registers and bits have the names of the manual. */
enum {
    REG_SCKDIV = 0x00,
    REG_SCKMODE = 0x04,
    REG_CSID = 0x10,
    REG_CSDEF = 0x14,
    REG_CSMODE = 0x18,
    REG_FMT = 0x40,
    REG_TXDATA = 0x48,
    REG_RXDATA = 0x4c, /* a read takes a byte; bit 31 is set if the FIFO is empty */
    REG_FCTRL = 0x60,
    REG_IE = 0x70,
    SCKDIV_MAX = 0xfff,
    CSMODE_AUTO = 0,        /* chip select is low for each frame separately */
    CSMODE_HOLD = 2,        /* chip select goes low with the next frame and stays low until the mode
                               changes */
    CSMODE_OFF = 3,         /* chip select stays high, whatever is sent */
    FMT_SINGLE_8 = 8 << 16, /* 8 bits per frame, one wire in each direction, and receiving is on */
    FIFO_BYTES = 8,
};
#define RXDATA_EMPTY (1u << 31)

static volatile uint32_t *reg(const struct sifive_spi *spi, unsigned offset)
{
    return (volatile uint32_t *)(spi->base + offset);
}

/* Register sckdiv: f / 2 (div + 1). */
static void sifive_spi_set_hz(struct spi_bus *bus, uint32_t hz)
{
    struct sifive_spi *spi = (struct sifive_spi *)bus;
    uint64_t div = (spi->clock_hz + 2 * (uint64_t)hz - 1) / (2 * (uint64_t)hz);

    div = div > 0 ? div - 1 : 0;
    *reg(spi, REG_SCKDIV) = (uint32_t)(div < SCKDIV_MAX ? div : SCKDIV_MAX);
}

static void sifive_spi_select(struct spi_bus *bus, bool on)
{
    *reg((struct sifive_spi *)bus, REG_CSMODE) = on ? CSMODE_HOLD : CSMODE_AUTO;
}

/* Keep no more bytes in flight than the receive FIFO holds. */
static void sifive_spi_exchange(struct spi_bus *bus, const uint8_t *send, uint8_t *receive,
                                size_t bytes)
{
    struct sifive_spi *spi = (struct sifive_spi *)bus;
    volatile uint32_t *txdata = reg(spi, REG_TXDATA), *rxdata = reg(spi, REG_RXDATA);
    size_t sent = 0, received = 0;
    uint32_t data;

    while (received < bytes) {
        for (; sent < bytes && sent - received < FIFO_BYTES; sent++)
            *txdata = send != NULL ? send[sent] : 0xff;
        data = *rxdata;
        if ((data & RXDATA_EMPTY) != 0)
            continue;
        if (receive != NULL)
            receive[received] = (uint8_t)data;
        received++;
    }
}

static void sifive_spi_idle(struct spi_bus *bus, size_t bytes)
{
    struct sifive_spi *spi = (struct sifive_spi *)bus;

    *reg(spi, REG_CSMODE) = CSMODE_OFF;
    sifive_spi_exchange(bus, NULL, NULL, bytes);
    *reg(spi, REG_CSMODE) = CSMODE_AUTO;
}

void sifive_spi_init(struct sifive_spi *spi, uintptr_t base, uint64_t clock_hz)
{
    static const struct spi_bus bus = {
        sifive_spi_set_hz,
        sifive_spi_select,
        sifive_spi_exchange,
        sifive_spi_idle,
    };

    spi->bus = bus;
    spi->base = base;
    spi->clock_hz = clock_hz;
    *reg(spi, REG_IE) = 0;
    *reg(spi, REG_FCTRL) = 0; /* the flash is driven by registers, not read as memory */
    *reg(spi, REG_SCKMODE) = 0;
    *reg(spi, REG_CSID) = 0;
    *reg(spi, REG_CSDEF) = 1;
    *reg(spi, REG_CSMODE) = CSMODE_AUTO;
    *reg(spi, REG_FMT) = FMT_SINGLE_8;
    /* Drop bytes that the firmware has not read, because they would be taken for ours. */
    while ((*reg(spi, REG_RXDATA) & RXDATA_EMPTY) == 0)
        continue;
}
