/* The packer reads GGUF files, Hugging Face folders and llama2.c files, and writes .ingot files.
 * Host only. */
#ifndef INGOT_FLASH_IMAGE_PACK_H
#define INGOT_FLASH_IMAGE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"

struct pack_options {
    const char *input;  /* a GGUF, a llama2.c .bin, or a path for hf.h */
    const char *output; /* see output_file.h */
    const char *
        tokenizer; /* llama2.c tokenizer; NULL: tok<vocab>.bin or tokenizer.bin in the same folder */
    const char *template;           /* chat template by name, "none", or NULL: the model's own */
    const char *system;             /* default system prompt; NULL: the template's own */
    struct ingot_sampling sampling; /* sampling defaults that replace those of the input */
    enum ingot_type type;           /* type of all matrices if type_given; norms are always F32 */
    bool type_given;                /* false: the input's types, see pack_types.h */
    bool row_scales;                /* the user asked for i8r or i4r, but `type` is stored */
    bool mixed;                     /* matrices that matter most get more bits, ... */
    unsigned mixture;               /* ... as this mixture says (pack_types.c) */
    enum ingot_type head;           /* type of the output matrix, if head_given */
    bool head_given;
    enum ingot_type experts; /* type of the experts' matrices, if experts_given */
    bool experts_given;
    bool mtp;              /* pack only the MTP head of a GGUF, as a draft for the model */
    bool automatic;        /* choose each matrix's type so that the file fits `size`: pack_auto.h */
    uint64_t size;         /* with automatic: largest size of the file, in bytes */
    const uint8_t *chosen; /* with automatic: enum ingot_type of each of the source's tensors */
    bool hollow;           /* a made-up model for plans: its file has a hole instead of weights */
    bool report;           /* print a line for every matrix, with its NMSE, to standard output */
    bool quiet;            /* print neither progress nor remarks to standard error */
    /* The importance (quantize.h) of each of a matrix's columns; NULL: all are equal. */
    const float *(*importance)(void *context, enum ingot_role role, unsigned layer);
    void *importance_context;
};

/* Pack the input. Equal inputs give equal bytes. Uses constant memory: one group of rows at a time.
 * On an error the output does not change and error_message holds one error message. Errors: ERR_IO,
 * ERR_NOT_FOUND, ERR_BAD_MODEL, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err pack_file(const struct pack_options *o, char *error_message, size_t error_message_bytes);

/* Write a model that was already parsed or made up: the second half of pack_file. */
struct source;
enum err pack_source(struct source *s, const struct pack_options *o, char *error_message,
                     size_t error_message_bytes);

/* Make up a model of a named shape with random weights and write it as pack_file does; o->input is
 * the shape's name. Equal shapes, types and seeds give equal bytes. ERR_NOT_FOUND: no shape has the
 * name; error_message lists the shapes. */
enum err pack_synth(const struct pack_options *o, uint32_t seed, char *error_message,
                    size_t error_message_bytes);

/* Like pack_synth, but into a new file under $TMPDIR (or /tmp), whose name goes to path; o->output
 * is ignored. The caller opens path and removes it (temporary.h); on an error there is no file. */
enum err pack_temporary(const struct pack_options *o, char *path, size_t path_bytes,
                        char *error_message, size_t error_message_bytes);

/* Make only the tokenizer section (FORMAT.md) of a GGUF or a llama2.c model; the GGUF may have only
 * a vocabulary. *section gets *bytes bytes, for *vocab tokens; the caller frees it. */
enum err pack_tokenizer(const struct pack_options *o, uint8_t **section, uint64_t *bytes,
                        uint32_t *vocab, char *error_message, size_t error_message_bytes);

/* True if the file begins like an .ingot file. If the file cannot be read, *e is ERR_NOT_FOUND or
 * ERR_IO, and errno says why. */
bool pack_is_ingot(const char *path, enum err *e);

/* Read the name of a type ("q4_0") or of a mixture ("q4_k_m") into o->type, type_given, mixed and
 * mixture; read "auto" into automatic and type_given. False: the name is unknown. */
bool pack_parse_type(const char *name, struct pack_options *o);

/* Read the name of a type into o->head and head_given. */
bool pack_parse_head(const char *name, struct pack_options *o);

/* Read the name of a type into o->experts and experts_given. */
bool pack_parse_experts(const char *name, struct pack_options *o);

#endif
