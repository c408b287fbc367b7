// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/engine.hpp"

#include "replayer/literal/literal.hpp"

namespace critpath::replayer
{

const Engine aggregated_engine{pair, reduce_instances, walk_as_fits};
const Engine literal_engine{literal::pair, literal::reduce_instances, pass_token};

}  // namespace critpath::replayer
