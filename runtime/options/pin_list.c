#include "runtime/options/pin_list.h"

#include <string.h>

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pin_is_name(const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= PIN_NAME_BYTES || !is_small(text[0])) {
        return false;
    }
    for (size_t i = 1; i < bytes; i++) {
        if (!is_small(text[i]) && !is_digit(text[i]) && text[i] != '_') {
            return false;
        }
    }
    return true;
}

/* Return true if another action has this name, because one name must mean one thing. */
static bool is_taken(const char *name, size_t bytes)
{
    static const char *const taken[] = { "temperature", "uptime", "pulse" };

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strlen(taken[i]) == bytes && memcmp(taken[i], name, bytes) == 0) {
            return true;
        }
    }
    return false;
}

unsigned pin_list_find(const struct pin_list *l, const char *name, size_t bytes)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (strlen(l->pin[i].name) == bytes && memcmp(l->pin[i].name, name, bytes) == 0) {
            return i;
        }
    }
    return PINS_MOST;
}

static const char *read_line(const char *text, size_t bytes, uint32_t *line)
{
    *line = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (!is_digit(text[i]) || *line >= PIN_LINES) {
            break;
        }
        *line = *line * 10 + (uint32_t)(text[i] - '0');
        if (i + 1 == bytes && *line < PIN_LINES) {
            return NULL;
        }
    }
    return "a name is followed by the number of its line, below 1024, such as light:3";
}

static const char *read_word(struct pin *p, const char *text, size_t bytes)
{
    if (bytes == 2 && memcmp(text, "in", 2) == 0) {
        p->input = true;
    } else if (bytes == 3 && memcmp(text, "low", 3) == 0) {
        p->low = true;
    } else if (bytes != 3 || memcmp(text, "out", 3) != 0) {
        return "after a line's number comes in, out or low, as in door:5:in:low";
    }
    return NULL;
}

static const char *read_name(const struct pin_list *l, struct pin *p, const char *text,
                             size_t bytes)
{
    if (!pin_is_name(text, bytes)) {
        return "a pin's name has up to 23 small letters, digits and _, a letter first";
    }
    if (is_taken(text, bytes)) {
        return "temperature, uptime and pulse are actions already: give the pin another name";
    }
    if (pin_list_find(l, text, bytes) != PINS_MOST) {
        return "two pins have the same name";
    }
    memcpy(p->name, text, bytes);
    return NULL;
}

static size_t length_of(const char *text, const char *ends)
{
    return strcspn(text, ends);
}

/* Read one pin, up to a comma or the end, and advance *text there. */
static const char *read_pin(struct pin_list *l, const char **text)
{
    struct pin p = { .line = 0 };
    const char *at = *text, *error_message;
    size_t n = length_of(at, ":,");

    error_message = read_name(l, &p, at, n);
    for (unsigned part = 0; error_message == NULL && (part == 0 || at[n] == ':'); part++) {
        at += n;
        at += *at == ':';
        n = length_of(at, ":,");
        error_message = part == 0 ? read_line(at, n, &p.line) : read_word(&p, at, n);
    }
    for (unsigned i = 0; error_message == NULL && i < l->n; i++) {
        if (l->pin[i].line == p.line) {
            error_message = "two pins have the same line";
        }
    }
    if (error_message == NULL) {
        l->pin[l->n++] = p;
    }
    *text = at + n;
    return error_message;
}

const char *pin_list_read(struct pin_list *l, const char *text)
{
    const char *error_message = NULL;

    memset(l, 0, sizeof *l);
    if (strlen(text) >= PIN_LIST_BYTES) {
        return "a list of pins has up to 255 bytes";
    }
    while (error_message == NULL) {
        if (l->n == PINS_MOST) {
            return "the limit is 16 pins";
        }
        error_message = read_pin(l, &text);
        if (error_message == NULL && *text == '\0') {
            return NULL;
        }
        text += *text == ',';
    }
    return error_message;
}

const char *pin_list_error_message(const char *text)
{
    struct pin_list list;

    return pin_list_read(&list, text);
}
