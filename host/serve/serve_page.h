/* The page of `ingot serve` (host/web/index.html), as it is built into the program. */
#ifndef INGOT_HOST_SERVE_PAGE_H
#define INGOT_HOST_SERVE_PAGE_H

#include <stddef.h>

const char *serve_page(size_t *bytes);

/* The Content-Security-Policy with which it is served. */
const char *serve_page_policy(void);

#endif
