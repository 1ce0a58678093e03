/* The page of `ingot serve` (host/web/index.html), which is built into the program. */
#ifndef INGOT_HOST_SERVE_PAGE_H
#define INGOT_HOST_SERVE_PAGE_H

#include <stddef.h>

const char *serve_page(size_t *bytes);

/* Returns the page's Content-Security-Policy. */
const char *serve_page_policy(void);

#endif
