/* An input file, mapped for reading. Mapped files are known by name, because a file that becomes
 * shorter meanwhile ends the program at the first missing byte (SIGBUS). */
#ifndef INGOT_FLASH_IMAGE_MAP_FILE_H
#define INGOT_FLASH_IMAGE_MAP_FILE_H

#include <sys/types.h>

#include "flash_image/source/file_kind.h"

struct mapping {
    uint8_t *data; /* NULL: none */
    size_t bytes;
};

/* Map path. On an error m has no mapping, and error_message has an error message without the path.
 * Errors: ERR_NOT_FOUND, ERR_IO, ERR_BAD_MODEL (a folder, a device, or an empty file). */
enum err mapping_open(struct mapping *m, const char *path, char *error_message,
                      size_t error_message_bytes);

/* The same for a source, whose error message becomes "PATH: SENTENCE". A file of a known kind that
 * does not belong here is refused by its kind: ERR_BAD_MODEL, and no mapping. */
enum err map_file(struct source *s, const char *path, enum file_place place, struct mapping *m);

/* Does nothing if there is no mapping. */
void unmap_file(struct mapping *m);

/* Release a mapping's pages from *from to `to`, in steps of 32 MiB except at the end, so that a
 * model larger than memory does not push everything else out. Advances *from. */
void map_release(const uint8_t **from, const uint8_t *to, bool last);

/* ERR_TRUNCATED and an error message with the path: a mapped file became shorter, or was written. Missing bytes in the
 * last page read as zeros, and a file that is rewritten may be half old and half new, so a result made from them is
 * wrong. */
enum err mapping_check(char *error_message, size_t error_message_bytes);

/* The same for the end of the program: also about files that are no longer mapped and had changed
 * when they were released. */
enum err mapping_check_all(char *error_message, size_t error_message_bytes);

/* This program has written to the file mapped at data, after the mapped bytes: that does not count
 * as a change. */
void mapping_renew(const uint8_t *data);

/* True if this file is mapped. */
bool mapping_has(dev_t device, ino_t inode);

/* For a signal handler: the path of the file mapped at `at`, NULL: none; *shorter: the file has
 * lost bytes. */
const char *mapping_at(const void *at, bool *shorter);

#endif
