#include "host/api/serve_scores.h"

#include <cjson/cJSON.h>

static struct api_score score_in(const struct session *s, const struct token_score *t)
{
    uint32_t previous = s->n_ids != 0 ? s->ids[s->n_ids - 1] : INGOT_NO_TOKEN;
    struct api_score score = { .id = t->id, .logprob = t->log_share, .exact = true };

    score.text = tokenizer_piece(&s->model->tokenizer, t->id, previous, &score.bytes);
    return score;
}

void serve_scores_take(struct api_text *scores, const struct session *s,
                       const struct token_scores *t)
{
    struct api_score taken = score_in(s, &t->taken), likeliest[TOKEN_SCORES_MOST];

    for (uint32_t i = 0; i < t->n; i++) {
        likeliest[i] = score_in(s, &t->likeliest[i]);
    }
    serve_text_grows(scores);
    (void)api_scores_add(scores, &taken, likeliest, t->n);
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
