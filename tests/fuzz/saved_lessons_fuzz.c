/* Any bytes over those of a file of lessons (runtime/saved/saved_chat.h), with its CRCs made right
 * or left wrong: they are loaded, or they are refused with an error message and nothing is half
 * learnt. */
#include "runtime/features/lessons/chat_learn.h"

#include "tests/fuzz/saved_section.h"

static bool is_set_up;

static void set_up(void)
{
    struct chat_lesson lesson;

    section_begin();
    rig.learns = true;
    start_over(4);
    options.load.learn = LEARN_ON;
    must(chat_learn_open(&chat));
    must(chat_learn_teach(&chat, "who?", 4, "me", 2, &lesson) == ERR_OK);
    insert_blank_card();
    section_keep(chat_learn_save(&chat, &saved, &file, NULL, NULL));
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
    h = section_restore();
    at = (data[0] & 0x7fu) * 8u + data[1] % 3u * 16384u;
    section_damage(h, at, FILE_BYTES / 2, data + 2, size - 2, (data[0] & 0x80) == 0);
    e = chat_learn_load(&chat, &saved, &file, NULL, NULL);
    must(e == ERR_OK || saved.error_message[0] != '\0');
    must(e != ERR_OK ||
         lessons_are_sound(&lessons_of(&chat)->lessons, rig.model.image.header->params.vocab));
    must(saved.before != SAVED_CHAT_LOST || lessons_of(&chat)->lessons.n == 0);
    return 0;
}
