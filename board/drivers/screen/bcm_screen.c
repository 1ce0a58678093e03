#include "board/drivers/screen/bcm_screen.h"

#include "board/drivers/dma/dma.h"
#include "board/isa.h"

enum { BITS = 16, ORDER_RGB = 1, ALIGN = 4096, MOST_PIXELS = 8192 };

/* "Accessing mailboxes": the VideoCore's addresses of RAM are aliases of the first GiB. */
#define BUS_ADDRESS 0x3fffffffu

/* All in one message: the firmware sets up the display at its end, and the answers are what it has set. */
enum {
    SIZE = 0,    /* number, bytes, 0, then width and height */
    VIRTUAL = 5, /* the same */
    OFFSET = 10, /* x and y */
    DEPTH = 15,  /* bits */
    ORDER = 19,  /* of colours */
    BUFFER = 23, /* alignment -> address, bytes */
    PITCH = 28,  /* bytes */
    WORDS = PITCH + 4,
    VALUES = 3,
};

/* The firmware's own choice for what is attached. How many displays there are (0x00040013) tells less: 0 may be an
 * older firmware, as Linux has it (bcm2708_fb.c). */
static bool has_display(struct bcm_mailbox *m, uint32_t size[2])
{
    size[0] = size[1] = 0;
    return bcm_mailbox_ask(m, BCM_GET_DISPLAY_SIZE, size, 2) == ERR_OK && size[0] != 0 &&
           size[1] != 0 && size[0] <= MOST_PIXELS && size[1] <= MOST_PIXELS;
}

static enum err allocate(struct bcm_mailbox *m, const uint32_t size[2], uint32_t tags[WORDS])
{
    const uint32_t asked[WORDS] = {
        BCM_SET_DISPLAY_SIZE,
        8,
        0,
        size[0],
        size[1],
        BCM_SET_BUFFER_SIZE,
        8,
        0,
        size[0],
        size[1],
        BCM_SET_BUFFER_PLACE,
        8,
        0,
        0,
        0,
        BCM_SET_DEPTH,
        4,
        0,
        BITS,
        BCM_SET_COLOUR_ORDER,
        4,
        0,
        ORDER_RGB,
        BCM_ALLOCATE_BUFFER,
        8,
        0,
        ALIGN,
        0,
        BCM_GET_PITCH,
        4,
        0,
        0,
    };

    for (unsigned i = 0; i < WORDS; i++)
        tags[i] = asked[i];
    return bcm_mailbox_ask_tags(m, tags, WORDS);
}

/* By the rows' length: the Pi 5's firmware says of the depth what it was asked for, and does another
 * (github.com/raspberrypi/firmware, issue 1904). */
static uint32_t bits_of(uint32_t width, uint32_t pitch)
{
    return pitch / 4 >= width ? 32 : BITS;
}

static void flush(const void *pixels, size_t bytes)
{
    dma_flush(pixels, bytes);
}

enum err bcm_screen_open(struct bcm_mailbox *m, struct board_screen *screen)
{
    uint32_t size[2], tags[WORDS], address, bytes;
    enum err e;

    if (!has_display(m, size))
        return ERR_NO_DEVICE;
    e = allocate(m, size, tags);
    if (e != ERR_OK)
        return e;
    address = tags[BUFFER + VALUES] & BUS_ADDRESS;
    bytes = tags[BUFFER + VALUES + 1];
    *screen = (struct board_screen){ .pixels = (uint8_t *)(uintptr_t)address,
                                     .width = tags[VIRTUAL + VALUES],
                                     .height = tags[VIRTUAL + VALUES + 1],
                                     .pitch = tags[PITCH + VALUES],
                                     .bits = bits_of(tags[VIRTUAL + VALUES], tags[PITCH + VALUES]),
                                     .flush = flush };
    if (address == 0 || bytes == 0)
        return ERR_NO_SPACE;
    if (screen->width > MOST_PIXELS || screen->height > MOST_PIXELS || screen->pitch > bytes ||
        (uint64_t)screen->height * screen->pitch > bytes || bytes > BUS_ADDRESS - address)
        return ERR_UNSUPPORTED;
    return mmu_map(address, bytes, MAP_DATA);
}
