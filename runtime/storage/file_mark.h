/* Names the kind of a file by its first bytes, for messages about a wrong file. */
#ifndef INGOT_RUNTIME_FILE_MARK_H
#define INGOT_RUNTIME_FILE_MARK_H

#include <stdint.h>

enum { FILE_MARK_BYTES = 8 };

struct file_mark {
    const char *magic; /* FILE_MARK_BYTES, or shorter */
    const char *what;  /* "a saved conversation" */
    const char *cure;  /* what to do with a file that lies in the wrong place */
};

/* begin: the first FILE_MARK_BYTES. Return NULL if the file is neither Ingot's nor a known file of
 * another program. */
const struct file_mark *file_mark_find(const void *begin);

#endif
