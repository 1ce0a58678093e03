/* The contents of a board's card beside models: the image, the board's own files with their words filled
 * in, firmware of the board's maker, and a README. They come from a folder for each board:
 *   NAME/ingot.bin          the image
 *   NAME/card/about         "image NAME-ON-THE-CARD", "firmware PATTERN..." and "licence FILE" of that
 *                           firmware, "table mbr" where its loader reads no GPT, "slot N" where it
 *                           looks at that partition, lines; without an image the card has models only
 *   NAME/card/words         boot arguments, where the board has some of its own
 *   NAME/card/wiring.txt    of the serial line
 *   NAME/card/readme.txt    the README, with places to fill in
 *   NAME/card/files/...     the board's files, with places to fill in
 * The build makes it (card.mk), and a release has it. The name "efi" is one card for every machine with EFI: the images
 * of all boards whose names begin with "efi-", beside each other. */
#ifndef INGOT_FLASH_IMAGE_CARD_BOARD_H
#define INGOT_FLASH_IMAGE_CARD_BOARD_H

#include "flash_image/card/card_image.h"

enum { CARD_PATH_BYTES = 4096, CARD_MOST_BESIDE = 3 };

/* One more image on the same card. */
struct card_beside {
    char path[CARD_PATH_BYTES + 64];
    char image[128]; /* its name on the card */
};

struct card_board {
    const char *name;
    char folder[CARD_PATH_BYTES]; /* BOARDS/NAME */
    char image[128];              /* the image's name on the card; "": models only */
    char firmware[512];           /* patterns, apart by spaces; "": it needs none */
    char licence[128];            /* goes along where the firmware's folder has it */
    bool mbr_only;                /* what starts it reads no GPT */
    unsigned slot;                /* of the table, where its loader looks; 0: the first */
    struct card_beside beside[CARD_MOST_BESIDE];
    unsigned n_beside;
};

/* The values that are filled in. */
struct card_words {
    const char *models;   /* their names, for the README */
    const char *words;    /* boot arguments; NULL: the board's own */
    const char *more;     /* and these after them; NULL: none */
    const char *firmware; /* the folder of the maker's files; NULL: none */
    const char *where;    /* ends "the models", for the README */
    const char *version;
};

/* Look for the board in the folder `boards`. ERR_NOT_FOUND: problem names the boards that there are, or
 * says what makes them. b->name points to name. */
enum err card_board_open(struct card_board *b, const char *boards, const char *name, char *problem,
                         size_t problem_bytes);

/* Add all of it. missing (bytes) is the list of firmware files that nobody gave, "": none. Errors as
 * card_add_file, ERR_NOT_FOUND of an image that is not built; c->problem says which. */
enum err card_add_board(struct card_image *c, const struct card_board *b,
                        const struct card_words *words, char *missing, size_t bytes);

/* ---- card_text.c ---- */

/* The values of a text's fields: "@NAME@" becomes the value. */
struct card_place {
    const char *name;
    const char *value;
};

/* The file at path with its places filled in (NULL ends the list), allocated, the caller frees it; a
 * line that is one place whose value is "" goes. crlf: lines end as Windows' do. NULL: errno says why. */
char *card_fill_in(const char *path, const struct card_place *places, bool crlf, size_t *bytes);

/* The whole file, allocated, NUL at its end. NULL: errno says why. */
char *card_read_text(const char *path);

/* ---- card_firmware.c ---- */

/* Add the files of folder (NULL: none) that match each of the patterns. Those that match none are
 * appended to missing. */
enum err card_add_firmware(struct card_image *c, const char *patterns, const char *folder,
                           char *missing, size_t bytes);

#endif
