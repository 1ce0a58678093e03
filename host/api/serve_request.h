/* Requests of `ingot serve` (runtime/api/api_request.h) in memory that grows. */
#ifndef INGOT_HOST_SERVE_REQUEST_H
#define INGOT_HOST_SERVE_REQUEST_H

#include "host/api/serve_text.h"
#include "runtime/api/api_request.h"

enum { SERVE_BODY_BYTES = 1 << 20 /* longest body of a request */ };

/* Reads a body (`bytes` bytes); *q must be zero. If it returns false, *e gives the reason. Call
 * serve_request_free in any case. */
bool serve_request_read(struct api_request *q, enum api_kind kind, const char *body, size_t bytes,
                        const struct api_defaults *d, struct api_error *e);

void serve_request_free(struct api_request *q);

/* Copies a request; *to must be zero. The two requests share texts, which never change;
 * whichever is freed last frees the texts. Different threads may free the two requests. */
void serve_request_copy(struct api_request *to, const struct api_request *from);

/* Gives the request a compiled grammar (`bytes` bytes from malloc). False: *e has the reason. */
bool serve_request_hold(struct api_request *q, void *grammar, size_t bytes, struct api_error *e);

/* Parses the body (`bytes` bytes) as JSON, which the caller deletes. If it returns NULL, *e says
 * what is wrong. seed: the digits of the body's field `seed`, or "". */
enum { SERVE_SEED_BYTES = 24 };
struct cJSON *serve_body_parse(const char *body, size_t bytes, char seed[SERVE_SEED_BYTES],
                               struct api_error *e);

/* Make memory that grows and has one holder; copy a text, with a NUL, into it; release one
 * holder's claim (m may be NULL). The first two functions return NULL if out of memory. */
struct api_memory *serve_memory_new(void);
char *serve_memory_copy(struct api_memory *m, const char *bytes, size_t n);
void serve_memory_drop(struct api_memory *m);

/* How `ingot serve` stores replies. */
extern const struct api_holder serve_holder;

#endif
