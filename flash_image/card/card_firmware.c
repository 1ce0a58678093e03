/* Files of the board's maker: copied where somebody has them, named where not. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_board.h"

/* Add those of the n names that match. */
static enum err add_matches(struct card_image *c, const char *pattern, const char *folder,
                            struct dirent **names, int n, bool *found)
{
    char path[CARD_PATH_BYTES];

    *found = false;
    for (int i = 0; i < n; i++) {
        enum err e;

        if (fnmatch(pattern, names[i]->d_name, FNM_PERIOD) != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        e = card_add_file(c, names[i]->d_name, path);
        if (e != ERR_OK) {
            return e;
        }
        *found = true;
    }
    return ERR_OK;
}

static enum err add_patterns(struct card_image *c, char *patterns, const char *folder,
                             struct dirent **names, int n, char *missing, size_t bytes)
{
    char *rest = NULL;

    for (char *pattern = strtok_r(patterns, " ", &rest); pattern != NULL;
         pattern = strtok_r(NULL, " ", &rest)) {
        size_t at = strlen(missing);
        bool found;
        enum err e = add_matches(c, pattern, folder, names, n, &found);

        if (e != ERR_OK) {
            return e;
        }
        if (!found) {
            snprintf(missing + at, bytes - at, "%s%s", at > 0 ? " " : "", pattern);
        }
    }
    return ERR_OK;
}

enum err card_add_firmware(struct card_image *c, const char *patterns, const char *folder,
                           char *missing, size_t bytes)
{
    struct dirent **names = NULL;
    char copy[sizeof((struct card_board *)0)->firmware];
    enum err e;
    int n = 0;

    snprintf(copy, sizeof copy, "%s", patterns);
    if (folder != NULL) {
        n = scandir(folder, &names, NULL, alphasort);
        if (n < 0) {
            snprintf(c->problem, sizeof c->problem, "%.500s: %s", folder, strerror(errno));
            return ERR_NOT_FOUND;
        }
    }
    e = add_patterns(c, copy, folder, names, n, missing, bytes);
    for (int i = 0; i < n; i++) {
        free(names[i]);
    }
    free(names);
    return e;
}
