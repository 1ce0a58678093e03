/* Requests of `ingot serve` (runtime/api/api_request.h) in memory that grows. */
#ifndef INGOT_HOST_SERVE_REQUEST_H
#define INGOT_HOST_SERVE_REQUEST_H

#include "host/api/serve_text.h"
#include "runtime/api/api_request.h"

enum { SERVE_BODY_BYTES = 1 << 20 /* longest body of a request */ };

/* A body (bytes); *q was zero. False: *e says why. serve_request_free in any case. */
bool serve_request_read(struct api_request *q, enum api_kind kind, const char *body, size_t bytes,
                        const struct api_defaults *d, struct api_error *e);

void serve_request_free(struct api_request *q);

/* The same once more; *to was zero. Both have the same texts, which never change, in memory that
 * the last of them frees: each may be freed by another thread. */
void serve_request_copy(struct api_request *to, const struct api_request *from);

/* A compiled grammar (bytes) from malloc becomes the request's. False: *e. */
bool serve_request_hold(struct api_request *q, void *grammar, size_t bytes, struct api_error *e);

/* The body (bytes) as JSON, which the caller deletes. NULL: *e says what is wrong. seed: the digits of its field `seed`; "": it has
 * none. */
enum { SERVE_SEED_BYTES = 24 };
struct cJSON *serve_body_parse(const char *body, size_t bytes, char seed[SERVE_SEED_BYTES],
                               struct api_error *e);

/* Memory that grows, of one holder; NULL: there is none. A copy in it, with a NUL; NULL likewise. m NULL: nothing. */
struct api_memory *serve_memory_new(void);
char *serve_memory_copy(struct api_memory *m, const char *bytes, size_t n);
void serve_memory_drop(struct api_memory *m);

/* How `ingot serve` holds replies. */
extern const struct api_holder serve_holder;

#endif
