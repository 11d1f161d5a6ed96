/* Start of a Cortex-M4F without an operating system, and output by semihosting (Arm, "Semihosting for AArch32 and
 * AArch64"). */
#include "board.h"

extern unsigned data_from, data_begin, data_end, bss_begin, bss_end, stack_end;

int main(void);

static int host(int what, const void *with)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void print(const char *text)
{
    host(0x04, text); /* SYS_WRITE0 */
}

void print_number(unsigned v)
{
    char text[10] = "00000000 ";
    for (int i = 7; i >= 0; i--, v >>= 4)
        text[i] = "0123456789abcdef"[v & 15];
    print(text);
}

static void stop(unsigned reason)
{
    host(0x18, (const void *)reason); /* SYS_EXIT */
    for (;;)
        ;
}

static void fault(void)
{
    print("fault\n");
    stop(0x20024);
}

static void reset(void)
{
    *(volatile unsigned *)0xe000ed88 |= 0xfu << 20; /* CPACR: the floating-point unit */
    __asm__ volatile("dsb\n isb");
    for (unsigned *to = &data_begin, *from = &data_from; to < &data_end;)
        *to++ = *from++;
    for (unsigned *to = &bss_begin; to < &bss_end;)
        *to++ = 0;
    main();
    stop(0x20026);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_end, reset, fault, fault, fault, fault, fault,
};

/* SysTick counts down in 24 bits, at 25 MHz. */
#define CONTROL (*(volatile unsigned *)0xe000e010)
#define RELOAD (*(volatile unsigned *)0xe000e014)
#define COUNT (*(volatile unsigned *)0xe000e018)

void start_clock(void)
{
    CONTROL = 0;
    RELOAD = 0xffffff;
    COUNT = 0;
    CONTROL = 5;
    while (COUNT == 0)
        ;
}

unsigned ticks(void)
{
    return 0xffffff - COUNT;
}

int wrapped(void)
{
    return (CONTROL >> 16) & 1;
}
