/* The kind of a file, by its first bytes, when it is not what was looked for. */
#ifndef INGOT_RUNTIME_FILE_MARK_H
#define INGOT_RUNTIME_FILE_MARK_H

#include <stdint.h>

enum { FILE_MARK_BYTES = 8 };

struct file_mark {
    const char *magic; /* FILE_MARK_BYTES, or shorter */
    const char *what;  /* "a saved conversation" */
    const char *cure;  /* what to do with it, where it lies in a wrong place */
};

/* begin: FILE_MARK_BYTES. NULL: none of Ingot's files, and no foreign one that is known. */
const struct file_mark *file_mark_find(const void *begin);

#endif
