// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of which the compiler moves the unlikely part away: two that keep values across its calls, and so have a
// frame there, and one that has none.
extern "C" {

void cold_call(int* where) __attribute__((cold, noinline));
int usual_call(int value) __attribute__((noinline));

int cold_sum;

void cold_call(int* where)
{
    cold_sum += *where;
    __asm__ volatile("" ::: "memory");
}

int usual_call(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

// As in real code: with values that live across the calls.
#define CRITPATH_SPLIT(name, factor)                                                                                   \
    __attribute__((visibility("hidden"), noinline, used)) int name(int* values, int count)                             \
    {                                                                                                                  \
        int sum = usual_call(count);                                                                                   \
        for (int i = 0; i < count; ++i) {                                                                              \
            if (__builtin_expect(values[i] < 0, 0)) {                                                                  \
                cold_call(values + i);                                                                                 \
                sum -= usual_call(values[i]) * (factor);                                                               \
                cold_call(&sum);                                                                                       \
            }                                                                                                          \
            sum += usual_call(values[i] + (factor));                                                                   \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

CRITPATH_SPLIT(split_one, 3)
CRITPATH_SPLIT(split_two, 7)

// Seen from outside, so that its name is in the dynamic symbols.
__attribute__((visibility("default"))) int split_seen(int* values, int count)
{
    int sum = usual_call(count);
    for (int i = 0; i < count; ++i) {
        if (__builtin_expect(values[i] == 5, 0)) {
            cold_call(values + i);
            cold_call(&sum);
        }
        sum += usual_call(values[i]) + split_one(values, i) + split_two(values, i);
    }
    return sum;
}
}
