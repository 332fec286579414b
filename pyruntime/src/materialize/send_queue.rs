//! Commands that wait for room in the pipe.
use std::io::{self, ErrorKind};

use super::pipe::PipeEnd;
use super::wire::Command;

/// Sent bytes are dropped from memory at this many.
const COMPACT: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct SendQueue {
    bytes: Vec<u8>,
    sent: usize,
}

impl SendQueue {
    pub fn put(&mut self, command: &Command) {
        command.encode(&mut self.bytes);
    }

    /// Bytes that still wait.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Sends what the pipe takes now.
    ///
    /// # Errors
    /// When the pipe is of no use any more.
    pub fn flush(&mut self, pipe: &PipeEnd) -> io::Result<()> {
        while self.waiting() > 0 {
            match pipe.write(&self.bytes[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.waiting() == 0 || self.sent > COMPACT {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }
}
