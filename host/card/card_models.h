/* The models of a card: .ingot files unchanged, others packed on the way. */
#ifndef INGOT_HOST_CARD_MODELS_H
#define INGOT_HOST_CARD_MODELS_H

#include "flash_image/card/card_image.h"
#include "flash_image/pack/pack.h"
#include "flash_image/signing/sign_file.h"
#include "host/plan/board_table.h"
#include "runtime/stream/plan.h"

enum { CARD_MOST_MODELS = 32 };

struct card_models {
    char *packed[CARD_MOST_MODELS]; /* files that card_models_close removes */
    size_t n_packed;
    char names[4096];                     /* "a.ingot, b.ingot" */
    char *signed_files[CARD_MOST_MODELS]; /* signed copies, which card_models_close removes too */
    size_t n_signed;
    const struct sign_key *sign; /* key that signs models and adapters; NULL: they are not signed */
    const struct board_facts *board; /* the board whose speed is printed; NULL: unknown */
    struct plan_limits limits;       /* limits that the boot arguments set */
    uint64_t save_bytes; /* most bytes that /save writes for one of the models, with a whole context
                       ... */
    uint32_t save_tokens; /* ... of so many tokens */
    const char *first;    /* the .ingot file of the first model; NULL if there is none yet */
};

/* Put the model at path into models/ of the card, or an .ingot adapter into adapters/. A file of
 * another format is packed with the options *pack into a new file in the folder of out, which
 * exists until card_models_close. If the function returns false, error_message has the reason. */
bool card_models_add(struct card_models *m, struct card_image *c, const struct pack_options *pack,
                     const char *path, const char *out, char *error_message,
                     size_t error_message_bytes);

void card_models_close(struct card_models *m);

#endif
