/* Broadcom's GENET over a model of its registers: frames both ways with indices that wrap and with caches that hide memory, links
 * that change, full queues, a device that the firmware left running, and a broken one. The model's slots are those of its
 * pointers; the driver's are those of the indices. */
#include "board/drivers/net/genet.h"

#include <string.h>

#include "board/drivers/net/genet_registers.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum { PHY = 1, MOST_SENT = 200, WORDS = 3, STATUS_WHOLE = GENET_FIRST | GENET_LAST };

static struct genet driver;
static uint8_t memory[sizeof driver], fetched[sizeof driver];
static uint8_t address[6];
static const char *why;

static struct fake {
    uint32_t regs[0x6000 / 4];
    uint16_t phy[32];
    bool silent;  /* no PHY answers */
    bool stuck;   /* nor does its bus */
    bool holds;   /* it sends nothing for now */
    bool filters; /* it looks at addresses */
    bool writes;  /* an engine writes to memory while the driver sets it up */
    uint64_t ticks;
    uint8_t sent[MOST_SENT][GENET_BUFFER_BYTES];
    uint32_t sent_bytes[MOST_SENT], n_sent, n_wrong;
} f;

static uint64_t ticks(void)
{
    return f.ticks += 10;
}

static uint32_t *reg(unsigned at)
{
    return &f.regs[at / 4];
}

static bool is_on(unsigned base)
{
    uint32_t wanted = GENET_ENGINE_ON | GENET_ENGINE_QUEUE;

    return (*reg(base + GENET_ENGINE_CONTROL) & wanted) == wanted &&
           *reg(base + GENET_ENGINE_QUEUES) == 1 << GENET_QUEUE &&
           *reg(base + GENET_QUEUE_SIZE) == (GENET_SLOTS << 16 | GENET_BUFFER_BYTES);
}

/* Returns the descriptor at the device's pointer, which moves to the next one. */
static unsigned next_descriptor(unsigned base, unsigned pointer)
{
    unsigned at = base + *reg(base + pointer) * 4;

    *reg(base + pointer) += WORDS;
    if (*reg(base + pointer) > *reg(base + GENET_QUEUE_END))
        *reg(base + pointer) = *reg(base + GENET_QUEUE_START);
    return at;
}

static uint8_t *buffer_of(unsigned descriptor)
{
    return dma_log_seen(*reg(descriptor + 4) | (uintptr_t)*reg(descriptor + 8) << 32);
}

static void send_all(void)
{
    uint32_t *device = reg(GENET_SENDS + GENET_QUEUE_DEVICE);

    while (!f.holds && is_on(GENET_SENDS) && (*reg(GENET_COMMAND) & GENET_COMMAND_SENDS) &&
           f.n_sent < MOST_SENT && *device != *reg(GENET_SENDS + GENET_QUEUE_OURS)) {
        unsigned at = next_descriptor(GENET_SENDS, GENET_QUEUE_POINTER_1);
        uint32_t status = *reg(at);

        f.n_wrong += (status & 0xffff) != (STATUS_WHOLE | GENET_SEND_TAG | GENET_SEND_CHECKSUM);
        f.sent_bytes[f.n_sent] = status >> 16;
        memcpy(f.sent[f.n_sent++], buffer_of(at), status >> 16);
        *device = (*device + 1) & 0xffff;
        dma_log_evict_all();
    }
}

/* Linux's bcmgenet_set_rx_mode: a bit for each of 17 filters, from bit 16 downwards; bit 4 of the command switches them off. */
static bool passes(const uint8_t *frame)
{
    uint32_t high = (uint32_t)frame[0] << 8 | frame[1], low = (uint32_t)frame[2] << 24 |
                                                              (uint32_t)frame[3] << 16 |
                                                              (uint32_t)frame[4] << 8 | frame[5];

    if (!f.filters || *reg(GENET_COMMAND) & 1 << 4)
        return true;
    for (unsigned n = 0; n < 17; n++) {
        if ((*reg(0xe50) >> (16 - n) & 1) && *reg(0xe54 + 8 * n) == high &&
            *reg(0xe58 + 8 * n) == low)
            return true;
    }
    return false;
}

/* A frame arrives, behind two bytes. False: there is no buffer, or the filters drop it. */
static bool arrive(const uint8_t *frame, uint32_t bytes, uint32_t flags)
{
    uint32_t *device = reg(GENET_RECEIVES + GENET_QUEUE_DEVICE);
    uint16_t waiting = (uint16_t)(*device - *reg(GENET_RECEIVES + GENET_QUEUE_OURS));
    unsigned at;

    if (!passes(frame))
        return false;
    if (!is_on(GENET_RECEIVES) || !(*reg(GENET_COMMAND) & GENET_COMMAND_RECEIVES) ||
        waiting >= GENET_SLOTS)
        return false;
    at = next_descriptor(GENET_RECEIVES, GENET_QUEUE_POINTER_1);
    memcpy(buffer_of(at) + 2, frame, bytes);
    *reg(at) = (bytes + 2) << 16 | flags;
    *device = (*device + 1) & 0xffff;
    dma_log_evict_all();
    return true;
}

static void ask_phy(uint32_t value)
{
    unsigned at = value >> 21 & 31, number = value >> 16 & 31;
    bool there = !f.silent && at == PHY;

    *reg(GENET_MDIO) = value;
    if (!(value & GENET_MDIO_BUSY) || f.stuck)
        return;
    *reg(GENET_MDIO) &= ~(uint32_t)GENET_MDIO_BUSY;
    if (value & GENET_MDIO_WRITE) {
        if (there)
            f.phy[number] = (uint16_t)value;
    } else {
        *reg(GENET_MDIO) &= ~(uint32_t)0xffff;
        *reg(GENET_MDIO) |= there ? f.phy[number] : (uint32_t)GENET_MDIO_FAILED;
    }
}

uint32_t genet_read(const struct genet *g, unsigned at)
{
    (void)g;
    return f.regs[at / 4];
}

void genet_write(const struct genet *g, unsigned at, uint32_t value)
{
    (void)g;
    if (at == GENET_MDIO) {
        ask_phy(value);
        return;
    }
    if (at == GENET_SENDS + GENET_QUEUE_DEVICE || at == GENET_RECEIVES + GENET_QUEUE_DEVICE) {
        f.n_wrong++; /* they are the device's */
        return;
    }
    *reg(at) = value;
    if (at == GENET_SENDS + GENET_QUEUE_OURS)
        send_all();
    /* A queue must not change while its engine is on. */
    if ((at > GENET_SENDS + GENET_QUEUES && at < GENET_SENDS + GENET_ENGINE &&
         at != GENET_SENDS + GENET_QUEUE_OURS && (*reg(GENET_SENDS + GENET_ENGINE_CONTROL) & 1)) ||
        (at > GENET_RECEIVES + GENET_QUEUES && at < GENET_RECEIVES + GENET_ENGINE &&
         at != GENET_RECEIVES + GENET_QUEUE_OURS &&
         (*reg(GENET_RECEIVES + GENET_ENGINE_CONTROL) & 1)))
        f.writes = true;
    for (unsigned base = GENET_RECEIVES; base <= GENET_SENDS; base += GENET_SENDS - GENET_RECEIVES)
        *reg(base + GENET_ENGINE_STATUS) = !(*reg(base + GENET_ENGINE_CONTROL) & 1);
}

/* Sets a link of so many Mbit/s; 0: no cable. */
static void plug(unsigned mbits, bool full)
{
    f.phy[1] = mbits != 0 ? 0x796d : 0x7949;
    f.phy[5] = (uint16_t)((mbits >= 100 ? 0x0080 << full : 0x0020 << full) | 1);
    f.phy[10] = mbits == 1000 ? 0x3800 : 0;
}

/* index: of both queues, as the firmware left them. */
static void power_up(uint32_t index)
{
    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(&driver, 0xa5, sizeof driver); /* contents of memory before anybody wrote it */
    *reg(GENET_REVISION) = 0x06000000;
    *reg(GENET_ADDRESS_HIGH) = 0xdca63201;
    *reg(GENET_ADDRESS_LOW) = 0x0203;
    *reg(GENET_SENDS + GENET_QUEUE_DEVICE) = *reg(GENET_RECEIVES + GENET_QUEUE_DEVICE) = index;
    if (index != 0) {
        *reg(GENET_SENDS + GENET_ENGINE_CONTROL) = *reg(
            GENET_RECEIVES + GENET_ENGINE_CONTROL) = GENET_ENGINE_ON | GENET_ENGINE_QUEUE;
        *reg(GENET_COMMAND) = GENET_COMMAND_SENDS | GENET_COMMAND_RECEIVES;
        *reg(0x300) = *reg(0x600) = 1; /* blocks of 64 bytes before each frame, as Linux has them */
    }
    f.phy[0] = 0x1140;
    f.phy[2] = 0x600d;
    f.phy[3] = 0x84a2;
    f.phy[15] = 0x3000;
    f.phy[9] = 0x0300;
    f.phy[4] = 0x01e1;
    plug(1000, true);
}

static enum err open_with(const uint8_t *own)
{
    const struct genet_setup setup = { .mmio = 0xfd580000,
                                       .window = { .end = UINT64_MAX },
                                       .ticks = ticks,
                                       .ticks_hz = 1000000,
                                       .phy = PHY,
                                       .address = own };

    dma_log_watch((uint8_t *)&driver, memory, fetched, sizeof driver);
    memset(address, 0, sizeof address);
    return genet_open(&driver, &setup, address, &why);
}

static void start(uint32_t index)
{
    power_up(index);
    (void)open_with(NULL);
    (void)genet_is_up(&driver);
}

static void fill(uint8_t *frame, uint32_t bytes, unsigned seed)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(seed * 31 + i * 7);
}

static void test_open(void)
{
    static const uint8_t left[6] = { 0xdc, 0xa6, 0x32, 1, 2, 3 },
                         own[6] = { 0xdc, 0xa6, 0x32, 0xaa, 0xbb, 0xcc };

    power_up(0);
    OK(open_with(NULL) == ERR_OK && why == NULL && memcmp(address, left, 6) == 0 && f.n_wrong == 0,
       "the port opens with the address that the firmware left");
    OK(*reg(GENET_PORT) == 3 && *reg(GENET_RECEIVE_FLUSH) == 0 && *reg(GENET_SEND_FLUSH) == 0 &&
           (*reg(GENET_RECEIVE_BUFFER) & 2) != 0,
       "the port is the external PHY's, and nothing is left in reset");
    OK(!arrive(left, 6, STATUS_WHOLE), "no frame comes before the link is known");
    OK(genet_is_up(&driver) && *reg(GENET_COMMAND) == (2 << 2 | 3) &&
           (*reg(GENET_RGMII) & (GENET_RGMII_LINK | GENET_RGMII_ON | GENET_RGMII_NO_DELAY |
                                 GENET_RGMII_NO_OUT_OF_BAND)) ==
               (GENET_RGMII_LINK | GENET_RGMII_ON | GENET_RGMII_NO_DELAY),
       "the link has 1000 Mbit/s");
    power_up(0);
    OK(open_with(own) == ERR_OK && memcmp(address, own, 6) == 0 &&
           *reg(GENET_ADDRESS_HIGH) == 0xdca632aa && *reg(GENET_ADDRESS_LOW) == 0xbbcc,
       "the device tree's address is the device's");
    power_up(77);
    OK(open_with(NULL) == ERR_OK && !f.writes && f.n_wrong == 0,
       "a device that the firmware left at work is stopped first");
    OK(*reg(0x300) == 2 && *reg(0x600) == 0,
       "a device that the firmware left at work has no blocks before its frames any more");
}

static void test_frames(uint32_t index)
{
    uint8_t frame[GENET_FRAME_BYTES], back[GENET_FRAME_BYTES];
    unsigned right = 0;

    start(index);
    OK(genet_receive(&driver, back, sizeof back) == 0, "no frame has come yet, from index %u on",
       (unsigned)index);
    for (unsigned i = 0; i < 120; i++) {
        uint32_t bytes = i == 0 ? GENET_FRAME_BYTES : 60 + i * 11;

        fill(frame, bytes, i);
        right += arrive(frame, bytes, STATUS_WHOLE) &&
                 genet_receive(&driver, back, sizeof back) == bytes &&
                 memcmp(frame, back, bytes) == 0;
    }
    OK(right == 120 && driver.n_lost == 0, "120 frames come as they are (%u)", right);
    right = 0;
    for (unsigned i = 0; i < 120; i++) {
        uint32_t bytes = i == 0 ? GENET_FRAME_BYTES : 60 + i * 11;

        fill(frame, bytes, i + 5);
        right += genet_send(&driver, frame, bytes) && f.n_sent == i + 1 &&
                 f.sent_bytes[i] == bytes && memcmp(f.sent[i], frame, bytes) == 0;
    }
    OK(right == 120 && f.n_wrong == 0, "120 frames go out as they are (%u)", right);
}

static void test_short_and_long(void)
{
    static const uint8_t zeros[60];
    uint8_t frame[GENET_FRAME_BYTES + 1], back[GENET_FRAME_BYTES];

    start(0);
    fill(frame, sizeof frame, 1);
    OK(genet_send(&driver, frame, 1000) && genet_send(&driver, frame, 14) &&
           f.sent_bytes[1] == 60 && memcmp(f.sent[1], frame, 14) == 0 &&
           memcmp(f.sent[1] + 14, zeros, 46) == 0,
       "a short frame is filled up with zeros");
    OK(!genet_send(&driver, frame, sizeof frame) && !genet_send(&driver, frame, 0) &&
           driver.n_lost == 2,
       "a frame that is too long, or empty, is lost");
    (void)arrive(frame, 60, GENET_FIRST);
    (void)arrive(frame, 60, STATUS_WHOLE | 2);
    (void)arrive(frame, 60, STATUS_WHOLE | 1);
    (void)arrive(frame, GENET_FRAME_BYTES + 1, STATUS_WHOLE);
    *reg(GENET_RECEIVES) = 2 << 16 | STATUS_WHOLE;
    (void)arrive(frame, 61, STATUS_WHOLE);
    OK(genet_receive(&driver, back, sizeof back) == 61 && driver.n_lost == 6,
       "broken frames are lost, and the next one comes (%u)", (unsigned)driver.n_lost);
}

static void test_full(void)
{
    uint8_t frame[60] = { 0 }, back[GENET_FRAME_BYTES];
    unsigned n = 0, right = 0;

    start(65530);
    for (frame[0] = 0; frame[0] < GENET_SLOTS; frame[0]++)
        n += arrive(frame, sizeof frame, STATUS_WHOLE);
    OK(n == GENET_SLOTS && !arrive(frame, sizeof frame, STATUS_WHOLE), "all buffers are full");
    for (unsigned i = 0; i < GENET_SLOTS; i++)
        right += genet_receive(&driver, back, sizeof back) == 60 && back[0] == i;
    OK(right == GENET_SLOTS && genet_receive(&driver, back, sizeof back) == 0 &&
           arrive(frame, sizeof frame, STATUS_WHOLE) &&
           genet_receive(&driver, back, sizeof back) == 60,
       "the frames come in their order, and then another one");
    f.holds = true;
    for (n = 0; n < 100 && genet_send(&driver, frame, sizeof frame); n++)
        frame[1]++;
    OK(n == GENET_SLOTS, "a full queue takes no more (%u)", n);
    f.holds = false;
    send_all();
    OK(f.n_sent == GENET_SLOTS && f.sent[GENET_SLOTS - 1][1] == GENET_SLOTS - 1 &&
           genet_send(&driver, frame, sizeof frame),
       "frames that were held go out in their order, and then another one");
    *reg(GENET_SENDS + GENET_QUEUE_DEVICE) = (*reg(GENET_SENDS + GENET_QUEUE_DEVICE) + 500) &
                                             0xffff;
    OK(!genet_send(&driver, frame, sizeof frame), "an index that jumps is not believed");
}

static void test_links(void)
{
    static const struct {
        unsigned mbits;
        bool full;
        uint32_t command;
    } rows[] = { { 100, true, 1 << 2 },
                 { 100, false, 1 << 2 | GENET_COMMAND_HALF },
                 { 10, true, 0 },
                 { 1000, true, 2 << 2 } };
    unsigned right = 0;

    start(0);
    plug(0, false);
    OK(!genet_is_up(&driver), "a cable that is pulled brings the link down");
    for (unsigned i = 0; i < 4; i++) {
        plug(rows[i].mbits, rows[i].full);
        right += genet_is_up(&driver) && *reg(GENET_COMMAND) == (rows[i].command | 3);
    }
    OK(right == 4, "a cable that is plugged in again may have another speed (%u)", right);
    f.stuck = true;
    OK(!genet_is_up(&driver), "a PHY that does not answer any more has no link");
}

static void test_filters(void)
{
    static const uint8_t good[][6] = { { 0xdc, 0xa6, 0x32, 1, 2, 3 },
                                       { 255, 255, 255, 255, 255, 255 },
                                       { 1, 0, 0x5e, 0, 0, 1 },
                                       { 1, 0, 0x5e, 0, 0, 0xfb },
                                       { 0x33, 0x33, 0, 0, 0, 1 },
                                       { 0x33, 0x33, 0, 0, 0, 0xfb },
                                       { 0x33, 0x33, 0xff, 1, 2, 3 } },
                         other[][6] = { { 0xdc, 0xa6, 0x32, 1, 2, 4 },
                                        { 1, 0, 0x5e, 0x7f, 0xff, 0xfa },
                                        { 0x33, 0x33, 0, 1, 0, 2 },
                                        { 0x33, 0x33, 0xff, 1, 2, 4 },
                                        { 0 } };
    uint8_t frame[60] = { 0 };
    unsigned n = 0;

    start(0);
    f.filters = true;
    for (unsigned i = 0; i < sizeof good / 6; i++) {
        memcpy(frame, good[i], 6);
        n += arrive(frame, sizeof frame, STATUS_WHOLE);
    }
    OK(n == sizeof good / 6,
       "frames to the port, to everybody and to the groups that it needs come (%u)", n);
    for (unsigned i = n = 0; i < sizeof other / 6; i++) {
        memcpy(frame, other[i], 6);
        n += arrive(frame, sizeof frame, STATUS_WHOLE);
    }
    OK(n == 0, "frames to other stations and groups do not come (%u)", n);
}

static void test_refused(void)
{
    power_up(0);
    *reg(GENET_REVISION) = 0x05000000;
    OK(open_with(NULL) == ERR_UNSUPPORTED && strstr(why, "version 5") != NULL,
       "another version of the controller is refused: %s", why);
    power_up(0);
    *reg(GENET_ADDRESS_HIGH) = *reg(GENET_ADDRESS_LOW) = 0;
    OK(open_with(NULL) == ERR_UNSUPPORTED && strstr(why, "address") != NULL,
       "a port without an address is refused: %s", why);
    power_up(0);
    *reg(GENET_ADDRESS_HIGH) |= 0x01000000;
    OK(open_with(NULL) == ERR_UNSUPPORTED, "the address of a group is refused");
    power_up(0);
    f.silent = true;
    OK(open_with(NULL) == ERR_NO_DEVICE && strstr(why, "PHY") != NULL && !genet_is_up(&driver),
       "a port without a PHY is refused: %s", why);
    power_up(0);
    f.stuck = true;
    OK(open_with(NULL) == ERR_NO_DEVICE, "a bus to the PHY that does not answer is an error");
}

int main(void)
{
    test_open();
    test_frames(0);
    test_frames(77);
    test_frames(65500);
    test_short_and_long();
    test_full();
    test_links();
    test_filters();
    test_refused();
    return tap_done();
}
