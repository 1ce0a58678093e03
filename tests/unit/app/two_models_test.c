/* Two applications in one process, each with its own memory, cores and files, take turns and
 * compute what each computes alone. */
#include "tests/unit/app/app_rig.h"

enum { N = 2 };

static struct app_rig rigs[N];
static uint64_t alone[N];

static void start_over(void)
{
    for (int i = 0; i < N; i++)
        session_clear(rigs[i].app.chat.session);
}

/* One id each in turn. */
static bool take_turns(void)
{
    for (int at = 0; at < APP_RIG_IDS; at++) {
        for (int i = 0; i < N; i++) {
            if (session_append(rigs[i].app.chat.session, &app_rig_ids[at], 1, NULL) != ERR_OK)
                return false;
        }
    }
    return true;
}

static bool are_as_alone(void)
{
    for (int i = 0; i < N; i++) {
        if (rigs[i].app.chat.session->hash.value != alone[i])
            return false;
    }
    return true;
}

int main(void)
{
    rig_alone();
    app_rig_shelf();
    app_rig_console(-1);
    OK(app_rig_open(&rigs[0], "one", 1, 0) == ERR_OK, "an application opens its model");
    alone[0] = app_rig_hash(&rigs[0]);
    OK(app_rig_open(&rigs[1], "two", 2, shelf[1].bytes / 2) == ERR_OK &&
           rigs[1].app.target.model.plan.residency == PLAN_STREAMED,
       "another application opens with two cores, and its weights stream");
    alone[1] = app_rig_hash(&rigs[1]);
    OK(app_rig_hash(&rigs[0]) == alone[0] && alone[0] != alone[1],
       "the first application computes the same after there is a second");
    start_over();
    OK(take_turns() && are_as_alone(), "used alternately, both models compute the same as alone");
    app_change_model(&rigs[0].app, "two");
    OK(app_rig_hash(&rigs[0]) == alone[1] && app_rig_hash(&rigs[1]) == alone[1],
       "the first application changes to the second's model, which goes on");
    return tap_done();
}
