#include "boot/network.h"

#include <string.h>

#include "boot/boot.h"
#include "boot/network_group.h"
#include "runtime/api/api.h"
#include "runtime/features/branches/chat_branches.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/grammar/app_grammar.h"
#include "runtime/net/net.h"
#include "runtime/storage/file.h"
#include "runtime/text/civil_time.h"
#include "runtime/text/format_text.h"

enum {
    REST_MICROS = 1000, /* time between two polls of the device while waiting for a line */
    BUSY_MS = 50,       /* how long to poll without sleep after the last frame */
    LINES_MOST = 4,     /* most log lines in a row about addresses; then one a minute */
    MINUTE = 60,        /* seconds */
    CORRECTION = 10,    /* seconds: smaller corrections of the date are not logged */
};

static struct network {
    struct net *net; /* NULL if there is no network */
    struct api *api;
    struct app *app; /* result of the latest turn */
    bool told;       /* the turn logged something */
    struct console *console;
    const char *name;               /* name of the host */
    const char *token;              /* NULL: none */
    char how[OPTIONS_NET_BYTES];    /* net= without ",open" */
    bool open;                      /* net= ends in ",open" */
    struct platform_console before; /* the board's own console */
    uint64_t polled;                /* ticks at the last turn */
    uint64_t period;
    char four[NET_ADDRESS_BYTES], six[NET_ADDRESS_BYTES]; /* addresses that the log names */
    unsigned lines;                                       /* log lines that are still allowed now */
    uint64_t counted;                                     /* ticks when `lines` last grew */
    struct platform_clock *clock;                         /* clock whose date is set */
    const char *time;                                     /* time=; NULL if no server is asked */
    char troubled[NET_TROUBLE_BYTES]; /* the logged reason why the link, the address or the name is
                                       * not used; "": nothing is wrong */
    bool dated, failed; /* the log already has the server's date, or says that there is none */
} network;

/* ---- the platform's network, which comes from the board ---- */

static const char *network_open(void *context, uint8_t address[6])
{
    (void)context;
    return board_network.open(boot_tree(), address);
}

static bool network_is_up(void *context)
{
    (void)context;
    return board_network.is_up();
}

static bool network_send(void *context, const uint8_t *frame, size_t bytes)
{
    (void)context;
    return board_network.send(frame, bytes);
}

static size_t network_receive(void *context, uint8_t *to, size_t room)
{
    (void)context;
    return board_network.receive(to, room);
}

static void read_how(const char *how)
{
    static const char open[] = ",open";
    size_t n = strlen(how), m = sizeof open - 1;

    /* ",open" is our own addition; the rest is for lwIP and says how to get an address. */
    network.open = n > m && strcmp(how + n - m, open) == 0;
    n -= network.open ? m : 0;
    memcpy(network.how, how, n);
    network.how[n] = '\0';
}

/* If time= is invalid, print a warning, and ask no server for the
 * date. */
static void read_time(const struct options *options)
{
    const char *why = NULL;

    if (options_given(options, OPTION_TIME)) {
        network.time = options->machine.time;
        why = net_check_time(network.time);
    }
    if (why != NULL) {
        console_log(network.console, "warning: %s", why);
        network.time = NULL;
    }
}

/* Poll at most once a millisecond, however often the console looks for input. */
static void poll(void *context)
{
    struct network *n = context;
    const struct platform *p = n->console->platform;
    uint64_t now = platform_ticks(&p->clock);

    if (now - n->polled >= n->period) {
        n->polled = now;
        net_poll(n->net);
    }
}

static int get_byte(void *context)
{
    (void)context;
    poll(&network);
    return network.before.getc(network.before.context);
}

/* ---- files that are received ---- */

static enum err store_open(void *context, const char *path, uint64_t bytes,
                           const struct file **file)
{
    struct network *n = context;

    return app_receive_open(n->app, path, bytes, file);
}

static enum err store_publish(void *context)
{
    struct network *n = context;

    return app_receive_close(n->app);
}

static const char *store_error_message(void *context)
{
    const struct network *n = context;

    return n->app->receive.error_message;
}

static bool store_stops(void *context)
{
    const struct platform_console *line = &((const struct network *)context)->before;

    return line->interrupted != NULL && line->interrupted(line->context);
}

static void store_came(void *context, const char *path, uint64_t bytes, uint64_t ms)
{
    struct network *n = context;
    char size[FORMAT_NUMBER_BYTES];

    n->told = true;
    console_log(n->console, "network: received %s, %s in %llu.%llu s", path,
                format_bytes(size, bytes), (unsigned long long)(ms / 1000),
                (unsigned long long)(ms % 1000 / 100));
}

/* ---- another model ---- */

static const char *model_name(const struct app *app)
{
    if (app->chat.session == NULL) {
        return NULL;
    }
    return app->chat.name != NULL ? app->chat.name : app->chat.session->model->image.header->name;
}

static const char *load_for_client(void *context, const char *name, int *status)
{
    static char why[APP_WHY_BYTES];
    struct network *n = context;
    enum err e;

    e = app_change_model_aside(n->app, name, why);
    api_set_model(n->api, model_name(n->app));
    switch (e) {
    case ERR_NOT_FOUND: *status = 404; return why;
    case ERR_ABORTED: *status = 503; break;
    default: *status = 500; break;
    }
    n->told = true;
    if (e != ERR_OK) {
        return why;
    }
    console_log(n->console, "network: a client loads the model %.80s: a new conversation begins",
                name);
    return NULL;
}

/* ---- replies that are held ---- */

static void release_reply(void *context)
{
    struct network *n = context;

    (void)app_use_grammar(n->app, n->app->setup.options->load.grammar);
}

static const char *hold_reply(void *context, const void *grammar, size_t bytes)
{
    struct network *n = context;
    struct grammar_state *g = grammar_of(&n->app->chat);
    const char *why = NULL;

    if (!grammar_constraint_has_room(&g->constraint)) {
        return "this board keeps no memory for grammars, which tools and response_format need: "
               "start it with grammar=on";
    }
    if (n->app->setup.options->load.beams > 1) {
        return "a board with beams= has no tools and no response_format: start it without beams=";
    }
    if (g->is_own && strcmp(n->app->setup.options->load.grammar, "on") == 0) {
        return "the program on the serial line already uses a grammar of its own";
    }
    memcpy(grammar_constraint_memory(&g->constraint), grammar, bytes);
    if (grammar_constraint_use(&g->constraint, bytes, &why) != ERR_OK) {
        release_reply(context);
        return why;
    }
    g->is_own = true;
    return NULL;
}

/* ---- figures ---- */

static void put_figures(void *context, struct api_text *to)
{
    const struct network *n = context;
    struct net_figures f;

    net_figures(n->net, &f);
    api_text_print(to, ",'connections':%u,'heap_bytes':%u,'heap_most':%u,'heap_refused':%u",
                   (unsigned)f.connections, (unsigned)f.heap_bytes, (unsigned)f.heap_most,
                   (unsigned)f.heap_refused);
    api_text_print(to,
                   ",'frames_most':%u,'frames_refused':%u,'sockets_most':%u,'sockets_refused':%u",
                   (unsigned)f.frames_most, (unsigned)f.frames_refused, (unsigned)f.sockets_most,
                   (unsigned)f.sockets_refused);
}

/* ---- files of a store ---- */

/* Open a file of a store; do not reuse the devices of open files. */
static struct block_device *fetch(void *context, const char *address,
                                  const struct file *const *open, unsigned n_open, const char **why)
{
    char size[FORMAT_NUMBER_BYTES];
    struct block_device *d;

    (void)context;
    net_fetch_forget(network.net);
    for (unsigned i = 0; i < n_open; i++) {
        if (open[i]->device != NULL) {
            open[i]->device->in_use = true;
        }
    }
    d = net_fetch(network.net, address, why);
    if (d != NULL) {
        console_log(network.console, "storage: %s, %s", d->name,
                    format_bytes(size, d->n_sectors * SECTOR_BYTES));
    }
    return d;
}

static const char *open_net(const struct platform *platform, void *memory)
{
    const char *why = net_check(network.how, network.name);
    const struct net_setup setup = {
        .platform = platform,
        .server = { .site = &api_site,
                    .context = network.api,
                    .begin = api_begin,
                    .end = api_end,
                    .works = api_works },
        .how = network.how,
        .name = network.name,
        .time = network.time,
    };

    if (why != NULL) {
        return why;
    }
    network.net = net_open(memory, &setup, &why);
    return why;
}

static void open_api(const struct platform *platform, void *group, uint32_t n_group)
{
    const struct api_setup setup = {
        .platform = platform,
        .name = network.name,
        .token = network.token,
        .open = network.open,
        .poll = poll,
        .context = &network,
        .group = group,
        .n_group = n_group,
        .store = { .context = &network,
                   .open = store_open,
                   .publish = store_publish,
                   .error_message = store_error_message,
                   .stops = store_stops,
                   .came = store_came },
        .load = load_for_client,
        .hold = hold_reply,
        .release = release_reply,
        .figures = put_figures,
    };

    api_open(network.api, &setup);
}

static void say_open(void)
{
    console_log(network.console, "network: the name is %s.local, and net=%s gives the address",
                network.name, network.how);
    if (network.token == NULL && !network.open) {
        console_log(network.console,
                    "warning: without token= or net=%s,open the network answers only /health",
                    network.how);
    }
}

uint32_t boot_network_open(struct platform *platform, const struct options *options,
                           struct console *console, void *(*take)(size_t bytes))
{
    uint32_t n_group = network_group_most(options);
    const char *why = "there is too little memory";
    void *memory, *group;

    network.console = console;
    read_time(options);
    if (!options_given(options, OPTION_NET)) {
        if (network.time != NULL) {
            console_log(console, "warning: time= has no effect without net=");
        }
        return 0;
    }
    network.clock = &platform->clock;
    platform->network = (struct platform_network){ .open = network_open,
                                                   .is_up = network_is_up,
                                                   .send = network_send,
                                                   .receive = network_receive };
    network.name = options_given(options, OPTION_NAME) ? options->machine.name : "ingot";
    network.token = options_given(options, OPTION_TOKEN) ? options->machine.token : NULL;
    read_how(options->machine.net);
    /* Ticks of a millisecond, rounded up: the least time between two polls. */
    network.period = platform->clock.hz / 1000 + 1;
    network.api = take(sizeof *network.api);
    memory = take(net_bytes());
    group = take(api_group_bytes(n_group));
    if (network.api != NULL && memory != NULL && group != NULL) {
        open_api(platform, group, n_group);
        why = open_net(platform, memory);
    }
    if (why != NULL) {
        network.net = NULL;
        console_log(console, "warning: there is no network: %s", why);
        return 0;
    }
    network.lines = LINES_MOST;
    network.before = platform->console;
    platform->console.getc = get_byte;
    platform->storage.fetch = fetch;
    say_open();
    return network_group_spare(options);
}

/* Return true if a line may be logged now. The limit keeps a network whose addresses always change
 * from filling the log. */
static bool may_log(struct network *n)
{
    const struct platform_clock *clock = &n->console->platform->clock;
    uint64_t now = platform_ticks(clock);

    /* Each minute allows one more line, up to LINES_MOST. */
    if (now - n->counted >= MINUTE * clock->hz) {
        n->counted = now;
        n->lines += n->lines < LINES_MOST;
    }
    return n->lines != 0;
}

/* Log the address to type into a browser. Returns false
 * if nothing has changed or the log line has to wait. */
static bool say_address(void)
{
    struct network *n = &network;
    bool gone, changed_four, changed_six;

    (void)net_address_changed(n->net);
    changed_four = strcmp(n->four, net_address(n->net)) != 0;
    changed_six = strcmp(n->six, net_address6(n->net)) != 0;
    if ((!changed_four && !changed_six) || !may_log(n)) {
        return false;
    }
    /* Remember what was logged, so that only changes are logged. */
    n->lines--;
    (void)format_text(n->four, sizeof n->four, "%s", net_address(n->net));
    (void)format_text(n->six, sizeof n->six, "%s", net_address6(n->net));
    gone = n->four[0] == '\0' && n->six[0] == '\0';
    if (gone) {
        console_log(n->console, "network: the address was lost");
    }
    if (changed_four && n->four[0] != '\0') {
        console_log(n->console, "network: http://%s and http://%s.local", n->four, n->name);
    }
    if (changed_six && n->six[0] != '\0') {
        console_log(n->console, "network: http://[%s]", n->six);
    }
    return true;
}

/* Log once why the link, the address or the name is not used. */
static bool say_trouble(void)
{
    struct network *n = &network;
    const char *why = board_network.trouble != NULL ? board_network.trouble() : NULL;

    why = why != NULL ? why : net_trouble(n->net);
    if (why == NULL) {
        n->troubled[0] = '\0';
        return false;
    }
    if (strncmp(why, n->troubled, sizeof n->troubled - 1) == 0 || !may_log(n)) {
        return false;
    }
    n->lines--;
    (void)format_text(n->troubled, sizeof n->troubled, "%s", why);
    console_log(n->console, "warning: %s", why);
    return true;
}

/* Set the wall-clock time, and the time of the memory fabric. */
static void set_date(struct app *app, uint64_t date)
{
    network.clock->date = date;
    if (features_is_on(&app->features, FEATURE_fabric)) {
        chat_fabric_set_time(&app->chat, platform_date(network.clock));
    }
}

/* Take the date from the server of time=. Returns false if nothing was logged. */
static bool take_date(struct app *app)
{
    struct network *n = &network;
    uint64_t date = net_date(n->net), before = n->clock->date;
    bool far = date > before + CORRECTION || before > date + CORRECTION;
    char text[CIVIL_TIME_BYTES], from[NET_ADDRESS_BYTES];

    if (date == 0 && net_date_fails(n->net) && !n->failed) {
        n->failed = true;
        console_log(n->console, "warning: no time server is known: time=ntp,ADDRESS names one");
        return true;
    }
    if (date == 0 || (date == before && n->dated)) {
        return false;
    }
    set_date(app, date);
    if (n->dated && (!far || !may_log(n))) {
        return false;
    }
    n->lines -= n->dated;
    n->dated = true;
    console_log(n->console, "network: the time is %s UTC, from %s",
                civil_time_format(text, platform_date(n->clock)), net_date_from(n->net, from));
    return true;
}

bool boot_network_turn(struct app *app, bool *told)
{
    const struct platform *p = network.console != NULL ? network.console->platform : NULL;
    const struct chat_branches *branches = branches_of(&app->chat);
    char conversation[CHAT_BRANCH_NAME_BYTES];

    *told = false;
    if (network.net == NULL) {
        return false;
    }
    api_set_model(network.api, model_name(app));
    network_group_show(network.api, app);
    network.app = app;
    network.told = say_address();
    network.told |= say_trouble();
    network.told |= take_date(app);
    if (api_has_work(network.api)) {
        (void)memcpy(conversation, branches->current, sizeof conversation);
        api_serve(network.api, &app->chat, branches->n != 0 ? conversation : NULL);
    } else if (p->cores.rest != NULL && !net_is_busy(network.net, BUSY_MS)) {
        /* There is nothing to do: sleep briefly, then poll the device. */
        p->cores.rest(p->cores.context, REST_MICROS);
    }
    *told = network.told;
    return true;
}
