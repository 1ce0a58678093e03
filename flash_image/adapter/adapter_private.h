/* An adapter while it is converted; private to this folder. */
#ifndef INGOT_FLASH_IMAGE_ADAPTER_PRIVATE_H
#define INGOT_FLASH_IMAGE_ADAPTER_PRIVATE_H

#include "flash_image/adapter/adapter.h"
#include "flash_image/source/families.h"
#include "flash_image/source/source.h"

/* A pair as the file stores it: A (rank, cols), for an embedding (vocab, rank); B (rows, rank). */
struct adapter_raw {
    char name[192]; /* of the base's tensor */
    struct source_tensor a, b;
    float alpha; /* 0: none is given */
    bool rslora; /* the scale is alpha / sqrt(rank) */
};

/* A matrix of an .ingot adapter: its pair, and both matrices in the file's order. */
struct adapter_made {
    struct adapter_pair pair;
    float *a, *b; /* adapter_a_numbers, adapter_b_numbers */
};

struct adapter_build {
    const struct adapter_options *o;
    const struct family *family;
    struct source *s; /* holds the error message, and parameters that select tensor names */
    bool peft;        /* rows are in Hugging Face's order */
    char name[64];    /* the adapter's name, as the input has it */
    struct adapter_raw *raws;
    size_t n_raws, room;
    struct adapter_made *made; /* in any order until adapter_write sorts them */
    size_t n_made, made_room;
};

/* Find the raw pair of that name, or add it. NULL: no memory (ERR_NO_SPACE). */
struct adapter_raw *adapter_raw_of(struct adapter_build *b, const char *name, size_t bytes);

/* Read and convert all raw pairs of a file or folder. Errors: as adapter_make, in
 * s->error_message. */
enum err adapter_read_gguf(struct adapter_build *b, const uint8_t *data, size_t bytes);
enum err adapter_read_peft(struct adapter_build *b, const char *folder);

/* The roles of a raw pair, and how the pair's B contains the matrices of these roles. */
enum adapter_fusion { ADAPTER_ALONE, ADAPTER_PARTS, ADAPTER_QUERY_GATE };
struct adapter_place {
    enum ingot_role role; /* the first of PARTS */
    unsigned layer;
    enum adapter_fusion fusion;
    unsigned n; /* PARTS: number of roles; source_part_role names them */
};
enum err adapter_place(struct adapter_build *b, const struct adapter_raw *raw,
                       const struct adapter_place *place);

/* Sort the pairs, and write the file. */
enum err adapter_write(struct adapter_build *b, struct adapter_result *result);

#endif
