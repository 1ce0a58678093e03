/* Finds and writes pages of `ingot serve` by the path of a request. */
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
    SERVE_PAGE_MODEL,  /* a model, by its name */
    SERVE_PAGE_CARDS,  /* the models on the boards' cards */
    SERVE_PAGE_LOAD,
    SERVE_PAGE_BOARDS,
    SERVE_PAGE_METRICS,
    SERVE_PAGE_SOCKET,
    /* Pages of Ollama's API: */
    SERVE_PAGE_HEARTBEAT,
    SERVE_PAGE_VERSION,
    SERVE_PAGE_TAGS,    /* all models */
    SERVE_PAGE_RUNNING, /* models that are loaded */
    SERVE_PAGE_SHOW,
    SERVE_PAGE_ASK, /* a page that is asked for a reply; its row has the kind and the API */
};

struct serve_page_row {
    const char *path; /* the path, without /v1 and without a slash at its end */
    enum serve_page_kind page;
    bool v1;            /* the path is a page only with /v1 in front of it */
    bool posts;         /* requests use POST; else GET */
    enum api_kind kind; /* of SERVE_PAGE_ASK */
    enum serve_dialect dialect;
};

/* The row for "/" if an Ollama client asks. */
extern const struct serve_page_row serve_page_heartbeat;

/* Returns the row of a path; unknown paths have the row of SERVE_PAGE_NONE. A slash at the end and
 * /v1 in front are ignored, unless the path with /v1 is another page. */
const struct serve_page_row *serve_page_find(const char *path);

/* Writes a page for GET (except SERVE_PAGE_SOCKET) to out and returns its media type. model: the
 * model's name; n_left: number of requests that no backend has counted. */
const char *serve_page_write(struct api_text *out, enum serve_page_kind page,
                             struct serve_backend *b, const char *model, uint64_t n_left);

/* Answers a POST's body for SERVE_PAGE_LOAD, which may change `model`, or for SERVE_PAGE_SHOW.
 * False: *e says why. */
bool serve_page_post(struct api_text *out, enum serve_page_kind page, struct serve_backend *b,
                     const struct api_text *body, char *model, struct api_error *e);

/* In serve_ollama_pages.c: the pages VERSION, TAGS and RUNNING, and SHOW. */
void serve_ollama_page(struct api_text *out, enum serve_page_kind page,
                       const struct serve_backend *b, const char *model, int64_t now);
void serve_ollama_show(struct api_text *out, const struct serve_backend *b, int64_t now);

/* Returns the methods that a page accepts, in the form of the field
 * Allow. */
const char *serve_page_methods(const struct serve_page_row *row);

/* True if the path has a page, a model in the path exists, and the page accepts the method: GET or
 * HEAD (reads), POST (posts), OPTIONS (asks). Else *e gives the reason. */
bool serve_page_takes(const struct serve_page_row *row, const char *path, const char *model,
                      bool reads, bool posts, bool asks, struct api_error *e);

#endif
