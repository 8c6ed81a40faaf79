! SPDX-License-Identifier: BSD-3-Clause
! The calls of Fortran that messages.c makes in C, with the same lines of sums: handles and requests are integers here, and
! MPI_IN_PLACE and MPI_STATUS_IGNORE are addresses.
module sums
  use mpi
  implicit none
  integer, parameter :: most = 64, names = 40
  integer :: me, ranks, used = 0
  integer(8) :: messages(0:most - 1) = 0, bytes(0:most - 1) = 0, received = 0
  character(40) :: name(names)
  integer(8) :: times(names) = 0
contains
  subroutine called(what)
    character(*), intent(in) :: what
    integer :: i
    do i = 1, used
      if (name(i) == what) exit
    end do
    if (i > used) then
      used = i
      name(i) = what
    end if
    times(i) = times(i) + 1
  end subroutine

  subroutine sends(to, amount)
    integer, intent(in) :: to, amount
    messages(to) = messages(to) + 1
    bytes(to) = bytes(to) + amount
  end subroutine

  subroutine sends_others(amount)
    integer, intent(in) :: amount
    integer :: i
    do i = 0, ranks - 1
      if (i /= me) call sends(i, amount)
    end do
  end subroutine

  subroutine gets(amount)
    integer, intent(in) :: amount
    received = received + amount
  end subroutine

  ! Each rank tells its own sums, in a file sums.RANK.
  subroutine report
    integer :: i
    character(20) :: file
    write (file, '(a,i0)') 'sums.', me
    open (7, file=file, status='replace')
    do i = 1, used
      write (7, '(a,1x,a,1x,i0)') 'call', trim(name(i)), times(i)
    end do
    do i = 0, ranks - 1
      if (messages(i) > 0) write (7, '(a,4(1x,i0))') 'message', me, i, messages(i), bytes(i)
    end do
    write (7, '(a,2(1x,i0))') 'sent', me, sum(bytes)
    write (7, '(a,2(1x,i0))') 'received', me, received
    close (7)
  end subroutine
end module

subroutine point_to_point
  use sums
  implicit none
  integer :: right, left, r(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4), indx, some(4), ierr, i, done
  logical :: flag
  double precision :: out(1000), in(1000)
  right = mod(me + 1, ranks)
  left = mod(me + ranks - 1, ranks)
  call called('MPI_Sendrecv')
  call mpi_sendrecv(out, 10, MPI_DOUBLE_PRECISION, right, 1, in, 20, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call sends(right, 80)
  call gets(80)
  do i = 1, 2
    call called('MPI_Irecv')
    call mpi_irecv(in(100 * i), 50, MPI_INTEGER, left, i, MPI_COMM_WORLD, r(i), ierr)
    call called('MPI_Isend')
    call mpi_isend(out, i, MPI_INTEGER, right, i, MPI_COMM_WORLD, r(2 + i), ierr)
    call sends(right, 4 * i)
    call gets(4 * i)
  end do
  call called('MPI_Waitall')
  call mpi_waitall(4, r, MPI_STATUSES_IGNORE, ierr)
  call called('MPI_Irecv')
  call mpi_irecv(in, 50, MPI_INTEGER, left, 3, MPI_COMM_WORLD, r(1), ierr)
  call called('MPI_Isend')
  call mpi_isend(out, 5, MPI_INTEGER, right, 3, MPI_COMM_WORLD, r(2), ierr)
  call sends(right, 20)
  call gets(20)
  do i = 1, 2
    call called('MPI_Waitany')
    call mpi_waitany(2, r, indx, status, ierr)
  end do
  call called('MPI_Irecv')
  call mpi_irecv(in, 50, MPI_INTEGER, left, 4, MPI_COMM_WORLD, r(1), ierr)
  call called('MPI_Isend')
  call mpi_isend(out, 6, MPI_INTEGER, right, 4, MPI_COMM_WORLD, r(2), ierr)
  call sends(right, 24)
  call gets(24)
  done = 0
  do while (done < 2)
    call called('MPI_Waitsome')
    call mpi_waitsome(2, r, indx, some, statuses, ierr)
    done = done + indx
  end do
  call called('MPI_Recv_init')
  call mpi_recv_init(in, 50, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), ierr)
  call called('MPI_Send_init')
  call mpi_send_init(out, 7, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), ierr)
  do i = 1, 3
    call called('MPI_Startall')
    call mpi_startall(2, r, ierr)
    call called('MPI_Wait')
    call mpi_wait(r(2), MPI_STATUS_IGNORE, ierr)
    flag = .false.
    do while (.not. flag)
      call called('MPI_Test')
      call mpi_test(r(1), flag, MPI_STATUS_IGNORE, ierr)
    end do
    call sends(right, 28)
    call gets(28)
  end do
  do i = 1, 2
    call called('MPI_Request_free')
    call mpi_request_free(r(i), ierr)
  end do
  call called('MPI_Send')
  call mpi_send(out, 9, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, ierr)
  if (me > 0) then
    call called('MPI_Recv')
    call mpi_recv(in, 90, MPI_REAL, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status, ierr)
    call gets(12)
  else
    do i = 1, ranks - 1
      call called('MPI_Send')
      call mpi_send(out, 3, MPI_REAL, i, 7, MPI_COMM_WORLD, ierr)
      call sends(i, 12)
    end do
    call called('MPI_Recv')
    call mpi_recv(in, 90, MPI_REAL, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end if
end subroutine

subroutine collectives
  use sums
  implicit none
  integer :: half, root, ierr, i, counts(0:most - 1), places(0:most - 1), others, rank
  integer :: out(4096), in(4096)
  others = ranks - 1
  root = ranks - 1
  out = 1
  call called('MPI_Barrier')
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  call called('MPI_Bcast')
  call mpi_bcast(out, 11, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
  if (me == root) then
    call sends_others(44)
  else
    call gets(44)
  end if
  call called('MPI_Reduce')
  if (me == root) then
    call mpi_reduce(MPI_IN_PLACE, in, 3, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
    call gets(12 * others)
  else
    call mpi_reduce(out, in, 3, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
    call sends(root, 12)
  end if
  call called('MPI_Allreduce')
  call mpi_allreduce(MPI_IN_PLACE, in, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call called('MPI_Allgather')
  call mpi_allgather(MPI_IN_PLACE, 99, MPI_REAL, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call called('MPI_Allgather')
  call mpi_allgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call sends_others(20)
  call sends_others(8)
  call sends_others(12)
  call gets(40 * others)
  do i = 0, ranks - 1
    counts(i) = me + i
    places(i) = i * 64
  end do
  call called('MPI_Alltoallv')
  call mpi_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call called('MPI_Alltoallv')
  call mpi_alltoallv(MPI_IN_PLACE, counts, places, MPI_REAL, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  do i = 0, ranks - 1
    if (i == me) cycle
    call sends(i, 4 * counts(i))
    call sends(i, 4 * counts(i))
    call gets(8 * counts(i))
  end do
  call called('MPI_Comm_split')
  call mpi_comm_split(MPI_COMM_WORLD, 0, -me, half, ierr)
  call mpi_comm_rank(half, rank, ierr)
  call called('MPI_Gather')
  call mpi_gather(out, 4, MPI_INTEGER, in, 4, MPI_INTEGER, 0, half, ierr)
  if (rank == 0) then
    call gets(16 * others)
  else
    call sends(ranks - 1, 16)
  end if
  call called('MPI_Scan')
  call mpi_scan(out, in, 2, MPI_INTEGER, MPI_SUM, half, ierr)
  do i = 0, me - 1
    call sends(i, 8)
  end do
  call gets(8 * rank)
  call called('MPI_Comm_free')
  call mpi_comm_free(half, ierr)
end subroutine

program fortran
  use sums
  implicit none
  integer :: ierr
  call called('MPI_Init')
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call point_to_point
  call collectives
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call called('MPI_Send')
  call MPI_Send(me, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierr)  ! there is no such rank
  call called('MPI_Finalize')
  call report
  call mpi_finalize(ierr)
end program
