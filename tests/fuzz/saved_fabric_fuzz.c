/* Any bytes over those of a file of memories (runtime/saved/saved_chat.h), with its CRCs made right
 * or left wrong: it is loaded, or it is refused with an error message and none of it is in use. */
#include "runtime/features/fabric/chat_fabric.h"

#include "tests/fuzz/saved_section.h"

static bool is_set_up;

static void set_up(void)
{
    struct chat_lesson lesson;

    section_begin();
    rig.learns = true;
    start_over(2);
    options.load.learn = LEARN_ON;
    must(chat_learn_open(&chat));
    chat_fabric_open(&chat);
    must(chat_fabric_remember(&chat, FABRIC_WIKI, "12 and 3 = ab", 13, &lesson) == ERR_OK);
    must(chat_fabric_remember(&chat, FABRIC_EPISODIC, "where? = here", 13, &lesson) == ERR_OK);
    insert_blank_card();
    section_keep(chat_fabric_save(&chat, &saved, &file, NULL, NULL));
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
    h = section_restore();
    at = data[1] % 2 == 0 ? (data[0] & 0x7fu) * 8u
                          : SECTOR_BYTES + (size_t)h->payload_bytes - 800u + (data[0] & 0x7fu) * 4u;
    section_damage(h, at, FILE_BYTES / 2, data + 2, size - 2, (data[0] & 0x80) == 0);
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
