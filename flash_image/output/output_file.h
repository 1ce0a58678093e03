/* A file that a command makes. It is written aside, under a name that nobody has, and gets its own when it is whole: whatever
 * goes wrong before, an old file of that name stays as it was and nothing else is left, after signals too
 * (temporary.h). The new file has the rights of the old one; without an old one the umask decides. A symbolic link is
 * written through: the file that it leads to is replaced or made, the link stays. A hard link is not: other names of the
 * old file keep its contents. A pipe or a device is written into and never replaced. */
#ifndef INGOT_FLASH_IMAGE_OUTPUT_FILE_H
#define INGOT_FLASH_IMAGE_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "board/err.h"

struct output_wish {
    const char *path;
    const char *input,
        *other; /* files that are read for it: neither may be the output. NULL: none, or one that is
                                * mapped (map_file.h) */
    const char *instead; /* of a pipe or a device, where the bytes are not written in order: ends
                          * the error message, such as "name a new one"; NULL: these will do */
};

struct output_file {
    int fd;     /* -1: none is open */
    int error;  /* errno of the first write that failed; 0: none */
    bool aside; /* else it is a pipe, a device, or a file that grows */
    off_t
        whole; /* bytes of a file that grows which stay after a write that failed; -1: not one of these */
    FILE *stream;          /* NULL: output_stream() was not called */
    const char *name;      /* as the user gave it */
    char path[PATH_MAX];   /* of what is written: it can be opened again */
    char target[PATH_MAX]; /* the name that it gets */
};

/* Open it. On an error nothing is open, and error_message (bytes) has an error message that begins with the path. wish->path outlives o.
 * Errors: ERR_BAD_ARGUMENT (a folder, the input, a device that does not exist, or one that will not do), ERR_IO. */
enum err output_open(struct output_file *o, const struct output_wish *wish, char *error_message,
                     size_t bytes);

/* Whether it could be opened, before the work begins. Errors as above. */
enum err output_check(const struct output_wish *wish, char *error_message, size_t bytes);

/* Open it to add rows to what it has, in place; one that does not exist is made. *is_new: it was empty, or is not a file. Errors as above. */
enum err output_open_rows(struct output_file *o, const char *path, bool *is_new,
                          char *error_message, size_t bytes);

/* Write bytes of data at the end; of a file that grows, all or none. False: o->error says why, and nothing is written any more. */
bool output_put(struct output_file *o, const void *data, size_t bytes);

/* A stream that calls output_put; what closes o closes it. NULL: no memory. */
FILE *output_stream(struct output_file *o);

/* All was written: flush it to the disk, give it its name, and flush the folder. On an error it is dropped, and error_message (bytes) has an error message.
 * Errors: ERR_IO (a write failed, the disk is full), ERR_TRUNCATED (a mapped input became shorter). */
enum err output_keep(struct output_file *o, char *error_message, size_t bytes);

/* Close and remove what was written aside; does nothing where nothing is open. */
void output_drop(struct output_file *o);

/* The same, with an error message about o->error. Returns ERR_IO. */
enum err output_fail(struct output_file *o, char *error_message, size_t bytes);

/* output_open, bytes of data, output_keep. */
enum err output_write(const struct output_wish *wish, const void *data, size_t data_bytes,
                      char *error_message, size_t bytes);

#endif
