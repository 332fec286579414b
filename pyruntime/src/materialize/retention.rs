//! Dropping checkpoints, so that a run stays within its share of the disk.
//!
//! The journal says so first, durably; then packs are removed that no checkpoint needs any more. A power cut between the two
//! costs space and nothing else.
use std::fs;
use std::path::Path;

use super::commit::Committer;
use crate::store::journal::is_written;
use crate::store::needed::{DROPPED, journals, named_by_all};
use crate::store::{Result, StoreError};

impl Committer {
    /// Writes the record and removes what it frees; returns how many bytes of packs that was. A failure costs space only.
    pub fn drop_checkpoints(&mut self, payload: &str) -> u64 {
        let before = self.journal.records();
        let said = self.journal.append(DROPPED, payload).and_then(|()| self.journal.sync());
        match said.and_then(|()| self.remove_unneeded()) {
            Ok(freed) => freed,
            Err(error) => {
                if self.journal.records() <= before {
                    self.count_losses(before + 1, &error);
                }
                0
            }
        }
    }

    fn remove_unneeded(&mut self) -> Result<u64> {
        let own = self.journal.path().to_path_buf();
        let Some(runs) = own.parent().and_then(Path::parent) else { return Ok(0) };
        let journals = journals(runs)?;
        // another recorder may be about to name chunks of ours: it has looked at our packs and sees no removal
        if journals.iter().any(|path| *path != own && is_written(path)) {
            return Ok(0);
        }
        let needed = named_by_all(&journals)?;
        let Some(index) = &mut self.index else { return Ok(0) };
        let mut freed = 0;
        for (name, packs) in index.packs_of(&self.pack_prefix) {
            if packs.iter().flat_map(|pack| pack.entries()).any(|entry| needed.contains(&entry.hash)) {
                continue;
            }
            let path = self.packs_dir.join(&name);
            let len = fs::metadata(&path).map_or(0, |found| found.len());
            // before the file: nothing may refer to chunks that are gone
            index.remove(&name);
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            freed += len;
        }
        Ok(freed)
    }
}
