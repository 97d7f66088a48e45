//! Which signals the supervising process takes: none but that a child ended, and that through a descriptor.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};

/// Default dispositions, everything blocked, and a descriptor that becomes readable when a child ended.
pub(super) fn quiet() -> io::Result<OwnedFd> {
    #[expect(unsafe_code, reason = "rustix has no signal masks and no signalfd")]
    // SAFETY: plain system calls on sets that live on this stack; the process has one thread. The descriptor is new
    // and has no other owner.
    unsafe {
        for number in 1..=libc::SIGRTMAX() {
            // Refused for SIGKILL, SIGSTOP and those of the C library.
            libc::signal(number, libc::SIG_DFL);
        }
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
        let mut child = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(child.as_mut_ptr());
        libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
        let fd = libc::signalfd(-1, child.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// For the job: undoes what [`quiet`] did to the mask. Safe between fork and exec.
pub(super) fn unblock() {
    #[expect(unsafe_code, reason = "rustix has no signal masks")]
    // SAFETY: plain system calls on a set that lives on this stack.
    unsafe {
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// Empties the descriptor of [`quiet`]: that something happened is all it has to say.
pub(super) fn forget(signals: &OwnedFd) {
    let mut buffer = [0u8; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|count| count == buffer.len()) {}
}
