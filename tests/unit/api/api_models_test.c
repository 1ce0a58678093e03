/* The loaded model in the list, and found by its name with or without .ingot. */
#include "runtime/api/api_models.h"

#include <string.h>

#include "tests/unit/tap.h"

#define MODEL "{\"id\":\"demo.ingot\",\"object\":\"model\",\"created\":0,\"owned_by\":\"ingot\"}"

static char memory[256];

static const char *put(const char *asked, const char *name)
{
    struct api_text t;

    api_text_open(&t, memory, sizeof memory);
    if (!api_put_models(&t, asked, name, 0)) {
        return "none";
    }
    memory[t.n] = '\0';
    return memory;
}

static bool asks(const char *path, const char *name)
{
    const char *asked = api_model_asked(path);

    return asked != NULL && strcmp(asked, name) == 0;
}

int main(void)
{
    OK(strcmp(put(NULL, "demo.ingot"), "{\"object\":\"list\",\"data\":[" MODEL "]}\n") == 0,
       "the list has the model");
    OK(strcmp(put(NULL, ""), "{\"object\":\"list\",\"data\":[]}\n") == 0,
       "the list is empty without a model");
    OK(strcmp(put("demo.ingot", "demo.ingot"), MODEL "\n") == 0, "the model is found by its name");
    OK(strcmp(put("demo", "demo.ingot"), MODEL "\n") == 0,
       "the model is found by its name without .ingot");
    OK(strcmp(put("dem", "demo.ingot"), "none") == 0 &&
           strcmp(put("", "demo.ingot"), "none") == 0 &&
           strcmp(put("demo.ingot.ingot", "demo.ingot"), "none") == 0 &&
           strcmp(put("gpt-4", ""), "none") == 0 && strcmp(put("", ""), "none") == 0,
       "other names do not find the model");
    OK(asks("/v1/models/a", "a") && asks("/models/a/b", "a/b") && asks("/models/", ""),
       "paths with a name are read");
    OK(api_model_asked("/v1/models") == NULL && api_model_asked("/v1/modelsx") == NULL &&
           api_model_asked("/") == NULL,
       "other paths do not name a model");
    return tap_done();
}
