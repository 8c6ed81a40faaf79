! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 waits in MPI_Recv while rank 0 works.
program folding
  use mpi
  implicit none
  integer :: rank, ierr, i, k, status(MPI_STATUS_SIZE)
  double precision :: x(1000), y

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 1
  y = 0
  do i = 1, 60
    if (rank == 0) then
      do k = 1, 2000000
        y = y * 0.5d0 + 1d0 / dble(k)
      end do
      x(1) = y
      call MPI_Send(x, 1000, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr)
    else if (rank == 1) then
      call MPI_Recv(x, 1000, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, ierr)
    end if
  end do
  call MPI_Finalize(ierr)
end program
