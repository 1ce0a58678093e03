/* Any bytes over those of a prefix's file (runtime/saved/saved_chat.h), with its CRCs made right or left wrong:
 * it is loaded or refused with an error message, and in both cases a reply is as if the prompt had been
 * computed. */
#include "runtime/features/prefix/chat_prefix.h"

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLY_BYTES = 256 };

static uint8_t good[FILE_BYTES];
static char expected[REPLY_BYTES];
static unsigned n_inputs;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void forget(void)
{
    chat_clear(&chat);
    session_forget_prefix(chat.session);
}

static const char *reply(void)
{
    const char *at;

    must(say("bade", true) == ERR_OK);
    at = strstr(text, "ids:");
    must(at != NULL);
    return at;
}

static void set_up(void)
{
    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    start_over(4);
    snprintf(expected, sizeof expected, "%s", reply());
    forget();
    insert_blank_card();
    must(chat_prefix_save(&chat, &saved, &file, NULL, NULL) == ERR_OK);
    memcpy(good, card_data, sizeof good);
}

/* The first byte says where in the header, or in the ids after it, the others are added. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct saved_chat_header *h;
    size_t at;
    enum err e;

    if (expected[0] == '\0') {
        set_up();
    }
    if (size < 2) {
        return 0;
    }
    memcpy(card_data, good, sizeof good);
    h = saved_written();
    at = (data[0] & 0x7fu) * 5u;
    for (size_t i = 1; i < size && at + i - 1 < 2 * SECTOR_BYTES; i++) {
        ((uint8_t *)h)[at + i - 1] ^= data[i];
    }
    if ((data[0] & 0x80) == 0) {
        saved_set_crcs(h);
    }
    forget();
    e = chat_prefix_load(&chat, &saved, &file, NULL, NULL);
    must(e == ERR_OK || saved.error_message[0] != '\0');
    must(chat.session->n_ids == 0 && (e == ERR_OK) == (chat.opening.prefix.n != 0));
    if (n_inputs++ % 16 == 0 && (data[0] & 0x80) != 0) { /* else the states may belong to another */
        must(strncmp(reply(), expected, REPLY_BYTES - 1) == 0);
    }
    return 0;
}
