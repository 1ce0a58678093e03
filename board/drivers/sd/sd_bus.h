/* Steps of identification that SD cards and eMMC share; for sd_bus.c and sd_emmc.c. */
#ifndef INGOT_BOARD_DRIVERS_SD_SD_BUS_H
#define INGOT_BOARD_DRIVERS_SD_SD_BUS_H

#include "board/drivers/sd/sd_card.h"

/* Run a command without data. `reply` has one word, or four for SD_RESPONSE_LONG, or is NULL. */
enum err sd_bus_command(struct sd_host *host, unsigned index, uint32_t argument,
                        enum sd_response response, uint32_t *reply);

/* Run a command that answers with one block of `bytes` bytes. */
enum err sd_bus_read(struct sd_host *host, unsigned index, uint32_t argument, uint8_t *data,
                     uint32_t bytes);

/* Call host->ops->set_bus, and store the new settings in *card. */
enum err sd_bus_set(struct sd_host *host, struct sd_card *card, uint32_t hz, unsigned bits,
                    enum sd_timing timing);

#endif
