//! Who does the background work.
use std::io;
use std::sync::Arc;

use super::arena::Mapping;
use super::child::process;
use super::commit::Committer;
use super::drain::drain;
use super::pipe::{Ends, Wait};

const READY_MS: i32 = 1000;

/// Where checkpoints are hashed and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// In a process of its own, which outlives a killed training process.
    Writer,
    /// On a native thread of the training process.
    Thread,
    /// At once, in the call that submits.
    Inline,
}

impl Engine {
    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Writer => "writer",
            Engine::Thread => "thread",
            Engine::Inline => "inline",
        }
    }

    /// The engine with this name.
    pub fn named(name: &str) -> Option<Engine> {
        [Engine::Writer, Engine::Thread, Engine::Inline].into_iter().find(|engine| engine.name() == name)
    }
}

/// What was started.
#[derive(Debug)]
pub(super) struct Started {
    pub engine: Engine,
    pub pid: Option<i32>,
    /// Why it is not the engine that was asked for.
    pub fallback: Option<String>,
    /// The committer, when it stays with the caller.
    pub inline: Option<Committer>,
}

/// Starts the engine that was asked for, or the next one that can be.
pub(super) fn start(wanted: Engine, ends: &Arc<Ends>, arena: &Arc<Mapping>, mut committer: Committer) -> Started {
    let mut fallback = None;
    if wanted == Engine::Writer {
        match start_process(ends, arena, &mut committer) {
            Ok(pid) => {
                return Started { engine: Engine::Writer, pid: Some(pid), fallback: None, inline: None };
            }
            Err(why) => fallback = Some(why),
        }
    }
    if wanted != Engine::Inline {
        // handed over only once the thread exists, so that it is not lost with a thread that does
        // not
        let (give, take) = std::sync::mpsc::sync_channel(1);
        match start_thread(ends, arena, take) {
            Ok(()) => {
                if let Err(back) = give.send(committer) {
                    return inline(back.0, Some("the writer thread ended at once".to_string()));
                }
                return Started { engine: Engine::Thread, pid: None, fallback, inline: None };
            }
            Err(error) => fallback = Some(format!("no thread could be started: {error}")),
        }
    }
    inline(committer, fallback)
}

fn inline(committer: Committer, fallback: Option<String>) -> Started {
    Started { engine: Engine::Inline, pid: None, fallback, inline: Some(committer) }
}

fn start_process(ends: &Ends, arena: &Mapping, committer: &mut Committer) -> Result<i32, String> {
    if !process::single_threaded() {
        return Err("the process already has threads".to_string());
    }
    let pid =
        process::start(ends, arena, committer).map_err(|error| format!("no process could be started: {error}"))?;
    // the writer has its own; the end of ours would never be seen otherwise
    ends.replies_in.close();
    // until it is ready it still holds the script's files; one that takes longer is not waited for
    let _ = ends.replies_out.wait(Wait::Readable, READY_MS);
    Ok(pid)
}

fn start_thread(
    ends: &Arc<Ends>,
    arena: &Arc<Mapping>,
    committer: std::sync::mpsc::Receiver<Committer>,
) -> io::Result<()> {
    let (ends, arena) = (Arc::clone(ends), Arc::clone(arena));
    let body = move || {
        block_signals();
        let end = EndOfThread(&ends);
        if let Ok(mut committer) = committer.recv() {
            drain(&ends, &arena, &mut committer, None);
        }
        drop(end);
    };
    std::thread::Builder::new().name("florc-writer".to_string()).spawn(body).map(|_| ())
}

/// Signals belong to the script's threads; SIGPIPE then only is an error.
fn block_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is ours and is filled before it is used
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
    }
}

/// Closes the replies even if the thread panics, so that the training process notices.
struct EndOfThread<'a>(&'a Ends);

impl Drop for EndOfThread<'_> {
    fn drop(&mut self) {
        self.0.replies_in.close();
    }
}
