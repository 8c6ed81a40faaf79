! SPDX-License-Identifier: BSD-3-Clause
!
! hq.h for Fortran: compile this file with the program.
!
!     use hq
!     call hq_phase_begin('solve');  ...  call hq_phase_end()
!
! Fortran has no weak references, so the collector is looked for once, by dlsym. Without it each call is a test of
! a flag.
module hq
   use, intrinsic :: iso_c_binding
   implicit none
   private
   public :: hq_start, hq_stop, hq_phase_begin, hq_phase_end

   abstract interface
      subroutine plain() bind(c)
      end subroutine plain
      subroutine named(name) bind(c)
         import :: c_char
         character(kind=c_char), intent(in) :: name(*)
      end subroutine named
   end interface

   interface
      function dlsym(handle, name) bind(c) result(address)
         import :: c_ptr, c_funptr, c_char
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         type(c_funptr) :: address
      end function dlsym
   end interface

   logical, save :: looked = .false.
   procedure(plain), pointer, save :: start => null(), stop_it => null(), phase_end => null()
   procedure(named), pointer, save :: phase_begin => null()

contains

   ! Several threads that come first at once all find the same.
   subroutine look()
      start => plain_of('hq_collector_start')
      stop_it => plain_of('hq_collector_stop')
      phase_end => plain_of('hq_collector_phase_end')
      phase_begin => named_of('hq_collector_phase_begin')
      looked = .true.
   end subroutine look

   function plain_of(name) result(found)
      character(len=*), intent(in) :: name
      procedure(plain), pointer :: found
      type(c_funptr) :: address

      found => null()
      address = dlsym(c_null_ptr, name//c_null_char)
      if (c_associated(address)) call c_f_procpointer(address, found)
   end function plain_of

   function named_of(name) result(found)
      character(len=*), intent(in) :: name
      procedure(named), pointer :: found
      type(c_funptr) :: address

      found => null()
      address = dlsym(c_null_ptr, name//c_null_char)
      if (c_associated(address)) call c_f_procpointer(address, found)
   end function named_of

   subroutine hq_start()
      if (.not. looked) call look()
      if (associated(start)) call start()
   end subroutine hq_start

   subroutine hq_stop()
      if (.not. looked) call look()
      if (associated(stop_it)) call stop_it()
   end subroutine hq_stop

   ! Trailing blanks are no part of the name.
   subroutine hq_phase_begin(name)
      character(len=*), intent(in) :: name

      if (.not. looked) call look()
      if (associated(phase_begin)) call phase_begin(trim(name)//c_null_char)
   end subroutine hq_phase_begin

   subroutine hq_phase_end()
      if (.not. looked) call look()
      if (associated(phase_end)) call phase_end()
   end subroutine hq_phase_end

end module hq
