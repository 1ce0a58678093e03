/* Any bytes over those of a file of experience (runtime/saved/saved_chat.h), with its CRCs made
 * right or left wrong: it is loaded, or it is refused with an error message and none of it is in
 * use. */
#include "runtime/features/policy/chat_policy.h"

#include "tests/fuzz/saved_section.h"

static bool is_set_up;

static void set_up(void)
{
    section_begin();
    rig.watches = true;
    start_over(2);
    options.load.policy = POLICY_ON;
    chat_policy_open(&chat);
    for (int i = 0; i < 6; i++) {
        must(say(i % 2 == 0 ? "who is it?" : "tell me of 12", true) == ERR_OK);
    }
    insert_blank_card();
    section_keep(chat_policy_save(&chat, &saved, &file, NULL, NULL));
    is_set_up = true;
}

/* The first two bytes say where in the header or the payload the others are added. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct experience *e;
    struct saved_chat_header *h;
    struct policy_choice choice;
    size_t at;
    enum err error;

    if (!is_set_up) {
        set_up();
    }
    e = &policy_of(&chat)->experience;
    if (size < 3) {
        return 0;
    }
    h = section_restore();
    at = (data[0] & 0x7fu) * 8u + data[1] % 12u * 1024u;
    section_damage(h, at, FILE_BYTES / 2, data + 2, size - 2, (data[0] & 0x80) == 0);
    error = chat_policy_load(&chat, &saved, &file, NULL, NULL);
    must(error == ERR_OK || saved.error_message[0] != '\0');
    must(error != ERR_OK || experience_is_sound(e));
    must(saved.before != SAVED_CHAT_LOST || (e->patterns.n == 0 && e->totals.turns == 0));
    experience_choose(&policy_of(&chat)->experience, &(struct experience_question){ .text = "" },
                      &choice);
    for (int k = 0; k < POLICY_HEADS; k++) {
        must(choice.choice[k] < policy_choices((enum policy_head)k));
    }
    experience_forget(&policy_of(&chat)->experience);
    return 0;
}
