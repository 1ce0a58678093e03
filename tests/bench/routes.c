/* The Linux program, which also writes down what every router chose: into the file ROUTES of the
 * environment, of each layer of each pass a line: layer, tokens, experts that any token takes. For
 * experts.py. Linked with --wrap, so that it is the real program that asks the real cache. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/stream/stream_private.h"

void __wrap_stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens);
void __real_stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens);

void __wrap_stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens)
{
    static FILE *routes;
    const char *path = getenv("ROUTES");

    if (routes == NULL && path != NULL) {
        routes = fopen(path, "w");
    }
    if (routes != NULL) {
        fprintf(routes, "%u %u", (unsigned)layer, (unsigned)n_tokens);
        for (uint32_t i = 0; i < image_layer(s->image, layer)->n_experts; i++) {
            if (s->experts.counts[i] != 0) {
                fprintf(routes, " %u:%u", (unsigned)i, (unsigned)s->experts.counts[i]);
            }
        }
        fprintf(routes, "\n");
    }
    __real_stream_experts_ask(s, layer, n_tokens);
}
