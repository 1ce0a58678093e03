/* The location of models: the firmware's initrd, drives and cards with FAT32 or exFAT, flash
 * that holds an .ingot raw. It prints nothing: its log lines go to the function in its setup. */
#ifndef INGOT_RUNTIME_STORAGE_H
#define INGOT_RUNTIME_STORAGE_H

#include "board/err.h"
#include "runtime/base/platform.h"
#include "runtime/storage/bounce.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_proof.h"
#include "runtime/storage/file.h"
#include "runtime/storage/io_core.h"

enum { STORAGE_ERROR_MESSAGE_BYTES = 400 };

struct storage_setup {
    const struct platform *platform; /* its storage, initrd and clock; outlives the storage */
    struct memory_range *memory;     /* of models: what their bytes go to. If DMA does not reach it
                                      * all, storage_open may cut from its front. NULL: any memory */
    bool pio;                        /* the platform was told to use_pio */
    struct trace *trace;             /* of the transfers that a core moves; or NULL */
    void (*log)(void *context,
                const char *line); /* a device, a model, a card in trouble; or NULL */
    void *context;                 /* of log */
};

struct storage {
    struct storage_setup setup;
    struct block_device *devices[BOARD_MAX_BLOCK]; /* in the order in which models are looked for */
    unsigned n_devices;
    struct block_device *found[BOARD_MAX_BLOCK];   /* the drivers' own, and ... */
    struct block_device *fronted[BOARD_MAX_BLOCK]; /* ... of the same numbers those for others */
    struct bounce
        bounces[BOARD_MAX_BLOCK]; /* where DMA does not reach; of the same number, as ... */
    struct memory_range spare[BOARD_MAX_RAM - 1]; /* the platform's, without what they took */
    struct io_core
        fronts[BOARD_MAX_BLOCK]; /* ... where a core moves the data; of the same number */
    bool is_open;                /* all of `memory` is the models' from here on */
    struct block_device initrd;  /* memory, as a device */
    struct fat32 fs;             /* the card in use */
    struct fat32_entry entry;
    struct fat32_proof proof;       /* that what is written is one file's alone */
    const struct file *const *open; /* (n_open) files that may be at work: storage_know_open */
    unsigned n_open;
    uint8_t sector[SECTOR_BYTES] __attribute__((aligned(64))); /* the first of a flash */
    char error_message
        [STORAGE_ERROR_MESSAGE_BYTES]; /* after an error: an error message with the cure */
};

/* Find the platform's devices and log them. Once: s must not move after it. */
void storage_open(struct storage *s, const struct storage_setup *setup);

/* The files of this storage's user that may be at work, the device of each NULL where it is not:
 * what is written never lies in their clusters. They and the list stay where they are. */
void storage_know_open(struct storage *s, const struct file *const *files, unsigned n);

/* If nobody waits for data, again and again: a device that came or went since the start, or the
 * last look, is logged, and what models it has, and others see it from then on. files: n that
 * are open, the device of each NULL where it is not; what they are of stays what it was, though
 * it be away. Returns whether one did. Takes as long as a drive takes to get ready. */
bool storage_look(struct storage *s, const struct file *const *files, unsigned n);

/* Resolve a model to *out, its extents in the table, which is kept as long as *out is used.
 * name: "" the first there is (initrd, then NVMe drives, USB drives, cards, flash), "initrd",
 * "flash", or a name or path on a drive or card, of which the first that has it is taken;
 * "nvme:", "usb:" or "card:" before it looks on those alone, and stands before out->name then.
 * The first model of a card is the first by name that is one; the others are logged, and what is
 * not a model with what to do. ERR_NO_DEVICE: nothing attached. ERR_NOT_FOUND, and the errors of
 * fat32.h: s->error_message. */
enum err storage_find_model(struct storage *s, const char *name, const struct file_table *table,
                            struct file *out);

/* Whether storage_find_model would find a model of that name, whatever is in it. Files that are
 * in use stay as they are. Errors as above. */
enum err storage_check_model(struct storage *s, const char *name);

/* The bounce that the bytes of a device go through, one of devices[]; NULL: they need none. */
struct bounce *storage_bounce(struct block_device *device);

/* Whether a file is in the initrd. */
bool storage_is_initrd(const struct storage *s, const struct file *f);

/* Visit the models of every drive and card, in their order, those of one sorted by name. If
 * there are several, names begin with "nvme:", "usb:" or "card:"; with "nvme:" and "usb:" in any
 * case. ERR_NO_DEVICE, and what the last of those gave that cannot be read: s->error_message. */
typedef void storage_visit_fn(void *context, const char *name, uint64_t bytes);
enum err storage_list_models(struct storage *s, storage_visit_fn *visit, void *context);

/* Resolve adapters/NAME.ingot of the first drive or card that has it, and visit what is there,
 * sorted by name. Errors as above; ERR_BAD_ARGUMENT as below. */
enum err storage_find_adapter(struct storage *s, const char *name, const struct file_table *table,
                              struct file *out);
enum err storage_list_adapters(struct storage *s, storage_visit_fn *visit, void *context);

/* The destination of a whole file. */
struct storage_memory {
    void *at;     /* 16-byte aligned */
    size_t room;  /* a multiple of 512 */
    size_t bytes; /* of the file */
};

/* All of grammars/NAME.grammar, actions/NAME.txt or presets/NAME.txt, of the first card that has
 * it. Errors as above, those of the card; ERR_TOO_LONG. */
enum err storage_read_grammar(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_actions(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_preset(struct storage *s, const char *name, const struct file_table *table,
                             struct storage_memory *memory);

/* Whether a name may be that of a saved conversation or an adapter, and the error message about
 * one that may not. */
bool storage_is_plain_name(const char *name);
extern const char storage_name_rule[];

/* Resolve saves/NAME.sav of the first drive or card that has it to *out. name: "chat". bytes:
 * that are to be saved, 0 to load; a card without the file is answered with the command that
 * makes one, which names the card's other saves too. The chain to be written was proved to be
 * the file's alone (fat32_proof.h), here and below. Errors as above; ERR_BAD_ARGUMENT: a name
 * with characters that do not belong into one. ERR_UNSUPPORTED: the file has the attribute
 * read-only. ERR_BAD_FILESYSTEM: the card is damaged. */
enum err storage_find_save(struct storage *s, const char *name, uint64_t bytes,
                           const struct file_table *table, struct file *out);

/* The same for ingot.prefix, what conversations begin with; bytes: to save, 0 to load. */
enum err storage_find_prefix(struct storage *s, uint64_t bytes, const struct file_table *table,
                             struct file *out);

/* The same for models/NAME.use, how the experts of models/NAME.ingot are used
 * (runtime/stream/expert_use.h); model: the name of its file; bytes: to save, 0 to read.
 * ERR_TOO_FRAGMENTED as below. */
enum err storage_find_use(struct storage *s, const char *model, uint64_t bytes, struct file *out);

/* The same for ingot.log, for turns (runtime/features/turn_log/turn_log.h); ERR_TOO_FRAGMENTED:
 * in many pieces. */
enum err storage_find_log(struct storage *s, struct file *out);

/* The same for ingot.kept, for prompts (runtime/saved/kept.h). ERR_UNSUPPORTED: its card takes
 * no writes. */
enum err storage_find_kept(struct storage *s, struct file *out);

/* The same for ingot.kv, where keys and values spill to. */
enum err storage_find_kv(struct storage *s, const struct file_table *table, struct file *out);

#endif
