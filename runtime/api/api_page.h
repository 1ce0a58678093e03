#ifndef INGOT_RUNTIME_API_PAGE_H
#define INGOT_RUNTIME_API_PAGE_H

#include <stddef.h>

enum { API_PAGE_BYTES = 16 * 1024 }; /* at the most */

/* api_page returns the board's page as HTML. api_page_fields has the header fields of this answer,
 * each with its CRLF. */
const char *api_page(size_t *bytes);
extern const char api_page_fields[];

#endif
