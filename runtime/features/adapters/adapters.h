/* The adapters of a model that are in memory. An adapter is loaded on first use and kept as long as
 * there is room; several can be in use at once. A change of adapters only changes pointers. The
 * cached states of a sequence then belong to other weights; the session tracks this.
 *
 * The adapters' memory is a separate region in front of the model's arena: it begins with the
 * adapters, in the order of loading, and ends with the work space of the adapters in use. */
#ifndef INGOT_RUNTIME_ADAPTERS_H
#define INGOT_RUNTIME_ADAPTERS_H

#include <stdbool.h>

#include "runtime/base/platform.h"
#include "runtime/image/image.h"
#include "runtime/image/signing.h"
#include "runtime/model/lora.h"
#include "runtime/storage/file.h"
#include "runtime/stream/stream.h"

enum { ADAPTERS_SETS = 8 }; /* sets in use at once, for parallel sequences */
enum { ADAPTERS_MOST = 32, ADAPTERS_NAME_BYTES = 256, ADAPTERS_ERROR_MESSAGE_BYTES = 400 };

struct adapters_entry {
    char name[ADAPTERS_NAME_BYTES]; /* the name in the request, or "" if the entry is free */
    uint8_t *base;
    size_t bytes;
    uint64_t used; /* value of n_uses at the last use */
    struct lora_adapter adapter;
};

struct adapters {
    struct memory_range memory;
    const struct image *image; /* image of the model, or NULL if no adapter can be loaded */
    const struct kernels *kernels;
    uint32_t chunk; /* tokens of a pass */
    const struct signing
        *signing; /* the key with which files must be signed, or NULL if unsigned files are
                   * accepted; set after adapters_open */
    struct adapters_entry entries[ADAPTERS_MOST];
    uint8_t *end;                    /* end of the loaded adapters */
    uint64_t n_uses;                 /* number of uses so far */
    struct lora sets[ADAPTERS_SETS]; /* the sets in use, the first n_sets */
    uint32_t n_sets;                 /* at least 1 after adapters_use */
    struct file_read read;
    _Alignas(64) struct adapter_header header;        /* header of the adapter that is being
                                                       * loaded */
    char error_message[ADAPTERS_ERROR_MESSAGE_BYTES]; /* message for the user after an error */
};

/* Open without any adapter, for a model whose passes have up to `chunk` tokens. Image, kernels
 * and memory must outlive a. */
void adapters_open(struct adapters *a, struct memory_range memory, const struct image *image,
                   const struct kernels *kernels, uint32_t chunk);

/* Return the adapter of that name, if it is loaded; otherwise NULL. */
const struct lora_adapter *adapters_find(const struct adapters *a, const char *name);

/* Load an adapter from a file. If needed, drop unused adapters first, beginning with the longest
 * unused. Errors: those of adapter_image.h and of file.h, ERR_NOT_SIGNED, ERR_NO_SPACE, ERR_ABORTED
 * by progress (which may be NULL); all set a->error_message. Even after an error, unused adapters
 * may have been dropped. */
enum err adapters_load(struct adapters *a, const char *name, const struct file *file,
                       stream_progress_fn *progress, void *context);

/* An adapter to use. */
struct adapters_use {
    const char *name; /* name of a loaded adapter */
    float scale;
};

/* Use these n <= LORA_MOST adapters from now on; n may be 0. Returns ERR_NO_SPACE if the work space
 * does not fit; the previous adapters then stay in use. */
enum err adapters_use(struct adapters *a, const struct adapters_use *uses, uint32_t n);

/* A set of adapters for some sequences. adapters_use_sets takes 1 to ADAPTERS_SETS
 * sets. */
struct adapters_set {
    const struct adapters_use *uses;
    uint32_t n;
};
enum err adapters_use_sets(struct adapters *a, const struct adapters_set *sets, uint32_t n);

/* Return the first set, or set number `set`, for the transformer; NULL if no adapter of the set is
 * in use. */
struct lora *adapters_at_work(struct adapters *a);
struct lora *adapters_of_set(struct adapters *a, uint32_t set);

/* Bytes of memory that an adapter from a file of this size takes, with its work space. */
uint64_t adapters_room(uint64_t file_bytes);

#endif
