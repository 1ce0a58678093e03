#include "board/drivers/usb/keyboard_keys.h"

#include <stddef.h>
#include <string.h>

#include "board/drivers/usb/keyboard_layouts.h"

enum { /* HID 1.11, B.1: bits of the first byte */
       LEFT_CTRL = 1 << 0,
       LEFT_SHIFT = 1 << 1,
       LEFT_ALT = 1 << 2,
       RIGHT_CTRL = 1 << 4,
       RIGHT_SHIFT = 1 << 5,
       RIGHT_ALT = 1 << 6,
       CTRL = LEFT_CTRL | RIGHT_CTRL,
       SHIFT = LEFT_SHIFT | RIGHT_SHIFT,
};
enum {
    FIRST_KEY = 4,
    KEY_CAPS = 0x39,
    KEY_SPACE = 0x2c
}; /* HID Usage Tables, 10; lower numbers are not keys */

/* Keys without a character, and the numeric keypad, as xterm sends them. */
static const struct plain_key {
    uint8_t usage;
    char text[5], with_ctrl[7];
} plain_keys[] = {
    { 0x28, "\r", "" },
    { 0x29, "\x1b", "" },
    { 0x2a, "\x7f", "\x17" },
    { 0x2b, "\t", "" },
    { KEY_SPACE, " ", "" },
    { 0x49, "\x1b[2~", "" },
    { 0x4a, "\x1b[H", "" },
    { 0x4b, "\x1b[5~", "" },
    { 0x4c, "\x1b[3~", "" },
    { 0x4d, "\x1b[F", "" },
    { 0x4e, "\x1b[6~", "" },
    { 0x4f, "\x1b[C", "\x1b[1;5C" },
    { 0x50, "\x1b[D", "\x1b[1;5D" },
    { 0x51, "\x1b[B", "" },
    { 0x52, "\x1b[A", "" },
    { 0x54, "/", "" },
    { 0x55, "*", "" },
    { 0x56, "-", "" },
    { 0x57, "+", "" },
    { 0x58, "\r", "" },
    { 0x59, "1", "" },
    { 0x5a, "2", "" },
    { 0x5b, "3", "" },
    { 0x5c, "4", "" },
    { 0x5d, "5", "" },
    { 0x5e, "6", "" },
    { 0x5f, "7", "" },
    { 0x60, "8", "" },
    { 0x61, "9", "" },
    { 0x62, "0", "" },
    { 0x63, ".", "" },
};

/* Put the whole text or nothing, because half an escape sequence is another key. */
static void put(struct keyboard_keys *k, const char *text, size_t bytes)
{
    if (bytes > KEYBOARD_OUT - (k->put - k->taken))
        return;
    for (size_t i = 0; i < bytes; i++)
        k->out[k->put++ % KEYBOARD_OUT] = (uint8_t)text[i];
}

static void put_character(struct keyboard_keys *k, uint16_t c)
{
    char text[3] = { (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                     (char)(0x80 | (c & 63)) };

    if (c < 0x80) {
        text[0] = (char)c;
        put(k, text, 1);
    } else if (c < 0x800) {
        text[1] = (char)(0xc0 | c >> 6);
        put(k, text + 1, 2);
    } else {
        put(k, text, 3);
    }
}

/* Put a character that follows an accent: one letter with the accent if there is one, else the
 * accent and then the character. */
static void put_after_dead(struct keyboard_keys *k, uint16_t c)
{
    uint16_t dead = k->dead, both = keyboard_compose(dead, c);

    k->dead = 0;
    if (both != 0) {
        put_character(k, both);
        return;
    }
    put_character(k, keyboard_accent(dead));
    if (c != ' ' && c != dead)
        put_character(k, keyboard_accent(c) != 0 ? keyboard_accent(c) : c);
}

static void put_typed(struct keyboard_keys *k, uint16_t c)
{
    if (k->dead != 0)
        put_after_dead(k, c);
    else if (keyboard_accent(c) != 0)
        k->dead = c;
    else
        put_character(k, c);
}

static void press_plain(struct keyboard_keys *k, uint8_t usage)
{
    for (size_t i = 0; i < sizeof plain_keys / sizeof plain_keys[0]; i++) {
        const struct plain_key *p = &plain_keys[i];
        const char *text = k->modifiers & CTRL && p->with_ctrl[0] != '\0' ? p->with_ctrl : p->text;

        if (p->usage != usage)
            continue;
        if (usage == KEY_SPACE && k->dead != 0) {
            put_after_dead(k, ' ');
        } else if (k->dead == 0 || text[0] != '\x7f') { /* Backspace removes a held accent */
            put(k, text, strlen(text));
        }
        k->dead = 0;
    }
}

/* ECMA-48: Ctrl clears the two upper bits of characters in columns 4 to 7. */
static void press_ctrl(struct keyboard_keys *k, uint16_t c)
{
    char byte = (char)(c & 31);

    if (c >= 0x40 && c < 0x7f)
        put(k, &byte, 1);
}

/* True for letters, the only keys that Caps Lock affects: Shift gives their capital, whose code
 * in Latin-1 is 32 less. */
static bool is_letter(const struct keyboard_layout *layout, unsigned position)
{
    uint16_t c = layout->plain[position];

    return ((c >= 'a' && c <= 'z') || c >= 0xe0) && layout->shift[position] == c - 32;
}

static void press_character(struct keyboard_keys *k, unsigned position)
{
    const struct keyboard_layout *layout = &keyboard_layouts[k->layout % KEYBOARD_LAYOUTS];
    bool alt_gr = (k->modifiers & RIGHT_ALT) && layout->third != NULL,
         alt = (k->modifiers & (LEFT_ALT | RIGHT_ALT)) && !alt_gr;
    bool shift = ((k->modifiers & SHIFT) != 0) != (k->caps && is_letter(layout, position));
    uint16_t c = keyboard_character(layout, position, (unsigned)shift | (unsigned)alt_gr << 1);

    if ((k->modifiers & CTRL) && !alt_gr) {
        k->dead = 0;
        press_ctrl(k, layout->plain[position]);
    } else if (alt && c != 0 && keyboard_accent(c) == 0) {
        k->dead = 0;
        put(k, "\x1b", 1);
        put_character(k, c);
    } else if (c != 0) {
        put_typed(k, c);
    }
}

static void press(struct keyboard_keys *k, uint8_t usage)
{
    unsigned position = keyboard_position(usage);

    if (usage == KEY_CAPS)
        k->caps = !k->caps;
    else if (position < KEYBOARD_KEYS)
        press_character(k, position);
    else
        press_plain(k, usage);
}

static bool is_among(const uint8_t *keys, uint8_t usage)
{
    return memchr(keys, usage, KEYBOARD_HELD) != NULL;
}

/* 1 to 3 in place of keys mean that too many keys are held, or that the keyboard has a fault
 * (B.1). */
void keyboard_keys_report(struct keyboard_keys *k, const uint8_t *report, uint32_t bytes,
                          uint32_t now)
{
    uint8_t keys[KEYBOARD_HELD] = { 0 };

    if (bytes < 3)
        return;
    if (bytes > KEYBOARD_REPORT_BYTES)
        bytes = KEYBOARD_REPORT_BYTES;
    memcpy(keys, report + 2, bytes - 2);
    if (is_among(keys, 1) || is_among(keys, 2) || is_among(keys, 3))
        return;
    k->modifiers = report[0];
    for (unsigned i = 0; i < KEYBOARD_HELD; i++) {
        if (keys[i] < FIRST_KEY || is_among(k->held, keys[i]))
            continue;
        press(k, keys[i]);
        k->repeats = keys[i] == KEY_CAPS ? 0 : keys[i];
        k->repeat_at = now + KEYBOARD_DELAY_MS;
    }
    memcpy(k->held, keys, sizeof keys);
    if (k->repeats != 0 && !is_among(keys, k->repeats))
        k->repeats = 0;
}

void keyboard_keys_look(struct keyboard_keys *k, uint32_t now)
{
    if (k->repeats == 0 || (int32_t)(now - k->repeat_at) < 0)
        return;
    press(k, k->repeats);
    k->repeat_at = now + KEYBOARD_REPEAT_MS;
}

void keyboard_keys_let_go(struct keyboard_keys *k)
{
    memset(k->held, 0, sizeof k->held);
    k->modifiers = k->repeats = 0;
    k->dead = 0;
}

int keyboard_keys_take(struct keyboard_keys *k)
{
    return k->put == k->taken ? -1 : k->out[k->taken++ % KEYBOARD_OUT];
}
