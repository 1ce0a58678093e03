/* Files that are made on a card while the machine runs, by fat32_write.h. */
#ifndef INGOT_RUNTIME_STORAGE_NEW_H
#define INGOT_RUNTIME_STORAGE_NEW_H

#include "runtime/storage/fat32_write.h"
#include "runtime/storage/storage.h"

struct storage_new {
    struct block_device *device;
    char folder[16], name[FAT32_NEW_NAME_BYTES];
    struct file file; /* clusters that are free, to be written */
    struct file_table
        rest; /* of the caller's table, which is the proof's until the file is published */
};

/* The folder where a file of that name belongs by its end; NULL: a card takes none such. */
const char *storage_new_folder(const char *name);

/* Room for a file (bytes) on the first card that has it, its extents in the table, which stays
 * the file's until it is published; nothing on the card changes. path: models/NAME.ingot,
 * adapters/NAME.ingot, grammars/NAME.grammar, presets/NAME.txt. ERR_BAD_ARGUMENT: another path.
 * ERR_NO_DEVICE, and those of fat32_reserve: s->error_message. */
enum err storage_new_open(struct storage *s, const char *path, uint64_t bytes,
                          const struct file_table *table, struct storage_new *new);

/* It is written: from now on the card has it, in place of one that had its name. The card is
 * proved again first, and left as it is where that fails. Errors of fat32_prove_new and
 * fat32_publish. */
enum err storage_new_publish(struct storage *s, const struct storage_new *new);

#endif
