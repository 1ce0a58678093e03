/* Choose between singular and plural. */
#ifndef INGOT_RUNTIME_PLURAL_H
#define INGOT_RUNTIME_PLURAL_H

#include <stdint.h>

/* Returns `one` if n is 1, otherwise `many`: plural(n, "token", "tokens"). */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

#endif
