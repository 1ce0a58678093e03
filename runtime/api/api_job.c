#include "runtime/api/api_job.h"

static const char *const names[API_N_FIGURES] = { "decode_tokens_per_s", "first_token_ms",
                                                  "card_mb_per_s",       "stalled_percent",
                                                  "temperature_c",       "context_tokens",
                                                  "context_limit_tokens" };

const char *api_figure_name(enum api_figure figure)
{
    return names[figure];
}

void api_figures_clear(struct api_figures *f)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        f->list[i] = (double)__builtin_nanf("");
    }
}

void api_figures_put(struct api_text *out, const struct api_figures *f)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        double value = f->list[i];

        api_text_print(out, "%s'%s':", i != 0 ? "," : "", names[i]);
        if (value > -1e12 && value < 1e12) {
            api_text_decimal(out, value);
        } else {
            api_text_print(out, "null");
        }
    }
}
