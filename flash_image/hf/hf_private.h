/* The folder that is read; private to hf.c and hf_weights.c. */
#ifndef INGOT_FLASH_IMAGE_HF_PRIVATE_H
#define INGOT_FLASH_IMAGE_HF_PRIVATE_H

#include "flash_image/hf/hf.h"
#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_tokenizer.h"
#include "flash_image/source/map_file.h"

enum { HF_MOST_FILES = 1024, HF_PATH_BYTES = 1024 };

struct hf_model {
    struct source *s;
    char folder[HF_PATH_BYTES]; /* path that ends with a slash, or "" */
    char path[HF_PATH_BYTES];   /* path of the current file, for error messages */
    const char *input;          /* as spelled by the caller */
    struct hf_config config;
    struct mapping files[HF_MOST_FILES]; /* of weights */
    size_t n_files;
    struct hf_tokenizer tokenizer;
    struct mapping pieces, chat_template; /* tokenizer.model, chat_template.jinja */
    char *whole_path; /* allocated path of the folder, whose last part is the model's name */
};

/* Let error messages name the input again, instead of the current file. */
void hf_work_on_input(struct hf_model *m);

/* Set the current file to NAME in the folder; later error messages name it. */
enum err hf_work_on(struct hf_model *m, const char *name);

/* Set the current file; true if that file exists. */
bool hf_has_file(struct hf_model *m, const char *name);

bool hf_is_folder(const char *path);

/* The part of a path after its last slash. */
const char *hf_last_part(const char *path);

/* Refuse a folder without weights, and say what it contains instead. */
enum err hf_refuse_weights(struct hf_model *m);

/* Read the model's weights into m->s. Errors: as hf_open(). */
enum err hf_read_weights(struct hf_model *m);

#endif
