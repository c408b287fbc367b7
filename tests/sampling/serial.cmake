# SPDX-License-Identifier: BSD-3-Clause
# Read by ctest: these switch as fast as they can, and what they see of themselves depends on who else does.
set_tests_properties(Respites.ThreadsThatSwitchTooOftenGetARespite Respites.ManyShortWaitsAreSwitchesLikeOthers
                     Respites.WhoGivesUpAskingIsSampledSoon Respites.RespitesInWaitsHideNothingElse PROPERTIES RUN_SERIAL ON)
