/* The contents of a board's card except the models: the image, the board's own files with their fields filled in,
 * firmware by the board's maker, and a README. These files come from one folder per board:
 *   NAME/ingot.bin          the image
 *   NAME/card/about         lines "image NAME-ON-THE-CARD"; "firmware FILE...": files that every such board needs
 *                           to start; "trees FILE=BOARDS...": files that only some boards need (FILE!BOARDS: these
 *                           boards do not start without the file); "more PATTERN...": further files to copy;
 *                           "licence FILE": the licence of that firmware; "table mbr": the loader reads no GPT;
 *                           "slot N": the loader reads that partition; "most_words N": the loader takes at most N
 *                           characters of boot arguments; "loader TYPE MAGIC...": the loader wants a payload in a
 *                           separate partition of that type. Without "image" the card has only models
 *   NAME/card/words         boot arguments, if the board has its own
 *   NAME/card/wiring.txt    how to wire the serial line
 *   NAME/card/readme.txt    the README, with fields to fill in
 *   NAME/card/files/...     the board's files, with fields to fill in
 * The build makes these folders (card.mk), and a release contains them. The name "efi" means one card that starts
 * every EFI machine: it has the images of all boards whose names begin with "efi-". */
#ifndef INGOT_FLASH_IMAGE_CARD_BOARD_H
#define INGOT_FLASH_IMAGE_CARD_BOARD_H

#include "flash_image/card/card_image.h"
#include "flash_image/card/card_zip.h"
#include "flash_image/source/map_file.h"

enum { CARD_PATH_BYTES = 4096, CARD_MOST_BESIDE = 3 };

/* An additional image on the same card. */
struct card_beside {
    char path[CARD_PATH_BYTES + 64];
    char image[128]; /* its name on the card */
};

struct card_board {
    const char *name;
    char folder[CARD_PATH_BYTES]; /* BOARDS/NAME */
    char image[128];              /* the image's name on the card; "": models only */
    char firmware[512];           /* files, separated by spaces; "": the board needs none */
    char trees[1024];    /* FILE=BOARDS or FILE!BOARDS, separated by spaces; see card_firmware.c */
    char more[256];      /* patterns, separated by spaces */
    char licence[128];   /* file of the licence, copied if the firmware has it */
    bool mbr_only;       /* its first loader cannot read a GPT */
    unsigned slot;       /* number of the partition that its loader reads; 0: the first */
    unsigned most_words; /* most characters of boot arguments that its loader takes, counted in
                            the text from card_words_append; 0: no limit */
    uint8_t loader_type
        [16]; /* type of the GPT partition with a payload for the board's first loader ... */
    uint32_t loader_magics[2]; /* ... the payload starts with one of these; 0: there is no
                                  payload */
    struct card_beside beside[CARD_MOST_BESIDE];
    unsigned n_beside;
};

/* The values of the fields in the board's texts. */
struct card_words {
    const char *models;   /* names of the models, for the README */
    const char *words;    /* boot arguments; NULL: the board's own */
    const char *more;     /* boot arguments that are appended; NULL: none */
    const char *firmware; /* a folder or a zip archive with the maker's files; NULL: none */
    const char *
        for_board; /* the board for which the card is made, named as in BOARDS of "trees"; NULL: all boards of the
                      image */
    const char *where; /* follows "the models" in the README: "", or ", on the other partition" */
    const char *version;
};

/* Find the board in the folder `boards`. ERR_NOT_FOUND: error_message names the available boards,
 * or says how to make them. b->name points to `name`. */
enum err card_board_open(struct card_board *b, const char *boards, const char *name,
                         char *error_message, size_t error_message_bytes);

/* The missing firmware files; "" if no file is missing. */
enum { CARD_MISSING_BYTES = 1024 };
struct card_missing {
    char files[CARD_MISSING_BYTES]; /* needed by every board of the image */
    char trees[CARD_MISSING_BYTES]; /* "FILE (BOARDS), ..." */
    bool stops;                     /* some boards in `trees` do not start without their file */
};

/* Add the board's contents to the card, and fill *missing. Errors are those of card_add_file.
 * ERR_NOT_FOUND also means: the image is not built, there is no firmware, or words->for_board (if
 * NULL, the board that gives the image its name) cannot start because its device tree is missing.
 * ERR_NO_SPACE also means: the boot arguments have more characters than the board's loader takes.
 * c->error_message says which. */
enum err card_add_board(struct card_image *c, const struct card_board *b,
                        const struct card_words *words, struct card_missing *missing);

/* ---- card_text.c ---- */

/* A field of a text and its value: "@NAME@" is replaced by the value. */
struct card_place {
    const char *name;
    const char *value;
};

/* Read the file at path and fill in its fields (a NULL name ends `places`). The caller frees the
 * text. A line that consists of one field with the value "" is dropped. crlf: lines end as on
 * Windows. NULL: errno says why. */
char *card_fill_in(const char *path, const struct card_place *places, bool crlf, size_t *bytes);

/* Read the whole file into allocated memory, with a NUL at its end. NULL: errno says why. */
char *card_read_text(const char *path);

/* Escape boot arguments so that U-Boot passes them on unchanged: (append) after `append` in an
 * extlinux.conf, or (env) as a value in a text that U-Boot imports. The caller frees the text;
 * NULL: out of memory. */
char *card_words_append(const char *words);
char *card_words_env(const char *words);

/* ---- card_firmware.c ---- */

/* Add the board's files, trees and licence from words->firmware. Errors as card_add_board. */
enum err card_add_firmware(struct card_image *c, const struct card_board *b,
                           const struct card_words *words, struct card_missing *missing);

/* ---- card_maker_files.c ---- */

/* The files of a folder or of a zip archive, by their paths inside it: "boot/start4.elf". */
struct card_maker_file {
    char *name;
    struct card_zip_entry entry; /* of the archive */
};

struct card_maker_files {
    struct card_maker_file *files; /* sorted by name */
    uint32_t n, room;
    const char *path;
    struct mapping map; /* mapping of the archive; data NULL: `path` is a folder */
    struct card_zip zip;
};

/* List the maker's files at path, which remains the caller's. ERR_NOT_FOUND, ERR_IO,
 * ERR_BAD_ARGUMENT (neither a folder nor an archive), ERR_BAD_HEADER (a damaged archive);
 * error_message says why, with the path. Close *f after errors as well. */
enum err card_maker_open(struct card_maker_files *f, const char *path, char *error_message,
                         size_t error_message_bytes);
void card_maker_close(struct card_maker_files *f);

/* Add the maker's file to the card as `name`. Errors as card_add_file, and ERR_BAD_CHECKSUM for
 * a damaged archive. */
enum err card_maker_add(const struct card_maker_files *f, const struct card_maker_file *file,
                        struct card_image *c, const char *name);

#endif
