/* The general category of a code point, coarse enough for tokenizers' patterns. Source: Unicode
 * Character Database, UnicodeData.txt and White_Space of PropList.txt. */
#ifndef INGOT_RUNTIME_UNICODE_CLASS_H
#define INGOT_RUNTIME_UNICODE_CLASS_H

#include <stdint.h>

/* White space is a separate class: separators, and the controls TAB to CR and U+0085. */
enum unicode_class {
    UNICODE_OTHER,
    UNICODE_SPACE,
    UNICODE_LU,
    UNICODE_LL,
    UNICODE_LT,
    UNICODE_LM,
    UNICODE_LO,
    UNICODE_M,
    UNICODE_N,
    UNICODE_P,
    UNICODE_S
};

/* Sets of classes: bit 1 << class. */
enum unicode_set {
    UNICODE_IS_OTHER = 1 << UNICODE_OTHER,
    UNICODE_IS_SPACE = 1 << UNICODE_SPACE,
    UNICODE_IS_LU = 1 << UNICODE_LU,
    UNICODE_IS_LL = 1 << UNICODE_LL,
    UNICODE_IS_LT = 1 << UNICODE_LT,
    UNICODE_IS_LM = 1 << UNICODE_LM,
    UNICODE_IS_LO = 1 << UNICODE_LO,
    UNICODE_IS_M = 1 << UNICODE_M,
    UNICODE_IS_N = 1 << UNICODE_N,
    UNICODE_IS_P = 1 << UNICODE_P,
    UNICODE_IS_S = 1 << UNICODE_S,
    UNICODE_IS_L = UNICODE_IS_LU | UNICODE_IS_LL | UNICODE_IS_LT | UNICODE_IS_LM | UNICODE_IS_LO
};

/* Class of a code point; UNICODE_OTHER beyond U+10FFFF. */
enum unicode_class unicode_class(uint32_t code);

#endif
