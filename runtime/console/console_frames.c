#include "runtime/console/console_frames.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/text/format_text.h"

enum { POLYNOMIAL = 0x07 };

static_assert((CONSOLE_FRAMES_KEPT & (CONSOLE_FRAMES_KEPT - 1)) == 0, "positions wrap freely");

uint8_t console_frames_crc(uint8_t crc, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        crc ^= (uint8_t)text[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (uint8_t)(crc << 1 ^ (crc >> 7) * POLYNOMIAL);
        }
    }
    return crc;
}

void console_frames_set(struct console_frames *f, bool on)
{
    f->on = on;
    f->latest = 0;
    console_frames_forget(f);
}

void console_frames_forget(struct console_frames *f)
{
    f->oldest = f->latest + 1;
    f->end = 0;
    memset(f->kept, 0, sizeof f->kept);
}

static void keep(struct console_frames *f, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        f->kept[f->end++ % CONSOLE_FRAMES_KEPT] = text[i];
    }
}

void console_frames_begin(struct console_frames *f)
{
    f->crc = 0;
    f->latest += f->on;
}

void console_frames_take(struct console_frames *f, const char *text, size_t bytes)
{
    if (f->on) {
        f->crc = console_frames_crc(f->crc, text, bytes);
        keep(f, text, bytes);
    }
}

size_t console_frames_end(struct console_frames *f, char end[CONSOLE_FRAME_END])
{
    size_t n = 0;

    if (f->on) {
        n = format_text(end, CONSOLE_FRAME_END, "*%02x", (unsigned)f->crc);
    }
    end[n++] = '\n';
    if (f->on) {
        keep(f, end, n);
    }
    return n;
}

/* Return the value of a hexadecimal digit, or 16 if c is not one. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned)(c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

bool console_frames_check(const struct console_frames *f, const char *line, size_t *bytes)
{
    size_t n = *bytes;

    if (!f->on) {
        return true;
    }
    if (n < CONSOLE_CHECK_BYTES || line[n - 3] != '*') {
        return false;
    }
    *bytes = n - CONSOLE_CHECK_BYTES;
    return console_frames_crc(0, line, *bytes) ==
           digit_of(line[n - 2]) * 16 + digit_of(line[n - 1]);
}

bool console_frames_find(const struct console_frames *f, uint32_t first,
                         struct console_frames_past *past)
{
    size_t least = max_size(f->end, CONSOLE_FRAMES_KEPT) - CONSOLE_FRAMES_KEPT, at = f->end;
    size_t from, bytes;

    if (first == 0 || first < f->oldest || first > f->latest) {
        return false;
    }
    for (uint32_t left = f->latest - first + 1; at > least;
         at--) { /* go back over this many line ends */
        if (f->kept[(at - 1) % CONSOLE_FRAMES_KEPT] == '\n' && left-- == 0) {
            break;
        }
    }
    if (at == least && least != 0) {
        return false; /* the event's beginning may be lost */
    }
    from = at % CONSOLE_FRAMES_KEPT;
    bytes = f->end - at;
    past->text[0] = f->kept + from;
    past->bytes[0] = min_size(bytes, CONSOLE_FRAMES_KEPT - from);
    past->text[1] = f->kept;
    past->bytes[1] = bytes - past->bytes[0];
    return true;
}
