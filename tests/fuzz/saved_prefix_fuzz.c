/* Any bytes over those of a prefix's file (runtime/saved/saved_chat.h), with its CRCs made right or left wrong:
 * it is loaded or refused with an error message, and in both cases a reply is as if the prompt had been
 * computed. */
#include "runtime/features/prefix/chat_prefix.h"

#include "tests/fuzz/saved_section.h"

enum { REPLY_BYTES = 256 };

static char expected[REPLY_BYTES];
static unsigned n_inputs;

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
    section_begin();
    start_over(4);
    snprintf(expected, sizeof expected, "%s", reply());
    forget();
    insert_blank_card();
    section_keep(chat_prefix_save(&chat, &saved, &file, NULL, NULL));
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
    h = section_restore();
    at = (data[0] & 0x7fu) * 5u;
    section_damage(h, at, 2 * SECTOR_BYTES, data + 1, size - 1, (data[0] & 0x80) == 0);
    forget();
    e = chat_prefix_load(&chat, &saved, &file, NULL, NULL);
    must(e == ERR_OK || saved.error_message[0] != '\0');
    must(chat.session->n_ids == 0 && (e == ERR_OK) == (chat.opening.prefix.n != 0));
    if (n_inputs++ % 16 == 0 && (data[0] & 0x80) != 0) { /* else the states may belong to another */
        must(strncmp(reply(), expected, REPLY_BYTES - 1) == 0);
    }
    return 0;
}
