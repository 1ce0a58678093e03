/* Motorcomm's YT8531, a PHY on RGMII: delays, strengths and the clock of what is sent, as the device tree says, in registers of its own. Numbers: U-Boot's
 * phy/motorcomm.c, and Linux's, which has the same (facts alone). Not yet run on hardware. */
#ifndef INGOT_BOARD_DRIVERS_NET_YT8531_H
#define INGOT_BOARD_DRIVERS_NET_YT8531_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/drivers/net/ethernet_phy.h"

/* Zeros: nothing is changed. */
struct yt8531 {
    bool delays_receive, delays_send; /* the tree says by how much */
    bool more;                        /* received data is delayed by 1900 ps more */
    uint8_t receive, send;            /* 150 ps each */
    bool adjusts;                     /* the clock of what is sent is set for each rate */
    bool inverts_10, inverts_100, inverts_1000;
    /* Strengths of what it sends to us: microamperes; below 9 the register's number and one more; 0: as it is. */
    uint16_t clock_strength, data_strength;
};

/* Read the properties of a PHY, which is the node: those of Linux and of upstream's U-Boot, or those of StarFive's U-Boot of 2021, which are the
 * registers' numbers. mode: phy-mode of its controller, or NULL. */
void yt8531_of_tree(struct yt8531 *y, const struct device_tree *tree,
                    const struct device_tree_node *node, const char *mode);

/* Set the delays and strengths, if the PHY is one. */
void yt8531_start(const struct yt8531 *y, const struct phy *p);

/* Set the clock for a link of so many Mbit/s, if the PHY is one. */
void yt8531_follow(const struct yt8531 *y, const struct phy *p, unsigned mbits);

#endif
