# SPDX-License-Identifier: BSD-3-Clause
# Read by ctest: these switch as fast as they can, and what they see of themselves depends on who else does; and the last
# one needs a core for the helper, which looks at those that are blocked.
set_tests_properties(Respites.ThreadsThatSwitchTooOftenGetARespite Respites.ManyShortWaitsAreSwitchesLikeOthers
                     Respites.WhoGivesUpAskingIsSampledSoon Respites.RespitesInWaitsHideNothingElse
                     Sampling.WhoIsBlockedForLongIsFoundThere PROPERTIES RUN_SERIAL ON)
