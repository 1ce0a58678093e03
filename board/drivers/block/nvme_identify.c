/* Reads identify data (NVM Express Base Specification 1.4, figures 245, 247 and 251). The bytes
 * come from an unknown device, so each is checked before it is used. */
#include <string.h>

#include "board/drivers/block/nvme_registers.h"

enum {                /* the controller's page */
       AT_SERIAL = 4, /* followed by the model */
       AT_MDTS = 77,
       AT_SQES = 512,
       AT_CQES = 513,
       AT_NN = 516, /* highest possible number of a namespace */
       AT_VWC = 525,
       AT_SGLS = 536,
};
enum { /* the namespace's page */
       AT_NSZE = 0,
       AT_NLBAF = 25,
       AT_FLBAS = 26,
       AT_DPS = 29,
       AT_NSATTR = 99,
       AT_LBAF = 128,
};
enum { MDTS_MOST = 12, SQES = 6, CQES = 4, SHIFT_512 = 9, SHIFT_4096 = 12 };

/* True if entries may have 2^size bytes. The low four bits of `sizes` have the smallest such
 * exponent, the high four bits the largest. */
static bool takes(uint8_t sizes, unsigned size)
{
    return (sizes & 15u) <= size && size <= sizes >> 4;
}

const char *nvme_read_controller(const uint8_t data[NVME_PAGE], struct nvme_facts *facts)
{
    if (!takes(data[AT_SQES], SQES) || !takes(data[AT_CQES], CQES))
        return "the NVMe controller needs queue entries of an unsupported size: use another drive";
    facts->max_bytes = 0; /* there is no limit, or it is above our largest request */
    if (data[AT_MDTS] != 0 && data[AT_MDTS] < MDTS_MOST)
        facts->max_bytes = (uint32_t)NVME_PAGE << data[AT_MDTS];
    facts->cached = data[AT_VWC] & 1;
    facts->may_have_others = data[AT_NN] > 1 ||
                             (data[AT_NN + 1] | data[AT_NN + 2] | data[AT_NN + 3]) != 0;
    facts->whole = (data[AT_SGLS] & 3) == 1 || (data[AT_SGLS] & 3) == 2;
    memcpy(facts->who, data + AT_SERIAL, sizeof facts->who);
    return NULL;
}

const char *nvme_read_namespace(const uint8_t data[NVME_PAGE], struct nvme_facts *facts)
{
    unsigned format = data[AT_FLBAS] & 15u;
    const uint8_t *lbaf = data + AT_LBAF + 4u * format;
    uint64_t blocks = 0;

    for (unsigned i = 8; i-- > 0;)
        blocks = blocks << 8 | data[AT_NSZE + i];
    if (blocks == 0)
        return "the NVMe drive has no namespace 1: create one with `nvme create-ns`";
    if (format > data[AT_NLBAF])
        return "the NVMe drive uses a block format that it does not list: format it again";
    if (lbaf[0] != 0 || lbaf[1] != 0 || (data[AT_DPS] & 7) != 0)
        return "the NVMe drive stores metadata with each block: turn that off with `nvme format`";
    if (lbaf[2] != SHIFT_512 && lbaf[2] != SHIFT_4096)
        return "the NVMe drive's blocks are neither 512 nor 4096 bytes long: format it with `nvme format`";
    if (blocks > UINT64_MAX / NVME_PAGE)
        return "the NVMe drive reports an impossible size: use another drive";
    facts->n_blocks = blocks;
    facts->block_bytes = 1u << lbaf[2];
    facts->read_only = data[AT_NSATTR] & 1;
    return NULL;
}
