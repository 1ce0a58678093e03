/* Registers, queues and Identify data of an NVMe controller, which the driver's files share.
 * Sections are those of the NVM Express Base Specification 1.4. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_NVME_REGISTERS_H
#define INGOT_BOARD_DRIVERS_BLOCK_NVME_REGISTERS_H

#include "board/drivers/block/nvme.h"

enum { /* section 3.1 */
       NVME_CAP = 0x00,
       NVME_CC = 0x14,
       NVME_CSTS = 0x1c,
       NVME_AQA = 0x24,
       NVME_ASQ = 0x28,
       NVME_ACQ = 0x30,
       NVME_DOORBELLS = 0x1000,
};
enum { CC_ENABLE = 1, CC_ENTRY_SIZES = 6 << 16 | 4 << 20 }; /* 3.1.5: 64 and 16 bytes */
enum { CSTS_READY = 1, CSTS_FATAL = 2 };                    /* 3.1.6 */

enum { /* section 5 */
       ADMIN_CREATE_SQ = 0x01,
       ADMIN_CREATE_CQ = 0x05,
       ADMIN_IDENTIFY = 0x06,
       ADMIN_SET_FEATURES = 0x09,
};
enum { FLAG_SGL = 1 << 6 }; /* 4.2, PSDT: the command's SGL entry says where the data are */
enum { IO_FLUSH = 0, IO_WRITE = 1, IO_READ = 2 };                              /* section 6 */
enum { IDENTIFY_NAMESPACE = 0, IDENTIFY_CONTROLLER = 1, IDENTIFY_ACTIVE = 2 }; /* 5.15.1, CNS */
enum { FEATURE_QUEUES = 7 };                                                   /* 5.21.1.7 */
enum { NVME_NAMESPACE = 1, NVME_IO_QUEUE = 1 };

/* These are in nvme_mmio.c, which a unit test replaces by a simulated controller. */
uint32_t nvme_read(const struct nvme *n, unsigned reg);
void nvme_write(const struct nvme *n, unsigned reg, uint32_t value);

/* In nvme_queue.c. Put a command into the queue and ring its doorbell; the caller ensures that
 * there is room. */
void nvme_push(struct nvme *n, struct nvme_queue *q, const struct nvme_command *c);

/* Take the next completion; false if there is none yet. nvme_popped rings the doorbell for all
 * completions that were taken. */
bool nvme_pop(struct nvme *n, struct nvme_queue *q, struct nvme_completion *out);
void nvme_popped(struct nvme *n, const struct nvme_queue *q);

/* In nvme_start.c. Reset the controller, start it, and create its two queues for transfers; n->why
 * has an error message on failure. At each later start, the controller must report the same
 * namespace as at the first start. */
enum err nvme_start(struct nvme *n);

/* Disable the controller; afterwards it moves no data. Returns ERR_TIMEOUT if it does not stop. */
enum err nvme_stop(struct nvme *n);

/* In nvme_identify.c: take *facts from a page of Identify data. Returns NULL on success, else the
 * reason why the device cannot be used. */
const char *nvme_read_controller(const uint8_t data[NVME_PAGE], struct nvme_facts *facts);
const char *nvme_read_namespace(const uint8_t data[NVME_PAGE], struct nvme_facts *facts);

#endif
