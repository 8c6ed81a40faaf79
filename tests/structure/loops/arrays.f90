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

    !! fields::peaks: loops rows rows/peak
    subroutine peaks(b, c, s)
        real(8), intent(in) :: b(:, :), c(:, :)
        real(8), intent(inout) :: s
        integer :: q

        do q = 1, 40                                        ! @rows
            s = s + maxval(transpose(b)) + sum(abs(c(:, q)))    ! @peak
        end do
    end subroutine peaks

    !! fields::planes: loops plane plane/row plane/row/cell
    subroutine planes(c, a, n)
        integer, intent(in) :: n
        real(8), intent(inout) :: c(n, n, n)
        real(8), intent(in) :: a(n, n, n)
        integer :: p, q, r

        do r = 1, n                                         ! @plane
            do p = 1, n                                     ! @row
                do q = 1, n                                 ! @cell
                    c(q, p, r) = c(q, p, r) * a(q, p, r)
                end do
            end do
        end do
    end subroutine planes

end module fields

program arrays
    use fields
    implicit none
    real(8) :: a(40, 40), b(40, 40), cells(8, 8, 8), peak = 0

    call random_number(b)
    a = b
    call relax(a, b, 40, 10)
    call random_number(cells)
    call peaks(a, b, peak)
    call planes(cells, 2 * cells, 8)
    print *, total(a(:, 3)), peak, cells(1, 1, 1)
end program arrays
