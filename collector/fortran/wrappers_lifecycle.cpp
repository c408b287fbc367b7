// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the Fortran wrappers of MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort and MPI_Pcontrol.
#include "collector/fortran/bodies.hpp"
#include "collector/fortran/convert.hpp"
#include "collector/mpi/record_lifecycle.hpp"

namespace critpath::preload::fortran
{

void Init(const Caller& caller, InitFunction* function, MPI_Fint* f_ierror)
{
    Ierror ierror(f_ierror);
    record_init(
        FunctionId::MPI_Init,
        [&] {
            function(ierror.get());
            return ierror.value();
        },
        caller);
}

void Init_thread(const Caller& caller, Init_threadFunction* function, MPI_Fint* required, MPI_Fint* provided,
                 MPI_Fint* f_ierror)
{
    Ierror ierror(f_ierror);
    record_init(
        FunctionId::MPI_Init_thread,
        [&] {
            function(required, provided, ierror.get());
            return ierror.value();
        },
        caller);
}

void Finalize(const Caller& caller, FinalizeFunction* function, MPI_Fint* f_ierror)
{
    Ierror ierror(f_ierror);
    record_finalize(
        [&] {
            function(ierror.get());
            return ierror.value();
        },
        caller);
}

void Abort(const Caller& caller, AbortFunction* function, MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Abort, caller);
    if (call.recorded()) {
        record_abort(call);
    }
    function(comm, errorcode, f_ierror);
}

void Pcontrol(const Caller& caller, PcontrolFunction* function, MPI_Fint* level, MPI_Fint* f_ierror)
{
    Call call(FunctionId::MPI_Pcontrol, caller);
    Ierror ierror(f_ierror);
    call.run([&] {
        function(level, ierror.get());
        return ierror.value();
    });
    if (call.recorded()) {
        record_pcontrol(call, *level);
        control.apply_level(*level);
    }
}

}  // namespace critpath::preload::fortran
