/* The places of models: the firmware's initrd, drives and cards with FAT32 or exFAT, and flash
 * that holds a raw .ingot. It prints nothing: its log lines go to the function in its setup. */
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
    struct memory_range *memory;     /* memory for models, into which their bytes go. If DMA does
                                      * not reach all of it, storage_open may cut from its front.
                                      * NULL: any memory */
    bool pio;                        /* the platform was told to use_pio */
    struct trace *trace;             /* trace of the transfers that a core moves; or NULL */
    void (*log)(void *context,
                const char *line); /* logs a line about a device, a model, a card in trouble; or
                                    * NULL */
    void *context;                 /* of log */
};

struct storage {
    struct storage_setup setup;
    struct block_device *devices[BOARD_MAX_BLOCK]; /* in the order in which models are looked for */
    unsigned n_devices;
    struct block_device *found[BOARD_MAX_BLOCK];   /* the drivers' own devices, and ... */
    struct block_device *fronted[BOARD_MAX_BLOCK]; /* ... with the same numbers those for other
                                                    * code */
    struct bounce
        bounces[BOARD_MAX_BLOCK]; /* for memory that DMA does not reach; with the same numbers,
                                   * like ... */
    struct memory_range spare[BOARD_MAX_RAM - 1]; /* the platform's, without what they took */
    struct io_core
        fronts[BOARD_MAX_BLOCK]; /* ... for devices whose data a core moves; with the same
                                  * numbers */
    bool is_open;                /* all of `memory` belongs to models from here on */
    struct block_device initrd;  /* memory, as a device */
    struct fat32 fs;             /* the card in use */
    struct fat32_entry entry;
    struct fat32_proof proof;       /* proof that what is written belongs to one file alone */
    const struct file *const *open; /* (n_open) files that may be in use: storage_know_open */
    unsigned n_open;
    uint8_t sector[SECTOR_BYTES] __attribute__((aligned(64))); /* the first of a flash */
    char error_message[STORAGE_ERROR_MESSAGE_BYTES]; /* after an error: a message with the cure */
};

/* Find the platform's devices and log them. Call once: s must not move afterwards. */
void storage_open(struct storage *s, const struct storage_setup *setup);

/* The files of this storage's user that may be in use; the device of an unused one is NULL.
 * Nothing is ever written into their clusters. They and the list must stay where they are. */
void storage_know_open(struct storage *s, const struct file *const *files, unsigned n);

/* Call again and again while nobody waits for data: if a device came or went, logs it and the
 * models that it has, and others see it from then on. files: n open ones; the device of an
 * unused one is NULL. Their devices keep their slots, even while they are unplugged. Returns
 * whether a device came or went. Takes as long as a drive needs to get ready. */
bool storage_look(struct storage *s, const struct file *const *files, unsigned n);

/* Resolve a model to *out, with its extents in the table, which must stay as long as *out is
 * used. name: "" is the first model (initrd, then NVMe drives, USB drives, cards, flash), or
 * "initrd", "flash", or a name or path on the first drive or card that has it; "nvme:", "usb:"
 * or "card:" before it limits the search to those, and is then part of out->name. The first
 * model of a card is the first valid one by name; the others are logged, and so is what is not a
 * model, with what to do. ERR_NO_DEVICE: nothing is attached. ERR_NOT_FOUND, and the errors of
 * fat32.h: s->error_message. */
enum err storage_find_model(struct storage *s, const char *name, const struct file_table *table,
                            struct file *out);

/* Whether storage_find_model would find a model of that name, whatever its contents. Files in
 * use do not change. Errors as above. */
enum err storage_check_model(struct storage *s, const char *name);

/* The bounce that a device's bytes go through, for one of devices[]; NULL: it needs none. */
struct bounce *storage_bounce(struct block_device *device);

/* Whether a file is in the initrd. */
bool storage_is_initrd(const struct storage *s, const struct file *f);

/* Visit the models of every drive and card, in their order, those of one sorted by name. With
 * several devices, names begin with "nvme:", "usb:" or "card:"; "nvme:" and "usb:" always
 * appear. ERR_NO_DEVICE, or the error of the last device that cannot be read: s->error_message. */
typedef void storage_visit_fn(void *context, const char *name, uint64_t bytes);
enum err storage_list_models(struct storage *s, storage_visit_fn *visit, void *context);

/* Resolve adapters/NAME.ingot on the first drive or card that has it, and visit the adapters,
 * sorted by name. Errors as above; ERR_BAD_ARGUMENT as below. */
enum err storage_find_adapter(struct storage *s, const char *name, const struct file_table *table,
                              struct file *out);
enum err storage_list_adapters(struct storage *s, storage_visit_fn *visit, void *context);

/* The destination of a whole file. */
struct storage_memory {
    void *at;     /* 16-byte aligned */
    size_t room;  /* a multiple of 512 */
    size_t bytes; /* bytes of the file */
};

/* Read all of grammars/NAME.grammar, actions/NAME.txt or presets/NAME.txt, from the first card
 * that has it. Errors as above, those of the card; ERR_TOO_LONG. */
enum err storage_read_grammar(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_actions(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_preset(struct storage *s, const char *name, const struct file_table *table,
                             struct storage_memory *memory);

/* Whether a name is allowed for a saved conversation or an adapter, and the message if it is
 * not. */
bool storage_is_plain_name(const char *name);
extern const char storage_name_rule[];

/* Resolve saves/NAME.sav on the first drive or card that has it to *out. name: "chat". bytes:
 * the size to save, 0 to load. If a card lacks the file, the message has the command that makes
 * one, which also names the card's other saves. Here and below, a chain to be written was proved
 * to belong to the file alone (fat32_proof.h). Errors as above; ERR_BAD_ARGUMENT: the name has
 * characters that are not allowed. ERR_UNSUPPORTED: the file is read-only. ERR_BAD_FILESYSTEM:
 * the card is damaged. */
enum err storage_find_save(struct storage *s, const char *name, uint64_t bytes,
                           const struct file_table *table, struct file *out);

/* The same for ingot.prefix, the common beginning of conversations; bytes: the size to save, 0
 * to load. */
enum err storage_find_prefix(struct storage *s, uint64_t bytes, const struct file_table *table,
                             struct file *out);

/* The same for models/NAME.use, the expert use of models/NAME.ingot
 * (runtime/stream/expert_use.h); model: the name of its file; bytes: the size to save, 0 to
 * read. ERR_TOO_FRAGMENTED as below. */
enum err storage_find_use(struct storage *s, const char *model, uint64_t bytes, struct file *out);

/* The same for ingot.log, for turns (runtime/features/turn_log/turn_log.h); ERR_TOO_FRAGMENTED:
 * in many pieces. */
enum err storage_find_log(struct storage *s, struct file *out);

/* The same for ingot.kept, for prompts (runtime/saved/kept.h). ERR_UNSUPPORTED: its card cannot
 * be written. */
enum err storage_find_kept(struct storage *s, struct file *out);

/* The same for ingot.kv, to which keys and values spill. */
enum err storage_find_kv(struct storage *s, const struct file_table *table, struct file *out);

#endif
