/* Where models are: the firmware's initrd, cards with FAT32, flash that holds an .ingot raw. */
#ifndef INGOT_RUNTIME_STORAGE_H
#define INGOT_RUNTIME_STORAGE_H

#include "board/board.h"
#include "board/err.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/file.h"

enum { STORAGE_PROBLEM_BYTES = 256 };

struct storage {
    struct block_device *devices[BOARD_MAX_BLOCK];
    unsigned n_devices;
    struct block_device initrd; /* memory, as a device */
    struct fat32 fs;            /* the card in use */
    struct fat32_entry entry;
    struct file file;                                          /* the model */
    uint8_t sector[SECTOR_BYTES] __attribute__((aligned(64))); /* the first of a flash */
    char problem[STORAGE_PROBLEM_BYTES]; /* after an error: a sentence with the cure */
};

/* Find the board's devices and log them. Once. */
void storage_open(struct storage *s, const struct machine *machine);

/* Resolve a model to s->file. name: "" the first there is (initrd, then cards, then flash),
 * "initrd", "flash", or a name or path on the card. The first model of a card is the first of its
 * directory; the others are logged. ERR_NO_DEVICE: nothing attached. ERR_NOT_FOUND, and the errors
 * of fat32.h: s->problem. */
enum err storage_find_model(struct storage *s, const char *name);

/* Print the models of the first card. ERR_NO_DEVICE, ERR_NOT_FOUND: s->problem. */
enum err storage_list_models(struct storage *s);

/* Whether a name is one for a saved conversation, and what is said of one that is not. */
bool storage_is_plain_name(const char *name);
extern const char storage_name_rule[];

/* Resolve saves/NAME.sav of the first card to *out. name: "chat". Errors as above;
 * ERR_BAD_ARGUMENT: a name with characters that do not belong into one. */
enum err storage_find_save(struct storage *s, const char *name, struct file *out);

/* The same of ingot.kv, where keys and values spill to. */
enum err storage_find_kv(struct storage *s, struct file *out);

#endif
