#include "runtime/text/base64.h"

enum { PAD = '=', NONE = 64 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(char *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;

        three |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < n ? bytes[i + 2] : 0;
        *out++ = letters[three >> 18];
        *out++ = letters[three >> 12 & 63];
        *out++ = i + 1 < n ? letters[three >> 6 & 63] : PAD;
        *out++ = i + 2 < n ? letters[three & 63] : PAD;
    }
}

static uint32_t value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : NONE;
}

bool base64_get(uint8_t *out, size_t most, const char *text, size_t length, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t three = 0;
        size_t bytes = 3;

        if (length - i < 4) {
            return false;
        }
        if (text[i + 3] == PAD && i + 4 == length) {
            bytes = text[i + 2] == PAD ? 1 : 2;
        }
        for (size_t j = 0; j < 4; j++) {
            uint32_t v = j > bytes ? 0 : value_of(text[i + j]);

            if (v == NONE) {
                return false;
            }
            three = three << 6 | v;
        }
        if (most - *n < bytes || (three & (0xffffffu >> 8 * bytes)) != 0) {
            return false; /* bits after the last byte must be zero, so that the same bytes always
                           * have the same text */
        }
        for (size_t j = 0; j < bytes; j++) {
            out[(*n)++] = (uint8_t)(three >> (16 - 8 * j));
        }
    }
    return true;
}
