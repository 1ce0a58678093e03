/* Makes the card of the first `make run`: the same bytes that `ingot card` writes for a packed
 * model. first_card has a dozen source files; the whole program takes a minute to compile. usage:
 * first_card BOARD MODEL.ingot BOARDS OUT SAVE_MIB WORDS [--power-of-two]; WORDS may be "". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_board.h"
#include "runtime/text/format_text.h"

#define FILES_TIME 1735689600 /* 1 January 2025, as in `ingot card` */

struct job {
    struct card_board board;
    struct card_image card;
    struct card_layout layout;
    struct card_missing missing;
    char error_message[1024];
};

/* Add the model and the board's own files, in the order of `ingot card`. */
static enum err add_all(struct job *j, const char *model, uint64_t save, const char *boot_words)
{
    const char *slash = strrchr(model, '/');
    const char *name = slash != NULL ? slash + 1 : model;
    const struct card_words words = { .models = name,
                                      .words = boot_words[0] != '\0' ? boot_words : NULL,
                                      .where = "",
                                      .version = INGOT_VERSION_TEXT };
    char path[512];
    enum err e;

    snprintf(path, sizeof path, "models/%s", name);
    e = card_add_file(&j->card, path, model);
    if (e == ERR_OK) {
        e = card_add_board(&j->card, &j->board, &words, &j->missing);
    }
    if (e == ERR_OK && save != 0) {
        e = card_add_room(&j->card, "saves/chat.sav", save << 20);
    }
    return e;
}

static enum err make_card(struct job *j, char **argv, bool power_of_two)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const struct card_options o = { .power_of_two = power_of_two,
                                    .time = epoch != NULL ? strtoll(epoch, NULL, 10) : FILES_TIME,
                                    .table = CARD_MBR };
    enum err e = card_board_open(&j->board, argv[3], argv[1], j->error_message,
                                 sizeof j->error_message);

    if (e != ERR_OK) {
        return e;
    }
    card_image_open(&j->card, CARD_FAT32);
    e = add_all(j, argv[2], strtoull(argv[5], NULL, 10), argv[6]);
    if (e == ERR_OK) {
        e = card_image_write(&j->card, &o, argv[4], &j->layout);
    }
    if (e != ERR_OK) {
        snprintf(j->error_message, sizeof j->error_message, "%s", j->card.error_message);
    }
    card_image_close(&j->card);
    return e;
}

int main(int argc, char **argv)
{
    static struct job job;
    bool power_of_two = argc == 8 && strcmp(argv[7], "--power-of-two") == 0;
    char bytes[FORMAT_NUMBER_BYTES];

    if (argc != 7 && !power_of_two) {
        fprintf(stderr,
                "usage: first_card BOARD MODEL.ingot BOARDS OUT SAVE_MIB WORDS [--power-of-two]\n");
        return 2;
    }
    if (make_card(&job, argv, power_of_two) != ERR_OK) {
        fprintf(stderr, "first_card: %s\n", job.error_message);
        return 1;
    }
    printf("%s: %s for %s with %s\n", argv[4],
           format_bytes(bytes, job.layout.sectors * CARD_SECTOR), argv[1],
           strrchr(argv[2], '/') != NULL ? strrchr(argv[2], '/') + 1 : argv[2]);
    return 0;
}
