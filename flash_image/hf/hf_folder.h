/* Finds out what a folder contains instead of usable weights. */
#ifndef INGOT_FLASH_IMAGE_HF_FOLDER_H
#define INGOT_FLASH_IMAGE_HF_FOLDER_H

#include "flash_image/source/source.h"

#define HF_MERGE_ADAPTER \
    "pack it for its packed base with `ingot adapter`, or merge it into its base (PEFT: merge_and_unload, save_pretrained)"

/* folder: its path with a slash at the end, or "" for the working folder. s->path does not
 * change. */

/* Refuse a folder with an adapter but not its base model (ERR_UNSUPPORTED); the message names
 * that model. */
enum err hf_folder_check_adapter(struct source *s, const char *folder);

/* Refuse a folder whose contents are of another known kind, such as weights of another format or
 * a GGUF. ERR_OK: nothing known. */
enum err hf_folder_check_weights(struct source *s, const char *folder);

#endif
