/* Temporary files with unused names. When a signal ends the program, the process that made a
 * temporary file removes it. */
#ifndef INGOT_FLASH_IMAGE_TEMPORARY_H
#define INGOT_FLASH_IMAGE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Make an empty file with the permissions of the umask, in the folder of the path `beside` (NULL:
 * in $TMPDIR, or /tmp). The file's name goes to path (bytes). Returns the file, open for reading
 * and writing; -1: errno. */
int temporary_file(const char *beside, char *path, size_t bytes);

/* Make a folder under $TMPDIR, or /tmp, that only the user can enter; path gets its name. False:
 * errno. */
bool temporary_folder(char *path, size_t bytes);

/* Note the name of a file that another program will make, so that it is removed like the files made
 * here. False: out of memory. */
bool temporary_expect(const char *path);

/* Remove the file or the empty folder. Ignores NULL and names that were not made here. */
void temporary_remove(const char *path);

/* Forget a file because it has been renamed. */
void temporary_forget(const char *path);

/* Remove the files of this process, from a signal handler or before _exit(). */
void temporary_remove_all(void);

/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU (ulimit -t) remove the remaining files,
 * then end the program as usual. A signal that is ignored, as after nohup, stays ignored. */
void temporary_watch_signals(void);

#endif
