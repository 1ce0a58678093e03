#include "host/api/serve_figures.h"

#include <math.h>

#include <cjson/cJSON.h>

void serve_figures_add(struct cJSON *object, const struct api_figures *f)
{
    for (unsigned i = 0; i < API_N_FIGURES; i++) {
        const char *name = api_figure_name((enum api_figure)i);

        if (isnan(f->list[i])) {
            cJSON_AddNullToObject(object, name);
        } else {
            cJSON_AddNumberToObject(object, name, f->list[i]);
        }
    }
}
