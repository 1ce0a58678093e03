/* Every entry has a short name of eleven bytes, and before it a long name if the short one is not
 * enough. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "flash_image/card/card_image.h"
#include "runtime/text/utf8.h"

enum { BASE = 8, EXTENSION = 3, UNITS_PER_PART = 13, SLOT = 32 };
enum {
    EXFAT_UNITS = 15,
    EXFAT_HEAD = 2
}; /* UTF-16 units in a slot of the name; number of slots before the name */
enum { LAST_PART = 0x40, ATTR_LONG_NAME = 0x0f };

unsigned card_name_units(const char *name, uint16_t *units)
{
    const uint8_t *at = (const uint8_t *)name;
    size_t left = strlen(name);
    unsigned n = 0;

    while (left > 0 && n + 2 <= CARD_MOST_UNITS + 1) {
        int bytes = utf8_check(at, left);
        uint32_t code = utf8_decode(at, bytes);

        if (code >= 0x10000) {
            units[n++] = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + (code & 0x3ff);
        }
        units[n++] = (uint16_t)code;
        at += bytes;
        left -= (size_t)bytes;
    }
    return n + (left > 0 ? CARD_MOST_UNITS : 0);
}

static bool is_utf8(const char *name)
{
    size_t left = strlen(name);

    while (left > 0) {
        int bytes = utf8_check((const uint8_t *)name, left);

        if (bytes <= 0) {
            return false;
        }
        name += bytes;
        left -= (size_t)bytes;
    }
    return true;
}

const char *card_name_error_message(const char *name)
{
    uint16_t units[CARD_MOST_UNITS + 1];
    size_t bytes = strlen(name);

    if (bytes == 0) {
        return "it is empty";
    }
    if (!is_utf8(name)) {
        return "it is not UTF-8";
    }
    for (const char *p = name; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f || strchr("\"*/:<>?\\|", *p) != NULL) {
            return "a card takes no control characters, \" * / : < > ? \\ or |";
        }
    }
    if (name[bytes - 1] == '.' || name[bytes - 1] == ' ') {
        return "it ends in a dot or a space";
    }
    if (card_name_units(name, units) > CARD_MOST_UNITS) {
        return "it is longer than 255 characters";
    }
    return NULL;
}

bool card_names_equal(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

/* ---- the short name -------------------------------------------------------------------------- */

/* Return the character as a short name has it: a capital, a digit or one of a few signs. Return 0
 * if a short name may not have it. */
static uint8_t short_character(char c)
{
    if (c >= 'a' && c <= 'z') {
        return (uint8_t)(c - 'a' + 'A');
    }
    if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        (c != '\0' && strchr("$%'-_@~`!(){}^#&", c) != NULL)) {
        return (uint8_t)c;
    }
    return 0;
}

/* Copy text (bytes) to out (room). Characters that a short name may not have become "_", but spaces
 * and dots are left out. True if all of text was copied without such a change. */
static bool take_part(const char *text, size_t bytes, uint8_t *out, size_t room)
{
    size_t n = 0;
    bool whole = true;

    for (size_t i = 0; i < bytes; i++) {
        uint8_t c = short_character(text[i]);

        if (c == 0) {
            whole = false;
            if (text[i] == ' ' || text[i] == '.') {
                continue;
            }
            c = '_';
        }
        if (n == room) {
            return false;
        }
        out[n++] = c;
    }
    return whole;
}

static bool is_taken(const struct card_image *c, uint32_t i)
{
    const struct card_entry *e = &c->entries[i];

    for (uint32_t k = 1; k < i; k++) {
        if (c->entries[k].folder == e->folder &&
            memcmp(c->entries[k].short_name, e->short_name, CARD_SHORT_NAME) == 0) {
            return true;
        }
    }
    return false;
}

/* Number the name as "MODEL~1", "MODEL~2" ... until it is unused. */
static void number_name(struct card_image *c, uint32_t i)
{
    struct card_entry *e = &c->entries[i];
    size_t base = 0;

    while (base < BASE && e->short_name[base] != ' ') {
        base++;
    }
    for (unsigned number = 1;; number++) {
        char tail[BASE + 4];
        size_t bytes = (size_t)snprintf(tail, sizeof tail, "~%u", number);
        size_t at = base + bytes <= BASE ? base : BASE - bytes;

        memset(e->short_name + at, ' ', BASE - at);
        memcpy(e->short_name + at, tail, bytes);
        if (!is_taken(c, i)) {
            return;
        }
    }
}

void card_name_entry(struct card_image *c, uint32_t i)
{
    struct card_entry *e = &c->entries[i];
    const char *dot = strrchr(e->name, '.');
    size_t bytes = strlen(e->name);
    size_t base = dot != NULL && dot != e->name ? (size_t)(dot - e->name) : bytes;
    uint16_t units[CARD_MOST_UNITS + 1];
    unsigned n;
    bool whole;

    memset(e->short_name, ' ', CARD_SHORT_NAME);
    whole = take_part(e->name, base, e->short_name, BASE);
    if (base < bytes) {
        whole &= take_part(e->name + base + 1, bytes - base - 1, e->short_name + BASE, EXTENSION);
    }
    if (e->short_name[0] == ' ') {
        e->short_name[0] = '_';
    }
    if (!whole || is_taken(c, i)) {
        number_name(c, i);
    }
    n = card_name_units(e->name, units);
    e->n_slots = c->format == CARD_EXFAT ? EXFAT_HEAD + (n + EXFAT_UNITS - 1) / EXFAT_UNITS
                                         : 1 + (n + UNITS_PER_PART - 1) / UNITS_PER_PART;
}

/* ---- the long name --------------------------------------------------------------------------- */

static uint8_t checksum(const uint8_t *short_name)
{
    unsigned sum = 0;

    for (int i = 0; i < CARD_SHORT_NAME; i++) {
        sum = ((sum << 7 | sum >> 1) + short_name[i]) & 0xff;
    }
    return (uint8_t)sum;
}

/* Write part number `part` (from 0) of a long name: 13 units; after the name's end, a zero and then
 * ones. */
static void put_part(const uint16_t *units, unsigned n, unsigned part, uint8_t *out)
{
    static const uint8_t offsets[UNITS_PER_PART] = {
        1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30
    };

    for (unsigned i = 0; i < UNITS_PER_PART; i++) {
        unsigned at = part * UNITS_PER_PART + i;
        uint16_t unit = at == n ? 0 : 0xffff;

        if (at < n) {
            unit = units[at];
        }
        card_put_u16(out + offsets[i], unit);
    }
}

void card_put_long_name(const struct card_entry *e, uint8_t *out)
{
    uint16_t units[CARD_MOST_UNITS + 1];
    unsigned n = card_name_units(e->name, units);
    unsigned parts = e->n_slots - 1;

    for (unsigned part = parts; part-- > 0; out += SLOT) {
        memset(out, 0, SLOT);
        out[0] = (uint8_t)((part + 1) | (part + 1 == parts ? LAST_PART : 0));
        out[11] = ATTR_LONG_NAME;
        out[13] = checksum(e->short_name);
        put_part(units, n, part, out);
    }
}
