/* The packer: GGUF and llama2.c files in, .ingot out. Host only. */
#ifndef INGOT_FLASH_IMAGE_PACK_H
#define INGOT_FLASH_IMAGE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"

struct pack_options {
    const char *input;     /* .gguf or llama2.c .bin, told apart by content */
    const char *output;    /* see output_file.h */
    const char *tokenizer; /* llama2.c tokenizer, NULL: tok<vocab>.bin or tokenizer.bin beside */
    const char *template;  /* chat template by name, "none", or NULL: as the model's */
    const char *system;    /* the system prompt if a user gives none; NULL: the template's own */
    struct ingot_sampling sampling; /* defaults of these fields, in place of the input's */
    enum ingot_type type;           /* of all matrices where type_given; norms are F32 always */
    bool type_given;                /* false: as in the input, see pack_types.h */
    bool row_scales;                /* i8r or i4r was asked for: type is what stands in for it */
    bool mixed;                     /* more bits than type has where they matter most, ... */
    unsigned mixture;               /* ... by this of the mixtures (pack_types.c) */
    enum ingot_type head;           /* of the output matrix, where head_given */
    bool head_given;
    enum ingot_type experts; /* of the matrices of experts, where experts_given */
    bool experts_given;
    bool hollow; /* of a made-up model: a hole in the place of the weights, for plans alone */
    bool report; /* a line for every matrix on standard output, with its NMSE */
    bool quiet;  /* neither progress nor remarks on standard error */
    /* How much each column of a matrix counts (quantize.h), cols of them; NULL: all alike. */
    const float *(*importance)(void *context, enum ingot_role role, unsigned layer);
    void *importance_context;
};

/* Pack. Equal inputs give equal bytes. Constant memory: one group of rows at a time.
 * On an error the output is left as it was and error_message holds one error message.
 * Errors: ERR_IO, ERR_NOT_FOUND, ERR_BAD_MODEL, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err pack_file(const struct pack_options *o, char *error_message, size_t error_message_bytes);

/* Write a model that is parsed (or made up) already: the second half of pack_file. */
struct source;
enum err pack_source(struct source *s, const struct pack_options *o, char *error_message,
                     size_t error_message_bytes);

/* Make up a model of a named shape with random weights and write it as pack_file does; o->input
 * is the shape's name. Equal shapes, types and seeds give equal bytes. A shape that does not
 * exist: ERR_NOT_FOUND, and error_message lists those that do. */
enum err pack_synth(const struct pack_options *o, uint32_t seed, char *error_message,
                    size_t error_message_bytes);

/* The same into a new file under $TMPDIR (or /tmp), whose name goes to path; o->output is not
 * looked at. The caller opens path and removes it (temporary.h); on an error there is no file. */
enum err pack_temporary(const struct pack_options *o, char *path, size_t path_bytes,
                        char *error_message, size_t error_message_bytes);

/* The tokenizer section alone, as FORMAT.md has it, of a GGUF (one with a vocabulary only, too)
 * or a llama2.c model: *section (*bytes, allocated, the caller frees it) for *vocab tokens. */
enum err pack_tokenizer(const struct pack_options *o, uint8_t **section, uint64_t *bytes,
                        uint32_t *vocab, char *error_message, size_t error_message_bytes);

/* The file's first bytes say that it is an .ingot file (true) or anything else. Sets *e to
 * ERR_NOT_FOUND or ERR_IO where it cannot be read. */
bool pack_is_ingot(const char *path, enum err *e);

/* The name of a type, "q4_0" and so on, or of a mixture of them, "q4_k_m" and so on, to o->type,
 * type_given, mixed and mixture; false for any other. */
bool pack_parse_type(const char *name, struct pack_options *o);

/* The name of a type to o->head and head_given. */
bool pack_parse_head(const char *name, struct pack_options *o);

/* The name of a type to o->experts and experts_given. */
bool pack_parse_experts(const char *name, struct pack_options *o);

#endif
