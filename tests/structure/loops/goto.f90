! SPDX-License-Identifier: BSD-3-Clause
! Loops of GOTO, which have the line of their label by the source; statements that are several loops, or written over several lines.
!
!! build: gfortran -O2 | gfortran -O3
module back
contains
  ! The jump back has a condition, the loop in it a statement of its own.
  !! back::iterate: source loops again again/i
  subroutine iterate(x, n, limit)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: limit
    real(8) :: last
    integer :: i

10  continue              ! @again
    last = x(n)
    do i = 2, n           ! @i
      x(i) = x(i) + sqrt(x(i - 1))
    end do
    x(1) = x(1) / 2 + sin(x(n))
    if (abs(x(n) - last) > limit) goto 10
  end subroutine

  ! Two in one another, in the middle of which one is left: a heap that is sorted.
  !! back::sort: source loops all all/down
  subroutine sort(n, ra)
    integer, intent(in) :: n
    integer, intent(inout) :: ra(n)
    integer :: l, ir, i, j, rra

    l = n / 2 + 1
    ir = n
10  continue              ! @all
    if (l > 1) then
      l = l - 1
      rra = ra(l)
    else
      rra = ra(ir)
      ra(ir) = ra(1)
      ir = ir - 1
      if (ir == 1) then
        ra(1) = rra
        return
      end if
    end if
    i = l
    j = l + l
20  if (j <= ir) then     ! @down
      if (j < ir) then
        if (ra(j) < ra(j + 1)) j = j + 1
      end if
      if (rra < ra(j)) then
        ra(i) = ra(j)
        i = j
        j = j + j
      else
        j = ir + 1
      end if
      goto 20
    end if
    ra(i) = rra
    goto 10
  end subroutine

  ! In a loop of DO that is none of GOTO; the label in front of it is not gone back to.
  !! back::each: source loops n n/round
  subroutine each(x, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    integer :: i, k

30  continue
    do i = 1, n           ! @n
      k = 0
40    k = k + 1           ! @round
      x(i) = sin(x(i)) + k
      if (x(i) - 1) 40, 50, 60
50    x(i) = 2
60    x(i) = cos(x(i))
    end do
  end subroutine

  ! One statement, two loops: they are one row.
  !! back::both: source loops pair
  subroutine both(f, n, m)
    integer, intent(in) :: n, m
    real(8), intent(inout) :: f(n, m)
    integer :: i, j

    do concurrent (j = 1:m, i = 1:n)  ! @pair
      if (f(i, j) > 0) f(i, j) = exp(-f(i, j))
    end do
  end subroutine

  ! The line in which an array statement begins.
  !! back::relax: source only steps steps/whole
  subroutine relax(a, b, n, steps)
    integer, intent(in) :: n, steps
    real(8), intent(inout) :: a(:, :), b(:, :)
    integer :: step

    do step = 1, steps                          ! @steps
      a(2:n-1, 2:n-1) = 0.25d0 * ( &            ! @whole
           b(1:n-2, 2:n-1) + b(3:n, 2:n-1) + &
           b(2:n-1, 1:n-2) + b(2:n-1, 3:n))
      b(1, 1) = a(2, 2)
    end do
  end subroutine
end module

program main
  use back
  real(8) :: x(1000), f(40, 40), g(40, 40)
  integer :: ra(1000)

  call random_number(x)
  call random_number(f)
  call random_number(g)
  ra = int(x * 1000)
  call iterate(x, 1000, 1d-3)
  call sort(1000, ra)
  call each(x, 1000)
  call both(f, 40, 40)
  call relax(f, g, 40, 10)
  print *, x(3), ra(3), f(3, 3)
end program
