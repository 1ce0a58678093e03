/* Lets core 0 sleep while all cores wait for the card.
 *
 * The card's measured rate, and the end of the previous request, predict when the next request
 * ends. If the device has no interrupt that core 0 can wait for, core 0 sleeps by a timer until
 * shortly before that time, and then polls again:
 *
 *   due = last answer + 7/8 of the request's bytes / rate
 *
 * So a card that is a little faster than measured does not wait for its next request. If the device
 * can wake a waiting core (block_device.h), core 0 waits for the device instead. */
#include "board/min_max.h"
#include "runtime/stream/stream_private.h"

enum {
    LEAST_MICROS = 20, /* shorter sleeps are not worth an interrupt or a trap to
                        * firmware */
    MOST_MICROS = 1000,
    MICROS = 1000000,
    EARLY_PART = 8,
};

/* Return true if core 0 has work that a sleep would delay: data to move, or a checksum to
 * continue. */
static bool has_work(const struct stream *s)
{
    const struct io_core *c = io_core_of(s->file->device);

    if (c != NULL ? c->core == 0 : s->plan->rates.io_core != 0) {
        return true;
    }
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        const struct stream_slot *slot = &s->ring.slots[i];
        bool arrives = slot->state == STREAM_LOADING || slot == s->now.early;

        if (arrives && slot->segment.index < s->ring.n_layers &&
            slot->crc_bytes < slot->read.bytes_done) {
            return true;
        }
    }
    return false;
}

/* Return `bytes`, or the number of bytes that `read` awaits if it is in flight and awaits fewer. */
static uint64_t less(uint64_t bytes, const struct file_read *read)
{
    uint64_t awaited = read->status == ERR_BUSY ? file_read_awaited(read) : 0;

    return awaited == 0 ? bytes : min_u64(bytes, awaited);
}

/* Return the size of the request that ends next: the fewest bytes that any read awaits, or
 * UINT64_MAX if no read is in flight. */
static uint64_t awaited(const struct stream *s)
{
    uint64_t bytes = UINT64_MAX;

    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        const struct stream_slot *slot = &s->ring.slots[i];

        if (slot->state == STREAM_LOADING || slot->state == STREAM_IN_USE) {
            bytes = less(bytes, &slot->read);
        }
    }
    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        if (s->experts.reads[i].used) {
            bytes = less(bytes, &s->experts.reads[i].read);
        }
    }
    return bytes;
}

static void sleep_until(const struct stream *s, uint64_t due)
{
    const struct platform *platform = s->file->timeout.platform;
    uint64_t now = stream_ticks(s), micros;

    if (due <= now || platform->cores.rest == NULL) {
        return;
    }
    micros = (due - now) * MICROS / platform->clock.hz;
    if (micros >= LEAST_MICROS) {
        platform->cores.rest(platform->cores.context, (uint32_t)min_u64(micros, MOST_MICROS));
    }
}

void stream_rest(struct stream *s)
{
    const struct platform *platform = s->file->timeout.platform;
    struct block_device *device = s->file->device;
    uint64_t rate = s->plan->rates.card, bytes = awaited(s), ticks;

    if (platform == NULL || rate == 0 || bytes == UINT64_MAX || has_work(s)) {
        return;
    }
    ticks = bytes * platform->clock.hz / rate;
    if (device->wait == NULL) {
        sleep_until(s, s->card.moved_at + ticks - ticks / EARLY_PART);
    } else if (bytes * MICROS / rate >= LEAST_MICROS) {
        device->wait(device, MOST_MICROS);
    }
}
