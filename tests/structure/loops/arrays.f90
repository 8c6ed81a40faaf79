! SPDX-License-Identifier: BSD-3-Clause
! Loops that array statements become: see tests/structure/loops.py.
!
!! build: gfortran -O1 | gfortran -O2 | gfortran -O3

module fields
    implicit none
contains

    !! fields::relax: loops outer outer/whole outer/inner
    !! fields::relax: whole in outer/whole
    subroutine relax(a, b, n, steps)
        integer, intent(in) :: n, steps
        real(8), intent(inout) :: a(:, :), b(:, :)
        integer :: step, i

        do step = 1, steps                                  ! @outer
            a(2:n, 2:n) = 0.5d0 * (b(1:n-1, 2:n) + b(2:n, 1:n-1))   ! @whole
            do i = 1, n                                     ! @inner
                b(i, i) = sqrt(a(i, i))
            end do
        end do
    end subroutine relax

    !! fields::total: loops sumline
    function total(a) result(t)
        real(8), intent(in) :: a(:)
        real(8) :: t

        t = sum(a * a)                                      ! @sumline
    end function total

end module fields

program arrays
    use fields
    implicit none
    real(8) :: a(40, 40), b(40, 40)

    call random_number(b)
    a = b
    call relax(a, b, 40, 10)
    print *, total(a(:, 3))
end program arrays
