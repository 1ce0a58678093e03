/* Property mailbox of Broadcom's BCM2835 family: questions to the firmware that runs on the
 * VideoCore. BCM2835 ARM Peripherals has no chapter on it; the registers and the tags are from the
 * Raspberry Pi firmware's wiki, "Mailboxes", "Accessing mailboxes" and "Mailbox property
 * interface". */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM_MAILBOX_H
#define INGOT_BOARD_DRIVERS_SOC_BCM_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

/* The longest answer that we request; other programs allow this size for the boot arguments, the
 * only text. A firmware may limit a message's length. */
enum { BCM_MAILBOX_BYTES = 0x40, BCM_MAILBOX_MAX_ANSWER = 2048 };

enum bcm_tag {
    BCM_GET_FIRMWARE = 0x00000001,    /* answer: the firmware's build time, seconds since 1970 */
    BCM_GET_REVISION = 0x00010002,    /* answer: revision code of the board */
    BCM_GET_ARM_MEMORY = 0x00010005,  /* answer: base, bytes of the cores' part of the first GiB */
    BCM_GET_VC_MEMORY = 0x00010006,   /* answer: base, bytes of the VideoCore's part */
    BCM_GET_CLOCK = 0x00030002,       /* ask: clock, 0; answer: clock, Hz */
    BCM_GET_MAX_CLOCK = 0x00030004,   /* the same */
    BCM_GET_TEMPERATURE = 0x00030006, /* ask: 0, 0; answer: 0, thousandths of a degree Celsius */
    BCM_GET_THROTTLED = 0x00030046,   /* ask: 0; answer: bits of enum bcm_throttled */
    BCM_RELOAD_XHCI = 0x00030058,     /* ask: bus << 20 | device << 15; answer: the same */
    BCM_SET_POWER = 0x00028001,       /* ask: device, 3 (on, and wait); answer: device, state */
    BCM_SET_CLOCK = 0x00038002,       /* ask: clock, Hz, 1 (keep turbo); answer: clock, Hz, 1 */
    BCM_SET_GPIO = 0x00038041,        /* ask: pin of the expander + 128, level; answer: 0, level */
    BCM_GET_ARGUMENTS = 0x00050001,   /* answer: boot arguments as text, no NUL */

    /* For the display. A tag that sets values is answered with the values that were set. */
    BCM_ALLOCATE_BUFFER = 0x00040001,  /* ask: alignment, 0; answer: bus address, bytes */
    BCM_GET_DISPLAY_SIZE = 0x00040003, /* answer: width, height */
    BCM_GET_PITCH = 0x00040008,        /* answer: bytes from a row to the next */
    BCM_SET_DISPLAY_SIZE = 0x00048003, /* width, height */
    BCM_SET_BUFFER_SIZE = 0x00048004,  /* width, height */
    BCM_SET_DEPTH = 0x00048005,        /* bits of a pixel */
    BCM_SET_COLOUR_ORDER = 0x00048006, /* 1: red in the upper bits */
    BCM_SET_BUFFER_PLACE = 0x00048009, /* x, y of the visible part of the buffer */
};

enum bcm_clock {
    BCM_CLOCK_EMMC = 1,
    BCM_CLOCK_UART = 2,
    BCM_CLOCK_ARM = 3,
    BCM_CLOCK_CORE = 4,
    BCM_CLOCK_EMMC2 = 12,
};

/* Bits from "Documentation of throttling" in the same wiki; the same bits << 16 mean "since
 * power-on". */
enum bcm_throttled {
    BCM_UNDER_VOLTAGE = 1 << 0,
    BCM_CLOCK_CAPPED = 1 << 1,
    BCM_THROTTLED = 1 << 2,
    BCM_SOFT_LIMIT = 1 << 3,
};

struct bcm_mailbox {
    uintptr_t base;     /* 0: there is no mailbox, and every question fails */
    _Atomic bool taken; /* taken by the core that asks, because a core that serves the card may also
                           ask */
    /* The VideoCore reads and writes this, so it has separate cache lines. */
    _Alignas(64) uint32_t message[BCM_MAILBOX_MAX_ANSWER / 4 + 16];
};

/* The registers are mapped as device memory; *m is in the first GiB. Call it again after a
 * panic, which may have interrupted a question. */
void bcm_mailbox_init(struct bcm_mailbox *m, uintptr_t base);

/* Ask a question with `n` words of `values`, which the answer replaces. ERR_NO_DEVICE: no mailbox;
 * ERR_TIMEOUT: no answer within a second, and the mailbox is not used again, or another core's
 * question has not ended after two; ERR_UNSUPPORTED: the firmware does not know the tag. */
enum err bcm_mailbox_ask(struct bcm_mailbox *m, enum bcm_tag tag, uint32_t *values, unsigned n);

/* Ask for a text. Sets *bytes to the text's full length. If the length exceeds
 * BCM_MAILBOX_MAX_ANSWER or max - 1, the text stays empty, because cut arguments would have another
 * meaning. Errors as above; after an error the text is empty, too. */
enum err bcm_mailbox_ask_text(struct bcm_mailbox *m, enum bcm_tag tag, char *text, size_t max,
                              size_t *bytes);

/* Ask several questions in one message; the firmware acts on them when the message ends. The `n`
 * words have, for each tag, its number, the size of its values in bytes, 0, and the values, which
 * the answers replace. The status of each tag is not checked. ERR_BAD_ARGUMENT: more bytes than
 * BCM_MAILBOX_MAX_ANSWER; other errors as above. */
enum err bcm_mailbox_ask_tags(struct bcm_mailbox *m, uint32_t *tags, unsigned n);

/* A clock's present rate, or the highest one allowed, depending on `which`; 0: unknown. */
uint32_t bcm_mailbox_clock(struct bcm_mailbox *m, enum bcm_tag which, enum bcm_clock clock);

/* Set a clock; returns its new rate; 0: the firmware refused. */
uint32_t bcm_mailbox_set_clock(struct bcm_mailbox *m, enum bcm_clock clock, uint32_t hz);

#endif
