#include "runtime/api/api_models.h"

#include <string.h>

static void put_model(struct api_text *to, const char *name, int64_t created)
{
    api_text_print(to, "{'id':");
    api_text_quoted(to, name, strlen(name));
    api_text_print(to, ",'object':'model','created':%lld,'owned_by':'ingot'}", (long long)created);
}

/* Return true if `asked` names the model, with or without .ingot. */
static bool is_model(const char *asked, const char *name)
{
    size_t n = strlen(asked);

    return n != 0 && strncmp(name, asked, n) == 0 &&
           (name[n] == '\0' || strcmp(name + n, ".ingot") == 0);
}

const char *api_model_asked(const char *path)
{
    static const char *const folders[] = { "/v1/models/", "/models/" };

    for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) {
            return path + strlen(folders[i]);
        }
    }
    return NULL;
}

bool api_put_models(struct api_text *to, const char *asked, const char *name, int64_t created)
{
    if (asked == NULL) {
        api_text_print(to, "{'object':'list','data':[");
        if (name[0] != '\0') {
            put_model(to, name, created);
        }
        api_text_print(to, "]}\n");
        return true;
    }
    if (!is_model(asked, name)) {
        return false;
    }
    put_model(to, name, created);
    api_text_print(to, "\n");
    return true;
}
