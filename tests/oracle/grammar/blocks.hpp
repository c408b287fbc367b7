// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the blocks of the grammar: each adds a program of its own to a sketch, drawn at random, which ends.
#pragma once

#include "tests/oracle/grammar/sketch.hpp"

namespace critpath::oracle::blocks
{

// Messages (message_blocks.cpp)
void halo(Sketch& s);
void started_together(Sketch& s);
void sweep(Sketch& s);
void pairs(Sketch& s);
void farm(Sketch& s);
void probes(Sketch& s);
void probe_loops(Sketch& s);
void cancelled(Sketch& s);
void buffers(Sketch& s);
void threads(Sketch& s);
void tool(Sketch& s);
void ready(Sketch& s);
void across_groups(Sketch& s);
void standing(Sketch& s);
void exchange(Sketch& s);

// Collectives (collective_blocks.cpp)
void collectives(Sketch& s);
void overlap(Sketch& s);
void crossing(Sketch& s);
void between_groups(Sketch& s);
void neighbourhoods(Sketch& s);
void amounts(Sketch& s);
void creations(Sketch& s);
void copies(Sketch& s);

// Files (file_blocks.cpp)
void files(Sketch& s);

}  // namespace critpath::oracle::blocks
