/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
int critpath_dummy(void);

int critpath_dummy(void)
{
    return 0;
}
