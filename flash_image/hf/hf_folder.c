#include "flash_image/hf/hf_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/source/map_file.h"

enum { PATH_BYTES = 1280 };

#define AS_SAFETENSORS "fetch the weights as safetensors, or convert them"

/* A row has a file's name or, after a star, its ending. The first row that finds a file decides. */
static const struct {
    const char *name, *what, *cure;
} others[] = {
    { "*.gguf", "a GGUF", "give that file instead of the folder" },
    { "*.ingot", "an .ingot file", "give that file instead of the folder" },
    { "pytorch_model.bin", "a PyTorch checkpoint", AS_SAFETENSORS },
    { "pytorch_model.bin.index.json", "the index of a PyTorch checkpoint", AS_SAFETENSORS },
    { "consolidated.safetensors", "Mistral's own format", AS_SAFETENSORS " as model.safetensors" },
    { "*.pth", "a PyTorch checkpoint", AS_SAFETENSORS },
    { "*.pt", "a PyTorch checkpoint", AS_SAFETENSORS },
    { "*.ckpt", "a PyTorch checkpoint", AS_SAFETENSORS },
    { "tf_model.h5", "a TensorFlow checkpoint", AS_SAFETENSORS },
    { "flax_model.msgpack", "a Flax checkpoint", AS_SAFETENSORS },
    { "*.onnx", "an ONNX model", AS_SAFETENSORS },
    { "onnx", "a folder of ONNX models", AS_SAFETENSORS },
    { "*.bin", "a PyTorch checkpoint or another format", AS_SAFETENSORS },
};

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s%s", folder, name);

    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

static bool suits(const char *name, const char *rule)
{
    size_t n = strlen(name), m = strlen(rule + 1);

    if (rule[0] != '*') {
        return strcmp(name, rule) == 0;
    }
    return n > m && strcmp(name + n - m, rule + 1) == 0;
}

/* Write to `name` the alphabetically first name of a file that matches the rule. False: no file
 * matches. */
static bool find(const char *folder, const char *rule, char *name, size_t bytes)
{
    DIR *d = opendir(folder[0] == '\0' ? "." : folder);
    const struct dirent *entry;

    name[0] = '\0';
    while (d != NULL && (entry = readdir(d)) != NULL) {
        if (suits(entry->d_name, rule) && (name[0] == '\0' || strcmp(entry->d_name, name) < 0)) {
            snprintf(name, bytes, "%s", entry->d_name);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    return name[0] != '\0';
}

enum err hf_folder_check_weights(struct source *s, const char *folder)
{
    char name[256];

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (find(folder, others[i].name, name, sizeof name)) {
            return source_refuse(s, ERR_UNSUPPORTED,
                                 "instead of model.safetensors this folder has %.100s, %s: %s",
                                 name, others[i].what, others[i].cure);
        }
    }
    return ERR_OK;
}

/* Write "base_model_name_or_path" of the adapter's configuration to name; "": it is not given. */
static void read_base(struct source *s, const char *folder, char *name, size_t bytes)
{
    struct mapping file = { NULL, 0 };
    char path[PATH_BYTES], error_message[128];
    const char *base = NULL;
    cJSON *root = NULL;
    enum err e;

    name[0] = '\0';
    snprintf(path, sizeof path, "%sadapter_config.json", folder);
    if (mapping_open(&file, path, error_message, sizeof error_message) == ERR_OK) {
        root = hf_json_parse(s, file.data, file.bytes, &e);
        base = hf_json_string(hf_json_get(root, "base_model_name_or_path"));
    }
    if (base != NULL) {
        snprintf(name, bytes, " of %.80s", base);
    }
    cJSON_Delete(root);
    unmap_file(&file);
}

enum err hf_folder_check_adapter(struct source *s, const char *folder)
{
    char base[96];

    if (is_there(folder, "model.safetensors") || is_there(folder, "model.safetensors.index.json") ||
        (!is_there(folder, "adapter_config.json") &&
         !is_there(folder, "adapter_model.safetensors"))) {
        return ERR_OK;
    }
    read_base(s, folder, base, sizeof base);
    return source_refuse(s, ERR_UNSUPPORTED, "is an adapter (LoRA)%s, not a model: %s", base,
                         HF_MERGE_ADAPTER);
}
