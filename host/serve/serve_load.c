#include "host/serve/serve_load.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { LOAD_BODY_BYTES = 16384 };

static const char *text_of(const cJSON *root, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, name));
}

static cJSON *find(const cJSON *data, const char *id)
{
    cJSON *one;

    cJSON_ArrayForEach(one, data)
    {
        if (strcmp(text_of(one, "id"), id) == 0) {
            return one;
        }
    }
    return NULL;
}

/* Counts a board that has the model. bytes: the model's size; NULL: unknown. */
static void add(cJSON *data, const char *id, const cJSON *bytes)
{
    cJSON *one = find(data, id), *boards = cJSON_GetObjectItem(one, "boards");

    if (boards != NULL) {
        cJSON_SetNumberValue(boards, boards->valuedouble + 1);
        return;
    }
    one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "id", id);
    cJSON_AddStringToObject(one, "object", "model");
    if (cJSON_IsNumber(bytes)) {
        cJSON_AddNumberToObject(one, "bytes", bytes->valuedouble);
    } else {
        cJSON_AddNullToObject(one, "bytes");
    }
    cJSON_AddNumberToObject(one, "boards", 1);
    cJSON_AddItemToArray(data, one);
}

/* Adds the models of a present board: those in its list, and the loaded model if it is not in the
 * list. */
static void add_board(cJSON *data, const struct serve_look *l)
{
    cJSON *list = cJSON_Parse(l->models), *one;
    bool listed = l->board.model[0] == '\0';

    cJSON_ArrayForEach(one, list)
    {
        const char *name = text_of(one, "name");

        if (name != NULL && name[0] != '\0') {
            add(data, name, cJSON_GetObjectItem(one, "bytes"));
            listed = listed || strcmp(name, l->board.model) == 0;
        }
    }
    if (!listed) {
        add(data, l->board.model, NULL);
    }
    cJSON_Delete(list);
}

/* Makes the list of models; the current model is "loaded" if at least one board has loaded it, else
 * "loading". */
static cJSON *models_of(const struct serve_backend *b, const char *model)
{
    cJSON *data = cJSON_CreateArray(), *one;
    bool loaded = false;
    struct serve_look l;

    for (uint32_t i = 0; b->look(b->context, i, &l); i++) {
        if (l.board.there || l.models[0] != '\0') {
            add_board(data, &l);
        }
        loaded = loaded || (l.board.there && strcmp(l.board.model, model) == 0);
    }
    cJSON_ArrayForEach(one, data)
    {
        bool chosen = strcmp(text_of(one, "id"), model) == 0;
        cJSON *status = cJSON_AddObjectToObject(one, "status");

        cJSON_AddStringToObject(status, "value",
                                !chosen  ? "unloaded"
                                : loaded ? "loaded"
                                         : "loading");
    }
    return data;
}

/* Writes root as a line, and deletes it. */
static void put(struct api_text *out, cJSON *root)
{
    serve_text_add_json(out, root);
    (void)serve_text_add(out, "\n", 1);
}

void serve_load_list(struct api_text *out, const struct serve_backend *b, const char *model)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "object", "list");
    cJSON_AddItemToObject(root, "data", models_of(b, model));
    put(out, root);
}

/* Finds a board's name for the model, which may be requested with or without its ending.
 * Returns false if no board has the model. */
static bool find_model(const struct serve_backend *b, const char *name, char *model)
{
    cJSON *data = models_of(b, "");
    char whole[API_MODEL_BYTES + sizeof ".ingot"];
    bool found = strlen(name) < API_MODEL_BYTES;

    snprintf(whole, sizeof whole, "%s%s", name, find(data, name) != NULL ? "" : ".ingot");
    found = found && find(data, whole) != NULL && strlen(whole) < API_MODEL_BYTES;
    if (found) {
        memcpy(model, whole, strlen(whole) + 1);
    }
    cJSON_Delete(data);
    return found;
}

static bool read_body(const cJSON *root, const struct serve_backend *b, char *model,
                      struct api_error *e)
{
    const char *name = text_of(root, "model");

    if (!cJSON_IsObject(root) || name == NULL || name[0] == '\0') {
        return api_refuse(e, 400, "model", NULL,
                          "the body has to be an object whose model is a text");
    }
    if (b->load == NULL) {
        return api_refuse(e, 400, "model", NULL,
                          "this computer serves only the model of its command line: start `ingot "
                          "serve` with another");
    }
    return find_model(b, name, model) ||
           api_refuse(e, 404, "model", "model_not_found",
                      "no board has this model on its card; /models lists what there is");
}

bool serve_load(struct api_text *out, const struct serve_backend *b, const struct api_text *body,
                char *model, struct api_error *e)
{
    cJSON *root;
    bool good;

    if (body->n > LOAD_BODY_BYTES) { /* limited, because the server's own thread reads the body */
        return api_refuse(e, 413, NULL, NULL, "the body is longer than %d bytes", LOAD_BODY_BYTES);
    }
    root = cJSON_ParseWithLength(api_text_shown(body), body->n);
    good = read_body(root, b, model, e);
    cJSON_Delete(root);
    if (!good) {
        return false;
    }
    b->load(b->context, model);
    root = cJSON_CreateObject();
    cJSON_AddTrueToObject(root, "success");
    cJSON_AddStringToObject(root, "model", model);
    put(out, root);
    return true;
}
