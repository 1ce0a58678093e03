/* Any bytes over those of a file of lessons (runtime/saved/saved_chat.h), with its CRCs made right
 * or left wrong: they are loaded, or they are refused with an error message and nothing is half
 * learnt. */
#include "runtime/features/lessons/chat_learn.h"

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
    start_over(4);
    options.load.learn = LEARN_ON;
    must(chat_learn_open(&chat));
    must(chat_learn_teach(&chat, "who?", 4, "me", 2, &lesson) == ERR_OK);
    insert_blank_card();
    must(chat_learn_save(&chat, &saved, &file, NULL, NULL) == ERR_OK);
    memcpy(good, card_data, sizeof good);
    is_set_up = true;
}

/* The first two bytes say where in the header or the payload the others are added. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct saved_chat_header *h;
    size_t at;
    enum err e;

    if (!is_set_up) {
        set_up();
    }
    if (size < 3) {
        return 0;
    }
    memcpy(card_data, good, sizeof good);
    h = saved_written();
    at = (data[0] & 0x7fu) * 8u + data[1] % 3u * 16384u;
    for (size_t i = 2; i < size && at + i < FILE_BYTES / 2; i++) {
        ((uint8_t *)h)[at + i - 2] ^= data[i];
    }
    if ((data[0] & 0x80) == 0) {
        saved_set_crcs(h);
    }
    e = chat_learn_load(&chat, &saved, &file, NULL, NULL);
    must(e == ERR_OK || saved.error_message[0] != '\0');
    must(e != ERR_OK ||
         lessons_are_sound(&lessons_of(&chat)->lessons, rig.model.image.header->params.vocab));
    must(saved.before != SAVED_CHAT_LOST || lessons_of(&chat)->lessons.n == 0);
    return 0;
}
