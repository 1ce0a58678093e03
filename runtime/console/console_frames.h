/* Checks of lines to and from a program, for links with noise: a line ends with '*' and two
 * hexadecimal digits of a CRC-8. Events have numbers, and the latest events are kept, so that they
 * can be sent again. */
#ifndef INGOT_RUNTIME_CONSOLE_FRAMES_H
#define INGOT_RUNTIME_CONSOLE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONSOLE_FRAMES_KEPT = 8192, /* bytes of the latest events, a power of two */
    CONSOLE_FRAME_END = 8,      /* room for "*hh" and the newline */
    CONSOLE_CHECK_BYTES = 3,    /* of "*hh" */
};

struct console_frames {
    bool on;
    uint8_t crc;     /* CRC of the event that is being written */
    uint32_t latest; /* number of the latest event; the first is 1 */
    uint32_t oldest; /* number of the first event that may be sent again */
    size_t end;      /* bytes kept so far; the last CONSOLE_FRAMES_KEPT are still there */
    char kept[CONSOLE_FRAMES_KEPT];
};

/* CRC-8 with the polynomial x^8 + x^2 + x + 1, without inversion, as in SMBus. "123456789" gives
 * 0xf4. */
uint8_t console_frames_crc(uint8_t crc, const char *text, size_t bytes);

/* Switch checks on or off; the events' numbers start again. While checks are off, no event is
 * kept. */
void console_frames_set(struct console_frames *f, bool on);

/* Forget the kept events: they cannot be sent again. Numbers continue. Call between two events. */
void console_frames_forget(struct console_frames *f);

/* Call _begin when an event begins, _take for each piece of its bytes, and _end when it ends. _end
 * returns how many bytes to write from `end`, newline included. */
void console_frames_begin(struct console_frames *f);
void console_frames_take(struct console_frames *f, const char *text, size_t bytes);
size_t console_frames_end(struct console_frames *f, char end[CONSOLE_FRAME_END]);

/* Return true if a line (bytes) has a correct check, or needs none; *bytes is then the length
 * without the check. */
bool console_frames_check(const struct console_frames *f, const char *line, size_t *bytes);

/* Find the kept bytes from event `first` on, in two pieces. Returns false if that event does not
 * exist yet or is no longer kept. */
struct console_frames_past {
    const char *text[2];
    size_t bytes[2];
};
bool console_frames_find(const struct console_frames *f, uint32_t first,
                         struct console_frames_past *past);

#endif
