/* Models in Hugging Face's layout: a folder with config.json, the weights in one or several
 * safetensors files, and the tokenizer. */
#ifndef INGOT_FLASH_IMAGE_HF_H
#define INGOT_FLASH_IMAGE_HF_H

#include "flash_image/source/source.h"

/* Owns everything to which *s points: mapped files, and values from JSON. */
struct hf_model;

/* True if path is a folder, or ends with ".safetensors" or ".safetensors.index.json". */
bool hf_is(const char *path);

/* Read the model at s->path into *s, whose other members must be zero. The path is a folder, or a
 * file of weights in a folder with config.json; one of several files, or their index, selects all
 * of them. vocab_only: read only the tokenizer. Close *m after errors as well. A folder without a
 * tokenizer gives a vocabulary of unused tokens (FORMAT.md, section 4). Errors: ERR_NOT_FOUND,
 * ERR_IO, ERR_BAD_MODEL, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED, ERR_NO_SPACE; s->error_message says
 * why. */
enum err hf_open(struct hf_model **m, struct source *s, bool vocab_only);
void hf_close(struct hf_model *m); /* NULL: nothing */

#endif
