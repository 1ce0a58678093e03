/* A file that a command makes. It is written under an unused temporary name, and renamed when it is
 * complete. If anything fails before the renaming, an old file of the final name stays unchanged,
 * and the temporary file is removed, even after a signal (temporary.h). The new file has the
 * permissions of the old file or, if there is none, those of the umask. If the name is a symbolic
 * link, its target is replaced or created, and the link stays. Hard links are not followed: other
 * names of the old file keep its contents. A pipe or a device is written to and never replaced. */
#ifndef INGOT_FLASH_IMAGE_OUTPUT_FILE_H
#define INGOT_FLASH_IMAGE_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "board/err.h"

struct output_wish {
    const char *path;
    const char *input, *other; /* input files: neither may be the output. NULL: there is none, or it
                                  is mapped (map_file.h) */
    const char *instead; /* for outputs whose bytes are not written in order: the end of the error
                            message that refuses a pipe or a device, such as "name a new one". NULL:
                            pipes and devices are allowed */
};

struct output_file {
    int fd;     /* -1: none is open */
    int error;  /* errno of the first failed write; 0: none */
    bool aside; /* false if the output is a pipe, a device, or a file that grows */
    off_t
        whole; /* bytes of a growing file that remain if a write fails; -1: the file cannot grow */
    FILE *stream;          /* NULL: output_stream() was not called */
    const char *name;      /* as given by the user */
    char path[PATH_MAX];   /* path of the file being written, so that it can be opened again */
    char target[PATH_MAX]; /* its final name */
};

/* Open the output. On an error nothing is open, and error_message (bytes) has an error message that
 * begins with the path. wish->path must outlive o. Errors: ERR_BAD_ARGUMENT (a folder, the input, a
 * device that does not exist, or a device that is not allowed), ERR_IO. */
enum err output_open(struct output_file *o, const struct output_wish *wish, char *error_message,
                     size_t bytes);

/* Check before the work begins that the output can be opened. Errors as above. */
enum err output_check(const struct output_wish *wish, char *error_message, size_t bytes);

/* Open the file to append rows in place; create it if it is missing. *is_new: true if the file was
 * empty, or is not a regular file. Errors as above. */
enum err output_open_rows(struct output_file *o, const char *path, bool *is_new,
                          char *error_message, size_t bytes);

/* Append bytes of data. A growing file gets all bytes or none. On an error returns false, sets
 * o->error and writes nothing more. */
bool output_put(struct output_file *o, const void *data, size_t bytes);

/* A stream that calls output_put; closing o closes it. NULL: out of memory. */
FILE *output_stream(struct output_file *o);

/* Finish: flush the file to the disk, rename it, and flush the folder. On an error the file is
 * dropped, and error_message (bytes) has an error message. Errors: ERR_IO (a write failed, the disk
 * is full), ERR_TRUNCATED (a mapped input became shorter). */
enum err output_keep(struct output_file *o, char *error_message, size_t bytes);

/* Close and remove the temporary file; does nothing if nothing is open. */
void output_drop(struct output_file *o);

/* Drop the file like output_drop, set the message from o->error, and return ERR_IO. */
enum err output_fail(struct output_file *o, char *error_message, size_t bytes);

/* Write a whole file: output_open, bytes of data, output_keep. */
enum err output_write(const struct output_wish *wish, const void *data, size_t data_bytes,
                      char *error_message, size_t bytes);

#endif
