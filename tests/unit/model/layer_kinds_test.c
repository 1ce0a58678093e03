/* A kind of mixer that is not shipped: this program links its own lists, with one row more. A layer
 * of that kind runs, whole and streamed; a layer of a kind without a row, without a tensor that its
 * row needs, or with phases that it does not wait for is refused by name. */
#include "runtime/model/ffn_dense.h"
#include "runtime/model/mixer_attention.h"
#include "runtime/model/layer_kinds.h"
#include "tests/unit/model/mixer_identity.h"
#include "tests/unit/rig.h"

enum { NEEDY = INGOT_MIXER_OWN + 1, PATIENT, WITHOUT_ROW, N_IDS = 20, LAYER = 1 };

/* Kinds of the program's own may ask for any tensors and for memory. */
static size_t needy_bytes(const struct ingot_params *p, const struct ingot_layer *l)
{
    (void)l;
    return p->dim;
}

static bool needy_run(const struct transformer *t, unsigned core)
{
    (void)t, (void)core;
    return false;
}

static const struct layer_block mixer_needy = {
    .kind = NEEDY,
    .name = "needy",
    .needs = LAYER_ROLE(INGOT_ATTN_OUT) | LAYER_ROLE(INGOT_ATTN_V_BIAS),
    .work_bytes = needy_bytes,
    .run = needy_run,
};

/* It waits for nothing. */
static const struct layer_block mixer_patient = { .kind = PATIENT,
                                                  .name = "patient",
                                                  .run = needy_run };

const struct layer_block *const layer_mixers[] = {
    &mixer_attention, &mixer_identity, &mixer_needy, &mixer_patient, NULL,
};
const struct layer_block *const layer_ffns[] = { &ffn_dense, NULL };

static struct ingot_header *header(void)
{
    return (void *)rig.packed;
}

static struct ingot_layer *layer(void)
{
    return (struct ingot_layer *)(void *)(rig.packed + header()->layers.offset) + LAYER;
}

static struct ingot_segment *segment(void)
{
    return (struct ingot_segment *)(void *)(rig.packed + header()->segments.offset) +
           layer()->segment;
}

static const struct ingot_tensor *tensor(enum ingot_role role)
{
    const struct ingot_tensor *t = (struct ingot_tensor *)(void *)(rig.packed +
                                                                   header()->tensors.offset) +
                                   layer()->first_tensor;

    while (t->role != role)
        t++;
    return t;
}

static void seal(void)
{
    struct ingot_header *h = header();
    struct ingot_segment *s = segment();

    s->crc32c = crc32c(0, rig.packed + s->offset, (size_t)s->bytes);
    h->layers.crc32c = crc32c(0, rig.packed + h->layers.offset, (size_t)h->layers.bytes);
    h->segments.crc32c = crc32c(0, rig.packed + h->segments.offset, (size_t)h->segments.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

/* Another mixer replaces the layer's attention and waits for nothing: the first phase continues to
 * the feed-forward. */
static void change_mixer(uint8_t kind)
{
    rig_make_model("tiny", INGOT_Q8_0);
    layer()->mixer = kind;
    layer()->rope = INGOT_NO_ROPE;
    segment()->phase_end[0] = segment()->phase_end[1];
    seal();
}

static void clear_tensor(enum ingot_role role)
{
    const struct ingot_tensor *t = tensor(role);

    memset(rig.packed + segment()->offset + t->offset, 0, (size_t)t->bytes);
    seal();
}

static const float *run(size_t limit, uint32_t chunk)
{
    uint32_t ids[N_IDS];

    if (rig_start(limit, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, N_IDS);
    if (rig_append(ids, N_IDS, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    return rig.session.logits;
}

static void test_runs(void)
{
    float whole[512], nothing[512];
    const float *logits;
    size_t bytes;

    change_mixer(MIXER_IDENTITY);
    logits = run(0, 0);
    bytes = rig_logits_bytes();
    memcpy(whole, logits, bytes);
    OK(rig.session.states[LAYER].kind->bytes == NULL &&
           rig.session.states[LAYER].kind != rig.session.states[0].kind,
       "a layer of this kind keeps no keys and values");
    OK(memcmp(run(rig_limits().least, 1), whole, bytes) == 0 &&
           rig.session.model->plan.residency == PLAN_STREAMED,
       "the logits are the same if weights stream and tokens come one by one");
    OK(session_cut(&rig.session, 7) == 7, "the sequence goes back to any number of tokens");

    /* Without weights in its norm it adds nothing, as attention adds nothing without its last
     * matrix. */
    clear_tensor(INGOT_ATTN_NORM);
    memcpy(nothing, run(0, 0), bytes);
    OK(memcmp(nothing, whole, bytes) != 0, "the norm of the layer counts");
    rig_make_model("tiny", INGOT_Q8_0);
    clear_tensor(INGOT_ATTN_OUT);
    OK(memcmp(nothing, run(0, 0), bytes) == 0,
       "a mixer with nothing to add is the same as attention without its output");
}

static void refuse(const char *words)
{
    OK(rig_open(0, 0, false) == ERR_UNSUPPORTED && strstr(rig.model.error_message, words) != NULL,
       "the model is refused: %s", rig.model.error_message);
}

static void test_refused(void)
{
    change_mixer(WITHOUT_ROW);
    refuse("layer 1: this program has no such mixer: own");
    change_mixer(NEEDY);
    refuse("layer 1: there is no tensor attn_v_bias");
    change_mixer(PATIENT);
    segment()->phase_end[0] = tensor(INGOT_ATTN_OUT)->offset;
    seal();
    refuse("layer 1: no phase may begin with attn_out");
}

/* The widest layer's work space is planned for every token of a chunk. */
static void test_work(void)
{
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_open(0, 0, true) != ERR_OK)
        rig_die(rig.model.error_message);
    OK(layer_work_bytes(&rig.model.image) == 0, "attention takes no more than the activations");
    layer()->mixer = NEEDY; /* of the image that is open in place */
    OK(layer_work_bytes(&rig.model.image) == rig.model.image.header->params.dim,
       "another layer takes what it asks for");
}

int main(void)
{
    rig_alone();
    rig_compute(true);
    test_runs();
    test_refused();
    test_work();
    return tap_done();
}
