# kernelet_add_mpi() adds kernelet::mpi, the headers with MPI, once MPI::MPI_CXX is there.
function(kernelet_add_mpi)
    if(NOT TARGET kernelet::mpi)
        add_library(kernelet::mpi INTERFACE IMPORTED GLOBAL)
        target_link_libraries(kernelet::mpi INTERFACE kernelet::kernelet MPI::MPI_CXX)
    endif()
endfunction()
