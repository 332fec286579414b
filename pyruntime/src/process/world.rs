//! A world of its own for a replay: a mount namespace in which overlays lie over the user's folders. Whatever a process in it does
//! to a file, native code and other programs included, it does to an upper layer.
//!
//! Here are the calls of the kernel; `replay/world/` decides what is covered.
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use pyo3::prelude::*;

/// What a process without the rights of root keeps in its user namespace.
const KEPT: u64 = 1 << 18 | 1 << 21; // CAP_SYS_CHROOT, CAP_SYS_ADMIN
const VERSION_3: u32 = 0x2008_0522;
const OPEN_TREE_CLONE: libc::c_uint = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
/// Scripts count on small numbers of descriptors.
const LOWEST_FD: libc::c_int = 200;

/// What Python sees of it.
///
/// # Errors
/// An exception of Python.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(world_begin, module)?)?;
    module.add_function(wrap_pyfunction!(world_cover, module)?)?;
    module.add_function(wrap_pyfunction!(world_memory, module)?)?;
    module.add_function(wrap_pyfunction!(world_hold, module)?)?;
    module.add_function(wrap_pyfunction!(world_show, module)?)?;
    module.add_function(wrap_pyfunction!(world_read_only, module)?)?;
    module.add_function(wrap_pyfunction!(world_settle, module)?)?;
    module.add_function(wrap_pyfunction!(world_leave, module)?)?;
    module.add_function(wrap_pyfunction!(world_undo, module)?)?;
    module.add_function(wrap_pyfunction!(world_join, module)?)
}

/// Starts a mount namespace of this process's own. Returns the user's tree as it is, as a descriptor that no other program gets, and
/// whether the namespace is in a user namespace.
///
/// # Errors
/// `OSError` where the kernel does not allow it: then nothing has changed.
#[pyfunction]
pub fn world_begin() -> PyResult<(RawFd, bool)> {
    // SAFETY: plain calls of the kernel
    let is_user = unsafe {
        let (user, group) = (libc::geteuid(), libc::getegid());
        if libc::unshare(libc::CLONE_NEWNS) != 0 {
            done(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        }
        !std::fs::read_to_string("/proc/self/uid_map")?.split_whitespace().eq(["0", "0", "4294967295"])
    };
    // SAFETY: as above
    done(unsafe {
        libc::mount(
            std::ptr::null(),
            c"/".as_ptr(),
            std::ptr::null(),
            libc::MS_REC | libc::MS_PRIVATE,
            std::ptr::null(),
        )
    })?;
    let real = clone_of(c"/", true)?;
    // SAFETY: the descriptor is open
    let high = unsafe { libc::fcntl(real.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LOWEST_FD) };
    Ok((if high < 0 { std::os::fd::IntoRawFd::into_raw_fd(real) } else { high }, is_user))
}

/// Puts an overlay over a folder. `lower`: what it shows; `base`: a folder of the caller's, in which `upper` and `work` are.
///
/// # Errors
/// `OSError` where the folder cannot be covered.
#[pyfunction]
pub fn world_cover(folder: &str, lower: &str, base: &str, is_user: bool) -> PyResult<()> {
    let (lower, upper, work) = (held(lower)?, held(&format!("{base}/upper"))?, held(&format!("{base}/work"))?);
    let numbers = (lower.as_raw_fd(), upper.as_raw_fd(), work.as_raw_fd());
    // by their numbers: a path may hold commas and colons
    let options = format!(
        "lowerdir=/proc/self/fd/{},upperdir=/proc/self/fd/{},workdir=/proc/self/fd/{},{}",
        numbers.0,
        numbers.1,
        numbers.2,
        if is_user { "userxattr" } else { "redirect_dir=on" }
    );
    mounted(c"overlay", folder, &options)
}

/// Mounts an empty file system in memory.
///
/// # Errors
/// `OSError` where that cannot be.
#[pyfunction]
pub fn world_memory(folder: &str) -> PyResult<()> {
    mounted(c"tmpfs", folder, "mode=700")
}

/// A folder or a file of the user's tree, for `world_show`: to be called before it is covered. `is_whole`: with what is mounted
/// below it.
///
/// # Errors
/// `OSError` where there is no such path.
#[pyfunction]
pub fn world_hold(path: &str, is_whole: bool) -> PyResult<RawFd> {
    Ok(std::os::fd::IntoRawFd::into_raw_fd(clone_of(&text(path)?, is_whole)?))
}

/// Shows the user's own at a path, over what covers it. Closes the descriptor.
///
/// # Errors
/// `OSError` where that cannot be.
#[pyfunction]
pub fn world_show(held: RawFd, path: &str) -> PyResult<()> {
    // SAFETY: the caller hands the descriptor over
    let held = unsafe { OwnedFd::from_raw_fd(held) };
    let path = text(path)?;
    // SAFETY: both strings end with a zero
    let code = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            held.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    Ok(done(code)?)
}

/// Makes the mount at a path read-only, or no longer.
///
/// # Errors
/// `OSError` where the kernel has no such call.
#[pyfunction]
pub fn world_read_only(path: &str, is_on: bool) -> PyResult<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        namespace: u64,
    }
    const READ_ONLY: u64 = 1;
    let asked = Attributes {
        set: if is_on { READ_ONLY } else { 0 },
        clear: if is_on { 0 } else { READ_ONLY },
        propagation: 0,
        namespace: 0,
    };
    let path = text(path)?;
    // SAFETY: the struct is what the kernel reads, of that size
    let code = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            0,
            &raw const asked,
            size_of::<Attributes>(),
        )
    };
    Ok(done(code)?)
}

/// All is covered: from here on the process may do no more than its user may.
///
/// # Errors
/// `OSError` where the kernel refuses.
#[pyfunction]
pub fn world_settle() -> PyResult<()> {
    // SAFETY: plain calls of the kernel
    if unsafe { libc::geteuid() } != 0 {
        // SAFETY: as above
        unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
        capabilities(0, KEPT, 0)?;
    }
    Ok(())
}

/// This thread goes back to the user's tree (`world_begin`); what else runs in this process, and its children, stay.
///
/// # Errors
/// `OSError` where that cannot be: the descriptor was closed.
#[pyfunction]
pub fn world_leave(real: RawFd) -> PyResult<()> {
    may(0)?;
    // SAFETY: plain calls of the kernel
    unsafe {
        done(libc::unshare(libc::CLONE_FS))?;
        done(libc::fchdir(real))?;
        done(libc::chroot(c".".as_ptr()))?;
    }
    world_settle()
}

/// Takes mounts away, the last one first: what they cover comes to light for this thread, and for the program that it becomes.
/// `is_apart`: for nobody else.
///
/// # Errors
/// `OSError` where the kernel refuses.
#[pyfunction]
pub fn world_undo(mounts: Vec<String>, is_apart: bool) -> PyResult<()> {
    may(KEPT)?;
    // SAFETY: plain calls of the kernel
    unsafe {
        if is_apart {
            done(libc::unshare(libc::CLONE_NEWNS))?;
        }
        for path in mounts.iter().rev() {
            done(libc::umount2(text(path)?.as_ptr(), libc::MNT_DETACH))?;
        }
        if libc::geteuid() != 0 {
            for bit in [18, 21] {
                done(libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, bit, 0, 0))?;
            }
        }
    }
    Ok(())
}

/// Goes into the world of another process.
///
/// # Errors
/// `OSError` where that cannot be.
#[pyfunction]
pub fn world_join(process: i32) -> PyResult<()> {
    let spaces = ["user", "mnt"].map(|kind| format!("/proc/{process}/ns/{kind}"));
    let own = std::fs::read_link("/proc/self/ns/user")?;
    let (user, mounts) = (std::fs::File::open(&spaces[0])?, std::fs::File::open(&spaces[1])?);
    // SAFETY: both descriptors are open
    unsafe {
        if std::fs::read_link(&spaces[0])? != own {
            done(libc::setns(user.as_raw_fd(), libc::CLONE_NEWUSER))?;
        }
        done(libc::setns(mounts.as_raw_fd(), libc::CLONE_NEWNS))?;
    }
    world_settle()
}

fn mounted(kind: &CStr, at: &str, options: &str) -> PyResult<()> {
    let (at, options) = (text(at)?, text(options)?);
    // SAFETY: all strings end with a zero
    Ok(done(unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast()) })?)
}

fn clone_of(path: &CStr, is_whole: bool) -> io::Result<OwnedFd> {
    let whole = if is_whole { libc::AT_RECURSIVE as libc::c_uint } else { 0 };
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as libc::c_uint | whole;
    // SAFETY: the string ends with a zero
    let number = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    done(number)?;
    // SAFETY: the kernel has just opened it
    Ok(unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}

fn held(folder: &str) -> PyResult<OwnedFd> {
    let path = text(folder)?;
    // SAFETY: the string ends with a zero
    let number = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    done(number)?;
    // SAFETY: the kernel has just opened it
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// What was kept is in force; `handed_on`: and may be by the program that this process becomes.
fn may(handed_on: u64) -> io::Result<()> {
    // SAFETY: a plain call of the kernel
    if unsafe { libc::geteuid() } == 0 { Ok(()) } else { capabilities(KEPT, KEPT, handed_on) }
}

fn capabilities(effective: u64, permitted: u64, inheritable: u64) -> io::Result<()> {
    let head: [u32; 2] = [VERSION_3, 0];
    let half = |set: u64| set as u32; // those that are asked for have small numbers
    let body: [u32; 6] = [half(effective), half(permitted), half(inheritable), 0, 0, 0];
    // SAFETY: both are what the kernel reads in this version
    done(unsafe { libc::syscall(libc::SYS_capset, head.as_ptr(), body.as_ptr()) })
}

fn text(path: &str) -> io::Result<CString> {
    CString::new(path).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn done(code: impl Into<i64>) -> io::Result<()> {
    if code.into() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
