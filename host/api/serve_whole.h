/* Writes a whole answer in a worker thread: an answer with the scores of thousands of tokens takes
 * a second, and the server's own thread must serve others meanwhile. */
#ifndef INGOT_HOST_SERVE_WHOLE_H
#define INGOT_HOST_SERVE_WHOLE_H

#include "host/api/serve_answer.h"

struct serve_whole;

/* Begins to write the answer of finished jobs (n), and holds them; the server is woken at the end.
 * *echo, to which the answer points, is taken over. NULL: out of memory, and nothing was taken
 * over. */
struct serve_whole *serve_whole_begin(const struct api_answer *a, struct api_text *echo,
                                      struct serve_job *const *jobs, uint32_t n);

/* Returns whether it is written. */
bool serve_whole_take(struct serve_whole *w);

/* Moves the written text to *out, which was empty, and frees w. */
void serve_whole_say(struct serve_whole *w, struct api_text *out);

/* No longer needed: frees it now, or when it has ended. */
void serve_whole_leave(struct serve_whole *w);

#endif
