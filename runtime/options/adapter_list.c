#include "runtime/options/adapter_list.h"

#include <string.h>

#include "runtime/options/options.h"

static const float most_scale = 100.0f;

/* Copy the first n characters of text, NUL-terminated. Returns false if n is 0 or too large. */
static bool cut(char out[ADAPTER_LIST_BYTES], const char *text, size_t n)
{
    if (n == 0 || n >= ADAPTER_LIST_BYTES) {
        return false;
    }
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

static bool read_scale(const char *text, size_t n, float *scale)
{
    char number[ADAPTER_LIST_BYTES];

    return cut(number, text, n) && options_read_float(number, scale) && *scale >= -most_scale &&
           *scale <= most_scale;
}

static bool has_name(const struct adapter_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Read one adapter of the list, n characters of text. */
static bool read_item(struct adapter_list *list, const char *text, size_t n)
{
    size_t name = 0;
    char *to = list->items[list->n].name;
    float scale = 1.0f;

    while (name < n && text[name] != ':') {
        name++;
    }
    if (name != n && !read_scale(text + name + 1, n - name - 1, &scale)) {
        return false;
    }
    if (!cut(to, text, name) || has_name(list, to)) {
        return false;
    }
    list->items[list->n++].scale = scale;
    return true;
}

bool adapter_list_read(struct adapter_list *list, const char *text)
{
    list->n = 0;
    if (text[0] == '\0' || strcmp(text, "off") == 0) {
        return true;
    }
    for (;;) {
        size_t n = strcspn(text, ",");

        if (list->n == ADAPTER_LIST_MOST || !read_item(list, text, n)) {
            return false;
        }
        if (text[n] == '\0') {
            return true;
        }
        text += n + 1;
    }
}
