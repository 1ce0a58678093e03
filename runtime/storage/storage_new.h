/* Makes files on a card while the machine runs, with fat32_write.h. */
#ifndef INGOT_RUNTIME_STORAGE_NEW_H
#define INGOT_RUNTIME_STORAGE_NEW_H

#include "runtime/storage/fat32_write.h"
#include "runtime/storage/storage.h"

struct storage_new {
    struct block_device *device;
    char folder[16], name[FAT32_NEW_NAME_BYTES];
    struct file file; /* the new file, on clusters that were free */
    struct file_table
        rest; /* the rest of the caller's table, used by the proof until the file is published */
};

/* Return the folder for a file with this name's ending, or NULL if no card takes such files. */
const char *storage_new_folder(const char *name);

/* Reserve room for a file (bytes) on the first card that has enough room. The file's extents go to
 * the table, which belongs to the file until it is published. Nothing on the card changes. path:
 * models/NAME.ingot, adapters/NAME.ingot, grammars/NAME.grammar, presets/NAME.txt.
 * ERR_BAD_ARGUMENT: another path. ERR_NO_DEVICE, and errors of fat32_reserve: see
 * s->error_message. */
enum err storage_new_open(struct storage *s, const char *path, uint64_t bytes,
                          const struct file_table *table, struct storage_new *new);

/* Publish a written file on the card. The file replaces a file of the same name. First the proof
 * (fat32_proof.h) is repeated. If the proof fails, the card does not change. Errors of
 * fat32_prove_new and fat32_publish. */
enum err storage_new_publish(struct storage *s, const struct storage_new *new);

#endif
