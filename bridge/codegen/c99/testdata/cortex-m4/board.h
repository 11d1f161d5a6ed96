#ifndef BOARD_H
#define BOARD_H

void print(const char *text);
void print_number(unsigned v); /* as eight hexadecimal digits */

void start_clock(void);
unsigned ticks(void); /* since start_clock, of 40 ns each */
int wrapped(void);    /* whether these are too many to count */

#endif
