/* The I2C controller of the Raspberry Pi against a model of its registers (BCM2835 ARM Peripherals, 3.2): a FIFO of 16
 * bytes, a device that answers, one that does not, one that refuses a byte, and a clock that is held. */
#include <string.h>

#include "board/drivers/i2c/bcm_i2c.h"
#include "tests/unit/board/fakes/fake_registers.h"
#include "tests/unit/tap.h"

enum { READ = 1, CLEAR = 0x30, START = 0x80, ENABLE = 0x8000, DEVICE = 0x48 };
enum {
    ACTIVE = 1,
    DONE = 2,
    TXD = 0x10,
    RXD = 0x20,
    ERROR = 0x100,
    HELD = 0x200,
    STICKY = DONE | ERROR | HELD
};

static struct {
    uint32_t control, status, dlen, address, div, del, clkt;
    uint8_t fifo[16], device[64];
    unsigned n_fifo, at, left, refuses; /* from the byte of this number on */
    bool active, held, stuck, reads;
    unsigned n_starts, n_overflows;
    uint64_t now;
} m;

static uint64_t ticks(void)
{
    return m.now += 10; /* of 1 MHz */
}

static void stop(uint32_t why)
{
    m.status |= why;
    m.active = false;
}

/* A byte goes over the bus, or the clock stays where it is. */
static void step(void)
{
    if (!m.active || m.stuck)
        return;
    if (m.held) {
        stop(HELD | DONE);
    } else if (m.address != DEVICE) {
        stop(ERROR | DONE);
    } else if (m.reads && m.left != 0 && m.n_fifo < 16) {
        m.fifo[m.n_fifo++] = m.device[m.at++ % sizeof m.device];
        m.left--;
    } else if (!m.reads && m.n_fifo != 0) {
        if (m.at == m.refuses) {
            stop(ERROR | DONE);
            return;
        }
        m.device[m.at++ % sizeof m.device] = m.fifo[0];
        memmove(m.fifo, m.fifo + 1, --m.n_fifo);
        m.left--;
    }
    if (m.active && m.left == 0)
        stop(DONE);
}

static uint32_t bsc_read(unsigned offset, bool look)
{
    uint32_t value;

    switch (offset) {
    case 0x00: return m.control;
    case 0x04:
        if (!look)
            step();
        return m.status | (m.active ? ACTIVE : 0) | (m.n_fifo < 16 ? TXD : 0) |
               (m.reads && m.n_fifo != 0 ? RXD : 0);
    case 0x08: return m.dlen;
    case 0x0c: return m.address;
    case 0x10:
        value = m.fifo[0];
        if (!look && m.n_fifo != 0)
            memmove(m.fifo, m.fifo + 1, --m.n_fifo);
        return value;
    case 0x14: return m.div;
    case 0x18: return m.del;
    default: return m.clkt;
    }
}

static void bsc_write(unsigned offset, uint32_t value)
{
    switch (offset) {
    case 0x00:
        m.control = value & ~(uint32_t)(START | CLEAR);
        if (value & CLEAR)
            m.n_fifo = 0;
        if (!(value & ENABLE))
            m.active = false;
        if ((value & START) && (value & ENABLE)) {
            m.active = true;
            m.reads = value & READ;
            m.left = m.dlen;
            m.at = 0;
            m.n_starts++;
        }
        break;
    case 0x04: m.status &= ~(value & STICKY); break;
    case 0x08: m.dlen = value; break;
    case 0x0c: m.address = value; break;
    case 0x10:
        m.n_overflows += m.n_fifo == 16;
        m.fifo[m.n_fifo++ & 15] = (uint8_t)value;
        break;
    case 0x14: m.div = value; break;
    case 0x18: m.del = value; break;
    default: m.clkt = value; break;
    }
}

static struct bcm_i2c bus = { .ticks = ticks, .ticks_hz = 1000000 };

static void test_clock(void)
{
    static const struct {
        uint32_t core, div;
    } rows[] = { { 250000000, 2500 }, { 400000000, 4000 }, { 500000000, 5000 },
                 { 333333333, 3334 }, { 0, 5500 },         { 100000, 2 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bcm_i2c_open(&bus, rows[i].core);
        OK(m.div == rows[i].div && (m.div & 1) == 0, "a core of %u Hz is divided by %u",
           (unsigned)rows[i].core, (unsigned)m.div);
    }
    bcm_i2c_open(&bus, 250000000);
    OK(m.del >> 16 < m.div / 2 && (m.del & 0xffff) < m.div / 2 && m.del != 0,
       "delays are less than half of a cycle (3.2, DEL)");
    OK(m.clkt == 3500 && m.control == 0, "a clock may be held for 35 ms, and nothing has begun");
}

static void test_transfers(void)
{
    uint8_t out[16], in[16];

    for (unsigned i = 0; i < 16; i++)
        out[i] = (uint8_t)(200 - i);
    for (unsigned n = 1; n <= 16; n += n == 1 ? 1 : 7) {
        memset(in, 0, sizeof in);
        memset(m.device, 0, sizeof m.device);
        OK(bcm_i2c_write(&bus, DEVICE, out, n) == ERR_OK && memcmp(m.device, out, n) == 0 &&
               m.device[n] == 0,
           "%u bytes are written", n);
        OK(bcm_i2c_read(&bus, DEVICE, in, n) == ERR_OK && memcmp(in, out, n) == 0 &&
               (n == 16 || in[n] == 0),
           "the bytes are read");
    }
    OK(m.n_overflows == 0 && m.control == 0 && !m.active && (m.status & STICKY) == 0,
       "the FIFO is never too full, and all is off after the transfer");
}

static void test_refused(void)
{
    uint8_t bytes[4] = { 1, 2, 3, 4 };

    OK(bcm_i2c_write(&bus, 0x49, bytes, 2) == ERR_NO_DEVICE &&
           bcm_i2c_read(&bus, 0x49, bytes, 2) == ERR_NO_DEVICE,
       "there is no device at that address");
    m.refuses = 2;
    OK(bcm_i2c_write(&bus, DEVICE, bytes, 4) == ERR_NO_DEVICE, "the third byte is refused");
    m.refuses = 99;
    OK(bcm_i2c_write(&bus, DEVICE, bytes, 4) == ERR_OK && m.n_fifo == 0,
       "old bytes of the FIFO are dropped, and the next transfer works");
}

static void test_held(void)
{
    uint8_t bytes[2] = { 0 };
    uint64_t before;

    m.held = true;
    OK(bcm_i2c_read(&bus, DEVICE, bytes, 2) == ERR_TIMEOUT,
       "the controller reports a clock that is held");
    m.held = false;
    m.stuck = true;
    before = m.now;
    OK(bcm_i2c_write(&bus, DEVICE, bytes, 2) == ERR_TIMEOUT && m.now - before >= 100000 &&
           m.now - before < 110000 && !m.active,
       "a transfer that never ends times out after a tenth of a second");
    m.stuck = false;
    OK(bcm_i2c_read(&bus, DEVICE, bytes, 2) == ERR_OK, "the bus works again after a time-out");
}

int main(void)
{
    m.refuses = 99;
    bus.base = mmio_add(bsc_read, bsc_write, BCM_I2C_BYTES);
    test_clock();
    test_transfers();
    test_refused();
    test_held();
    return tap_done();
}
