/* Digits of hexadecimal numbers in texts: escapes of JSON, of addresses and of tokens. */
#ifndef INGOT_RUNTIME_HEX_DIGIT_H
#define INGOT_RUNTIME_HEX_DIGIT_H

/* Return the value of a hexadecimal digit in either case; -1 if c is not a digit. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
