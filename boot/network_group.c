#include "boot/network_group.h"

enum { CLIENTS = 4 }; /* clients that share a pass if together= is not given */

uint32_t network_group_most(const struct options *options)
{
    if (options->load.beams > 1) {
        return 0; /* the beam search can share its tables only with the conversation */
    }
    /* The first sequence belongs to the conversation on the line. */
    return options_given(options, OPTION_TOGETHER) ? options->load.together - 1 : CLIENTS;
}

uint32_t network_group_spare(const struct options *options)
{
    return options_given(options, OPTION_TOGETHER) ? 0 : network_group_most(options);
}

void network_group_show(struct api *api, struct app *app)
{
    const struct session *line = app->chat.session;
    struct session *list[GROUP_MOST];
    uint32_t n = 0;

    for (uint32_t i = 1; line != NULL && i < app->target.model.plan.sequences; i++) {
        list[n++] = app_sequence(app, i);
        list[n - 1]->lora = line->lora;
    }
    api_set_sequences(api, list, n, app->sequences_version);
}
