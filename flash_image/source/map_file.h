/* An input file, mapped for reading. The names of mapped files are kept for an error message: if
 * a file becomes shorter, access to a missing byte ends the program (SIGBUS). */
#ifndef INGOT_FLASH_IMAGE_MAP_FILE_H
#define INGOT_FLASH_IMAGE_MAP_FILE_H

#include <sys/types.h>

#include "flash_image/source/file_kind.h"

struct mapping {
    uint8_t *data; /* NULL: none */
    size_t bytes;
};

/* Map the file at path. On an error m has no mapping, and error_message does not contain the path.
 * Errors: ERR_NOT_FOUND, ERR_IO, ERR_BAD_MODEL (a folder, a device, or an empty file). */
enum err mapping_open(struct mapping *m, const char *path, char *error_message,
                      size_t error_message_bytes);

/* Map the file at path; s->error_message gets "PATH: SENTENCE". If the file is of a known kind that
 * is wrong in this place, the message names the kind: ERR_BAD_MODEL, and no mapping. */
enum err map_file(struct source *s, const char *path, enum file_place place, struct mapping *m);

/* Unmap the file; does nothing if there is no mapping. */
void unmap_file(struct mapping *m);

/* Release a mapping's pages from *from to `to`, in steps of 32 MiB except at the end, so that a
 * model larger than memory does not fill all of it. Advances *from. */
void map_release(const uint8_t **from, const uint8_t *to, bool last);

/* Check that no mapped file became shorter or was written to; else ERR_TRUNCATED and an error
 * message with the path. A result from such a file is wrong: missing bytes in its last page read as
 * zeros, and a rewritten file may be half old and half new. */
enum err mapping_check(char *error_message, size_t error_message_bytes);

/* As mapping_check(), at the end of the program, but also report files that had changed before they
 * were unmapped. */
enum err mapping_check_all(char *error_message, size_t error_message_bytes);

/* Record that this program has written to the file mapped at `data`, after the mapped bytes:
 * this is not a change that mapping_check() reports. */
void mapping_renew(const uint8_t *data);

/* True if this file is mapped. */
bool mapping_has(dev_t device, ino_t inode);

/* Return the path of the file mapped at `at`, or NULL; set *change to how the file has changed, in
 * words, or NULL. A signal handler may call this function. */
const char *mapping_at(const void *at, const char **change);

#endif
