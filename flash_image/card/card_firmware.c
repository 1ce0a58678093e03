/* Files of the board's maker: copied where somebody has them, named where not. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_board.h"

/* Add those of the n names of `folder` that match, to the folder `below` of the card. */
static enum err add_matches(struct card_image *c, const char *pattern, const char *folder,
                            const char *below, struct dirent **names, int n, bool *found)
{
    char path[CARD_PATH_BYTES], name[CARD_PATH_BYTES];

    *found = false;
    for (int i = 0; i < n; i++) {
        enum err e;

        if (fnmatch(pattern, names[i]->d_name, FNM_PERIOD) != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s%s", folder, below, names[i]->d_name);
        snprintf(name, sizeof name, "%s%s", below, names[i]->d_name);
        e = card_add_file(c, name, path);
        if (e != ERR_OK) {
            return e;
        }
        *found = true;
    }
    return ERR_OK;
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++) {
        free(names[i]);
    }
    free(names);
}

/* A pattern such as "overlays/bcm2712d0.dtbo": a folder of the maker's is one on the card, too. One that
 * is not there has no files. */
static enum err add_pattern(struct card_image *c, const char *pattern, const char *folder,
                            bool *found)
{
    const char *slash = strrchr(pattern, '/');
    char below[CARD_PATH_BYTES] = "", path[CARD_PATH_BYTES];
    struct dirent **names = NULL;
    enum err e;
    int n;

    if (slash != NULL) {
        snprintf(below, sizeof below, "%.*s", (int)(slash + 1 - pattern), pattern);
        pattern = slash + 1;
    }
    *found = false;
    snprintf(path, sizeof path, "%s/%s", folder, below);
    n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        return ERR_OK;
    }
    e = add_matches(c, pattern, folder, below, names, n, found);
    free_names(names, n);
    return e;
}

static enum err add_patterns(struct card_image *c, char *patterns, const char *folder,
                             char *missing, size_t bytes)
{
    char *rest = NULL;

    for (char *pattern = strtok_r(patterns, " ", &rest); pattern != NULL;
         pattern = strtok_r(NULL, " ", &rest)) {
        size_t at = strlen(missing);
        bool found = false;
        enum err e = ERR_OK;

        if (folder != NULL) {
            e = add_pattern(c, pattern, folder, &found);
        }
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
    char copy[sizeof((struct card_board *)0)->firmware];
    DIR *opened;

    snprintf(copy, sizeof copy, "%s", patterns);
    if (folder != NULL) {
        opened = opendir(folder);
        if (opened == NULL) {
            snprintf(c->problem, sizeof c->problem, "%.500s: %s", folder, strerror(errno));
            return ERR_NOT_FOUND;
        }
        closedir(opened);
    }
    return add_patterns(c, copy, folder, missing, bytes);
}
