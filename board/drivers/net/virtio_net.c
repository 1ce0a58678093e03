/* Sections are those of the VIRTIO 1.2 specification (OASIS, csd01). Ids, lengths and indices
 * that the device writes are checked: a device that breaks the protocol is stopped. */
#include "board/drivers/net/virtio_net.h"

#include <string.h>

#include "board/drivers/dma/dma.h"

enum { DEVICE_NET = 1 };                                                /* section 5 */
enum { FEATURE_MAC = 1u << 5, FEATURE_STATUS = 1u << 16 };              /* section 5.1.3 */
enum { CONFIG_MAC = VIRTIO_CONFIG, CONFIG_STATUS = VIRTIO_CONFIG + 6 }; /* section 5.1.4 */
enum { STATUS_LINK_UP = 1 };
enum { QUEUE_RECEIVES = 0, QUEUE_SENDS = 1 }; /* section 5.1.2 */

static struct virtq rings_of(unsigned which, struct virtio_net_queue *q)
{
    return (struct virtq){ .desc = q->desc,
                           .avail = &q->avail,
                           .used = &q->used,
                           .which = which,
                           .least = 2,
                           .most = VIRTIO_NET_SLOTS };
}

static void fail(struct virtio_net *v)
{
    v->works = false;
    (void)virtio_stop(v->mmio);
}

/* Choose the features: no checksums, segments or merged buffers, because lwIP computes checksums,
 * and a frame fits a buffer. */
static const char *negotiate(struct virtio_net *v)
{
    uint32_t taken = 0;
    enum virtio_refusal refusal = virtio_negotiate(v->mmio, FEATURE_MAC | FEATURE_STATUS, &taken);

    if (refusal == VIRTIO_TOO_OLD)
        return "the virtio-net device does not offer VIRTIO_F_VERSION_1";
    if (refusal == VIRTIO_REFUSED)
        return "the virtio-net device refused the features it offered";
    if (!(taken & FEATURE_MAC))
        return "the virtio-net device has no MAC address";
    v->has_status = (taken & FEATURE_STATUS) != 0;
    return NULL;
}

static bool start_queue(struct virtio_net *v, unsigned which, struct virtio_net_queue *q)
{
    const struct virtq rings = rings_of(which, q);

    q->size = virtq_start(v->mmio, &rings);
    return q->size != 0;
}

/* Give the slot's buffer to the device, which sends `bytes` bytes from it, or writes at most
 * `bytes` to it. */
static void offer(struct virtio_net *v, unsigned which, struct virtio_net_queue *q, uint32_t slot,
                  uint32_t bytes)
{
    const struct virtq rings = rings_of(which, q);

    q->desc[slot].address = (uintptr_t)q->buffers[slot];
    q->desc[slot].bytes = bytes;
    q->desc[slot].flags = which == QUEUE_RECEIVES ? DESC_WRITE : 0;
    q->owned |= 1u << slot;
    virtq_offer(v->mmio, &rings, q->size, slot);
}

/* Take the next buffer that the device has returned, and the number of bytes that it wrote. False
 * if there is none. */
static bool take(struct virtio_net *v, struct virtio_net_queue *q, uint32_t *slot, uint32_t *bytes)
{
    uint16_t index = *(volatile uint16_t *)&q->used.index;

    if (!v->works || index == q->used_seen)
        return false;
    dma_barrier(); /* 2.7.14: read the index before the elements, and the elements before the buffers */
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

/* Start the device: section 3.1.1, from the reset to DRIVER_OK. Returns NULL or an error
 * message. */
static const char *start(struct virtio_net *v)
{
    const char *why;

    if (!virtio_begin(v->mmio))
        return "the virtio-net device does not reset";
    why = negotiate(v);
    if (why == NULL &&
        (!start_queue(v, QUEUE_RECEIVES, &v->receives) || !start_queue(v, QUEUE_SENDS, &v->sends)))
        why = "the virtio-net device has no usable virtqueues";
    virtio_write(v->mmio, VIRTIO_STATUS,
                 why != NULL
                     ? STATUS_FAILED
                     : STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    return why;
}

enum err virtio_net_open(struct virtio_net *v, uintptr_t mmio, uint8_t address[6], const char **why)
{
    *why = NULL;
    memset(v, 0, sizeof *v);
    v->mmio = mmio;
    if (!virtio_is_there(mmio, DEVICE_NET))
        return ERR_NO_DEVICE;
    if (virtio_read(v->mmio, VIRTIO_VERSION) != VERSION_MODERN)
        *why = "the virtio-net device is a legacy one: "
               "start QEMU with -global virtio-mmio.force-legacy=false";
    else
        *why = start(v);
    if (*why != NULL)
        return ERR_UNSUPPORTED;
    v->works = true;
    for (unsigned i = 0; i < 6; i++)
        address[i] = virtio_read_byte(v->mmio, CONFIG_MAC + i);
    for (uint32_t slot = 0; slot < v->receives.size; slot++)
        offer(v, QUEUE_RECEIVES, &v->receives, slot, VIRTIO_NET_BUFFER_BYTES);
    return ERR_OK;
}

bool virtio_net_is_up(const struct virtio_net *v)
{
    return v->works &&
           (!v->has_status || (virtio_read_byte(v->mmio, CONFIG_STATUS) & STATUS_LINK_UP) != 0);
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

/* Section 5.1.6.3. The buffer goes back at once, because its contents were copied. */
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
