#include "board/drivers/soc/bcm_screen.h"

#include "board/drivers/dma/dma.h"
#include "board/isa.h"

enum { BITS = 16, ORDER_RGB = 1, ALIGN = 4096, MOST_PIXELS = 8192 };

/* The VideoCore sees RAM at aliases of the first GiB ("Accessing mailboxes"). */
#define BUS_ADDRESS 0x3fffffffu

/* All tags are in one message: the firmware sets up the display at the message's end, and answers
 * with the values that it set. */
enum {
    SIZE = 0,    /* the tag's number, bytes and a 0, then width and height */
    VIRTUAL = 5, /* the same */
    OFFSET = 10, /* x and y */
    DEPTH = 15,  /* bits */
    ORDER = 19,  /* of colours */
    BUFFER = 23, /* request: alignment; answer: address, bytes */
    PITCH = 28,  /* bytes */
    WORDS = PITCH + 4,
    VALUES = 3,
};

/* Ask for the size that the firmware chose for the attached display. The number of displays
 * (0x00040013) is less reliable: an older firmware may answer 0 (Linux, bcm2708_fb.c). */
static bool has_display(struct bcm_mailbox *m, uint32_t size[2])
{
    size[0] = size[1] = 0;
    return bcm_mailbox_ask(m, BCM_GET_DISPLAY_SIZE, size, 2) == ERR_OK && size[0] != 0 &&
           size[1] != 0 && size[0] <= MOST_PIXELS && size[1] <= MOST_PIXELS;
}

/* Replace a tag without an answer by a repetition of another tag; some firmware does not know the
 * tag for the order of colours. */
static void leave_order_out(uint32_t tags[WORDS])
{
    tags[ORDER] = BCM_SET_DEPTH;
    tags[ORDER + VALUES] = BITS;
}

static enum err allocate(struct bcm_mailbox *m, const uint32_t size[2], bool with_order,
                         uint32_t tags[WORDS])
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
    if (!with_order)
        leave_order_out(tags);
    return bcm_mailbox_ask_tags(m, tags, WORDS);
}

/* Judge by the rows' length: the Pi 5's firmware confirms the requested depth, but sets another
 * one (github.com/raspberrypi/firmware, issue 1904). */
static uint32_t bits_of(uint32_t width, uint32_t pitch)
{
    return pitch / 4 >= width ? 32 : BITS;
}

static void flush(const void *pixels, size_t bytes)
{
    dma_flush(pixels, bytes);
}

/* Fill *screen from the firmware's answer. */
static enum err take(const uint32_t tags[WORDS], struct board_screen *screen)
{
    uint32_t address = tags[BUFFER + VALUES] & BUS_ADDRESS, bytes = tags[BUFFER + VALUES + 1];

    *screen = (struct board_screen){ .pixels = (uint8_t *)(uintptr_t)address,
                                     .width = tags[VIRTUAL + VALUES],
                                     .height = tags[VIRTUAL + VALUES + 1],
                                     .pitch = tags[PITCH + VALUES],
                                     .bits = bits_of(tags[VIRTUAL + VALUES], tags[PITCH + VALUES]),
                                     .flush = flush };
    /* Check the firmware's answers before memory is mapped at their addresses. */
    if (screen->width > MOST_PIXELS || screen->height > MOST_PIXELS || screen->pitch > bytes ||
        (uint64_t)screen->height * screen->pitch > bytes || bytes > BUS_ADDRESS - address)
        return ERR_UNSUPPORTED;
    return mmu_map(address, bytes, MAP_DATA);
}

/* Open the display at this size. If no tag is answered, the firmware may not know one of them. With
 * gpu_mem=32 there is not enough memory for a 4K picture. */
static enum err open_at(struct bcm_mailbox *m, const uint32_t size[2], uint32_t tags[WORDS])
{
    enum err e = allocate(m, size, true, tags);

    if (e != ERR_OK)
        e = allocate(m, size, false, tags);
    if (e != ERR_OK)
        return e;
    return err_unless((tags[BUFFER + VALUES] & BUS_ADDRESS) != 0 && tags[BUFFER + VALUES + 1] != 0,
                      ERR_NO_SPACE);
}

enum err bcm_screen_open(struct bcm_mailbox *m, struct board_screen *screen)
{
    static const uint32_t smaller[2][2] = { { 1920, 1080 }, { 1280, 720 } };
    uint32_t size[2], tags[WORDS];
    enum err e;

    if (!has_display(m, size))
        return ERR_NO_DEVICE;
    e = open_at(m, size, tags);
    /* A smaller picture needs less of the firmware's memory. */
    for (unsigned i = 0; i < 2 && e == ERR_NO_SPACE; i++)
        if (size[1] > smaller[i][1])
            e = open_at(m, smaller[i], tags);
    return e == ERR_OK ? take(tags, screen) : e;
}
