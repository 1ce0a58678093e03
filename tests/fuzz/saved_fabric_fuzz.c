/* Any bytes over those of a file of memories (runtime/saved/saved_chat.h), with its CRCs made right
 * or left wrong: it is loaded, or it is refused with an error message and none of it is in use. */
#include "runtime/features/fabric/chat_fabric.h"

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t good[FILE_BYTES];
static bool is_set_up;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void set_up(void)
{
    struct chat_lesson lesson;

    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    rig.learns = true;
    start_over(2);
    options.load.learn = LEARN_ON;
    must(chat_learn_open(&chat));
    chat_fabric_open(&chat);
    must(chat_fabric_remember(&chat, FABRIC_WIKI, "12 and 3 = ab", 13, &lesson) == ERR_OK);
    must(chat_fabric_remember(&chat, FABRIC_EPISODIC, "where? = here", 13, &lesson) == ERR_OK);
    insert_blank_card();
    must(chat_fabric_save(&chat, &saved, &file, NULL, NULL) == ERR_OK);
    memcpy(good, card_data, sizeof good);
    is_set_up = true;
}

/* The first two bytes say where in the header or the payload the others are added: around the header's end, or
 * anywhere, with a stride that meets the notes at the end too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fabric *f;
    struct saved_chat_header *h;
    float hidden[512];
    size_t at;
    enum err e;

    if (!is_set_up) {
        set_up();
    }
    f = &fabric_of(&chat)->fabric;
    if (size < 3) {
        return 0;
    }
    memcpy(card_data, good, sizeof good);
    h = saved_written();
    at = data[1] % 2 == 0 ? (data[0] & 0x7fu) * 8u
                          : SECTOR_BYTES + (size_t)h->payload_bytes - 800u + (data[0] & 0x7fu) * 4u;
    for (size_t i = 2; i < size && at + i < FILE_BYTES / 2; i++) {
        ((uint8_t *)h)[at + i - 2] ^= data[i];
    }
    if ((data[0] & 0x80) == 0) {
        saved_set_crcs(h);
    }
    e = chat_fabric_load(&chat, &saved, &file, NULL, NULL);
    must(e == ERR_OK || saved.error_message[0] != '\0');
    must(e != ERR_OK || fabric_is_sound(f, rig.model.image.header->params.vocab));
    must(saved.before != SAVED_CHAT_LOST || f->n_notes == 0);
    must(f->dim <= 512);
    for (uint32_t i = 0; i < f->n_notes; i++) {
        fabric_ask_note(f, &f->notes[i]);
        memset(hidden, 0, sizeof hidden);
        fabric_adapt(f, hidden);
    }
    fabric_leave(f);
    return 0;
}
