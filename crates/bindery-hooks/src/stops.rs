//! How often in a row a stop may be refused.

/// Counts refusals of one turn's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopGuard {
    most: u32,
    refused: u32,
}

/// Whether a turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// The turn ends: nobody refused.
    Ends,
    /// The turn goes on; this is the so-manieth refusal in a row.
    GoesOn(u32),
    /// The turn ends although a hook refused: it did so as often as it may.
    EndsAtCap(u32),
}

impl StopGuard {
    /// What Claude Code 2.1 was seen to do; Codex 0.171 has no bound.
    pub const CLAUDE: u32 = 8;

    /// At most `most` refusals in a row.
    pub fn new(most: u32) -> Self {
        Self { most, refused: 0 }
    }

    /// Whether a refusal came before: the `stop_hook_active` of a hook's input.
    pub fn is_active(self) -> bool {
        self.refused > 0
    }

    /// The end of a turn was asked for, and a hook refused it or not.
    pub fn asked(&mut self, refused: bool) -> Stopping {
        if !refused {
            self.refused = 0;
            return Stopping::Ends;
        }
        if self.refused >= self.most {
            self.refused = 0;
            return Stopping::EndsAtCap(self.most);
        }
        self.refused += 1;
        Stopping::GoesOn(self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_always_refuses_is_stopped() {
        let mut guard = StopGuard::new(2);
        assert!(!guard.is_active());
        assert_eq!(guard.asked(true), Stopping::GoesOn(1));
        assert!(guard.is_active());
        assert_eq!(guard.asked(true), Stopping::GoesOn(2));
        assert_eq!(guard.asked(true), Stopping::EndsAtCap(2));
        assert_eq!(guard.asked(true), Stopping::GoesOn(1));
        assert_eq!(guard.asked(false), Stopping::Ends);
        assert!(!guard.is_active());
    }
}
