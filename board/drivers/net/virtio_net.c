/* Sections are those of the VIRTIO 1.2 specification (OASIS, csd01). As in virtio_blk.c no cache is cleaned, since the device sees
 * memory as the core does (section 6), and dma_barrier gives the order that it needs. Ids, lengths and indices that the device writes
 * are checked: a device that breaks the protocol is stopped. */
#include "board/drivers/net/virtio_net.h"

#include <string.h>

#include "board/drivers/block/virtio_registers.h"
#include "board/drivers/dma/dma.h"

enum { DEVICE_NET = 1 };                                   /* section 5 */
enum { FEATURE_MAC = 1u << 5, FEATURE_STATUS = 1u << 16 }; /* section 5.1.3 */
enum { CONFIG_MAC = 0x100, CONFIG_STATUS = 0x106 };        /* section 5.1.4 */
enum { STATUS_LINK_UP = 1 };
enum { QUEUE_RECEIVES = 0, QUEUE_SENDS = 1 }; /* section 5.1.2 */
enum { RESET_POLLS = 10000000 };              /* a second or more */

static void write_address(const struct virtio_net *v, unsigned reg, const void *address)
{
    uint64_t value = (uintptr_t)address;

    virtio_net_write(v, reg, (uint32_t)value);
    virtio_net_write(v, reg + 4, (uint32_t)(value >> 32));
}

/* Section 4.2.3.1.1: after a write of 0 the status reads 0 once the device has stopped its transfers. */
static bool stop(const struct virtio_net *v)
{
    dma_barrier(); /* what is written to memory so far belongs to the time before the reset */
    virtio_net_write(v, VIRTIO_STATUS, 0);
    for (long poll = 0; poll < RESET_POLLS; poll++) {
        if (virtio_net_read(v, VIRTIO_STATUS) == 0) {
            dma_barrier(); /* no later access to the rings may be seen before the device has stopped */
            return true;
        }
    }
    return false;
}

static void fail(struct virtio_net *v)
{
    v->works = false;
    (void)stop(v);
}

/* Sections 3.1.1 (steps 3 to 6) and 2.2. No checksums, no segments, no merged buffers: lwIP computes, and a frame fits a buffer. */
static const char *negotiate(struct virtio_net *v)
{
    uint32_t offered;

    virtio_net_write(v, VIRTIO_DEVICE_FEATURES_SEL, 1);
    if (!(virtio_net_read(v, VIRTIO_DEVICE_FEATURES) & FEATURE_HIGH_VERSION_1))
        return "the virtio-net device does not offer VIRTIO_F_VERSION_1";
    virtio_net_write(v, VIRTIO_DEVICE_FEATURES_SEL, 0);
    offered = virtio_net_read(v, VIRTIO_DEVICE_FEATURES) & (FEATURE_MAC | FEATURE_STATUS);
    if (!(offered & FEATURE_MAC))
        return "the virtio-net device has no address of its own";
    v->has_status = (offered & FEATURE_STATUS) != 0;
    virtio_net_write(v, VIRTIO_DRIVER_FEATURES_SEL, 0);
    virtio_net_write(v, VIRTIO_DRIVER_FEATURES, offered);
    virtio_net_write(v, VIRTIO_DRIVER_FEATURES_SEL, 1);
    virtio_net_write(v, VIRTIO_DRIVER_FEATURES, FEATURE_HIGH_VERSION_1);
    virtio_net_write(v, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK);
    if (!(virtio_net_read(v, VIRTIO_STATUS) & STATUS_FEATURES_OK))
        return "the virtio-net device refused the features it offered";
    return NULL;
}

/* Section 4.2.3.2. */
static bool start_queue(struct virtio_net *v, unsigned which, struct virtio_net_queue *q)
{
    uint32_t most;

    virtio_net_write(v, VIRTIO_QUEUE_SEL, which);
    most = virtio_net_read(v, VIRTIO_QUEUE_NUM_MAX);
    if (virtio_net_read(v, VIRTIO_QUEUE_READY) != 0 || most < 2)
        return false;
    q->size = VIRTIO_NET_SLOTS; /* section 2.7: a power of two */
    while (q->size > most)
        q->size /= 2;
    q->avail.flags = AVAIL_NO_INTERRUPT;
    virtio_net_write(v, VIRTIO_QUEUE_NUM, q->size);
    write_address(v, VIRTIO_QUEUE_DESC, q->desc);
    write_address(v, VIRTIO_QUEUE_DRIVER, &q->avail);
    write_address(v, VIRTIO_QUEUE_DEVICE, &q->used);
    dma_barrier(); /* the zeroed rings reach memory before the device may look at them */
    virtio_net_write(v, VIRTIO_QUEUE_READY, 1);
    return true;
}

/* Section 2.7.13: entry, barrier, index, barrier, notification unless it is suppressed. */
static void offer(struct virtio_net *v, unsigned which, struct virtio_net_queue *q, uint32_t slot,
                  uint32_t bytes)
{
    volatile uint16_t *index = &q->avail.index;
    uint16_t at = *index;

    q->desc[slot].address = (uintptr_t)q->buffers[slot];
    q->desc[slot].bytes = bytes;
    q->desc[slot].flags = which == QUEUE_RECEIVES ? DESC_WRITE : 0;
    q->owned |= 1u << slot;
    q->avail.ring[at & (q->size - 1)] = (uint16_t)slot;
    dma_barrier(); /* 2.7.13.3.1: buffer, descriptor and ring entry before the index */
    *index = (uint16_t)(at + 1);
    dma_barrier(); /* 2.7.13.4.1: the index before reading used.flags and before the notification */
    if (!(*(volatile uint16_t *)&q->used.flags & USED_NO_NOTIFY))
        virtio_net_write(v, VIRTIO_QUEUE_NOTIFY, which);
}

/* The next buffer that the device has given back, and how many bytes it wrote. False: none. */
static bool take(struct virtio_net *v, struct virtio_net_queue *q, uint32_t *slot, uint32_t *bytes)
{
    uint16_t index = *(volatile uint16_t *)&q->used.index;

    if (!v->works || index == q->used_seen)
        return false;
    dma_barrier(); /* 2.7.14: the index before the elements, and the elements before the buffers */
    *slot = q->used.ring[q->used_seen & (q->size - 1)].id;
    *bytes = q->used.ring[q->used_seen & (q->size - 1)].bytes;
    if ((uint16_t)(index - q->used_seen) > q->size || *slot >= q->size ||
        !(q->owned >> *slot & 1) || *bytes > VIRTIO_NET_BUFFER_BYTES) {
        fail(v);
        return false;
    }
    q->owned &= ~(1u << *slot);
    q->used_seen++;
    return true;
}

/* Section 3.1.1, from the reset to DRIVER_OK. NULL: done. */
static const char *start(struct virtio_net *v)
{
    const char *why;

    if (!stop(v))
        return "the virtio-net device does not reset";
    virtio_net_write(v, VIRTIO_STATUS, STATUS_ACKNOWLEDGE);
    virtio_net_write(v, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    why = negotiate(v);
    if (why == NULL &&
        (!start_queue(v, QUEUE_RECEIVES, &v->receives) || !start_queue(v, QUEUE_SENDS, &v->sends)))
        why = "the virtio-net device has no usable virtqueues";
    virtio_net_write(v, VIRTIO_STATUS,
                     why != NULL ? STATUS_FAILED
                                 : STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK |
                                       STATUS_DRIVER_OK);
    return why;
}

enum err virtio_net_open(struct virtio_net *v, uintptr_t mmio, uint8_t address[6], const char **why)
{
    *why = NULL;
    memset(v, 0, sizeof *v);
    v->mmio = mmio;
    if (virtio_net_read(v, VIRTIO_MAGIC) != MAGIC ||
        virtio_net_read(v, VIRTIO_DEVICE_ID) != DEVICE_NET)
        return ERR_NO_DEVICE;
    if (virtio_net_read(v, VIRTIO_VERSION) != VERSION_MODERN)
        *why = "the virtio-net device is a legacy one: "
               "start QEMU with -global virtio-mmio.force-legacy=false";
    else
        *why = start(v);
    if (*why != NULL)
        return ERR_UNSUPPORTED;
    v->works = true;
    for (unsigned i = 0; i < 6; i++)
        address[i] = virtio_net_read_byte(v, CONFIG_MAC + i);
    for (uint32_t slot = 0; slot < v->receives.size; slot++)
        offer(v, QUEUE_RECEIVES, &v->receives, slot, VIRTIO_NET_BUFFER_BYTES);
    return ERR_OK;
}

bool virtio_net_is_up(const struct virtio_net *v)
{
    return v->works &&
           (!v->has_status || (virtio_net_read_byte(v, CONFIG_STATUS) & STATUS_LINK_UP) != 0);
}

/* Section 5.1.6.2. */
bool virtio_net_send(struct virtio_net *v, const uint8_t *frame, size_t bytes)
{
    struct virtio_net_queue *q = &v->sends;
    uint32_t slot, ignored;

    while (take(v, q, &slot, &ignored)) {
    }
    for (slot = 0; slot < q->size && (q->owned >> slot & 1); slot++) {
    }
    if (!v->works || slot == q->size || bytes > VIRTIO_NET_FRAME_BYTES) {
        v->n_lost++;
        return false;
    }
    memset(q->buffers[slot], 0, VIRTIO_NET_HEADER_BYTES);
    memcpy(q->buffers[slot] + VIRTIO_NET_HEADER_BYTES, frame, bytes);
    offer(v, QUEUE_SENDS, q, slot, (uint32_t)(VIRTIO_NET_HEADER_BYTES + bytes));
    return true;
}

/* Section 5.1.6.3. The buffer goes back at once: what it held was copied. */
size_t virtio_net_receive(struct virtio_net *v, uint8_t *to, size_t room)
{
    struct virtio_net_queue *q = &v->receives;
    uint32_t slot, bytes;
    size_t n = 0;

    while (n == 0 && take(v, q, &slot, &bytes)) {
        if (bytes > VIRTIO_NET_HEADER_BYTES && bytes - VIRTIO_NET_HEADER_BYTES <= room)
            n = bytes - VIRTIO_NET_HEADER_BYTES;
        else
            v->n_lost++;
        memcpy(to, q->buffers[slot] + VIRTIO_NET_HEADER_BYTES, n);
        offer(v, QUEUE_RECEIVES, q, slot, VIRTIO_NET_BUFFER_BYTES);
    }
    return n;
}
