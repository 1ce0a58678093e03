/* Writes a whole answer in a worker thread: if an answer has the scores of thousands of tokens,
 * this takes a second, in which the server's own thread must serve other requests. */
#ifndef INGOT_HOST_SERVE_WHOLE_H
#define INGOT_HOST_SERVE_WHOLE_H

#include "host/api/serve_answer.h"

struct serve_whole;

/* Begins to write the answer of n finished jobs, and holds the jobs. The server is woken at the
 * end. Takes over *echo, to which the answer points. Returns NULL if out of memory; then
 * nothing was taken over. */
struct serve_whole *serve_whole_begin(const struct api_answer *a, struct api_text *echo,
                                      struct serve_job *const *jobs, uint32_t n);

/* True if the answer is written. */
bool serve_whole_take(struct serve_whole *w);

/* Moves the written text to *out, which was empty, and frees w. */
void serve_whole_say(struct serve_whole *w, struct api_text *out);

/* Frees an answer that is no longer needed, now or when its task has ended. */
void serve_whole_leave(struct serve_whole *w);

#endif
