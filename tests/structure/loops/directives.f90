! SPDX-License-Identifier: BSD-3-Clause
! Loops with directives, in whose line gfortran has all that is not of their statements: a DO statement below one is
! told nowhere. It is the next line, but that of a loop with one directive above it that none is for.
!! build: gfortran -O1 -fopenmp | gfortran -O2 -fopenmp | gfortran -O3 -fopenmp
module kernels
  implicit none
contains
  !! kernels::bounded._omp_fn.0: loops rows rows/inner again again/columns   when -O[23]
  subroutine bounded(a, b, low, high, n)
    integer, intent(in) :: low, high, n
    real(8), intent(inout) :: a(n, n), b(n, n)
    integer :: j, k

    !$omp parallel
    !$omp do
    do k = low - 1, high + 1                   ! @rows
      do j = low, high                         ! @inner
        a(j, k) = sqrt(b(j, k) + a(j, k))
        if (a(j, k) > 2) a(j, k) = a(j, k) / b(j, k)
      end do
    end do
    !$omp do
    do k = low - 1, high + 1                   ! @again
      do j = low, high                         ! @columns
        b(j, k) = sqrt(b(j, k) + a(j, k))
        if (b(j, k) > 2) b(j, k) = a(j, k) / b(j, k)
      end do
    end do
    !$omp end parallel
  end subroutine

  !! kernels::whole._omp_fn.0: loops only only/down
  subroutine whole(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, n), b(n, n)
    integer :: j, k

    !$omp parallel do
    do k = 1, n                                ! @only
      do j = 2, n                              ! @down
        a(j, k) = sqrt(b(j, k) + a(j - 1, k))
        if (a(j, k) > 2) a(j, k) = a(j, k) / b(j, k)
      end do
    end do
  end subroutine

  !! kernels::single_line._omp_fn.0: loops edge edge/depth   when -O[12]
  subroutine single_line(a, n, depth)
    integer, intent(in) :: n, depth
    real(8), intent(inout) :: a(-1:n, -1:n)
    integer :: j, k

    !$omp parallel private(k)
    !$omp do
    do j = 1, n                                ! @edge
      !$omp simd
      do k = 1, depth                          ! @depth
        a(j, 1 - k) = a(j, k) * 0.5_8
      end do
    end do
    !$omp end parallel
  end subroutine

  ! The loop around those with directives has none. What takes the share is moved out of it.
  !! kernels::steps._omp_fn.0: only step step/each step/each/col step/row step/row/col
  subroutine steps(a, b, n, count)
    integer, intent(in) :: n, count
    real(8), intent(inout) :: a(n, n), b(n, n)
    integer :: i, j, k

    !$omp parallel private(i)
    do i = 1, count                            ! @step
      !$omp do                                 ! @each
      do k = 2, n                              ! @row
        do j = 2, n                            ! @col
          a(j, k) = sqrt(b(j, k - 1) + a(j - 1, k))
          if (a(j, k) > 2) a(j, k) = a(j, k) / b(j, k)
        end do
      end do
    end do
    !$omp end parallel
  end subroutine

  ! All threads do all of it.
  !! kernels::alone._omp_fn.0: only all
  subroutine alone(a, n, step)
    integer, intent(in) :: n, step
    real(8), intent(inout) :: a(n, *)
    integer :: i

    !$omp parallel private(i)
    do i = 1, n, step                          ! @all

      a(i, 1) = sqrt(a(i, 1) + a(n, i) / n)
      if (a(i, 1) > 2) a(i, 1) = a(i, 1) / 2
    end do
    !$omp end parallel
  end subroutine

  !! kernels::dealt._omp_fn.0: only chunk   when -O[23]
  subroutine dealt(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n), b(n)
    integer :: i

    !$omp parallel
    !$omp do schedule(dynamic, 4)
    do i = 2, n                                ! @chunk
      a(i) = sqrt(b(i) + a(i))
      if (a(i) > 2) a(i) = a(i) / b(i)
    end do
    !$omp end parallel
  end subroutine

  ! A statement of the loop is in front of it, where its bounds are worked out.
  !! kernels::collapsed._omp_fn.0: only both
  subroutine collapsed(a, b, n, step, weight)
    integer, intent(in) :: n, step
    real(8), intent(inout) :: a(n, n), b(n, n)
    real(8), intent(in) :: weight
    integer :: j, k

    !$omp parallel do collapse(2)
    do k = 1, n                                ! @both
      do j = 1, n
        if (step == 3) then
          b(j, k) = b(j, k) + weight * k
        end if

        a(j, k) = a(j, k) + weight * b(j, k)
      end do
    end do
  end subroutine
end module

program main
  use kernels
  implicit none
  real(8) :: a(40, 40) = 1, b(40, 40) = 2
  integer :: n = 30

  read (*, *) n
  call bounded(a, b, n - 20, n, 40)
  call whole(a, b, 40)
  call single_line(a, 37, n)
  call steps(a, b, 40, n)
  call alone(a, 40, n)
  call dealt(a, b, 40)
  call collapsed(a, b, 40, n, 0.25_8)
  print *, sum(a), sum(b)
end program
