//! Why a candidate has its status: stable words for programs, sentences for people.

use serde::Serialize;

/// A stable word. The sentence beside it in a candidate names the circumstances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The dialect's place names it.
    Found,
    /// Another file imports it.
    Imported,
    /// Its patterns match what was touched.
    PathMatched,
    /// It lies on the way to what was touched.
    OnTheWay,
    /// A cap left only a part.
    OverLimit,
    /// A cap left nothing.
    LimitUsedUp,
    /// Another file of the same directory comes first.
    OtherNameFirst,
    /// Another family of files comes first.
    OtherFamilyFirst,
    /// The same file is already in.
    SameFile,
    /// The same content is already in.
    SameContent,
    /// The copy in the worktree counts.
    WorktreeCopy,
    /// Touched itself: the agent has it.
    TouchedItself,
    /// It waits for a path.
    WaitsForPath,
    /// It waits to be asked for.
    WaitsForRequest,
    /// Its patterns can never match.
    NeverMatches,
    /// It has no text.
    Blank,
    /// The client's own content filter blocks it.
    BlockedByClient,
    /// The client's settings exclude it.
    Excluded,
    /// Above the project's root.
    OutsideProject,
    /// An import that leaves the boundary.
    OutsideImport,
    /// It holds secrets.
    Secret,
    /// Version control's own files.
    GitMetadata,
    /// Its extension may not be imported.
    Extension,
    /// It lies deeper than imports go.
    TooDeep,
    /// An import that names nothing.
    DeadImport,
    /// Not text by the client's decoding.
    NotText,
    /// Not readable; the detail says why.
    Unreadable,
    /// The whole place was lost to a link that leads back to itself.
    PlaceLost,
    /// A known name that this client does not read.
    NotRead,
    /// Below the directory that the client starts in, and it attaches nothing from there.
    BelowStart,
    /// A boundary given on the command line.
    Boundary,
    /// Not in this run mode.
    Mode,
    /// The client does not start with its settings as they are.
    ClientStops,
    /// Instructions were switched off or replaced for this run.
    Bypassed,
}

impl Reason {
    /// The word, as in JSON.
    pub fn word(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}
