//! The writer's loop. The same in a process of its own and on a thread.
use super::arena::{Extent, Mapping};
use super::child::slot;
use super::commit::Committer;
use super::pieces::Pieces;
use super::pipe::{Ends, PipeEnd, Wait};
use super::wire::{Command, Reply};

const READ: usize = 1 << 16;
/// How often a writer that waits looks whether its training process still lives. The end of the
/// pipe says so too, unless the script forked and its children hold the pipe open.
const LOOK_MS: i32 = 1000;
/// For so long commands gather that nobody waits for: ten records come with each checkpoint, and each time that the writer is
/// woken, the script may lose its core to it. What is in the pipe outlives the script, whatever ends it.
const GATHER_MS: i32 = 50;

/// Writes what is staged until the training process closes or ends, then everything that is left.
pub fn drain(ends: &Ends, arena: &Mapping, committer: &mut Committer, parent: Option<i32>) {
    let mut commands = Commands { ends, has_bell: true, parent, bytes: Vec::new(), start: 0 };
    let mut pieces = Pieces::default();
    while let Some(command) = commands.next(committer) {
        match command {
            Command::Checkpoint { seq, offset, len } => {
                // SAFETY: the training process leaves a staged extent alone until it has the reply
                let extent = unsafe { arena.bytes(offset, len) };
                let done = committer.commit(seq, extent);
                send(&ends.replies_in, &Reply::Done(done));
            }
            Command::Piece { seq, offset, len } => {
                // SAFETY: as above, of a piece
                let piece = unsafe { arena.bytes(offset, len) };
                let done = pieces.take(committer, seq, piece);
                if len > 0 {
                    send(&ends.replies_in, &Reply::PieceTaken);
                }
                if let Some(done) = done {
                    send(&ends.replies_in, &Reply::Done(done));
                }
            }
            Command::Ask { seq, hash } => {
                let (has, done) = pieces.ask(committer, seq, hash);
                send(&ends.replies_in, &Reply::Has { seq, has });
                if let Some(done) = done {
                    send(&ends.replies_in, &Reply::Done(done));
                }
            }
            Command::Forked { seq, offset, len } => {
                let done = slot::commit(committer, arena, seq, Extent { offset, len });
                send(&ends.replies_in, &Reply::Done(done));
            }
            Command::Log { kind, payload } => committer.log(&kind, &payload),
            Command::Prepare { len } => arena.populate(len),
            Command::Drop { payload } => {
                send(&ends.replies_in, &Reply::Dropped { freed: committer.drop_checkpoints(&payload) });
            }
            Command::Close => break,
        }
    }
    // what is not complete leaves no file
    drop(pieces);
    committer.finish();
    let (lost, error) = committer.losses();
    send(&ends.replies_in, &Reply::Closed { lost, error });
    ends.replies_in.close();
}

/// A training process that is gone needs no reply.
pub(super) fn send(pipe: &PipeEnd, reply: &Reply) {
    let mut bytes = Vec::new();
    reply.encode(&mut bytes);
    let mut left = &bytes[..];
    while !left.is_empty() {
        match pipe.write(left) {
            Ok(count) => left = &left[count..],
            Err(_) => return,
        }
    }
}

struct Commands<'a> {
    ends: &'a Ends,
    /// Whether somebody can ring it: a script may close what it finds open.
    has_bell: bool,
    parent: Option<i32>,
    bytes: Vec<u8>,
    start: usize,
}

impl Commands<'_> {
    /// The next command; `None` at the end. A command that is cut short by the end is dropped.
    fn next(&mut self, committer: &mut Committer) -> Option<Command> {
        loop {
            match Command::decode(self.bytes.get(self.start..)?) {
                Ok(Some((command, len))) => {
                    self.start += len;
                    return Some(command);
                }
                Ok(None) => self.read_more(committer)?,
                // only a defect of ours leads here; what follows cannot be told apart any more
                Err(_) => return None,
            }
        }
    }

    fn read_more(&mut self, committer: &mut Committer) -> Option<()> {
        let pipe = &self.ends.commands_out;
        while !pipe.wait(Wait::Readable, 0).ok()? {
            // nothing to do: let the records reach the file, where they outlive this process
            committer.flush();
            let is_woken = if self.has_bell {
                self.ends.wait_for_commands(LOOK_MS).ok()?
            } else {
                pipe.wait(Wait::Readable, LOOK_MS).ok()?
            };
            if is_woken {
                self.has_bell = self.has_bell && self.ends.gather(GATHER_MS);
            } else if self.orphaned() && !pipe.wait(Wait::Readable, 0).ok()? {
                // it was looked for before the pipe was, so that what was sent last is still read
                return None;
            }
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        let len = self.bytes.len();
        self.bytes.resize(len + READ, 0);
        let count = pipe.read(&mut self.bytes[len..]).unwrap_or(0);
        self.bytes.truncate(len + count);
        (count > 0).then_some(())
    }

    fn orphaned(&self) -> bool {
        // SAFETY: getppid always succeeds and touches no memory
        self.parent.is_some_and(|parent| parent != unsafe { libc::getppid() })
    }
}
