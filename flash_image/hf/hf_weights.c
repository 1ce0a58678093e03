/* Reads the weights of a folder: one file, or several that are numbered or listed in an index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_private.h"
#include "flash_image/hf/hf_tensors.h"

#define ENDING ".safetensors"
#define INDEX ENDING ".index.json"

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);

    return n >= m && strcmp(text + n - m, ending) == 0;
}

static enum err refuse_too_many(struct hf_model *m)
{
    return source_refuse(m->s, ERR_UNSUPPORTED, "the weights are in more than %u files",
                         (unsigned)HF_MOST_FILES);
}

/* Read the weights of the current file. */
static enum err read_weights(struct hf_model *m)
{
    struct safetensors file = { NULL, NULL, 0 };
    struct mapping *map;
    enum err e;

    if (m->n_files == HF_MOST_FILES) {
        return refuse_too_many(m);
    }
    map = &m->files[m->n_files++];
    e = map_file(m->s, m->path, PLACE_SAFETENSORS, map);
    if (e == ERR_OK) {
        e = safetensors_parse(m->s, map->data, map->bytes, &file);
    }
    if (e == ERR_OK) {
        e = hf_place_tensors(m->s, &m->config, &file);
    }
    safetensors_free(&file);
    return e;
}

static enum err read_weights_named(struct hf_model *m, const char *name)
{
    enum err e = hf_work_on(m, name);

    if (e != ERR_OK) {
        return e;
    }
    return read_weights(m);
}

/* False if an earlier entry of the map names the same file. The map is long, but its files are few,
 * so recent entries are compared first. */
static bool is_new(const cJSON *entry)
{
    for (const cJSON *before = entry->prev; before->next != NULL; before = before->prev) {
        if (cJSON_IsString(before) && strcmp(before->valuestring, entry->valuestring) == 0) {
            return false;
        }
    }
    return true;
}

/* Read each file that the index names, but only once. */
static enum err read_mapped(struct hf_model *m, const cJSON *map)
{
    const cJSON *entry;
    enum err e = ERR_OK;

    cJSON_ArrayForEach(entry, map)
    {
        if (!cJSON_IsString(entry) || strchr(entry->valuestring, '/') != NULL) {
            return source_refuse(m->s, ERR_BAD_MODEL,
                                 "the field \"weight_map\" names no file of "
                                 "the folder for %.100s",
                                 entry->string);
        }
        if (!is_new(entry)) {
            continue;
        }
        e = read_weights_named(m, entry->valuestring);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Refuse a file that its folder's index does not list: it belongs to another model. */
static enum err check_named(struct hf_model *m, const cJSON *map, const char *name)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, map)
    {
        if (cJSON_IsString(entry) && strcmp(entry->valuestring, name) == 0) {
            return ERR_OK;
        }
    }
    return source_refuse(m->s, ERR_BAD_MODEL,
                         "the field \"weight_map\" does not name %.100s: it is the index of "
                         "another model",
                         name);
}

/* Read the index, which is the current file. given: a file that the index must list, or NULL. */
static enum err read_index(struct hf_model *m, const char *given)
{
    struct mapping file = { NULL, 0 };
    cJSON *root = NULL;
    enum err e = map_file(m->s, m->path, PLACE_JSON, &file);

    if (e == ERR_OK) {
        root = hf_json_parse(m->s, file.data, file.bytes, &e);
    }
    if (e == ERR_OK && !cJSON_IsObject(hf_json_get(root, "weight_map"))) {
        e = source_refuse(m->s, ERR_BAD_MODEL, "the field \"weight_map\" is missing");
    }
    if (e == ERR_OK && given != NULL) {
        e = check_named(m, hf_json_get(root, "weight_map"), given);
    }
    if (e == ERR_OK) {
        e = read_mapped(m, hf_json_get(root, "weight_map"));
    }
    cJSON_Delete(root);
    unmap_file(&file);
    return e;
}

/* Find where the number in "model-00002-of-00003.safetensors" begins, and the number of files;
 * NULL: the name has no number. */
static const char *find_number(const char *name, unsigned long *n)
{
    static const char form[] = "-00000-of-00000" ENDING;
    size_t bytes = strlen(name), m = sizeof form - 1;
    const char *at;

    if (bytes < m) {
        return NULL;
    }
    at = name + bytes - m;
    for (size_t i = 0; i < m; i++) {
        if (form[i] == '0' ? at[i] < '0' || at[i] > '9' : at[i] != form[i]) {
            return NULL;
        }
    }
    *n = strtoul(at + strlen("-00000-of-"), NULL, 10);
    if (*n <= 1) {
        return NULL;
    }
    return at;
}

/* Find the files by their names, if there is no index. */
static enum err read_numbered(struct hf_model *m, const char *name, int stem, unsigned long n)
{
    char other[HF_PATH_BYTES];
    enum err e = ERR_OK;

    if (n > HF_MOST_FILES) {
        return refuse_too_many(m);
    }
    for (unsigned long i = 1; e == ERR_OK && i <= n; i++) {
        snprintf(other, sizeof other, "%.*s-%05lu-of-%05lu" ENDING, stem, name, i, n);
        if (!hf_has_file(m, other)) {
            return source_refuse(m->s, ERR_NOT_FOUND,
                                 "no such file: it is one of the model's %lu files; fetch all of "
                                 "them into one folder",
                                 n);
        }
        e = read_weights(m);
    }
    return e;
}

/* Read all files of the model to which the given file or index belongs. */
static enum err read_input(struct hf_model *m)
{
    const char *name = hf_last_part(m->input), *number;
    char index[HF_PATH_BYTES];
    unsigned long n;
    int stem;

    if (ends_with(name, INDEX)) {
        hf_work_on(m, name);
        return read_index(m, NULL);
    }
    number = find_number(name, &n);
    if (number == NULL) {
        return read_weights_named(m, name);
    }
    stem = (int)(number - name);
    snprintf(index, sizeof index, "%.*s" INDEX, stem, name);
    if (hf_has_file(m, index)) {
        return read_index(m, name);
    }
    return read_numbered(m, name, stem, n);
}

static enum err read_weight_files(struct hf_model *m)
{
    if (!hf_is_folder(m->input)) {
        return read_input(m);
    }
    if (hf_has_file(m, "model" ENDING)) {
        return read_weights(m);
    }
    if (hf_has_file(m, "model" INDEX)) {
        return read_index(m, NULL);
    }
    return hf_refuse_weights(m);
}

enum err hf_read_weights(struct hf_model *m)
{
    enum err e = read_weight_files(m);

    if (e != ERR_OK) {
        return e;
    }
    hf_work_on_input(m);
    return hf_finish_tensors(m->s, &m->config);
}
