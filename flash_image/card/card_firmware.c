/* Copies the files of the board's maker if the user gives them, else lists them.
 *
 * FILE=BOARDS in card_board.trees: these boards start without that device tree, but work better with it. FILE!BOARDS: these
 * boards need that file to start. BOARDS are separated by commas, "_" is a space: "bcm2710-rpi-zero-2-w.dtb!Zero_2_W". */
#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_board.h"

enum { MOST_WANTED = 48, MOST_ROOTS = 64 };

struct wanted {
    char pattern[128]; /* a file name, or a pattern of fnmatch */
    char boards[128];  /* boards that need the file; "": all boards, or none if `more` */
    bool more;         /* copied if it exists, and never reported as missing */
    bool essential;    /* its boards do not start without the file */
    bool found;
};

struct firmware {
    struct wanted wanted[MOST_WANTED];
    unsigned n;
    struct card_maker_files from;
    const char *
        root; /* its first root_bytes bytes, a folder and its slash or "", are cut off file names */
    size_t root_bytes;
};

/* ---- what is wanted ---- */

static struct wanted *want(struct firmware *f, const char *pattern, size_t bytes, bool more)
{
    struct wanted *w = &f->wanted[f->n];

    if (f->n < MOST_WANTED - 1) {
        f->n++;
    }
    *w = (struct wanted){ .more = more };
    snprintf(w->pattern, sizeof w->pattern, "%.*s", (int)bytes, pattern);
    return w;
}

static void want_list(struct firmware *f, const char *list, bool more)
{
    for (; *list != '\0'; list += strspn(list, " ")) {
        size_t bytes = strcspn(list, " "), name = strcspn(list, " =!");
        struct wanted *w = want(f, list, name, more);

        if (name < bytes) {
            w->essential = list[name] == '!';
            snprintf(w->boards, sizeof w->boards, "%.*s", (int)(bytes - name - 1), list + name + 1);
        }
        list += bytes;
    }
}

/* True if two names of boards are equal: only letters, digits and + count, so "zero2w" is
 * "Zero_2_W". a has n bytes. */
static bool is_board(const char *a, size_t n, const char *b)
{
    const char *end = a + n;

    for (;;) {
        while (a < end && !isalnum((unsigned char)*a) && *a != '+') {
            a++;
        }
        while (*b != '\0' && !isalnum((unsigned char)*b) && *b != '+') {
            b++;
        }
        if (a == end || *b == '\0') {
            return a == end && *b == '\0';
        }
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++)) {
            return false;
        }
    }
}

static bool names_board(const struct wanted *w, const char *board)
{
    for (const char *at = w->boards; *at != '\0'; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");

        if (is_board(at, n, board)) {
            return true;
        }
        at += n;
    }
    return false;
}

/* ---- where it lies ---- */

/* Compare without regard to capitals, because a copy may come from a FAT volume, which ignores
 * them. */
static bool matches(const struct wanted *w, const char *name)
{
    return fnmatch(w->pattern, name, FNM_PERIOD | FNM_PATHNAME | FNM_CASEFOLD) == 0;
}

static unsigned n_slashes(const char *text)
{
    unsigned n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '/';
    }
    return n;
}

/* Return the end of `name` with as many folders as the pattern has; NULL if `name` has fewer. */
static const char *tail(const char *name, const char *pattern)
{
    unsigned more = n_slashes(name), need = n_slashes(pattern);

    if (more < need) {
        return NULL;
    }
    for (more -= need; more > 0; more--) {
        name = strchr(name, '/') + 1;
    }
    return name;
}

struct roots {
    struct {
        const char *name;
        size_t bytes;
        uint64_t has; /* one bit for each wanted file */
    } at[MOST_ROOTS];
    unsigned n;
};

static void count_root(struct roots *r, const char *name, size_t bytes, unsigned wanted)
{
    for (unsigned i = 0; i < r->n; i++) {
        if (r->at[i].bytes == bytes && memcmp(r->at[i].name, name, bytes) == 0) {
            r->at[i].has |= 1ull << wanted;
            return;
        }
    }
    if (r->n < MOST_ROOTS) {
        r->at[r->n].name = name;
        r->at[r->n].bytes = bytes;
        r->at[r->n++].has = 1ull << wanted;
    }
}

/* Find the folder with most of the wanted files: "" in a bootfs, "boot/" in a clone,
 * "firmware-master/boot/" in an archive. */
static void find_root(struct firmware *f)
{
    struct roots r = { .n = 0 };
    int most = 0;

    f->root = "";
    f->root_bytes = 0;
    for (uint32_t i = 0; i < f->from.n; i++) {
        const char *name = f->from.files[i].name;

        for (unsigned k = 0; k < f->n; k++) {
            const char *rest = tail(name, f->wanted[k].pattern);

            if (rest != NULL && matches(&f->wanted[k], rest)) {
                count_root(&r, name, (size_t)(rest - name), k);
            }
        }
    }
    for (unsigned i = 0; i < r.n; i++) {
        int has = __builtin_popcountll(r.at[i].has);

        if (has > most || (has == most && r.at[i].bytes < f->root_bytes)) {
            most = has;
            f->root = r.at[i].name;
            f->root_bytes = r.at[i].bytes;
        }
    }
}

/* ---- copying ---- */

static enum err add_files(struct card_image *c, struct firmware *f)
{
    for (uint32_t i = 0; i < f->from.n; i++) {
        const char *name = f->from.files[i].name;
        bool any = false;
        enum err e;

        if (strncmp(name, f->root, f->root_bytes) != 0) {
            continue;
        }
        for (unsigned k = 0; k < f->n; k++) {
            if (matches(&f->wanted[k], name + f->root_bytes)) {
                f->wanted[k].found = any = true;
            }
        }
        if (!any) {
            continue;
        }
        e = card_maker_add(&f->from, &f->from.files[i], c, name + f->root_bytes);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- naming ---- */

__attribute__((format(printf, 2, 3))) static void append(char *list, const char *format, ...)
{
    size_t at = strlen(list);
    va_list args;

    va_start(args, format);
    vsnprintf(list + at, CARD_MISSING_BYTES - at, format, args);
    va_end(args);
}

/* Append boards to a list, such as " (3B+, 3A+)". */
static void append_boards(char *list, const char *boards)
{
    append(list, " (");
    for (; *boards != '\0'; boards++) {
        if (*boards == ',') {
            append(list, ", ");
        } else {
            append(list, "%c", *boards == '_' ? ' ' : *boards);
        }
    }
    append(list, ")");
}

/* List missing files. List the trees for for_board or, if for_board is NULL, for all boards. */
static void list_missing(const struct firmware *f, const char *for_board,
                         struct card_missing *missing)
{
    for (unsigned i = 0; i < f->n; i++) {
        const struct wanted *w = &f->wanted[i];

        if (w->found || w->more) {
            continue;
        }
        if (w->boards[0] == '\0') {
            append(missing->files, "%s%s", missing->files[0] != '\0' ? " " : "", w->pattern);
            continue;
        }
        if (for_board != NULL && !names_board(w, for_board)) {
            continue;
        }
        append(missing->trees, "%s%s", missing->trees[0] != '\0' ? ", " : "", w->pattern);
        append_boards(missing->trees, w->boards);
        missing->stops = missing->stops || w->essential;
    }
}

/* Return a missing tree that this card's board needs to start, or NULL. The board is for_board or,
 * if that is NULL, the first board, which gives the image its name. */
static const struct wanted *stops(const struct firmware *f, const char *for_board)
{
    bool is_first = true;

    for (unsigned i = 0; i < f->n; i++) {
        const struct wanted *w = &f->wanted[i];
        bool is_its = for_board != NULL ? names_board(w, for_board) : is_first;

        if (w->boards[0] == '\0') {
            continue;
        }
        is_first = false;
        if (is_its && w->essential && !w->found) {
            return w;
        }
    }
    return NULL;
}

static enum err refuse(struct card_image *c, const struct wanted *w, const char *from)
{
    char boards[CARD_MISSING_BYTES] = "";

    append_boards(boards, w->boards);
    snprintf(
        c->error_message, sizeof c->error_message,
        "%.300s has no %s, without which the board%s does not start. The bootfs of any Raspberry Pi OS card has it, and the "
        "zip of github.com/raspberrypi/firmware; Debian's raspi-firmware has no device trees",
        from, w->pattern, boards);
    return ERR_NOT_FOUND;
}

enum err card_add_firmware(struct card_image *c, const struct card_board *b,
                           const struct card_words *words, struct card_missing *missing)
{
    struct firmware *f = calloc(1, sizeof *f);
    const struct wanted *lacks;
    enum err e = ERR_OK;

    if (f == NULL) {
        snprintf(c->error_message, sizeof c->error_message, "out of memory");
        return ERR_NO_SPACE;
    }
    want_list(f, b->firmware, false);
    want_list(f, b->trees, false);
    if (words->firmware != NULL && f->n != 0) {
        want_list(f, b->more, true);
        want_list(f, b->licence, true);
        e = card_maker_open(&f->from, words->firmware, c->error_message, sizeof c->error_message);
        if (e == ERR_OK) {
            find_root(f);
            e = add_files(c, f);
        }
    }
    if (e == ERR_OK) {
        list_missing(f, words->for_board, missing);
        lacks = stops(f, words->for_board);
        e = words->firmware != NULL && lacks != NULL ? refuse(c, lacks, words->firmware) : ERR_OK;
    }
    card_maker_close(&f->from);
    free(f);
    return e;
}
