/* SPDX-License-Identifier: MIT */
#ifndef HARNESS_CONFIG_H
#define HARNESS_CONFIG_H

/*
 * Fills in config from the command line of a ring binary. What is wrong in
 * itself ends the program with EXIT_USAGE, what this machine or this layout
 * cannot do with EXIT_CANNOT.
 */
void config_init(int argc, char **argv);

#endif
