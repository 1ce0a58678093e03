/* Drives the display of the firmware, and reads the keys of its console. UEFI 2.10, 12.9 and 12.2
 * to 12.3. */
#include "board/screen.h"

#include <string.h>

#include "board/drivers/serial/serial.h"
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"

enum { PIXEL_BITS = 32, ALIGN = 4096 };
enum { KEY_BYTES = 8, CTRL = 0x1f };

static struct efi_screen {
    struct efi_graphics *graphics;
    struct board_screen shown;
    struct efi_text_input *in;
    struct efi_text_input_ex *in_ex; /* NULL: the firmware does not report Ctrl */
    uint8_t keys[KEY_BYTES];         /* bytes of a key that were not read yet */
    unsigned n_keys, at_key;
} efi_screen;

/* ---- pixels --------------------------------------------------------------------------------- */

/* Show whole rows. On any display a pixel is passed to the firmware as blue, green, red and an
 * unused byte. */
static void flush(const void *pixels, size_t bytes)
{
    const struct board_screen *s = &efi_screen.shown;
    size_t start = (size_t)((const uint8_t *)pixels - s->pixels);
    size_t from = start / s->pitch, to = (start + bytes + s->pitch - 1) / s->pitch;

    if (bytes == 0 || from >= s->height)
        return;
    if (to > s->height)
        to = s->height;
    efi_console_cover();
    (void)EFI_CALL(efi_screen.graphics->blt(efi_screen.graphics, s->pixels, EFI_BLT_TO_SCREEN, 0,
                                            from, 0, from, s->width, to - from, s->pitch));
}

/* Find the display that the firmware's console uses: on a machine with several displays, the first
 * with the protocol may be a card without a screen. */
static struct efi_graphics *find_graphics(void)
{
    struct efi_graphics *graphics = efi_protocol_of(efi_system()->out_handle, &efi_graphics_guid);

    if (graphics == NULL || graphics->mode == NULL || graphics->mode->info == NULL)
        graphics = efi_protocol(&efi_graphics_guid);
    return graphics;
}

/* The pixels are in our own memory, because scrolling reads them, and reading a frame buffer is
 * slow. */
bool efi_screen_open(struct board_screen *screen, struct memory_range *free)
{
    struct efi_graphics *graphics = find_graphics();
    const struct efi_graphics_mode *mode;
    uint8_t *end;
    size_t bytes;

    if (graphics == NULL || graphics->mode == NULL || graphics->mode->info == NULL) {
        screen->none = "the firmware has no display (GOP)";
        return false;
    }
    mode = graphics->mode->info;
    *screen = (struct board_screen){ .width = mode->width,
                                     .height = mode->height,
                                     .pitch = (mode->width * 4 + 7) / 8 * 8,
                                     .bits = PIXEL_BITS,
                                     .flush = flush };
    bytes = (size_t)screen->pitch * screen->height;
    if (bytes == 0 || free->bytes / 4 < bytes) {
        screen->error_message = "there is too little memory for its pixels";
        return false;
    }
    end = free->base + free->bytes;
    screen->pixels = end - bytes - (uintptr_t)(end - bytes) % ALIGN;
    free->bytes = (size_t)(screen->pixels - free->base);
    memset(screen->pixels, 0, bytes);
    efi_screen.graphics = graphics;
    efi_screen.shown = *screen;
    if (efi_keys_open())
        serial_join(efi_keys_take, &efi_screen);
    return true;
}

/* ---- keys ----------------------------------------------------------------------------------- */

bool efi_keys_open(void)
{
    efi_screen.in = efi_system()->in;
    efi_screen.in_ex = efi_protocol_of(efi_system()->in_handle, &efi_text_input_ex_guid);
    return efi_screen.in != NULL || efi_screen.in_ex != NULL;
}

static bool read_key(struct efi_key_data *key)
{
    memset(key, 0, sizeof *key);
    if (efi_screen.in_ex != NULL)
        return !efi_failed(EFI_CALL(efi_screen.in_ex->read_key(efi_screen.in_ex, key)));
    return efi_screen.in != NULL &&
           !efi_failed(EFI_CALL(efi_screen.in->read_key(efi_screen.in, &key->key)));
}

static void give(const char *bytes)
{
    while (*bytes != '\0' && efi_screen.n_keys < KEY_BYTES)
        efi_screen.keys[efi_screen.n_keys++] = (uint8_t)*bytes++;
}

static void give_character(uint32_t c)
{
    char utf8[4] = { (char)c };

    if (c >= 0x800) {
        utf8[0] = (char)(0xe0 | c >> 12);
        utf8[1] = (char)(0x80 | (c >> 6 & 0x3f));
        utf8[2] = (char)(0x80 | (c & 0x3f));
    } else if (c >= 0x80) {
        utf8[0] = (char)(0xc0 | c >> 6);
        utf8[1] = (char)(0x80 | (c & 0x3f));
    }
    give(utf8);
}

/* Translate a key (scan codes of appendix B) into the bytes that a terminal sends (xterm). */
static void give_key(const struct efi_key_data *key)
{
    static const char *const sequences[] = {
        [1] = "\33[A",  [2] = "\33[B",   [3] = "\33[C",  [4] = "\33[D",
        [5] = "\33[H",  [6] = "\33[F",   [7] = "\33[2~", [8] = "\33[3~",
        [9] = "\33[5~", [10] = "\33[6~", [23] = "\33",
    };
    bool ctrl = (key->shifts & (uint32_t)EFI_SHIFTS_VALID) != 0 &&
                (key->shifts & (EFI_LEFT_CTRL | EFI_RIGHT_CTRL)) != 0;
    uint16_t c = key->key.character;

    if (c == 0 && key->key.scan < sizeof sequences / sizeof sequences[0] &&
        sequences[key->key.scan] != NULL)
        give(sequences[key->key.scan]);
    else if (c == '\b')
        give("\177");
    else if (ctrl && c >= '@' && c < 0x80)
        give_character(c & CTRL);
    else if (c != 0)
        give_character(c);
}

int efi_keys_take(void *context)
{
    struct efi_key_data key;

    (void)context;
    if (efi_screen.at_key == efi_screen.n_keys) {
        efi_screen.n_keys = 0;
        efi_screen.at_key = 0;
        if (read_key(&key))
            give_key(&key);
    }
    if (efi_screen.at_key == efi_screen.n_keys)
        return -1;
    return efi_screen.keys[efi_screen.at_key++];
}
