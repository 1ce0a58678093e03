/* Converts adapters (LoRA) of other formats, GGUF files and PEFT folders, to Ingot's own. Host
 * only. */
#ifndef INGOT_FLASH_IMAGE_ADAPTER_H
#define INGOT_FLASH_IMAGE_ADAPTER_H

#include "board/err.h"
#include "flash_image/format/adapter.h"
#include "runtime/image/image.h"

/* True if the file at path starts like an .ingot adapter. */
bool adapter_is(const char *path);

/* Tells the order of rows in a base's tensors: for some families it differs between GGUF and
 * Hugging Face. */
enum adapter_order {
    ADAPTER_ORDER_KNOWN, /* the base is an .ingot: its tables give the order */
    ADAPTER_ORDER_GGUF,  /* packed from a GGUF */
    ADAPTER_ORDER_HF,    /* packed from a folder or a file of weights in it */
};

struct adapter_options {
    const char *input;        /* a GGUF, or a folder with adapter_config.json */
    const char *output;       /* written as OUTPUT.tmp, which is renamed when complete */
    const char *name;         /* NULL: the name in the input, else that of its file or folder */
    const struct image *base; /* the model for which the adapter is made */
    enum adapter_order order;
    uint32_t type; /* INGOT_F16, INGOT_Q8_0 or INGOT_F32 */
};

/* The result. */
struct adapter_result {
    uint32_t n_pairs;
    uint32_t least_rank, most_rank;
    uint64_t bytes;
};

/* Make an adapter's file. Equal inputs give equal bytes. On an error the output does not change and
 * error_message holds one message. Errors: ERR_IO, ERR_NOT_FOUND, ERR_BAD_MODEL, ERR_UNSUPPORTED,
 * ERR_NO_SPACE. */
enum err adapter_make(const struct adapter_options *o, struct adapter_result *result,
                      char *error_message, size_t error_message_bytes);

#endif
