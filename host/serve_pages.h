/* The pages of `ingot serve` by the path of a request. */
#ifndef INGOT_HOST_SERVE_PAGES_H
#define INGOT_HOST_SERVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "host/serve_backend.h"

enum serve_page_kind {
    SERVE_PAGE_NONE,
    SERVE_PAGE_HOME,
    SERVE_PAGE_HEALTH,
    SERVE_PAGE_MODELS, /* OpenAI's list */
    SERVE_PAGE_MODEL,  /* one of it, by its name */
    SERVE_PAGE_CARDS,  /* the models on the boards' cards */
    SERVE_PAGE_LOAD,
    SERVE_PAGE_BOARDS,
    SERVE_PAGE_METRICS,
    SERVE_PAGE_SOCKET,
    SERVE_PAGE_ASK, /* for a reply: */
};

struct serve_page_row {
    const char *path; /* without /v1 and without a slash at its end */
    enum serve_page_kind page;
    bool v1;              /* there is no page of this path without /v1 */
    bool posts;           /* else it is read */
    enum serve_kind kind; /* of SERVE_PAGE_ASK */
};

/* The page of a path; a slash at its end and /v1 in front change nothing, but where both are pages. The row of SERVE_PAGE_NONE
 * where there is none. */
const struct serve_page_row *serve_page_find(const char *path);

/* The methods of a page, as Allow names them. NULL: a request whose page is not known. */
const char *serve_page_methods(const struct serve_page_row *row);

/* The page (not SERVE_PAGE_ASK, _LOAD or _SOCKET) to out; model: its name; n_left: requests that no backend has counted. Returns its
 * media type. */
const char *serve_page_write(struct serve_text *out, enum serve_page_kind page,
                             struct serve_backend *b, const char *model, uint64_t n_left);

/* Whether the path (of SERVE_PAGE_MODEL) names the model, with or without .ingot. */
bool serve_page_names(const char *path, const char *model);

/* Fill *e: there is no page of that path, and what to do about it. Returns false. */
bool serve_page_refuse(struct serve_error *e, const char *path);

#endif
