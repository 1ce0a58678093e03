#include "host/serve/serve_figures.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

static const struct {
    const char *name;
    size_t field;
} names[] = {
    { "decode_tokens_per_s", offsetof(struct serve_figures, decode_tokens_per_s) },
    { "first_token_ms", offsetof(struct serve_figures, first_token_ms) },
    { "card_mb_per_s", offsetof(struct serve_figures, card_mb_per_s) },
    { "stalled_percent", offsetof(struct serve_figures, stalled_percent) },
    { "temperature_c", offsetof(struct serve_figures, temperature_c) },
    { "context_tokens", offsetof(struct serve_figures, context_tokens) },
    { "context_limit_tokens", offsetof(struct serve_figures, context_limit_tokens) },
};

enum { N_NAMES = sizeof names / sizeof names[0] };

void serve_figures_clear(struct serve_figures *f)
{
    serve_figures_read(f, NULL);
}

void serve_figures_read(struct serve_figures *f, const struct cJSON *event)
{
    for (int i = 0; i < N_NAMES; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(event, names[i].name);
        bool known = cJSON_IsNumber(v) && v->valuedouble >= -1e15 && v->valuedouble <= 1e15;

        *(double *)((char *)f + names[i].field) = known ? v->valuedouble : (double)NAN;
    }
}

void serve_figures_add(struct cJSON *object, const struct serve_figures *f)
{
    for (int i = 0; i < N_NAMES; i++) {
        double value = *(const double *)((const char *)f + names[i].field);

        if (isnan(value)) {
            cJSON_AddNullToObject(object, names[i].name);
        } else {
            cJSON_AddNumberToObject(object, names[i].name, value);
        }
    }
}
