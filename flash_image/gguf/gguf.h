/* GGUF versions 2 and 3 (ggml, docs/gguf.md). */
#ifndef INGOT_FLASH_IMAGE_GGUF_H
#define INGOT_FLASH_IMAGE_GGUF_H

#include "flash_image/source/source.h"

/* True if the file begins like a GGUF. */
bool gguf_is(const uint8_t *data, size_t bytes);

/* A file of a model that llama-gguf-split has split: NAME-00002-of-00003.gguf. The first part has
 * the model's values; the others have tensors and only the values split.no, split.count and
 * split.tensors.count. */
struct gguf_part {
    const char *path; /* for error messages */
    const uint8_t *data;
    size_t bytes;
};

/* Parse the n parts of a model in their order (1: a whole file) into *s; s->path is the first
 * part's path, and the rest of *s must be zero. Afterwards s points into the parts' data.
 * vocab_only: stop after the vocabulary, which is in the first part; other parts may be missing.
 * Errors: ERR_BAD_MODEL, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED; s->error_message says why. */
enum err gguf_parse_parts(struct source *s, const struct gguf_part *parts, size_t n,
                          bool vocab_only);

/* As gguf_parse_parts, for the bytes of a whole file. */
enum err gguf_parse(struct source *s, const uint8_t *data, size_t bytes, bool vocab_only);

/* Find which of a model's parts the file at s->path is (*part, from 0), and how many parts there
 * are (*n; 1: a whole model). The file's values and its name must agree. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED; s->error_message says why. */
enum err gguf_find_split(struct source *s, const uint8_t *data, size_t bytes, size_t *part,
                         size_t *n);

/* A model's files, mapped. */
struct gguf_files;

/* Parse a model from its file at s->path, which `given` maps. The file is the whole model, or any
 * part: its name leads to the other parts. Pass *files to gguf_close, after errors as well; `given`
 * remains the caller's. Errors: as gguf_parse_parts, ERR_NOT_FOUND, ERR_IO, ERR_NO_SPACE. */
struct mapping;
enum err gguf_open(struct gguf_files **files, struct source *s, const struct mapping *given,
                   bool vocab_only);
void gguf_close(struct gguf_files *files); /* NULL: nothing */

#endif
