/* Core 0 asleep while all wait for the card, by a clock that only looks, sleeps and nothing else move: a look at
 * the device takes a while, a request its bytes by the rate of the card. The card begins the next request of its
 * queue when it is looked at, as an SD controller does, so that oversleeping costs time. */
#include "tests/unit/stream/places_rig.h"

enum {
    NS_PER_S = 1000000000,
    BYTES_PER_S = 20000000,
    LOOK_NS = 2000,
    REQUEST_SECTORS = 16,
    TOKENS = 6,
};

static struct {
    uint64_t due;         /* of the request on the bus; 0: none */
    uint64_t slept;       /* ns */
    unsigned rests;       /* calls */
    unsigned longest;     /* us */
    unsigned looks;       /* at the device */
    unsigned device_rate; /* of the card itself, percent of what the plan thinks */
} played;

static enum err played_poll(struct block_device *dev)
{
    enum err e = ERR_OK;

    rig_time += LOOK_NS;
    played.looks++;
    if (played.due != 0 && played.due <= rig_time) {
        played.due = 0;
        e = fake_poll(dev);
    }
    if (played.due == 0 && rig.fake.n_pending > 0)
        played.due = rig_time + rig.fake.pending[0]->n_sectors * (uint64_t)SECTOR_BYTES * NS_PER_S /
                                    BYTES_PER_S * 100 / played.device_rate;
    return e;
}

static void played_rest(void *context, uint32_t micros)
{
    (void)context;
    played.rests++;
    played.longest = micros > played.longest ? micros : played.longest;
    played.slept += micros * (uint64_t)1000;
    rig_time += micros * (uint64_t)1000;
}

struct figures {
    uint64_t time, waited, slept;
    unsigned looks, rests, longest;
    bool equal; /* the logits are those of weights in memory */
};

/* Runs a reply with rests or without. io_core: percent of a transfer during which a core moves its
 * data. */
static struct figures play(size_t limit, bool rests, uint32_t io_core, unsigned device_rate)
{
    static struct platform platform = { .clock = { .ticks = rig_file_ticks, .hz = NS_PER_S } };
    struct figures f = { .equal = true };
    uint64_t begin;

    platform.cores.rest = rests ? played_rest : NULL;
    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    memset(&played, 0, sizeof played);
    played.device_rate = device_rate;
    rig.file.timeout = (struct file_timeout){ &platform, UINT64_MAX / 2 };
    rig.fake.dev.poll = played_poll;
    rig.fake.dev.max_sectors = REQUEST_SECTORS;
    rig.model.plan.rates.card = BYTES_PER_S;
    rig.model.plan.rates.io_core = io_core;
    begin = rig_time;
    for (uint32_t i = 0; i < TOKENS; i++)
        f.equal = append(i) && f.equal;
    f.time = rig_time - begin;
    f.waited = rig.model.stream.stats.stall_ticks;
    f.slept = played.slept;
    f.looks = played.looks;
    f.rests = played.rests;
    f.longest = played.longest;
    return f;
}

static unsigned percent(uint64_t a, uint64_t b)
{
    return (unsigned)((a * 100 + b / 2) / b);
}

static void test_rests(size_t limit)
{
    struct figures awake = play(limit, false, 0, 100), asleep = play(limit, true, 0, 100);

    OK(awake.equal && asleep.equal, "the logits are those of weights in memory");
    OK(awake.rests == 0 && asleep.rests > 0, "core 0 sleeps %u times", asleep.rests);
    OK(percent(asleep.slept, asleep.waited) >= 75 && asleep.slept <= asleep.waited,
       "core 0 sleeps for %u %% of the wait for the card", percent(asleep.slept, asleep.waited));
    OK(asleep.looks * 3 < awake.looks, "core 0 looks at the card %u times instead of %u",
       asleep.looks, awake.looks);
    OK(percent(asleep.time, awake.time) <= 100,
       "tokens take %u %% of the time that they take with core 0 awake",
       percent(asleep.time, awake.time));
    OK(asleep.longest <= 1000, "no sleep is longer than 1 ms (%u us)", asleep.longest);
}

/* Rates are measured to a few percent. */
static void test_faster_card(size_t limit)
{
    struct figures awake = play(limit, false, 0, 110), asleep = play(limit, true, 0, 110);

    OK(percent(asleep.time, awake.time) <= 100 && asleep.rests > 0,
       "a card that is a tenth faster than measured does not wait for core 0: %u %%",
       percent(asleep.time, awake.time));
}

static void test_never(size_t limit)
{
    struct figures moves = play(limit, true, 90, 100);

    OK(moves.equal && moves.rests == 0, "a core that moves the data itself does not sleep");
}

/* A core that waits is woken, so nobody polls a clock then. */
static unsigned waits;

static void played_wait(struct block_device *dev, uint32_t micros)
{
    uint64_t until = rig_time + micros * (uint64_t)1000;

    (void)dev;
    waits++;
    if (played.due != 0 && played.due < until)
        until = played.due;
    rig_time = until > rig_time ? until : rig_time;
}

static void test_woken(size_t limit)
{
    struct figures awake = play(limit, false, 0, 100);

    rig.fake.dev.wait = played_wait;
    played.rests = 0;
    played.looks = 0;
    waits = 0;
    (void)session_cut(&rig.session, TOKENS - 2);
    OK(append(TOKENS - 2) && append(TOKENS - 1) && waits > 0 && played.rests == 0,
       "a device that can wake its waiter is waited for in its own way, %u times", waits);
    OK(played.looks * 3 < awake.looks * 2 / TOKENS,
       "two tokens look at the card %u times instead of %u", played.looks,
       awake.looks * 2 / TOKENS);
}

int main(void)
{
    struct rig_limits limits;

    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    rig_compute(true);
    limits = rig_limits();
    set_expected();
    test_rests(limits.least);
    test_faster_card(limits.least);
    test_never(limits.least);
    test_woken(limits.least);
    return tap_done();
}
