/* The virtio network device's driver over a device in place of virtio_mmio.c, which sees of the
 * driver's memory what a barrier has ordered: frames both ways, order, links, and devices that
 * misbehave. */
#include "board/drivers/net/virtio_net.h"

#include <string.h>

#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum { FRAMES = 64, MAC = 0x100, LINK = 0x106 };

static struct virtio_net driver, seen;
static uint8_t address[6];
static const char *why;

static struct fake {
    uint32_t regs[128], features[2], taken[2], kind, version, most;
    uint8_t config[8];
    bool refuses, never_resets;
    unsigned n_notified[2], n_early, n_unordered;
    uint16_t used[2], taken_index[2];
    uint8_t sent[FRAMES][VIRTIO_NET_BUFFER_BYTES];
    uint32_t sent_bytes[FRAMES], n_sent;
    bool holds; /* frames that were sent are not given back */
    struct fake_element {
        unsigned which, at;
        uint32_t id, bytes, frame_bytes;
        uint8_t frame[VIRTIO_NET_BUFFER_BYTES];
    } late[FRAMES]; /* what it wrote and nobody sees before a barrier */
    unsigned n_late;
} f;

static const struct virtio_net_queue *seen_queue(unsigned which)
{
    return which == 0 ? &seen.receives : &seen.sends;
}

static struct virtio_net_queue *queue(unsigned which)
{
    return which == 0 ? &driver.receives : &driver.sends;
}

static bool contents_are_seen(unsigned which)
{
    const struct virtio_net_queue *q = queue(which), *s = seen_queue(which);

    return memcmp(q->desc, s->desc, sizeof q->desc) == 0 &&
           memcmp(q->avail.ring, s->avail.ring, sizeof q->avail.ring) == 0 &&
           (which == 0 || memcmp(q->buffers, s->buffers, sizeof q->buffers) == 0);
}

static void write_late(void)
{
    for (unsigned i = 0; i < f.n_late; i++) {
        const struct fake_element *e = &f.late[i];
        struct virtio_net_queue *q = queue(e->which);

        q->used.ring[e->at].id = e->id;
        q->used.ring[e->at].bytes = e->bytes;
        if (e->frame_bytes != 0)
            memcpy(q->buffers[e->id] + VIRTIO_NET_HEADER_BYTES, e->frame, e->frame_bytes);
    }
    f.n_late = 0;
}

static void order(void)
{
    write_late();
    for (unsigned which = 0; which < 2; which++)
        f.n_unordered += queue(which)->avail.index != seen_queue(which)->avail.index &&
                         !contents_are_seen(which);
    memcpy(&seen, &driver, sizeof seen);
}

/* The index comes at once, the element and the frame at the driver's next barrier. */
static void give_frame(unsigned which, uint32_t id, uint32_t bytes, const uint8_t *frame,
                       uint32_t frame_bytes)
{
    struct virtio_net_queue *q = queue(which);
    struct fake_element *e = &f.late[f.n_late++];

    *e = (struct fake_element){
        which, f.used[which] & (q->size - 1), id, bytes, frame_bytes, { 0 }
    };
    if (frame_bytes != 0)
        memcpy(e->frame, frame, frame_bytes);
    *(volatile uint16_t *)&q->used.index = ++f.used[which];
}

static void give_back(unsigned which, uint32_t id, uint32_t bytes)
{
    give_frame(which, id, bytes, NULL, 0);
}

static void take_sent(void)
{
    const struct virtio_net_queue *q = seen_queue(1);

    while (f.taken_index[1] != q->avail.index && f.n_sent < FRAMES) {
        uint32_t slot = q->avail.ring[f.taken_index[1]++ & (q->size - 1)];

        memcpy(f.sent[f.n_sent], q->buffers[slot], q->desc[slot].bytes);
        f.sent_bytes[f.n_sent++] = q->desc[slot].bytes;
        if (!f.holds)
            give_back(1, slot, 0);
    }
}

/* Receives a frame. bytes: its length; header: what the device claims to have written before it. */
static bool arrive(const uint8_t *frame, uint32_t bytes, uint32_t header)
{
    const struct virtio_net_queue *q = seen_queue(0);
    uint32_t slot;

    if (f.taken_index[0] == q->avail.index)
        return false;
    slot = q->avail.ring[f.taken_index[0]++ & (q->size - 1)];
    give_frame(0, slot, header + bytes, frame, bytes);
    return true;
}

uint32_t virtio_read(uintptr_t mmio, unsigned r)
{
    (void)mmio;
    switch (r) {
    case VIRTIO_MAGIC: return MAGIC;
    case VIRTIO_VERSION: return f.version;
    case VIRTIO_DEVICE_ID: return f.kind;
    case VIRTIO_DEVICE_FEATURES: return f.features[f.regs[VIRTIO_DEVICE_FEATURES_SEL / 4] & 1];
    case VIRTIO_QUEUE_NUM_MAX: return f.most;
    case VIRTIO_QUEUE_READY: return 0;
    default: return f.regs[r / 4];
    }
}

uint8_t virtio_read_byte(uintptr_t mmio, unsigned r)
{
    (void)mmio;
    return f.config[r - MAC];
}

void virtio_write(uintptr_t mmio, unsigned r, uint32_t value)
{
    (void)mmio;
    if (r == VIRTIO_STATUS && value == 0 && f.never_resets)
        return;
    if (r == VIRTIO_STATUS && f.refuses)
        value &= ~(uint32_t)STATUS_FEATURES_OK;
    f.regs[r / 4] = value;
    if (r == VIRTIO_DRIVER_FEATURES)
        f.taken[f.regs[VIRTIO_DRIVER_FEATURES_SEL / 4] & 1] = value;
    if (r == VIRTIO_QUEUE_READY)
        f.n_early += memcmp(&driver.receives.used, &seen.receives.used,
                            sizeof seen.receives.used) != 0 ||
                     queue(f.regs[VIRTIO_QUEUE_SEL / 4])->avail.flags !=
                         seen_queue(f.regs[VIRTIO_QUEUE_SEL / 4])->avail.flags;
    if (r == VIRTIO_QUEUE_NOTIFY) {
        f.n_notified[value]++;
        f.n_early += !contents_are_seen(value) ||
                     queue(value)->avail.index != seen_queue(value)->avail.index;
        if (value == 1)
            take_sent();
    }
}

static void power_up(void)
{
    static const uint8_t config[8] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56, 1, 0 };

    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(&seen, 0, sizeof seen);
    memset(&driver, 0xa5, sizeof driver); /* contents of memory before anybody wrote it */
    dma_log.ordered = order;
    f.kind = 1;
    f.version = VERSION_MODERN;
    f.features[0] = 1u << 5 | 1u << 16 | 1u << 0 |
                    1u << 15; /* with some frames that nobody wants */
    f.features[1] = FEATURE_HIGH_VERSION_1;
    f.most = 256;
    memcpy(f.config, config, sizeof config);
}

static enum err open_it(void)
{
    memset(address, 0, sizeof address);
    return virtio_net_open(&driver, 0x0a003c00, address, &why);
}

static void fill(uint8_t *frame, uint32_t bytes, unsigned seed)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(seed * 31 + i * 7);
}

static void test_open(void)
{
    power_up();
    OK(open_it() == ERR_OK && why == NULL && memcmp(address, f.config, 6) == 0,
       "the device opens, with its address");
    OK(f.taken[0] == (1u << 5 | 1u << 16) && f.taken[1] == FEATURE_HIGH_VERSION_1,
       "only address, link and version 1 are taken");
    OK(f.n_early == 0 && f.n_unordered == 0, "the rings are ordered before the queues are ready");
    OK(driver.receives.avail.flags == AVAIL_NO_INTERRUPT &&
           driver.sends.avail.flags == AVAIL_NO_INTERRUPT,
       "the device sends no interrupts");
    OK(driver.receives.avail.index == VIRTIO_NET_SLOTS && driver.sends.avail.index == 0,
       "all buffers wait for frames, and nothing is sent");
    power_up();
    f.most = 4;
    OK(open_it() == ERR_OK && driver.receives.avail.index == 4, "a short queue is enough");
}

static void test_frames(void)
{
    uint8_t frame[VIRTIO_NET_FRAME_BYTES], back[VIRTIO_NET_FRAME_BYTES];
    unsigned right = 0;

    power_up();
    (void)open_it();
    OK(virtio_net_receive(&driver, back, sizeof back) == 0, "no frame has arrived");
    for (unsigned i = 0; i < 60; i++) { /* indices go round the rings */
        uint32_t bytes = i == 0 ? VIRTIO_NET_FRAME_BYTES : 14 + i * 11;

        fill(frame, bytes, i);
        right += arrive(frame, bytes, VIRTIO_NET_HEADER_BYTES) &&
                 virtio_net_receive(&driver, back, sizeof back) == bytes &&
                 memcmp(frame, back, bytes) == 0;
    }
    OK(right == 60 && driver.n_lost == 0, "60 frames come as they are");
    right = 0;
    for (unsigned i = 0; i < 60; i++) {
        uint32_t bytes = i == 0 ? VIRTIO_NET_FRAME_BYTES : 14 + i * 13;
        static const uint8_t none[VIRTIO_NET_HEADER_BYTES];

        fill(frame, bytes, i + 5);
        right += virtio_net_send(&driver, frame, bytes) &&
                 f.sent_bytes[i] == bytes + VIRTIO_NET_HEADER_BYTES &&
                 memcmp(f.sent[i], none, sizeof none) == 0 &&
                 memcmp(f.sent[i] + VIRTIO_NET_HEADER_BYTES, frame, bytes) == 0;
    }
    OK(right == 60 && f.n_notified[1] == 60,
       "60 frames go out as they are, behind an empty header");
    OK(f.n_unordered == 0, "entries are ordered before the index that publishes them");
    OK(f.n_early == 0, "the index is ordered before the notification");
    driver.sends.used.flags = USED_NO_NOTIFY;
    (void)virtio_net_send(&driver, frame, 60);
    OK(f.n_notified[1] == 60, "a device that looks by itself is not notified");
    OK(!virtio_net_send(&driver, frame, VIRTIO_NET_FRAME_BYTES + 1) && driver.n_lost == 1,
       "a frame that is too long is lost");
}

static void test_full(void)
{
    uint8_t frame[60] = { 0 };
    unsigned n = 0;

    power_up();
    (void)open_it();
    f.holds = true;
    while (n < 100 && virtio_net_send(&driver, frame, sizeof frame))
        n++;
    OK(n == VIRTIO_NET_SLOTS, "a full queue takes no more");
    give_back(1, 3, 0);
    OK(virtio_net_send(&driver, frame, sizeof frame) &&
           !virtio_net_send(&driver, frame, sizeof frame),
       "a queue that got one buffer back takes one frame");
}

static void test_link(void)
{
    power_up();
    (void)open_it();
    OK(virtio_net_is_up(&driver), "the link is up with a cable");
    f.config[6] = 0;
    OK(!virtio_net_is_up(&driver), "the link is down without a cable");
    power_up();
    f.features[0] = 1u << 5;
    f.config[6] = 0;
    OK(open_it() == ERR_OK && virtio_net_is_up(&driver),
       "a device that does not tell its link always has one");
}

static void test_refused(void)
{
    power_up();
    f.kind = 2;
    OK(open_it() == ERR_NO_DEVICE && why == NULL, "a block device is refused");
    power_up();
    f.version = 1;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "force-legacy=false") != NULL,
       "a legacy device is refused: %s", why);
    power_up();
    f.features[1] = 0;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "VERSION_1") != NULL,
       "a device without VERSION_1 is refused: %s", why);
    power_up();
    f.features[0] = 0;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "address") != NULL,
       "a device without an address is refused: %s", why);
    power_up();
    f.refuses = true;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "refused") != NULL,
       "a device that refuses the features is refused: %s", why);
    power_up();
    f.never_resets = true;
    f.regs[VIRTIO_STATUS / 4] = STATUS_DRIVER_OK;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "reset") != NULL,
       "a device that does not reset is refused: %s", why);
    power_up();
    f.most = 0;
    OK(open_it() == ERR_UNSUPPORTED && strstr(why, "virtqueues") != NULL,
       "a device without virtqueues is refused: %s", why);
}

/* Whether the driver gives up such a device, and touches nothing that it named. */
static bool is_given_up(unsigned which, uint32_t id, uint32_t bytes, uint16_t more)
{
    uint8_t frame[60] = { 0 }, back[VIRTIO_NET_FRAME_BYTES];

    power_up();
    (void)open_it();
    give_back(which, id, bytes);
    *(volatile uint16_t *)&queue(which)->used.index = (uint16_t)(f.used[which] + more);
    if (which == 0 && virtio_net_receive(&driver, back, sizeof back) != 0)
        return false;
    return !virtio_net_send(&driver, frame, sizeof frame) && !virtio_net_is_up(&driver) &&
           virtio_net_receive(&driver, back, sizeof back) == 0 && f.regs[VIRTIO_STATUS / 4] == 0;
}

static void test_broken(void)
{
    uint8_t back[VIRTIO_NET_FRAME_BYTES], frame[60] = { 1 };

    OK(is_given_up(0, VIRTIO_NET_SLOTS, 100, 0), "a buffer that does not exist is given up");
    OK(is_given_up(0, 0xffffffff, 100, 0), "a buffer far beyond those that exist is given up");
    OK(is_given_up(1, 2, 0, 0), "a buffer that the device does not have is given up");
    OK(is_given_up(0, 1, VIRTIO_NET_BUFFER_BYTES + 1, 0),
       "a frame with more bytes than a buffer has is given up");
    OK(is_given_up(0, 1, 100, 500), "an index that has jumped is given up");
    power_up();
    (void)open_it();
    give_back(0, 0, VIRTIO_NET_HEADER_BYTES); /* no frame */
    give_back(0, 1, 3);                       /* not even a header */
    f.taken_index[0] = 2;
    OK(arrive(frame, 60, VIRTIO_NET_HEADER_BYTES) &&
           virtio_net_receive(&driver, back, sizeof back) == 60 && driver.n_lost == 2 &&
           driver.works,
       "frames without bytes are lost, and the next one comes");
    OK(arrive(frame, 60, VIRTIO_NET_HEADER_BYTES) && virtio_net_receive(&driver, back, 59) == 0 &&
           driver.n_lost == 3,
       "a frame without room is lost");
}

int main(void)
{
    test_open();
    test_frames();
    test_full();
    test_link();
    test_refused();
    test_broken();
    return tap_done();
}
