/* The word for so many. */
#ifndef INGOT_RUNTIME_PLURAL_H
#define INGOT_RUNTIME_PLURAL_H

#include <stdint.h>

/* one for 1, many for any other count: plural(n, "token", "tokens"). */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

#endif
