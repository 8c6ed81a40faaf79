! SPDX-License-Identifier: BSD-3-Clause
! DO loops whose condition has the line of a statement in them: vectorised, spread over threads, left at their end.
!
!! build: gfortran -O3 | gfortran -O2 -fopenmp | gfortran -O3 -fopenmp
module kernels
contains
  ! What the vectorised loop leaves over tells its line; that of the array statement is its own.
  !! kernels::moments: loops n n/i whole   when -O3$
  subroutine moments(phi, src, pn, flux, it, nm)
    integer, intent(in) :: it, nm
    real(8), intent(inout) :: phi(it), src(it, nm), flux(it, nm)
    real(8), intent(in) :: pn(nm)
    integer :: i, n

    do n = 2, nm          ! @n
      do i = 1, it        ! @i
        flux(i, n) = flux(i, n) &
                     + pn(n) * phi(i)
      end do
    end do
    src(:, 1) = phi * 2   ! @whole
  end subroutine

  ! All code of a statement over many lines has its last line; what the vectorised loop leaves over has that of DO.
  !! kernels::products: loops m m/r   when -O3$
  subroutine products(a, n1, b, c, n3)
    integer, intent(in) :: n1, n3
    real(8), intent(in) :: a(n1, 11), b(11, n3)
    real(8), intent(out) :: c(n1, n3)
    integer :: i, j

    do j = 1, n3          ! @m
      do i = 1, n1        ! @r
        c(i, j) = a(i, 1) * b(1, j) &
                  + a(i, 2) * b(2, j) &
                  + a(i, 3) * b(3, j) &
                  + a(i, 4) * b(4, j) &
                  + a(i, 5) * b(5, j) &
                  + a(i, 6) * b(6, j) &
                  + a(i, 7) * b(7, j) &
                  + a(i, 8) * b(8, j) &
                  + a(i, 9) * b(9, j) &
                  + a(i, 10) * b(10, j) &
                  + a(i, 11) * b(11, j)
      end do
    end do
  end subroutine

  ! Nothing has the line of DO, but the directive above it.
  !! kernels::spread_out._omp_fn.0: loops rows rows/inner   when -fopenmp
  subroutine spread_out(a, b, nx, ny)
    integer, intent(in) :: nx, ny
    real(8), intent(inout) :: a(nx, ny), b(nx, ny)
    real(8) :: flux, total
    integer :: j, k

    !$omp parallel private(flux, total)
    !$omp do
    do k = 1, ny                             ! @rows
      !$omp simd private(flux, total)
      do j = 2, nx                           ! @inner
        flux = a(j, k) * 0.25_8
        total = flux - a(j - 1, k) / (1 + flux * flux)
        b(j, k) = b(j, k) + total
      end do
    end do
    !$omp end do
    !$omp end parallel
  end subroutine
end module

module state
  integer, parameter :: n = 33
  real(8) :: rsd(5, n, n, n), flux(5, n), t = 3
  integer :: first = 2, last = 30, grid(3) = 30
  real(8) :: cells(5, 0:n, 0:n, 0:n), part(n)
end module

program main
  use kernels
  use state, only: grid
  integer :: n
  real(8) :: phi(100), src(100, 4), flux(100, 4), pn(4), a(64, 64), b(64, 64)

  call random_number(phi)
  call random_number(pn)
  call random_number(a)
  src = 0
  flux = 0
  call products(a, 64, a, b, 5)
  b = 0
  n = 0
  call moments(phi, src, pn, flux, 100, 4)
  call spread_out(a, b, 64, 64)
  call iterate(phi(1), n)
  call fluxes
  call fill
  call sums(grid)
  call smooth
  call rounds(phi(1))
  print *, n, sum(src), sum(flux), sum(b)
end program

! Copies of a loop whose last statement is the one of their conditions: what has the line of DO in them is the loop's.
!! fluxes: loops k k/j k/j/i k/j/u when -O3$
subroutine fluxes
  use state
  real(8) :: u21, u31, u41, u51, u21b, u31b, u41b, u51b, x
  integer :: i, j, k

  do k = 2, last       ! @k
    do j = first, last ! @j
      do i = first, last ! @i
        x = 1 / rsd(1, i, j, k)
        u21 = x * rsd(2, i, j, k)
        u31 = x * rsd(3, i, j, k)
        u41 = x * rsd(4, i, j, k)
        u51 = x * rsd(5, i, j, k)
        x = 1 / rsd(1, i - 1, j, k)
        u21b = x * rsd(2, i - 1, j, k)
        u31b = x * rsd(3, i - 1, j, k)
        u41b = x * rsd(4, i - 1, j, k)
        u51b = x * rsd(5, i - 1, j, k)
        flux(2, i) = 4 / 3d0 * t * (u21 - u21b)
        flux(3, i) = t * (u31 - u31b)
        flux(4, i) = t * (u41 - u41b)
        flux(5, i) = t * ((u21**2 + u31**2 + u41**2) &
                     - (u21b**2 + u31b**2 + u41b**2)) + t * (u21**2 - u21b**2) + t * (u51 - u51b)
      end do
      do i = first, last ! @u
        rsd(2, i, j, k) = rsd(2, i, j, k) + flux(2, i) - flux(2, i - 1)
        rsd(5, i, j, k) = rsd(5, i, j, k) + flux(5, i) - flux(5, i - 1)
      end do
    end do
  end do
end subroutine

! Left at the end only, by a condition there: it begins at the top.
!! iterate: loops top
!! iterate: source loops forever
subroutine iterate(x, n)
  integer, intent(inout) :: n
  real(8), intent(inout) :: x

  do ! @forever
    n = n + 1 ! @top
    print *, n, x
    x = x + 1
    if (n > 10) then
      print *, x
      exit
    end if
  end do
end subroutine

! The compiler makes two ways round a loop, and leaves a loop where the one in it would not be entered: the conditions of
! the loops around are theirs.
!! fill: loops fk fk/fj fk/fj/fi when -O3$
!! fill: source loops fk fk/fj fk/fj/fm when -O3$
subroutine fill
  use state
  integer :: i, j, k, m

  do k = 0, grid(3) - 1      ! @fk
    do j = 0, grid(2) - 1    ! @fj
      do i = 0, grid(1) - 1  ! @fm
        do m = 1, 5
          cells(m, i, j, k) = 1 ! @fi
        end do
      end do
    end do
  end do
end subroutine

!! sums: only sk sk/sj sk/sj/si when -O3
!! sums: sum in sk/sj/si when -O3
subroutine sums(limits)
  use state
  integer, intent(in) :: limits(3)
  integer :: i, j, k, m
  real(8) :: x, y, z, e(5)

  do k = 0, grid(3) - 1      ! @sk
    z = dble(k) * t
    do j = 0, grid(2) - 1    ! @sj
      y = dble(j) * t
      do i = 0, grid(1) - 1  ! @si
        x = dble(i) * t
        call exact(x, y, z, e)
        do m = 1, 5
          cells(m, i, j, k) = cells(m, i, j, k) + e(m) ! @sum
        end do
      end do
    end do
  end do
end subroutine

subroutine exact(x, y, z, e)
  real(8), intent(in) :: x, y, z
  real(8), intent(out) :: e(5)

  print *, x
  e = x + y + z
end subroutine

! What is in the loop has been unrolled and is one statement: code behind it has the line of DO.
!! smooth: loops plane plane/low plane/high when -O3
subroutine smooth
  use state
  integer :: i, j, k, m

  do k = 2, last     ! @plane
    j = 2
    do i = 2, last   ! @low
      do m = 1, 5
        rsd(m, i, j, k) = rsd(m, i, j, k) - t * &
                          (-4 * rsd(m, i, j - 1, k) &
                           + 6 * rsd(m, i, j, k) - 4 * rsd(m, i, j + 1, k))
      end do
    end do
    j = last
    do i = 2, last   ! @high
      do m = 1, 5
        rsd(m, i, j, k) = rsd(m, i, j, k) - t * &
                          (-4 * rsd(m, i, j - 1, k) &
                           + 6 * rsd(m, i, j, k) - 4 * rsd(m, i, j + 1, k))
      end do
    end do
  end do
end subroutine

! The last statement of a round decides by which of two ways the next one goes.
!! rounds: only round
subroutine rounds(x)
  use state
  real(8), intent(inout) :: x
  integer :: it

  do it = 1, last    ! @round
    if (it > 1) then
      x = x * 0.5d0
      print *, x
    end if
    call exact(x, x, t, part(1:5))
    if (first > 1) call exact(t, x, x, part(6:10))
  end do
end subroutine
