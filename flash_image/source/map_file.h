/* A file of the caller's, mapped for reading. Those that are mapped are known by name, since a file that becomes shorter
 * meanwhile ends the program at the first byte that is gone (SIGBUS). */
#ifndef INGOT_FLASH_IMAGE_MAP_FILE_H
#define INGOT_FLASH_IMAGE_MAP_FILE_H

#include <sys/types.h>

#include "flash_image/source/file_kind.h"

struct mapping {
    uint8_t *data; /* NULL: none */
    size_t bytes;
};

/* Map path. On an error m has no mapping, and error_message an error message without the path.
 * Errors: ERR_NOT_FOUND, ERR_IO, ERR_BAD_MODEL (a folder, a device, or an empty file). */
enum err mapping_open(struct mapping *m, const char *path, char *error_message,
                      size_t error_message_bytes);

/* The same for a source, whose problem becomes "PATH: SENTENCE". A file of a kind that is known and
 * does not suit the place is refused by what it is: ERR_BAD_MODEL, and no mapping. */
enum err map_file(struct source *s, const char *path, enum file_place place, struct mapping *m);

/* Does nothing where there is no mapping. */
void unmap_file(struct mapping *m);

/* Let go of a mapping's pages from *from to `to`, in steps of 32 MiB unless these are the last, so
 * that a model larger than memory does not push everything else out. *from moves along. */
void map_release(const uint8_t **from, const uint8_t *to, bool last);

/* ERR_TRUNCATED and an error message with the path: a file that is mapped became shorter, or was written. Bytes that are gone and lie in
 * the last page read as zeros, and a file that is written anew may be half of each, so a result made of them is wrong. */
enum err mapping_check(char *error_message, size_t error_message_bytes);

/* The same for the end of the program: also about files that are mapped no longer and had changed when they were let go of. */
enum err mapping_check_all(char *error_message, size_t error_message_bytes);

/* This program has written the file that is mapped at data, behind the bytes that are mapped: it has not changed. */
void mapping_renew(const uint8_t *data);

/* Whether this file is mapped. */
bool mapping_has(dev_t device, ino_t inode);

/* For a signal handler: the path of what is mapped at `at`, NULL: nothing; *shorter: whether the file has lost bytes. */
const char *mapping_at(const void *at, bool *shorter);

#endif
