#include "host/card/card_boards.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool card_boards_find(char *path, size_t bytes)
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *folder;

    if (n <= 0) {
        return false;
    }
    program[n] = '\0';
    *strrchr(program, '/') = '\0'; /* leave the folder of the program */
    folder = strrchr(program, '/');
    if (folder == NULL) {
        return false;
    }
    *folder++ = '\0'; /* the folder around it */
    snprintf(path, bytes, "%s/share/ingot/boards", program);
    if (is_folder(path)) {
        return true;
    }
    snprintf(path, bytes, "%s", program);
    return strcmp(folder, "host") == 0;
}
