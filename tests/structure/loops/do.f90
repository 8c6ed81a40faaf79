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

  ! Nothing has the line of DO, but the directive above it; of gfortran 14 not even that.
  !! kernels::spread_out._omp_fn.0: only share share/simd share/flux   when -fopenmp
  subroutine spread_out(a, b, nx, ny)
    integer, intent(in) :: nx, ny
    real(8), intent(inout) :: a(nx, ny), b(nx, ny)
    real(8) :: flux, total
    integer :: j, k

    !$omp parallel private(flux, total)
    !$omp do                                 ! @share
    do k = 1, ny                             ! @rows
      !$omp simd private(flux, total)        ! @simd
      do j = 2, nx                           ! @inner
        flux = a(j, k) * 0.25_8              ! @flux
        total = flux - a(j - 1, k) / (1 + flux * flux)
        b(j, k) = b(j, k) + total
      end do
    end do
    !$omp end do
    !$omp end parallel
  end subroutine
end module

program main
  use kernels
  integer :: n
  real(8) :: phi(100), src(100, 4), flux(100, 4), pn(4), a(64, 64), b(64, 64)

  call random_number(phi)
  call random_number(pn)
  call random_number(a)
  src = 0
  flux = 0
  b = 0
  n = 0
  call moments(phi, src, pn, flux, 100, 4)
  call spread_out(a, b, 64, 64)
  call iterate(phi(1), n)
  print *, n, sum(src), sum(flux), sum(b)
end program

! Left at the end only, by a condition there: it begins at the top.
!! iterate: loops top
subroutine iterate(x, n)
  integer, intent(inout) :: n
  real(8), intent(inout) :: x

  do
    n = n + 1 ! @top
    print *, n, x
    x = x + 1
    if (n > 10) then
      print *, x
      exit
    end if
  end do
end subroutine
