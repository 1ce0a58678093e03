/* Any bytes over those of a file of experience (runtime/saved/saved_chat.h), with its CRCs made
 * right or left wrong: it is loaded, or it is refused with an error message and none of it is in
 * use. */
#include "runtime/features/policy/chat_policy.h"

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
    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    rig.watches = true;
    start_over(2);
    options.load.policy = POLICY_ON;
    chat_policy_open(&chat);
    for (int i = 0; i < 6; i++) {
        must(say(i % 2 == 0 ? "who is it?" : "tell me of 12", true) == ERR_OK);
    }
    insert_blank_card();
    must(chat_policy_save(&chat, &saved, &file, NULL, NULL) == ERR_OK);
    memcpy(good, card_data, sizeof good);
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
    memcpy(card_data, good, sizeof good);
    h = saved_written();
    at = (data[0] & 0x7fu) * 8u + data[1] % 12u * 1024u;
    for (size_t i = 2; i < size && at + i < FILE_BYTES / 2; i++) {
        ((uint8_t *)h)[at + i - 2] ^= data[i];
    }
    if ((data[0] & 0x80) == 0) {
        saved_set_crcs(h);
    }
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
