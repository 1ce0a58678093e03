#include "host/api/serve_prompt.h"

#include <stdlib.h>
#include <string.h>

static void *take_memory(void *owner, size_t bytes)
{
    (void)owner;
    return malloc(bytes);
}

static void leave_memory(void *owner, void *memory)
{
    (void)owner;
    free(memory);
}

struct api_encoder serve_prompt_encoder(const struct model *m, uint32_t context)
{
    return (struct api_encoder){
        .model = m, .context = context, .take = take_memory, .leave = leave_memory
    };
}

bool serve_prompt_biases(const struct session *s, const struct api_request *q,
                         struct json_biases *biases, struct sampler_params *sampler,
                         struct api_error *e)
{
    const char *error_message;
    char *copy;

    if (q->biases.n == 0) {
        return true;
    }
    copy = strdup(q->biases.bytes); /* reading overwrites it */
    if (copy == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    error_message = json_biases_read(biases, copy, q->biases.n, s);
    sampler->biases = biases->list;
    sampler->n_biases = biases->n;
    if (error_message != NULL) {
        (void)api_refuse(e, 400, "logit_bias", NULL, "%s", error_message);
    }
    free(copy);
    return error_message == NULL;
}
