/* The adapters of a model that are in memory: loaded when they are asked for first, kept as long as
 * there is room, several at work at once. To change which are at work is to change pointers; what is
 * cached of a sequence is then of other weights, which is the session's to know.
 *
 * Their memory is a region of its own in front of the model's arena: adapters from its beginning, in the
 * order of their loading, the work space of those at work at its end. */
#ifndef INGOT_RUNTIME_ADAPTERS_H
#define INGOT_RUNTIME_ADAPTERS_H

#include <stdbool.h>

#include "runtime/base/platform.h"
#include "runtime/image/image.h"
#include "runtime/image/signing.h"
#include "runtime/model/lora.h"
#include "runtime/storage/file.h"
#include "runtime/stream/stream.h"

enum { ADAPTERS_SETS = 8 }; /* at work at once, for sequences side by side */
enum { ADAPTERS_MOST = 32, ADAPTERS_NAME_BYTES = 256, ADAPTERS_ERROR_MESSAGE_BYTES = 400 };

struct adapters_entry {
    char name[ADAPTERS_NAME_BYTES]; /* by which it was asked for; "": the entry is free */
    uint8_t *base;
    size_t bytes;
    uint64_t used; /* when, by a count */
    struct lora_adapter adapter;
};

struct adapters {
    struct memory_range memory;
    const struct image *image; /* of the model; NULL: none is loaded */
    const struct kernels *kernels;
    uint32_t chunk; /* tokens of a pass */
    const struct signing
        *signing; /* that files must be signed by: set after adapters_open; NULL: any */
    struct adapters_entry entries[ADAPTERS_MOST];
    uint8_t *end;                    /* of those that are loaded */
    uint64_t n_uses;                 /* counted */
    struct lora sets[ADAPTERS_SETS]; /* those at work, the first n_sets */
    uint32_t n_sets;                 /* at least 1 after adapters_use */
    struct file_read read;
    _Alignas(64) struct adapter_header header; /* of the one that is being loaded */
    char error_message
        [ADAPTERS_ERROR_MESSAGE_BYTES]; /* after an error: an error message for the user */
};

/* None is loaded, for a model whose passes have up to `chunk` tokens. Image, kernels and memory outlive
 * a. */
void adapters_open(struct adapters *a, struct memory_range memory, const struct image *image,
                   const struct kernels *kernels, uint32_t chunk);

/* The adapter of that name, if it is loaded; else NULL. */
const struct lora_adapter *adapters_find(const struct adapters *a, const char *name);

/* Load it from a file, in the place of others that are not at work, the one that was at work longest ago
 * first. Errors: those of adapter_image.h and of file.h, ERR_NOT_SIGNED, ERR_NO_SPACE, ERR_ABORTED by progress (which may
 * be NULL); a->error_message. Others may have been forgotten then, none that is at work. */
enum err adapters_load(struct adapters *a, const char *name, const struct file *file,
                       stream_progress_fn *progress, void *context);

/* One that shall be at work. */
struct adapters_use {
    const char *name; /* of one that is loaded */
    float scale;
};

/* These are at work from now on, n <= LORA_MOST; 0: none. ERR_NO_SPACE: there is no room for the work
 * space; what was at work still is. */
enum err adapters_use(struct adapters *a, const struct adapters_use *uses, uint32_t n);

/* The same for n sets, 1 to ADAPTERS_SETS, each for sequences of its own. */
struct adapters_set {
    const struct adapters_use *uses;
    uint32_t n;
};
enum err adapters_use_sets(struct adapters *a, const struct adapters_set *sets, uint32_t n);

/* For the transformer: NULL where none is at work in a set. */
struct lora *adapters_at_work(struct adapters *a);
struct lora *adapters_of_set(struct adapters *a, uint32_t set);

/* Bytes that an adapter of such a file takes once it is loaded, with its work space. */
uint64_t adapters_room(uint64_t file_bytes);

#endif
