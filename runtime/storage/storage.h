/* Finds models in the firmware's initrd, on drives and cards with FAT32 or exFAT, and in flash
 * that holds a raw .ingot. This code prints nothing. Log lines go to a function of the
 * setup. */
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
    const struct platform *platform; /* the platform with storage, initrd and clock; outlives this
                                      * struct */
    struct memory_range *memory;     /* memory into which models are read. If DMA does not reach
                                      * all of it, storage_open may cut memory from its front.
                                      * NULL means any memory */
    bool pio;                        /* use_pio of the platform's storage was called */
    struct trace *trace;             /* trace for the transfers in which a core moves the data; may
                                      * be NULL */
    void (*log)(void *context,
                const char *line); /* writes a log line about a device, a model, or a card's error;
                                    * may be NULL */
    void *context;                 /* context of `log` */
};

struct storage {
    struct storage_setup setup;
    struct block_device *devices[BOARD_MAX_BLOCK]; /* in the order in which models are looked for */
    unsigned n_devices;
    struct block_device *found[BOARD_MAX_BLOCK];   /* the drivers' own devices */
    struct block_device *fronted[BOARD_MAX_BLOCK]; /* (as found[]) the devices that other code
                                                    * uses */
    struct bounce
        bounces[BOARD_MAX_BLOCK]; /* (as found[]) bounces for memory that DMA does not reach */
    struct memory_range spare[BOARD_MAX_RAM - 1]; /* the platform's spare memory that bounces did
                                                   * not take */
    struct io_core fronts[BOARD_MAX_BLOCK]; /* (as found[]) fronts of devices whose data a core
                                  * moves */
    bool is_open;                           /* set after the start, when models own `memory` */
    struct block_device initrd;             /* memory, as a device */
    struct fat32 fs;                        /* the card in use */
    struct fat32_entry entry;
    struct fat32_proof proof;       /* proof that all that is written belongs to only one file */
    const struct file *const *open; /* (n_open) files that may be in use (storage_know_open) */
    unsigned n_open;
    uint8_t sector[SECTOR_BYTES] __attribute__((aligned(64))); /* the first sector of a flash */
    char error_message[STORAGE_ERROR_MESSAGE_BYTES]; /* after an error, what is wrong and what
                                                      * helps */
};

/* Find the platform's devices and log them. Call once. s must not move afterwards. */
void storage_open(struct storage *s, const struct storage_setup *setup);

/* Set the list of files that may be in use. An unused entry has a NULL device. Nothing is ever
 * written into the clusters of these files. The list and its files must not move. */
void storage_know_open(struct storage *s, const struct file *const *files, unsigned n);

/* Call repeatedly while no caller waits for data. If a device came or went, this logs the change
 * and the device's models, and other functions see it from then on. `files` has n open files; an
 * unused entry has a NULL device. Devices of open files keep their slots, even while unplugged.
 * Returns true if a device came or went. Takes as long as a drive needs to get ready. */
bool storage_look(struct storage *s, const struct file *const *files, unsigned n);

/* Resolve a model to *out, with its extents in the table, which must stay as long as *out is used.
 * `name` is "" for the first model (initrd, then NVMe drives, USB drives, cards, flash), "initrd",
 * "flash", or a name or path, which is searched for on all drives and cards. A prefix "nvme:",
 * "usb:" or "card:" limits the search to these devices, and is then part of out->name. The first
 * model of a card is the first valid model by name. Other files before it are logged, with what to
 * do. ERR_NO_DEVICE: nothing is attached. ERR_NOT_FOUND, and the errors of fat32.h:
 * s->error_message. */
enum err storage_find_model(struct storage *s, const char *name, const struct file_table *table,
                            struct file *out);

/* Check that storage_find_model would find a file of that name. The contents are not read, and
 * files in use do not change. Errors: those of storage_find_model. */
enum err storage_check_model(struct storage *s, const char *name);

/* Return the bounce of a device in devices[], or NULL if the device needs none. */
struct bounce *storage_bounce(struct block_device *device);

/* Return true if a file is in the initrd. */
bool storage_is_initrd(const struct storage *s, const struct file *f);

/* Visit the models of every drive and card, in the order of devices and sorted by name on each.
 * Names begin with "nvme:", "usb:" or "card:"; only a card that is the only device has no prefix.
 * Errors: ERR_NO_DEVICE, or that of the last device that cannot be read. */
typedef void storage_visit_fn(void *context, const char *name, uint64_t bytes);
enum err storage_list_models(struct storage *s, storage_visit_fn *visit, void *context);

/* Resolve adapters/NAME.ingot on the first drive or card that has it; or visit all adapters, sorted
 * by name. Errors: those of storage_find_model, and ERR_BAD_ARGUMENT as in storage_find_save. */
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
 * that has it. Errors: those of storage_find_adapter and of the card; ERR_TOO_LONG. */
enum err storage_read_grammar(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_actions(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory);
enum err storage_read_preset(struct storage *s, const char *name, const struct file_table *table,
                             struct storage_memory *memory);

/* Return true if a name is allowed for a saved conversation or an adapter. If the name is not
 * allowed, storage_name_rule is the message. */
bool storage_is_plain_name(const char *name);
extern const char storage_name_rule[];

/* Set *out to the file saves/NAME.sav of the first drive or card that has it. `name` is, for
 * example, "chat"; `bytes` is the size to save, or 0 to load. If the file is missing, the message
 * has the command that makes it, and names the card's other saves. Here and below, a file to be
 * written was proved to share no clusters (fat32_proof.h). Errors: those of storage_find_model;
 * ERR_BAD_ARGUMENT: the name has characters that are not allowed. ERR_UNSUPPORTED: the file is
 * read-only. ERR_BAD_FILESYSTEM: the card is damaged. */
enum err storage_find_save(struct storage *s, const char *name, uint64_t bytes,
                           const struct file_table *table, struct file *out);

/* Do as storage_find_save, for ingot.prefix, the common beginning of conversations. */
enum err storage_find_prefix(struct storage *s, uint64_t bytes, const struct file_table *table,
                             struct file *out);

/* Check that a file that was found before is still in the same place. A card may be pulled out of a
 * running board, changed on a computer and put back. ERR_NOT_FOUND: the file is elsewhere or gone.
 * Errors of the card. s->error_message is set. */
enum err storage_check_place(struct storage *s, const struct file *f);

/* Do as storage_find_save, for models/NAME.use, the expert use of models/NAME.ingot
 * (runtime/stream/expert_use.h). `model` is the model's file name. ERR_TOO_FRAGMENTED: the file is
 * in many pieces. */
enum err storage_find_use(struct storage *s, const char *model, uint64_t bytes, struct file *out);

/* Do as storage_find_save, for ingot.log, the log of turns (runtime/features/turn_log/turn_log.h).
 * ERR_TOO_FRAGMENTED: the file is in many pieces. */
enum err storage_find_log(struct storage *s, struct file *out);

/* Do as storage_find_save, for ingot.kept, the kept prompts (runtime/saved/kept.h).
 * ERR_UNSUPPORTED: the card cannot be written. */
enum err storage_find_kept(struct storage *s, struct file *out);

/* Do as storage_find_save, for ingot.kv, to which keys and values spill. */
enum err storage_find_kv(struct storage *s, const struct file_table *table, struct file *out);

#endif
