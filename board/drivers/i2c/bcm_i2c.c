#include "board/drivers/i2c/bcm_i2c.h"

#include "board/min_max.h"

/* Section 3.2. */
enum {
    CONTROL = 0x00,
    STATUS = 0x04,
    DLEN = 0x08,
    ADDRESS = 0x0c,
    FIFO = 0x10,
    DIV = 0x14,
    DEL = 0x18,
    CLKT = 0x1c
};
enum {
    CONTROL_READ = 1 << 0,
    CONTROL_CLEAR = 3 << 4,
    CONTROL_START = 1 << 7,
    CONTROL_ENABLE = 1 << 15
};
enum {
    STATUS_DONE = 1 << 1,
    STATUS_CAN_WRITE = 1 << 4,
    STATUS_CAN_READ = 1 << 5,
    STATUS_ERROR = 1 << 8, /* an acknowledgement is missing */
    STATUS_CLOCK = 1 << 9, /* the clock was held low for longer than CLKT */
    STATUS_CLEARED = STATUS_DONE | STATUS_ERROR | STATUS_CLOCK,
};

/* The lowest bit of a divisor is ignored. A Pi 4's core may run at 550 MHz. As in Linux's
 * i2c-bcm2835.c, data changes a sixteenth of a cycle after the clock has fallen, and is read a
 * quarter after it has risen. */
enum {
    BUS_HZ = 100000,
    DIV_MOST = 0xfffe,
    CORE_MOST_HZ = 550000000,
    FALL = 16,
    RISE = 4,
    FALL_SHIFT = 16
};

/* SMBus's limit of 35 ms, in bus cycles. A whole transfer, 17 bytes of nine bits, takes 1.6 ms. */
enum { STRETCH_CYCLES = BUS_HZ / 1000 * 35, MOST_MILLIS = 100 };

static volatile uint32_t *reg(const struct bcm_i2c *b, unsigned offset)
{
    return (volatile uint32_t *)(b->base + offset);
}

void bcm_i2c_open(struct bcm_i2c *b, uint32_t core_hz)
{
    uint32_t hz = core_hz != 0 ? core_hz : CORE_MOST_HZ, div = (hz + BUS_HZ - 1) / BUS_HZ;

    /* Round up to an even divisor: the bus may be slower than its rate, but never faster. */
    div = min_u32(max_u32(div + (div & 1), 2), DIV_MOST);
    *reg(b, CONTROL) = 0;
    *reg(b, DIV) = div;
    *reg(b, DEL) = max_u32(div / FALL, 1) << FALL_SHIFT | max_u32(div / RISE, 1);
    *reg(b, CLKT) = STRETCH_CYCLES;
}

/* Clear the FIFO without the enable bit; with that bit, QEMU would begin a transfer, and hardware
 * would keep queued bytes. */
static void begin(struct bcm_i2c *b, unsigned address, unsigned n, uint32_t direction)
{
    *reg(b, CONTROL) = CONTROL_CLEAR;
    /* These bits are cleared by writing ones. */
    *reg(b, STATUS) = STATUS_CLEARED;
    *reg(b, ADDRESS) = address;
    *reg(b, DLEN) = n;
    *reg(b, CONTROL) = CONTROL_ENABLE | CONTROL_START | direction;
}

/* Switch the controller off again, even in the middle of a transfer. */
static enum err end(struct bcm_i2c *b, enum err e)
{
    *reg(b, CONTROL) = CONTROL_CLEAR;
    *reg(b, STATUS) = STATUS_CLEARED;
    return e;
}

/* Interpret the status; ERR_BUSY: the transfer continues. If the status reports both an error and
 * the end of the transfer, the error counts. */
static enum err look(uint32_t status)
{
    if (status & STATUS_ERROR)
        return ERR_NO_DEVICE;
    if (status & STATUS_CLOCK)
        return ERR_TIMEOUT;
    return status & STATUS_DONE ? ERR_OK : ERR_BUSY;
}

static bool is_late(const struct bcm_i2c *b, uint64_t start)
{
    return b->ticks() - start > b->ticks_hz * MOST_MILLIS / 1000;
}

enum err bcm_i2c_write(struct bcm_i2c *b, unsigned address, const uint8_t *bytes, unsigned n)
{
    uint64_t start = b->ticks();
    enum err e = ERR_BUSY;
    unsigned i = 0;

    begin(b, address, n, 0);
    while (e == ERR_BUSY && !is_late(b, start)) {
        uint32_t status = *reg(b, STATUS);

        e = look(status);
        if (e == ERR_BUSY && i < n && (status & STATUS_CAN_WRITE))
            *reg(b, FIFO) = bytes[i++];
    }
    /* DONE with remaining bytes means that the transfer was cut short. */
    if (e == ERR_OK && i < n)
        e = ERR_IO;
    return end(b, e == ERR_BUSY ? ERR_TIMEOUT : e);
}

enum err bcm_i2c_read(struct bcm_i2c *b, unsigned address, uint8_t *bytes, unsigned n)
{
    uint64_t start = b->ticks();
    enum err e = ERR_BUSY;
    unsigned i = 0;

    begin(b, address, n, CONTROL_READ);
    while (e == ERR_BUSY && !is_late(b, start)) {
        uint32_t status = *reg(b, STATUS);

        e = look(status);
        if ((e == ERR_BUSY || e == ERR_OK) && i < n && (status & STATUS_CAN_READ)) {
            bytes[i++] = (uint8_t)*reg(b, FIFO);
            e = ERR_BUSY; /* the FIFO may still hold bytes after the end */
        }
    }
    if (e == ERR_OK && i < n)
        e = ERR_IO;
    return end(b, e == ERR_BUSY ? ERR_TIMEOUT : e);
}
