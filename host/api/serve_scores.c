#include "host/api/serve_scores.h"

#include <cjson/cJSON.h>

#include "runtime/api/api_tokens.h"

void serve_scores_take(struct api_text *scores, const struct session *s,
                       const struct token_scores *t)
{
    serve_text_grows(scores);
    (void)api_tokens_add_scores(scores, s, t);
}

struct cJSON *serve_scores_answer(const struct api_text *scores, struct api_scores_at *at)
{
    struct api_text text = { .n = 0 };
    cJSON *value;

    serve_text_grows(&text);
    api_scores_put(&text, API_CHAT, scores, at);
    value = cJSON_Parse(api_text_shown(&text));
    serve_text_free(&text);
    return value;
}
