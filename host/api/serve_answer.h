/* The answers of `ingot serve`: OpenAI's objects as JSON. All functions append to *out; if memory
 * runs out, they set out->failed. */
#ifndef INGOT_HOST_SERVE_ANSWER_H
#define INGOT_HOST_SERVE_ANSWER_H

#include "host/api/serve_backend.h"
#include "runtime/api/api_chat.h"
#include "host/api/serve_scores.h"

/* The API of a request and its answer (serve_dialect.h). */
enum serve_dialect {
    SERVE_COMPLETIONS, /* OpenAI's chat completions, completions and embeddings */
    SERVE_RESPONSES,   /* OpenAI's responses */
    SERVE_OLLAMA_CHAT,
    SERVE_OLLAMA_GENERATE,
    SERVE_OLLAMA_EMBED,
    SERVE_OLLAMA_EMBEDDINGS,
    SERVE_ANTHROPIC, /* messages */
    SERVE_N_DIALECTS
};

void serve_answer_error(struct api_text *out, const struct api_error *e);

/* Writes {"object":"list",...} of /v1/models. */
void serve_answer_models(struct api_text *out, const char *model, int64_t created);
/* Writes {"id":...,"object":"model",...} of /v1/models/NAME. */
void serve_answer_model(struct api_text *out, const char *model, int64_t created);

/* Writes the whole replies of finished jobs (n >= 1), none of which has an error. */
void serve_answer_whole(struct api_text *out, const struct api_answer *a,
                        const struct api_job *const *jobs, uint32_t n);

/* Makes the answer to a finished request for embeddings as cJSON. */
struct cJSON *serve_answer_vectors(const char *model, const struct api_job *j);

#endif
