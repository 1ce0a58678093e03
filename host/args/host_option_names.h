/* Rewrites the runtime's messages: they name boot arguments, but a person at a command line uses
 * options. */
#ifndef INGOT_HOST_HOST_OPTION_NAMES_H
#define INGOT_HOST_HOST_OPTION_NAMES_H

#include <stddef.h>

/* Copies `in` (n bytes) to out (most) with "mem=" as "--mem", "ctx=1024" as "--ctx 1024" and so on,
 * by the rows of host_args.h. Returns the number of bytes written. A text that does not fit is
 * copied unchanged, and cut. */
size_t host_option_names_rewrite(const char *in, size_t n, char *out, size_t most);

#endif
