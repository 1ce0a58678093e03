#include "host/api/serve_stream.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

cJSON *serve_stream_text(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    cJSON *value;

    if (copy == NULL) {
        return NULL;
    }
    if (n != 0) { /* bytes may be NULL if n is 0 */
        memcpy(copy, bytes, n);
    }
    copy[n] = '\0';
    value = cJSON_CreateString(copy);
    free(copy);
    return value;
}

void serve_stream_warnings(cJSON *object, const struct api_request *q)
{
    struct api_text list = { .n = 0 };

    if (q->warnings.n == 0) {
        return;
    }
    (void)serve_text_say(&list, "[");
    (void)serve_text_add(&list, q->warnings.bytes, q->warnings.n);
    (void)serve_text_say(&list, "]");
    cJSON_AddRawToObject(object, "warnings", api_text_shown(&list));
    serve_text_free(&list);
}

cJSON *serve_stream_figures(const struct api_job *j)
{
    cJSON *figures = cJSON_CreateObject();

    if (j->line != NULL) {
        cJSON_AddStringToObject(figures, "line", j->line);
    } else {
        cJSON_AddNullToObject(figures, "line");
    }
    serve_figures_add(figures, &j->figures);
    return figures;
}

void serve_stream_all(const struct api_answer *a, const struct api_job *j, api_say *to,
                      void *context)
{
    struct api_events at = { .index = 0 };
    const struct api_stream s = { .a = a, .j = j, .at = &at, .context = context };

    api_stream_walk(&s, to);
}
