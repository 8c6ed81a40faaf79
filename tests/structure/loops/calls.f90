! SPDX-License-Identifier: BSD-3-Clause
! As calls.c, in Fortran: loops whose bounds call, OpenMP, array statements with a function. For calls.py.
module kernels
  implicit none
  integer, parameter :: n = 1000
  real(8) :: a(n), b(n), total
contains
  real(8) function work(x)
    real(8), intent(in) :: x
    integer :: i
    work = x
    do i = 1, 10
      work = work * 1.000001d0 + i
    end do
  end function work

  subroutine jumps(m)
    integer, intent(in) :: m
    integer :: i
    i = 0
10  continue
    i = i + 1
    a(i) = work(b(i))
    if (i < m) goto 10
    b(1) = work(a(1))
  end subroutine jumps

  subroutine parallel(m)
    integer, intent(in) :: m
    integer :: i, k
    !$omp parallel private(k)
    !$omp do
    do i = 1, m
      a(i) = work(b(i)) + i
    end do
    !$omp end do
    !$omp do reduction(+ : total)
    do i = 1, m
      do k = 1, 3
        total = total + work(a(i))
      end do
    end do
    !$omp end do
    !$omp end parallel
  end subroutine parallel
end module kernels

program calls
  use kernels
  implicit none
  integer :: i, m
  m = 100
  b = 1
  call jumps(m)
  call parallel(m)
  do i = 1, int(work(1d0)) + m
    total = total + work(a(mod(i, n) + 1))
  end do
  print *, total, a(1), b(2)
end program calls
