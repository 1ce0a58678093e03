/* Short functions in place of newlib's functions, whose loops are unrolled and take 1 KiB more.
 * Texts here are short. */
#include <stdint.h>
#include <string.h>

size_t strlen(const char *text)
{
    const char *end = text;

    while (*end != '\0') {
        end++;
    }
    return (size_t)(end - text);
}

int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (uint8_t)*a - (uint8_t)*b;
}

char *strchr(const char *text, int c)
{
    while (*text != (char)c) {
        if (*text++ == '\0') {
            return NULL;
        }
    }
    return (char *)(uintptr_t)text;
}

void *memchr(const void *bytes, int c, size_t n)
{
    const uint8_t *at = bytes;

    for (; n != 0; at++, n--) {
        if (*at == (uint8_t)c) {
            return (void *)(uintptr_t)at;
        }
    }
    return NULL;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;

    for (; n != 0; x++, y++, n--) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}
