/* The VideoCore's display: one message asks for everything; and answers that cannot be right. */
#include "board/drivers/soc/bcm_screen.h"

#include <string.h>

#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

static struct firmware {
    uint32_t width, height;
    enum err answer;
    uint32_t address, bytes, pitch, depth, set_width;
    uint32_t room; /* bytes for a picture; 0: enough */
    bool no_order; /* it does not know the tag, and refuses the message */
    uint32_t asked[40];
    unsigned n;
} f;

static struct bcm_mailbox mailbox;
static struct board_screen screen;
static uintptr_t mapped;
static size_t mapped_bytes;

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    mapped = mapping == MAP_DATA ? base : 0;
    mapped_bytes = bytes;
    return ERR_OK;
}

enum err bcm_mailbox_ask(struct bcm_mailbox *m, enum bcm_tag tag, uint32_t *values, unsigned n)
{
    (void)m;
    if (tag != BCM_GET_DISPLAY_SIZE || n != 2)
        return ERR_UNSUPPORTED;
    values[0] = f.width;
    values[1] = f.height;
    return ERR_OK;
}

enum err bcm_mailbox_ask_tags(struct bcm_mailbox *m, uint32_t *tags, unsigned n)
{
    (void)m;
    memcpy(f.asked, tags, n * 4);
    f.n = n;
    for (unsigned at = 0; at + 3 < n && f.no_order; at += 3 + tags[at + 1] / 4)
        if (tags[at] == BCM_SET_COLOUR_ORDER)
            return ERR_UNSUPPORTED;
    for (unsigned at = 0; at + 3 < n; at += 3 + tags[at + 1] / 4) {
        uint32_t *values = &tags[at + 3];

        if (tags[at] == BCM_SET_BUFFER_SIZE && f.set_width != 0)
            values[0] = f.set_width;
        if (tags[at] == BCM_SET_DEPTH)
            values[0] = f.depth;
        if (tags[at] == BCM_ALLOCATE_BUFFER) {
            bool fits = f.room == 0 || f.asked[8] * f.asked[9] * 2 <= f.room;

            values[0] = fits ? f.address : 0;
            values[1] = f.room != 0 ? f.asked[8] * f.asked[9] * 2 : f.bytes;
        }
        if (tags[at] == BCM_GET_PITCH)
            values[0] = f.room != 0 ? f.asked[8] * 2 : f.pitch;
    }
    return f.answer;
}

static const struct firmware good = { .width = 1920,
                                      .height = 1080,
                                      .address = 0xfe402000,
                                      .bytes = 1080 * 3840,
                                      .pitch = 3840,
                                      .depth = 16 };

static enum err open_display(struct firmware with)
{
    f = with;
    mapped = 0;
    return bcm_screen_open(&mailbox, &screen);
}

int main(void)
{
    static const uint32_t asked[] = { 0x48003, 8,    0,       1920,    1080,    0x48004, 8, 0,
                                      1920,    1080, 0x48009, 8,       0,       0,       0, 0x48005,
                                      4,       0,    16,      0x48006, 4,       0,       1, 0x40001,
                                      8,       0,    4096,    0,       0x40008, 4,       0, 0 };
    struct firmware bad = good;

    OK(open_display(good) == ERR_OK && f.n * 4 == sizeof asked &&
           memcmp(f.asked, asked, sizeof asked) == 0,
       "one message asks for the display's own size in 16 bits");
    OK((uintptr_t)screen.pixels == 0x3e402000 && screen.width == 1920 && screen.height == 1080 &&
           screen.pitch == 3840 && screen.bits == 16,
       "the picture's address is without the alias of the bus");
    OK(mapped == 0x3e402000 && mapped_bytes == 1080 * 3840,
       "the picture's memory is mapped, cached");
    screen.flush(screen.pixels, 128);
    OK(dma_log.n != 0 && dma_log.events[0].kind == DMA_FLUSHED &&
           dma_log.events[0].at == 0x3e402000,
       "the picture's memory is flushed");
    bad.depth = 32;
    OK(open_display(bad) == ERR_OK && screen.bits == 16,
       "rows of 16 bits count if the firmware names another depth");
    bad = good;
    bad.bytes *= 2;
    bad.pitch *= 2;
    OK(open_display(bad) == ERR_OK && screen.bits == 32, "rows of 32 bits a pixel are accepted");
    bad = good;
    bad.width = 0;
    OK(open_display(bad) == ERR_NO_DEVICE && f.n == 0, "a screen without a size is refused");
    bad.width = 100000;
    OK(open_display(bad) == ERR_NO_DEVICE && f.n == 0, "a screen that is too wide is refused");
    bad = good;
    bad.answer = ERR_TIMEOUT;
    OK(open_display(bad) == ERR_TIMEOUT && mapped == 0, "silence is a timeout");
    bad = good;
    bad.address = 0xc0000000;
    OK(open_display(bad) == ERR_NO_SPACE && mapped == 0, "a lack of memory is reported");
    bad = good;
    bad.no_order = true;
    OK(open_display(bad) == ERR_OK && screen.width == 1920,
       "a firmware that knows no order of colors still sets up the display");
    bad = good;
    bad.width = 3840;
    bad.height = 2160;
    bad.room = 8 << 20;
    OK(open_display(bad) == ERR_OK && screen.width == 1920 && screen.height == 1080,
       "the display has 1080p if 4K does not fit memory");
    bad.room = 2 << 20;
    OK(open_display(bad) == ERR_OK && screen.width == 1280 && screen.height == 720,
       "the display has 720p if 1080p does not fit memory");
    bad.room = 1 << 20;
    OK(open_display(bad) == ERR_NO_SPACE && mapped == 0,
       "there is no picture if 720p does not fit memory");
    bad = good;
    bad.bytes--;
    OK(open_display(bad) == ERR_UNSUPPORTED && mapped == 0,
       "memory that is smaller than the rows is refused");
    bad = good;
    bad.address = 0x3ffff000;
    OK(open_display(bad) == ERR_UNSUPPORTED && mapped == 0,
       "memory beyond what the bus reaches is refused");
    bad = good;
    bad.set_width = 0xffffffff;
    OK(open_display(bad) == ERR_UNSUPPORTED && mapped == 0, "an impossible width is refused");
    bad = good;
    bad.pitch = 0xfffffff0;
    OK(open_display(bad) == ERR_UNSUPPORTED && mapped == 0, "an impossible pitch is refused");
    return tap_done();
}
