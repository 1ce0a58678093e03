/* Ollama's clients request these pages before they ask for a reply: the list of models,
 * the description of a model, the server's version. */
#include <string.h>

#include "host/api/serve_dialect.h"
#include "host/serve/serve_pages.h"

/* The version of Ollama's API that these pages implement; clients refuse older versions. */
#define API_VERSION "0.12.6"

/* Zeros stand for the digest of the model's file, which is not computed. The text must be as long
 * as a digest, because clients use parts of it. */
#define NO_DIGEST "0000000000000000000000000000000000000000000000000000000000000000"

/* Returns a number that the model, or the first board, reports about itself; 0 if it has not
 * reported it. */
static double planned(const struct serve_backend *b, const char *name)
{
    struct serve_look l;
    const cJSON *value;
    double number;
    cJSON *plan;

    if (!b->look(b->context, 0, &l)) {
        return 0;
    }
    plan = cJSON_Parse(l.plan);
    value = cJSON_GetObjectItemCaseSensitive(plan, name);
    number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    cJSON_Delete(plan);
    return number;
}

static void add_details(cJSON *root)
{
    cJSON *details = cJSON_AddObjectToObject(root, "details");

    cJSON_AddStringToObject(details, "parent_model", "");
    cJSON_AddStringToObject(details, "format", "ingot");
    cJSON_AddStringToObject(details, "family", "");
    cJSON_AddArrayToObject(details, "families");
    cJSON_AddStringToObject(details, "parameter_size", "");
    cJSON_AddStringToObject(details, "quantization_level", "");
}

/* Writes {"models":[{...}]} with the loaded model. running: for /api/ps. */
static void write_models(struct api_text *out, const struct serve_backend *b, const char *model,
                         int64_t now, bool running)
{
    cJSON *root = cJSON_CreateObject(), *one = cJSON_CreateObject();
    char at[SERVE_TIME_BYTES];

    serve_ollama_time(at, running ? now + 86400 : now);
    cJSON_AddStringToObject(one, "name", model);
    cJSON_AddStringToObject(one, "model", model);
    cJSON_AddStringToObject(one, running ? "expires_at" : "modified_at", at);
    cJSON_AddNumberToObject(one, "size", planned(b, running ? "taken_bytes" : "file_bytes"));
    cJSON_AddStringToObject(one, "digest", NO_DIGEST);
    add_details(one);
    if (running) {
        cJSON_AddNumberToObject(one, "size_vram", 0);
        cJSON_AddNumberToObject(one, "context_length", planned(b, "context_limit_tokens"));
    }
    cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "models"), one);
    serve_text_add_json(out, root);
}

static void write_version(struct api_text *out)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "version", API_VERSION);
    cJSON_AddStringToObject(root, "ingot", INGOT_VERSION_TEXT);
    serve_text_add_json(out, root);
}

void serve_ollama_page(struct api_text *out, enum serve_page_kind page,
                       const struct serve_backend *b, const char *model, int64_t now)
{
    if (page == SERVE_PAGE_VERSION) {
        write_version(out);
    } else {
        write_models(out, b, model, now, page == SERVE_PAGE_RUNNING);
    }
}

/* Describes the loaded model; the name in the request does not matter. */
void serve_ollama_show(struct api_text *out, const struct serve_backend *b, int64_t now)
{
    cJSON *root = cJSON_CreateObject(), *info, *list;
    char at[SERVE_TIME_BYTES];

    serve_ollama_time(at, now);
    cJSON_AddStringToObject(root, "license", "");
    cJSON_AddStringToObject(root, "modelfile", "");
    cJSON_AddStringToObject(root, "parameters", "");
    cJSON_AddStringToObject(root, "template", "");
    cJSON_AddStringToObject(root, "modified_at", at);
    add_details(root);
    info = cJSON_AddObjectToObject(root, "model_info");
    cJSON_AddStringToObject(info, "general.architecture", "ingot");
    cJSON_AddNumberToObject(info, "ingot.context_length", planned(b, "context_limit_tokens"));
    cJSON_AddNumberToObject(info, "ingot.block_count", planned(b, "layers"));
    list = cJSON_AddArrayToObject(root, "capabilities");
    cJSON_AddItemToArray(list, cJSON_CreateString("completion"));
    cJSON_AddItemToArray(list, cJSON_CreateString("tools"));
    serve_text_add_json(out, root);
}
