#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/card/card_board.h"

enum { TEXT_BYTES = 1024 };

/* ---- the board's folder ---------------------------------------------------------------------- */

static bool is_there(const char *folder, const char *name, const char *file)
{
    char path[CARD_PATH_BYTES + 256];

    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    return access(path, F_OK) == 0;
}

/* Write the names of the boards in a folder, separated by spaces, to names (bytes); "" if the
 * folder has none. */
static void list_boards(const char *boards, char *names, size_t bytes)
{
    struct dirent **entries = NULL;
    int n = scandir(boards, &entries, NULL, alphasort);

    names[0] = '\0';
    for (int i = 0; i < n; i++) {
        size_t at = strlen(names);

        if (is_there(boards, entries[i]->d_name, "card/about")) {
            snprintf(names + at, bytes - at, " %s", entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}

static enum err say_boards(const char *boards, const char *name, char *error_message, size_t bytes)
{
    char names[TEXT_BYTES];

    list_boards(boards, names, sizeof names);
    if (names[0] == '\0') {
        snprintf(error_message, bytes,
                 "%.300s has no boards: --boards takes share/ingot/boards of a release, or the "
                 "build folder of a checkout after make image BOARD=%.40s",
                 boards, name);
    } else {
        snprintf(error_message, bytes,
                 "'%.60s' is not a board of %.300s, which has:%.600s (in a checkout, make image "
                 "BOARD=NAME adds one)",
                 name, boards, names);
    }
    return ERR_NOT_FOUND;
}

/* "21686148-6449-6E6F-744E-656564454649 b007c0de c08b8355": a GUID, whose first three parts are
 * little-endian (UEFI 2.10, 5.3.3), and numbers. */
static void take_loader(struct card_board *b, const char *line)
{
    unsigned a, c, d, e;
    unsigned long long f;

    if (sscanf(line, "%8x-%4x-%4x-%4x-%12llx %x %x", &a, &c, &d, &e, &f, &b->loader_magics[0],
               &b->loader_magics[1]) < 6) {
        return;
    }
    card_put_u32(b->loader_type, a);
    card_put_u16(b->loader_type + 4, c);
    card_put_u16(b->loader_type + 6, d);
    b->loader_type[8] = (uint8_t)(e >> 8);
    b->loader_type[9] = (uint8_t)e;
    for (unsigned i = 0; i < 6; i++) {
        b->loader_type[10 + i] = (uint8_t)(f >> (40 - 8 * i));
    }
}

/* Store the value of a line "KEY VALUE" of the file `about`. */
static void take_line(struct card_board *b, const char *line)
{
    if (strncmp(line, "image ", 6) == 0) {
        snprintf(b->image, sizeof b->image, "%s", line + 6);
    } else if (strncmp(line, "firmware ", 9) == 0) {
        snprintf(b->firmware, sizeof b->firmware, "%s", line + 9);
    } else if (strncmp(line, "trees ", 6) == 0) {
        snprintf(b->trees, sizeof b->trees, "%s", line + 6);
    } else if (strncmp(line, "more ", 5) == 0) {
        snprintf(b->more, sizeof b->more, "%s", line + 5);
    } else if (strncmp(line, "licence ", 8) == 0) {
        snprintf(b->licence, sizeof b->licence, "%s", line + 8);
    } else if (strncmp(line, "slot ", 5) == 0) {
        b->slot = (unsigned)strtoul(line + 5, NULL, 10);
    } else if (strncmp(line, "most_words ", 11) == 0) {
        b->most_words = (unsigned)strtoul(line + 11, NULL, 10);
    } else if (strncmp(line, "loader ", 7) == 0) {
        take_loader(b, line + 7);
    } else if (strcmp(line, "table mbr") == 0) {
        b->mbr_only = true;
    }
}

static enum err open_one(struct card_board *b, const char *boards, const char *name,
                         char *error_message, size_t error_message_bytes)
{
    char path[CARD_PATH_BYTES + 64];
    char *rest = NULL;
    char *text;

    memset(b, 0, sizeof *b);
    b->name = name;
    snprintf(b->folder, sizeof b->folder, "%s/%s", boards, name);
    snprintf(path, sizeof path, "%s/card/about", b->folder);
    text = strchr(name, '/') == NULL ? card_read_text(path) : NULL;
    if (text == NULL) {
        return say_boards(boards, name, error_message, error_message_bytes);
    }
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        take_line(b, line);
    }
    free(text);
    return ERR_OK;
}

/* Add the images of the other EFI boards; firmware tells them apart by their names on the card. */
static void add_beside(struct card_board *b, const char *boards, const char *name)
{
    struct card_board other;
    char error_message[TEXT_BYTES];
    struct card_beside *beside = &b->beside[b->n_beside];

    if (b->n_beside == CARD_MOST_BESIDE ||
        open_one(&other, boards, name, error_message, sizeof error_message) != ERR_OK) {
        return;
    }
    snprintf(beside->path, sizeof beside->path, "%s/ingot.bin", other.folder);
    snprintf(beside->image, sizeof beside->image, "%s", other.image);
    b->n_beside++;
}

static enum err say_no_efi(const char *boards, char *error_message, size_t bytes)
{
    char names[TEXT_BYTES];

    list_boards(boards, names, sizeof names);
    if (names[0] == '\0') {
        return say_boards(boards, "efi-arm64", error_message, bytes);
    }
    snprintf(error_message, bytes,
             "%.300s has no image for EFI firmware: in a checkout, make image BOARD=efi-x86_64 "
             "builds one for PCs, efi-arm64 and efi-riscv64 are for other machines",
             boards);
    return ERR_NOT_FOUND;
}

/* Open the board "efi": every EFI board that is built. */
static enum err open_efi(struct card_board *b, const char *boards, char *error_message,
                         size_t bytes)
{
    struct dirent **entries = NULL;
    int n = scandir(boards, &entries, NULL, alphasort);
    enum err e = ERR_NOT_FOUND;

    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        bool built = strncmp(name, "efi-", 4) == 0 && is_there(boards, name, "card/about") &&
                     is_there(boards, name, "ingot.bin");

        if (built && e == ERR_OK) {
            add_beside(b, boards, name);
        } else if (built) {
            e = open_one(b, boards, name, error_message, bytes);
        }
    }
    for (int i = 0; i < n; i++) {
        free(entries[i]);
    }
    free(entries);
    b->name = "efi";
    return e == ERR_OK ? ERR_OK : say_no_efi(boards, error_message, bytes);
}

enum err card_board_open(struct card_board *b, const char *boards, const char *name,
                         char *error_message, size_t error_message_bytes)
{
    if (strcmp(name, "efi") == 0) {
        return open_efi(b, boards, error_message, error_message_bytes);
    }
    return open_one(b, boards, name, error_message, error_message_bytes);
}

/* ---- its files ------------------------------------------------------------------------------- */

static enum err refuse_file(struct card_image *c, const char *path)
{
    snprintf(c->error_message, sizeof c->error_message, "%.500s: %s", path, strerror(errno));
    return ERR_NOT_FOUND;
}

static enum err add_filled(struct card_image *c, const char *name, const char *path,
                           const struct card_place *places, bool crlf)
{
    size_t bytes = 0;
    char *text = card_fill_in(path, places, crlf, &bytes);
    enum err e;

    if (text == NULL) {
        return refuse_file(c, path);
    }
    e = card_add_text(c, name, text, bytes);
    free(text);
    return e;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Add the files of a folder and of its subfolders, in the order of their names; `on_card` is "" or
 * ends in a slash. At most two levels of subfolders are added. */
static enum err add_folder(struct card_image *c, const char *folder, const char *on_card,
                           const struct card_place *places, int deep)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, visible, alphasort);
    enum err e = ERR_OK;

    for (int i = 0; i < n; i++) {
        char path[CARD_PATH_BYTES + 512], name[TEXT_BYTES];
        struct stat about;

        snprintf(path, sizeof path, "%.4090s/%s", folder, entries[i]->d_name);
        snprintf(name, sizeof name, "%.500s%s", on_card, entries[i]->d_name);
        if (e != ERR_OK || stat(path, &about) != 0) {
            continue;
        }
        if (!S_ISDIR(about.st_mode)) {
            e = add_filled(c, name, path, places, false);
        } else if (deep > 0) {
            strncat(name, "/", sizeof name - strlen(name) - 1);
            e = add_folder(c, path, name, places, deep - 1);
        }
    }
    for (int i = 0; i < n; i++) {
        free(entries[i]);
    }
    free(entries);
    return e;
}

static enum err add_image(struct card_image *c, const struct card_board *b)
{
    char path[CARD_PATH_BYTES + 64];
    enum err e;

    snprintf(path, sizeof path, "%s/ingot.bin", b->folder);
    if (access(path, F_OK) != 0) {
        snprintf(c->error_message, sizeof c->error_message,
                 "%.500s: there is no such file; make image BOARD=%s builds it", path, b->name);
        return ERR_NOT_FOUND;
    }
    e = card_add_file(c, b->image, path);
    for (unsigned i = 0; e == ERR_OK && i < b->n_beside; i++) {
        e = card_add_file(c, b->beside[i].image, b->beside[i].path);
    }
    return e;
}

/* Write the first line of the README, which says which files are missing and how to copy them; ""
 * if none is missing. */
static void missing_text(const struct card_missing *missing, bool given, char *text, size_t bytes)
{
    const char *between = missing->files[0] != '\0' && missing->trees[0] != '\0' ? ", " : "";

    text[0] = '\0';
    if (missing->files[0] == '\0' && missing->trees[0] == '\0') {
        return;
    }
    snprintf(
        text, bytes,
        "%s: copy %s%s%s next to this file (a name with a slash goes into that folder), from the small partition (bootfs) of "
        "any Raspberry Pi OS card, or from github.com/raspberrypi/firmware, folder boot.\n"
        "(ingot card --firmware FOLDER-OR-ZIP and make card FIRMWARE=FOLDER-OR-ZIP copy them.)\n",
        missing->files[0] != '\0' || !given
            ? "FIRMWARE IS MISSING: no board starts from this card yet"
            : "Device trees of the boards in brackets are missing; these boards may not start without them",
        missing->files, between, missing->trees);
}

/* Read a file without its last newline into allocated memory; "" if the file does not exist. */
static char *text_or_nothing(const struct card_board *b, const char *name)
{
    char path[CARD_PATH_BYTES + 64];
    char *text;
    size_t n;

    snprintf(path, sizeof path, "%s/card/%s", b->folder, name);
    text = card_read_text(path);
    if (text == NULL) {
        return strdup("");
    }
    n = strlen(text);
    if (n > 0 && text[n - 1] == '\n') {
        text[n - 1] = '\0';
    }
    return text;
}

static enum err add_texts(struct card_image *c, const struct card_board *b,
                          const struct card_place *places)
{
    char path[CARD_PATH_BYTES + 64];
    enum err e;

    snprintf(path, sizeof path, "%s/card/files", b->folder);
    e = add_folder(c, path, "", places, 2);
    if (e != ERR_OK) {
        return e;
    }
    snprintf(path, sizeof path, "%s/card/readme.txt", b->folder);
    return add_filled(c, "README.txt", path, places, true); /* CRLF, for the editor of Windows */
}

/* Return the boot arguments, allocated; NULL if memory runs out. own: the board's files. */
static char *all_words(const struct card_words *words, const char *own)
{
    const char *first = words->words != NULL ? words->words : own;
    const char *more = words->more != NULL ? words->more : "";
    size_t n = strcspn(first, "\n"), bytes = n + strlen(more) + 2;
    char *all = malloc(bytes);

    if (all != NULL) {
        snprintf(all, bytes, "%.*s%s%s", (int)n, first, n != 0 && *more != '\0' ? " " : "", more);
    }
    return all;
}

/* Write the board's texts with these boot arguments. */
static enum err add_with_words(struct card_image *c, const struct card_board *b,
                               const struct card_words *words, const char *lacks, const char *plain)
{
    char *wiring = text_or_nothing(b, "wiring.txt");
    char *append = plain != NULL ? card_words_append(plain) : NULL;
    char *env = plain != NULL ? card_words_env(plain) : NULL;
    enum err e = ERR_NO_SPACE;

    if (wiring == NULL || append == NULL || env == NULL) {
        snprintf(c->error_message, sizeof c->error_message, "out of memory");
    } else if (b->most_words != 0 && strlen(append) > b->most_words) {
        snprintf(
            c->error_message, sizeof c->error_message,
            "the boot arguments have %zu characters, and the board's U-Boot takes %u: shorten --cmdline or --system",
            strlen(append), b->most_words);
    } else {
        e = add_texts(c, b,
                      (const struct card_place[]){
                          { "WORDS", plain },
                          { "APPEND_WORDS", append },
                          { "ENV_WORDS", env },
                          { "IMAGE", b->n_beside != 0 ? "EFI/BOOT/" : b->image },
                          { "BOARD", b->n_beside != 0 ? "any machine with EFI" : b->name },
                          { "MODEL", words->models },
                          { "WHERE", words->where },
                          { "VERSION", words->version },
                          { "WIRING", wiring },
                          { "MISSING", lacks },
                          { NULL, NULL } });
    }
    free(wiring);
    free(append);
    free(env);
    return e;
}

enum err card_add_board(struct card_image *c, const struct card_board *b,
                        const struct card_words *words, struct card_missing *missing)
{
    char lacks[4 * TEXT_BYTES];
    char *own, *all;
    enum err e;

    *missing = (struct card_missing){ .stops = false };
    if (b->image[0] == '\0') {
        return ERR_OK;
    }
    e = add_image(c, b);
    if (e == ERR_OK) {
        e = card_add_firmware(c, b, words, missing);
    }
    if (e != ERR_OK) {
        return e;
    }
    missing_text(missing, words->firmware != NULL, lacks, sizeof lacks);
    own = text_or_nothing(b, "words");
    all = all_words(words, own);
    e = add_with_words(c, b, words, lacks, all != NULL ? all : own);
    free(own);
    free(all);
    return e;
}
