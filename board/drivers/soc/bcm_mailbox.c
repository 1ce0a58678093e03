#include "board/drivers/soc/bcm_mailbox.h"

#include <string.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/soc/generic_timer.h"

/* We read mailbox 0, the VideoCore reads mailbox 1 ("Mailboxes"). */
enum { MAILBOX_READ = 0x00, MAILBOX_STATUS = 0x18, MAILBOX_WRITE = 0x20, MAILBOX_1_STATUS = 0x38 };

#define STATUS_FULL (1u << 31)
#define STATUS_EMPTY (1u << 30)

enum { CHANNEL_PROPERTY = 8, CHANNEL_MASK = 15 };

enum {
    MOST_WORDS = 64
}; /* most words read before our answer comes, more than a mailbox can hold */

/* Words of a message: header, one tag, end ("Mailbox property interface"). */
enum { AT_BYTES, AT_CODE, AT_TAG, AT_TAG_BYTES, AT_TAG_CODE, AT_VALUES };

#define CODE_DONE 0x80000000u /* code of an answered message, and the top bit of a tag's code */

/* The address at which the VideoCore sees RAM without its caches ("Accessing mailboxes"). */
#define BUS_ALIAS 0xc0000000u

static volatile uint32_t *reg(const struct bcm_mailbox *m, unsigned offset)
{
    return (volatile uint32_t *)(m->base + offset);
}

void bcm_mailbox_init(struct bcm_mailbox *m, uintptr_t base)
{
    m->base = base;
    atomic_store(&m->taken, false);
}

/* Wait until none of `bits` is set; false if a second has passed since `start`. */
static bool wait_clear(const struct bcm_mailbox *m, unsigned offset, uint32_t bits, uint64_t start)
{
    while (*reg(m, offset) & bits)
        if (generic_timer_ticks() - start > generic_timer_hz())
            return false;
    return true;
}

/* Send a message and wait for its answer; answers to earlier questions are dropped. The loop is
 * bounded: if there is no mailbox, its status reads as 0, which means "never empty". */
static bool exchange(const struct bcm_mailbox *m, uint32_t word)
{
    uint64_t start = generic_timer_ticks();

    if (!wait_clear(m, MAILBOX_1_STATUS, STATUS_FULL, start))
        return false;
    dma_barrier();
    *reg(m, MAILBOX_WRITE) = word;
    for (unsigned i = 0; i < MOST_WORDS && wait_clear(m, MAILBOX_STATUS, STATUS_EMPTY, start);
         i++) {
        if (*reg(m, MAILBOX_READ) != word)
            continue;
        dma_barrier();
        return true;
    }
    return false;
}

/* Send the message, which has the tags already; with header and end it has `total` bytes. */
static enum err send(struct bcm_mailbox *m, uint32_t total)
{
    if (m->base == 0)
        return ERR_NO_DEVICE;
    m->message[AT_BYTES] = total;
    m->message[AT_CODE] = 0;
    m->message[total / 4 - 1] = 0;
    dma_flush(m->message, total);
    if (!exchange(m, ((uint32_t)(uintptr_t)m->message | BUS_ALIAS) | CHANNEL_PROPERTY)) {
        /* If the VideoCore once gives no answer, it is not asked again, because each question would
         * cost a second. */
        m->base = 0;
        return ERR_TIMEOUT;
    }
    dma_flush(m->message, total);
    return ERR_OK;
}

/* Send one tag, whose values are in the message. `bytes` is the room for the answer, in whole
 * words. Sets *answer to the answer's length, which may exceed the room. */
static enum err call(struct bcm_mailbox *m, enum bcm_tag tag, uint32_t bytes, uint32_t *answer)
{
    enum err e;

    m->message[AT_TAG] = tag;
    m->message[AT_TAG_BYTES] = bytes;
    m->message[AT_TAG_CODE] = 0;
    e = send(m, AT_VALUES * 4 + bytes + 4);
    if (e != ERR_OK)
        return e;
    /* The answer's length, without the bit that marks an answer. */
    *answer = m->message[AT_TAG_CODE] & ~CODE_DONE;
    return m->message[AT_CODE] == CODE_DONE && (m->message[AT_TAG_CODE] & CODE_DONE) != 0
               ? ERR_OK
               : ERR_UNSUPPORTED;
}

/* Take the mailbox for one question, because a core that serves the card may ask too. Returns false
 * after two seconds: then another core has trapped during its question. */
static bool take(struct bcm_mailbox *m)
{
    uint64_t start = generic_timer_ticks();

    while (atomic_exchange(&m->taken, true))
        if (generic_timer_ticks() - start > 2 * generic_timer_hz())
            return false;
    return true;
}

static void give_back(struct bcm_mailbox *m)
{
    atomic_store(&m->taken, false);
}

enum err bcm_mailbox_ask(struct bcm_mailbox *m, enum bcm_tag tag, uint32_t *values, unsigned n)
{
    uint32_t answer;
    enum err e;

    if (!take(m))
        return ERR_TIMEOUT;
    memcpy(&m->message[AT_VALUES], values, n * 4);
    e = call(m, tag, n * 4, &answer);
    if (e == ERR_OK && answer == 0)
        e = ERR_UNSUPPORTED; /* answered without data, as QEMU does */
    if (e == ERR_OK)
        memcpy(values, &m->message[AT_VALUES], n * 4);
    give_back(m);
    return e;
}

enum err bcm_mailbox_ask_text(struct bcm_mailbox *m, enum bcm_tag tag, char *text, size_t max,
                              size_t *bytes)
{
    uint32_t answer = 0;
    enum err e;

    *bytes = 0;
    text[0] = '\0';
    if (!take(m))
        return ERR_TIMEOUT;
    memset(&m->message[AT_VALUES], 0, BCM_MAILBOX_MAX_ANSWER);
    e = call(m, tag, BCM_MAILBOX_MAX_ANSWER, &answer);
    /* If an answer does not fit, a firmware may report a failure, but still gives the length. */
    *bytes = e == ERR_OK || answer > BCM_MAILBOX_MAX_ANSWER ? answer : 0;
    if (*bytes > BCM_MAILBOX_MAX_ANSWER || *bytes >= max)
        answer = 0; /* a cut text would have another meaning */
    if (e != ERR_OK)
        answer = 0;
    memcpy(text, &m->message[AT_VALUES], answer);
    text[answer] = '\0';
    give_back(m);
    return e;
}

enum err bcm_mailbox_ask_tags(struct bcm_mailbox *m, uint32_t *tags, unsigned n)
{
    enum err e;

    if (n > BCM_MAILBOX_MAX_ANSWER / 4)
        return ERR_BAD_ARGUMENT;
    if (!take(m))
        return ERR_TIMEOUT;
    memcpy(&m->message[AT_TAG], tags, n * 4);
    e = send(m, (AT_TAG + n + 1) * 4);
    if (e == ERR_OK && m->message[AT_CODE] != CODE_DONE)
        e = ERR_UNSUPPORTED;
    if (e == ERR_OK)
        memcpy(tags, &m->message[AT_TAG], n * 4);
    give_back(m);
    return e;
}

uint32_t bcm_mailbox_clock(struct bcm_mailbox *m, enum bcm_tag which, enum bcm_clock clock)
{
    uint32_t values[2] = { clock, 0 };

    if (bcm_mailbox_ask(m, which, values, 2) != ERR_OK)
        return 0;
    return values[1];
}

uint32_t bcm_mailbox_set_clock(struct bcm_mailbox *m, enum bcm_clock clock, uint32_t hz)
{
    uint32_t values[3] = { clock, hz, 1 };

    if (bcm_mailbox_ask(m, BCM_SET_CLOCK, values, 3) != ERR_OK)
        return 0;
    return values[1];
}
