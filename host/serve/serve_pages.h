/* The pages of `ingot serve` by the path of a request. */
#ifndef INGOT_HOST_SERVE_PAGES_H
#define INGOT_HOST_SERVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "host/api/serve_answer.h"

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
    /* Ollama's: */
    SERVE_PAGE_HEARTBEAT,
    SERVE_PAGE_VERSION,
    SERVE_PAGE_TAGS,    /* models that there are */
    SERVE_PAGE_RUNNING, /* models that are loaded */
    SERVE_PAGE_SHOW,
    SERVE_PAGE_ASK, /* for a reply: */
};

struct serve_page_row {
    const char *path; /* without /v1 and without a slash at its end */
    enum serve_page_kind page;
    bool v1;              /* there is no page of this path without /v1 */
    bool posts;           /* else it is read */
    enum serve_kind kind; /* of SERVE_PAGE_ASK */
    enum serve_dialect dialect;
};

/* The answer to "/" for Ollama's clients. */
extern const struct serve_page_row serve_page_heartbeat;

/* The page of a path; a slash at its end and /v1 in front change nothing, but where both are pages. The row of SERVE_PAGE_NONE
 * where there is none. */
const struct serve_page_row *serve_page_find(const char *path);

/* The page (one that is read, and not SERVE_PAGE_SOCKET) to out; model: its name; n_left: requests that no backend has counted. Returns its
 * media type. */
const char *serve_page_write(struct serve_text *out, enum serve_page_kind page,
                             struct serve_backend *b, const char *model, uint64_t n_left);

/* The answer to a body for SERVE_PAGE_LOAD, which may change the model's name, or SERVE_PAGE_SHOW. False: *e. */
bool serve_page_post(struct serve_text *out, enum serve_page_kind page, struct serve_backend *b,
                     const struct serve_text *body, char *model, struct serve_error *e);

/* serve_ollama_pages.c: the pages VERSION, TAGS and RUNNING; SHOW. */
void serve_ollama_page(struct serve_text *out, enum serve_page_kind page,
                       const struct serve_backend *b, const char *model, int64_t now);
void serve_ollama_show(struct serve_text *out, const struct serve_backend *b, int64_t now);

/* The methods that a page takes, as the field Allow has them; NULL: no page. */
const char *serve_page_methods(const struct serve_page_row *row);

/* Whether there is a page of that path, of a model that is there, which takes the method: it reads, posts or only asks what is allowed.
 * False: *e says why not. */
bool serve_page_takes(const struct serve_page_row *row, const char *path, const char *model,
                      bool reads, bool posts, bool asks, struct serve_error *e);

#endif
