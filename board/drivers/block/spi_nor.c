#include "board/drivers/block/spi_nor.h"

#include <string.h>

#include "board/drivers/soc/device_name.h"

enum {
    COMMAND_ID = 0x9f,        /* returns manufacturer, type, log2 of the bytes */
    COMMAND_FAST_READ = 0x0b, /* followed by 3 bytes of address, 8 clocks and the data */
    COMMAND_FAST_READ_4 = 0x0c,
    COMMAND_WAKE = 0xab, /* JEDEC's release from deep power-down */
    WAKE_BYTES = 64,     /* these take longer than t_RES1 (at most 5 us), even at 100 MHz */
    SIZE_MIN = 16,
    SIZE_LONG = 24, /* 16 MiB: the range of 3 address bytes */
    SIZE_MAX_LOG = 31,
    MAX_SECTORS = 128,
};

static void spi_nor_read(const struct spi_nor *nor, uint64_t at, uint8_t *to, size_t bytes)
{
    uint8_t command[6], n = 0;

    command[n++] = nor->long_addresses ? COMMAND_FAST_READ_4 : COMMAND_FAST_READ;
    if (nor->long_addresses)
        command[n++] = (uint8_t)(at >> 24);
    command[n++] = (uint8_t)(at >> 16);
    command[n++] = (uint8_t)(at >> 8);
    command[n++] = (uint8_t)at;
    command[n++] = 0xff; /* the 8 clocks */
    nor->bus->select(nor->bus, true);
    nor->bus->exchange(nor->bus, command, NULL, n);
    nor->bus->exchange(nor->bus, NULL, to, bytes);
    nor->bus->select(nor->bus, false);
}

static enum err spi_nor_submit(struct block_device *dev, struct block_request *req)
{
    struct spi_nor *nor = dev->driver;
    enum err e = block_request_check(dev, req);

    if (e != ERR_OK)
        return e;
    if (nor->request != NULL)
        return ERR_BUSY;
    req->done = false;
    req->status = ERR_BUSY;
    nor->request = req;
    nor->sectors_done = 0;
    return ERR_OK;
}

/* Read one sector in each call. The bus reports no errors; checksums find damaged data. */
static enum err spi_nor_poll(struct block_device *dev)
{
    struct spi_nor *nor = dev->driver;
    struct block_request *req = nor->request;

    if (req == NULL)
        return ERR_OK;
    spi_nor_read(nor, (req->sector + nor->sectors_done) * SECTOR_BYTES,
                 (uint8_t *)req->buffer + (size_t)nor->sectors_done * SECTOR_BYTES, SECTOR_BYTES);
    if (++nor->sectors_done < req->n_sectors)
        return ERR_OK;
    nor->request = NULL;
    req->status = ERR_OK;
    req->done = true;
    return ERR_OK;
}

static enum err spi_nor_reset(struct block_device *dev)
{
    struct spi_nor *nor = dev->driver;

    if (nor->request != NULL) {
        nor->request->status = ERR_TIMEOUT;
        nor->request->done = true;
        nor->request = NULL;
    }
    return ERR_OK;
}

/* log2 of the chip's size in bytes; 0 if there is no chip, or another kind of chip. */
static unsigned spi_nor_ask_size(struct spi_bus *bus)
{
    static const uint8_t wake = COMMAND_WAKE, ask = COMMAND_ID;
    uint8_t id[3];

    bus->select(bus, true);
    bus->exchange(bus, &wake, NULL, 1);
    bus->select(bus, false);
    bus->idle(bus, WAKE_BYTES);
    bus->select(bus, true);
    bus->exchange(bus, &ask, NULL, 1);
    bus->exchange(bus, NULL, id, sizeof id);
    bus->select(bus, false);
    if (id[0] == 0 || id[0] == 0xff || id[2] < SIZE_MIN || id[2] > SIZE_MAX_LOG)
        return 0;
    return id[2];
}

enum err spi_nor_probe(struct spi_nor *nor, struct spi_bus *bus, uint32_t hz, uintptr_t address,
                       struct block_device *out)
{
    unsigned size;

    memset(nor, 0, sizeof *nor);
    nor->bus = bus;
    bus->set_hz(bus, hz);
    size = spi_nor_ask_size(bus);
    if (size == 0)
        return ERR_NO_DEVICE;
    nor->long_addresses = size > SIZE_LONG;
    device_name_set(nor->name, "SPI NOR flash at ", address);
    memset(out, 0, sizeof *out);
    out->name = nor->name;
    out->n_sectors = ((uint64_t)1 << size) / SECTOR_BYTES;
    out->max_sectors = MAX_SECTORS;
    out->queue_depth = 1;
    out->flash = true;
    out->submit = spi_nor_submit;
    out->poll = spi_nor_poll;
    out->reset = spi_nor_reset;
    out->driver = nor;
    return ERR_OK;
}
