//! What goes through the pipes. Frames of one fixed size, some followed by text.
use std::str;

use crate::store::ChunkHash;

/// Every command begins with this many bytes; few enough for a pipe to take them whole or not at
/// all.
pub const COMMAND_LEN: usize = 32;
/// Every reply begins with this many bytes.
pub const REPLY_LEN: usize = 64;
const LONGEST_ERROR: usize = 1000;
/// A staged checkpoint of so many bytes is written at once, to have the memory back.
const URGENT_LEN: usize = 8 << 20;

/// From the training process to the writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// An extent of the arena is staged.
    Checkpoint {
        /// The checkpoint's number.
        seq: u64,
        /// Where the extent begins, in bytes.
        offset: usize,
        /// How long it is, in bytes.
        len: usize,
    },
    /// The next piece of a checkpoint that is handed over in pieces: consecutive parts of what its extent would hold.
    Piece {
        /// The checkpoint's number.
        seq: u64,
        /// Where the extent begins, in bytes.
        offset: usize,
        /// How long it is, in bytes; zero: no more pieces come, and the checkpoint is lost.
        len: usize,
    },
    /// Whether the store has the chunk of this name, which is the next part of the checkpoint that is handed over in pieces. If
    /// it has, the part is taken from there, and the piece that follows begins behind it.
    Ask {
        /// The checkpoint's number.
        seq: u64,
        /// The part's name.
        hash: ChunkHash,
    },
    /// A child of the training process encodes a checkpoint into an extent of the arena.
    Forked {
        /// The checkpoint's number.
        seq: u64,
        /// Where the extent begins, in bytes.
        offset: usize,
        /// How long it is, in bytes.
        len: usize,
    },
    /// A record for the journal.
    Log {
        /// Its kind.
        kind: String,
        /// Its text.
        payload: String,
    },
    /// A checkpoint of so many bytes is to be expected.
    Prepare {
        /// Its size.
        len: usize,
    },
    /// Checkpoints that are to exist no more.
    Drop {
        /// The text of the journal's record: `{"seqs": […]}`.
        payload: String,
    },
    /// Nothing will follow.
    Close,
}

/// Whether the child that was to encode a checkpoint refused to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refusal {
    /// No.
    #[default]
    None,
    /// The state cannot be kept now.
    ForNow,
    /// The block's state never can be.
    ForGood,
    /// Not by a child: the training process has to do it.
    Elsewhere,
}

impl Refusal {
    const ALL: [Refusal; 4] = [Refusal::None, Refusal::ForNow, Refusal::ForGood, Refusal::Elsewhere];

    /// What stands for it in shared memory and in replies.
    pub fn number(self) -> u64 {
        self as u64
    }

    /// The one with this number; with another there is none.
    pub fn numbered(number: u64) -> Refusal {
        Refusal::ALL.into_iter().find(|refusal| refusal.number() == number).unwrap_or_default()
    }

    /// Its name in Python.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Refusal::None => None,
            Refusal::ForNow => Some("now"),
            Refusal::ForGood => Some("good"),
            Refusal::Elsewhere => Some("elsewhere"),
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Refusal> {
        Refusal::ALL.into_iter().find(|refusal| refusal.name() == Some(name))
    }
}

/// What became of a checkpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// The checkpoint's number.
    pub seq: u64,
    /// Processor time that it took, in seconds.
    pub cpu_s: f64,
    /// Bytes of packs that were written for it.
    pub bytes_written: u64,
    /// Why it does not exist, if it does not.
    pub error: Option<String>,
    /// The number of the operating system's error, if that was the reason.
    pub errno: Option<i32>,
    /// Whether `error` is the child's own reason.
    pub refusal: Refusal,
    /// Processor time of the child that encoded it, in seconds.
    pub encode_s: f64,
    /// Pages that the training process was given above their usual number while the child lived.
    /// Known to the training process only.
    pub faults: u64,
}

/// From the writer to the training process.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The writer process has let go of everything that is the script's.
    Ready,
    /// A checkpoint is durable, or failed.
    Done(Done),
    /// A piece was taken that is not the last: its extent is free.
    PieceTaken,
    /// Whether the store has the part that was asked for.
    Has {
        /// The checkpoint's number.
        seq: u64,
        /// Yes or no.
        has: bool,
    },
    /// Checkpoints were dropped.
    Dropped {
        /// Bytes of packs that were removed.
        freed: u64,
    },
    /// Everything is written; the writer ends.
    Closed {
        /// Journal records that could not be written.
        lost: u64,
        /// Why the first of them could not.
        error: Option<String>,
    },
}

impl Command {
    /// Whether it may wait until others have gathered: nobody waits for its answer, and it holds little memory.
    pub fn can_wait(&self) -> bool {
        match self {
            Command::Log { .. } => true,
            Command::Checkpoint { len, .. } => *len < URGENT_LEN,
            _ => false,
        }
    }

    /// Adds the command's bytes to `into`.
    pub fn encode(&self, into: &mut Vec<u8>) {
        match self {
            Command::Checkpoint { seq, offset, len } => words(into, [1, *seq, *offset as u64, *len as u64]),
            Command::Forked { seq, offset, len } => words(into, [6, *seq, *offset as u64, *len as u64]),
            Command::Piece { seq, offset, len } => words(into, [7, *seq, *offset as u64, *len as u64]),
            Command::Ask { seq, hash } => {
                words(into, [8, *seq, 0, 0]);
                into.extend_from_slice(&hash.0);
            }
            Command::Log { kind, payload } => {
                words(into, [2, kind.len() as u64, payload.len() as u64, 0]);
                into.extend_from_slice(kind.as_bytes());
                into.extend_from_slice(payload.as_bytes());
            }
            Command::Close => words(into, [3, 0, 0, 0]),
            Command::Prepare { len } => words(into, [4, *len as u64, 0, 0]),
            Command::Drop { payload } => {
                words(into, [5, payload.len() as u64, 0, 0]);
                into.extend_from_slice(payload.as_bytes());
            }
        }
    }

    /// Reads the first command of `bytes` and how many bytes it took; `None` when it is not there
    /// as a whole.
    ///
    /// # Errors
    /// When the bytes are no command.
    pub fn decode(bytes: &[u8]) -> Result<Option<(Command, usize)>, &'static str> {
        let Some([tag, a, b, c]) = front::<4>(bytes) else {
            return Ok(None);
        };
        let command = match tag {
            1 => Command::Checkpoint { seq: a, offset: b as usize, len: c as usize },
            2 => {
                let Some((text, end)) = text(bytes, COMMAND_LEN, a.saturating_add(b))? else {
                    return Ok(None);
                };
                let (kind, payload) = text.split_at_checked(a as usize).ok_or("a split character")?;
                return Ok(Some((Command::Log { kind: kind.into(), payload: payload.into() }, end)));
            }
            6 => Command::Forked { seq: a, offset: b as usize, len: c as usize },
            7 => Command::Piece { seq: a, offset: b as usize, len: c as usize },
            8 => {
                let Some(hash) = bytes.get(COMMAND_LEN..).and_then(|rest| rest.first_chunk()) else {
                    return Ok(None);
                };
                return Ok(Some((Command::Ask { seq: a, hash: ChunkHash(*hash) }, COMMAND_LEN + hash.len())));
            }
            3 => Command::Close,
            4 => Command::Prepare { len: a as usize },
            5 => {
                let Some((text, end)) = text(bytes, COMMAND_LEN, a)? else {
                    return Ok(None);
                };
                return Ok(Some((Command::Drop { payload: text.into() }, end)));
            }
            _ => return Err("an unknown command"),
        };
        Ok(Some((command, COMMAND_LEN)))
    }
}

impl Reply {
    /// Adds the reply's bytes to `into`.
    pub fn encode(&self, into: &mut Vec<u8>) {
        let (front, error) = match self {
            Reply::Ready => ([3, 0, 0, 0, 0, 0, 0], None),
            Reply::Done(done) => {
                let errno = done.errno.map_or(0, |errno| errno as u64);
                let (refusal, encode_s) = (done.refusal.number(), done.encode_s.to_bits());
                (
                    [1, done.seq, done.cpu_s.to_bits(), done.bytes_written, errno, refusal, encode_s],
                    done.error.as_deref(),
                )
            }
            Reply::Closed { lost, error } => ([2, *lost, 0, 0, 0, 0, 0], error.as_deref()),
            Reply::PieceTaken => ([5, 0, 0, 0, 0, 0, 0], None),
            Reply::Has { seq, has } => ([6, *seq, u64::from(*has), 0, 0, 0, 0], None),
            Reply::Dropped { freed } => ([4, *freed, 0, 0, 0, 0, 0], None),
        };
        let error = error.unwrap_or_default();
        let end = (0..=error.len().min(LONGEST_ERROR)).rev().find(|end| error.is_char_boundary(*end)).unwrap_or(0);
        let cut = &error[..end];
        words(into, front);
        words(into, [cut.len() as u64]);
        into.extend_from_slice(cut.as_bytes());
    }

    /// Reads the first reply of `bytes` and how many bytes it took; `None` when it is not there as
    /// a whole.
    ///
    /// # Errors
    /// When the bytes are no reply.
    pub fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, &'static str> {
        let Some([tag, a, b, c, d, e, f, error_len]) = front::<8>(bytes) else {
            return Ok(None);
        };
        let Some((error, end)) = text(bytes, REPLY_LEN, error_len)? else {
            return Ok(None);
        };
        let error = (!error.is_empty()).then(|| error.to_string());
        let reply = match tag {
            1 => {
                let errno = i32::try_from(d).ok().filter(|errno| *errno != 0);
                let (refusal, encode_s) = (Refusal::numbered(e), f64::from_bits(f));
                let (cpu_s, bytes_written) = (f64::from_bits(b), c);
                Reply::Done(Done { seq: a, cpu_s, bytes_written, error, errno, refusal, encode_s, faults: 0 })
            }
            2 => Reply::Closed { lost: a, error },
            3 => Reply::Ready,
            4 => Reply::Dropped { freed: a },
            5 => Reply::PieceTaken,
            6 => Reply::Has { seq: a, has: b != 0 },
            _ => return Err("an unknown reply"),
        };
        Ok(Some((reply, end)))
    }
}

fn words<const N: usize>(into: &mut Vec<u8>, words: [u64; N]) {
    words.iter().for_each(|word| into.extend_from_slice(&word.to_le_bytes()));
}

fn front<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.get(..N * 8)?.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    Some(words)
}

fn text(bytes: &[u8], start: usize, len: u64) -> Result<Option<(&str, usize)>, &'static str> {
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).ok_or("an impossible length")?;
    let Some(bytes) = bytes.get(start..end) else {
        return Ok(None);
    };
    str::from_utf8(bytes).map(|text| Some((text, end))).map_err(|_| "text that is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_from_any_split() {
        let commands = [
            Command::Checkpoint { seq: 7, offset: 64, len: 1 << 40 },
            Command::Log { kind: "log".into(), payload: "{\"é\": 1}".into() },
            Command::Prepare { len: 9 },
            Command::Piece { seq: 9, offset: 0, len: 0 },
            Command::Ask { seq: 9, hash: ChunkHash::of(b"part") },
            Command::Forked { seq: 8, offset: 128, len: 1 << 33 },
            Command::Drop { payload: "{\"seqs\": [3]}".into() },
            Command::Close,
        ];
        for command in commands {
            let mut bytes = Vec::new();
            command.encode(&mut bytes);
            assert!((0..bytes.len()).all(|len| Command::decode(&bytes[..len]) == Ok(None)));
            let len = bytes.len();
            bytes.push(1);
            assert_eq!(Command::decode(&bytes), Ok(Some((command, len))));
        }
        let long = "é".repeat(2000);
        let done = Done {
            seq: 3,
            cpu_s: 0.5,
            bytes_written: 9,
            error: Some(long),
            errno: Some(28),
            refusal: Refusal::ForGood,
            encode_s: 2.5,
            ..Done::default()
        };
        let mut bytes = Vec::new();
        Reply::Has { seq: 5, has: true }.encode(&mut bytes);
        assert_eq!(Reply::decode(&bytes), Ok(Some((Reply::Has { seq: 5, has: true }, REPLY_LEN))));
        let mut bytes = Vec::new();
        Reply::Done(done).encode(&mut bytes);
        assert!((0..bytes.len()).all(|len| Reply::decode(&bytes[..len]) == Ok(None)));
        let Ok(Some((Reply::Done(found), _))) = Reply::decode(&bytes) else { panic!("no reply") };
        assert_eq!((found.seq, found.cpu_s, found.bytes_written, found.errno), (3, 0.5, 9, Some(28)));
        assert_eq!((found.refusal, found.encode_s), (Refusal::ForGood, 2.5));
        assert_eq!(found.error.unwrap().len(), LONGEST_ERROR);
        assert!(Command::Log { kind: "a".to_string(), payload: String::new() }.can_wait());
        assert!(Command::Checkpoint { seq: 0, offset: 0, len: URGENT_LEN - 1 }.can_wait());
        assert!(!Command::Checkpoint { seq: 0, offset: 0, len: URGENT_LEN }.can_wait() && !Command::Close.can_wait());
        assert!(Command::decode(&[9; 40]).is_err() && Reply::decode(&[0; REPLY_LEN]).is_err());
    }
}
