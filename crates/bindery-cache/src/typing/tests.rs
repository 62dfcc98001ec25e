use bindery_core::{Source, Trust, marker};

use super::*;

static TYPING: std::sync::LazyLock<Typing> = std::sync::LazyLock::new(|| Typing::built_in().unwrap());

fn typing() -> Typing {
    TYPING.clone()
}

/// The pieces as `kind label:source "start of text"`, one a line.
fn shown(region: Region, speaker: Authority, text: &str) -> String {
    list(text, &typing().cut(region, speaker, text))
}

fn list(text: &str, pieces: &[Piece]) -> String {
    assert_eq!(
        pieces.iter().map(|piece| piece.range.len()).sum::<usize>(),
        text.len(),
        "no gap, no overlap"
    );
    let line = |piece: &Piece| {
        let kind = serde_json::to_value(piece.kind).unwrap();
        let start = text
            .get(piece.range.clone())
            .unwrap()
            .trim()
            .lines()
            .next()
            .unwrap_or_default();
        format!("{} | {} | {start}", kind.as_str().unwrap(), piece.key())
    };
    pieces.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn claude_code_s_first_message() {
    let text = "<system-reminder>\nSome words of introduction.\n# claudeMd\nMore words.\n\n\
        Contents of /home/u/.claude/CLAUDE.md (user's private global instructions for all projects):\n\nUse tabs.\n\n\
        Contents of /repo (copy)/CLAUDE.md (project instructions, checked into the codebase):\n\n# Environment\nIs text of the file.\n\
        # currentDate\nToday's date is 2026-11-30.\n\nA note.\n</system-reminder>\nFix the bug.";
    insta::assert_snapshot!(shown(Region::Messages, Authority::User, text), @r"
    reminder | reminder | <system-reminder>
    instructions | instructions-heading | # claudeMd
    instructions | instructions:/home/u/.claude/CLAUDE.md | Contents of /home/u/.claude/CLAUDE.md (user's private global instructions for all projects):
    instructions | instructions:/repo (copy)/CLAUDE.md | Contents of /repo (copy)/CLAUDE.md (project instructions, checked into the codebase):
    snapshot | date | # currentDate
    user-prompt | user-prompt | Fix the bug.
    ");
}

#[test]
fn claude_code_s_system_prompt() {
    for (text, expected) in [
        (
            "x-anthropic-billing-header: cc_version=2.1.197.abc; cch=12345;",
            "section | billing-header | x-anthropic-billing-header: cc_version=2.1.197.abc; cch=12345;",
        ),
        ("You are an agent.", "section | identity | You are an agent."),
    ] {
        assert_eq!(shown(Region::System, Authority::System, text), expected);
    }
    let dynamic = "Intro.\n# Tone\nShort.\n## Rules\nMany.\n# Environment\ncwd: /repo\n\ngitStatus: a snapshot\nCurrent branch: main";
    insta::assert_snapshot!(shown(Region::System, Authority::System, dynamic), @r"
    section | system | Intro.
    section | section:Tone | # Tone
    section | section:Rules | ## Rules
    snapshot | environment | # Environment
    snapshot | git-status | gitStatus: a snapshot
    ");
}

#[test]
fn claude_code_s_system_message_within_the_conversation() {
    let text = "SessionStart hook additional context: be kind\n\nAvailable agent types for the tool:\n- explore\n\n\
        The following skills are available for use:\n- pdf\n\nUserPromptSubmit hook success: done";
    insta::assert_snapshot!(shown(Region::Messages, Authority::System, text), @r"
    hook-context | hook:SessionStart | SessionStart hook additional context: be kind
    section | agents | Available agent types for the tool:
    skill | skills | The following skills are available for use:
    hook-context | hook:UserPromptSubmit | UserPromptSubmit hook success: done
    ");
}

#[test]
fn codex_s_context() {
    let text = "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nHome text.\n--- project-doc ---\nProject text.\n</INSTRUCTIONS>";
    insta::assert_snapshot!(shown(Region::Messages, Authority::User, text), @r"
    instructions | instructions:/repo | # AGENTS.md instructions for /repo
    instructions | project-instructions | --- project-doc ---
    ");
    let environment = "<environment_context>\n  <cwd>/repo</cwd>\n  <current_date>2026-11-30</current_date>\n  <shell>bash</shell>\n</environment_context>";
    insta::assert_snapshot!(shown(Region::Messages, Authority::User, environment), @r"
    snapshot | environment | <environment_context>
    snapshot | date | <current_date>2026-11-30</current_date>
    snapshot | environment | <shell>bash</shell>
    ");
    let developer = "<permissions instructions>\nsandbox\n</permissions instructions>\n<collaboration_mode>plan</collaboration_mode>";
    insta::assert_snapshot!(shown(Region::System, Authority::Developer, developer), @r"
    section | permissions | <permissions instructions>
    section | collaboration-mode | <collaboration_mode>plan</collaboration_mode>
    ");
}

#[test]
fn hermes_openclaw_and_opencode() {
    let hermes = "Do it.\n<memory-context>\nlikes tea\n</memory-context>";
    insta::assert_snapshot!(shown(Region::Messages, Authority::User, hermes), @r"
    user-prompt | user-prompt | Do it.
    memory | memory | <memory-context>
    ");
    let openclaw = "You are.\n# Project Context\n## /ws/AGENTS.md\nrules\n## /ws/SOUL.md\nsoul\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n## Runtime\nhost";
    insta::assert_snapshot!(shown(Region::System, Authority::System, openclaw), @r"
    section | system | You are.
    instructions | project-context | # Project Context
    instructions | instructions:/ws/AGENTS.md | ## /ws/AGENTS.md
    instructions | instructions:/ws/SOUL.md | ## /ws/SOUL.md
    section | cache-boundary | <!-- OPENCLAW_CACHE_BOUNDARY -->
    snapshot | environment | ## Runtime
    ");
    let opencode = "Words.\n<env>\n  Working directory: /w\n</env>\nInstructions from: /w/AGENTS.md\nrules";
    insta::assert_snapshot!(shown(Region::System, Authority::System, opencode), @r"
    section | system | Words.
    snapshot | environment | <env>
    instructions | instructions:/w/AGENTS.md | Instructions from: /w/AGENTS.md
    ");
}

#[test]
fn our_own_text_is_typed_by_its_markers() {
    let source = Source::File {
        path: "AGENTS.md".into(),
        lines: None,
    };
    for kind in Kind::ALL
        .into_iter()
        .filter(|kind| marker::tag(*kind).is_some() && *kind != Kind::Reminder)
    {
        let text = marker::wrap(kind, &source, Trust::Project, "text\n# Memory\nContents of x:");
        let pieces = typing().cut(Region::Messages, Authority::User, &text);
        assert_eq!(
            (pieces[0].kind, pieces[0].source.as_deref()),
            (kind, Some("AGENTS.md")),
            "{text}"
        );
        assert_eq!(marker::matches_text(&text), Some(kind));
    }
}

#[test]
fn what_a_tool_returns_is_its_own_until_a_reminder_opens() {
    let text = "Contents of /etc/passwd (root):\n<env>x</env>\nSessionStart hook says\n<system-reminder>\nContents of /repo/sub/CLAUDE.md:\n\nnested\n</system-reminder>";
    let pieces = typing().cut_result(Some("Read"), text);
    insta::assert_snapshot!(list(text, &pieces), @r"
    tool-result | tool-result:Read | Contents of /etc/passwd (root):
    reminder | reminder | <system-reminder>
    instructions | instructions:/repo/sub/CLAUDE.md | Contents of /repo/sub/CLAUDE.md:
    ");
    assert_eq!(typing().cut_result(None, "<env>x</env>").len(), 1);
}

#[test]
fn what_the_model_said_is_never_cut() {
    assert_eq!(
        typing()
            .cut(Region::Messages, Authority::Assistant, "# currentDate\n<env>\n")
            .len(),
        1
    );
}

#[test]
fn a_table_that_says_nothing_is_refused() {
    let head = "version = 1\nread = \"r\"\nsource = \"s\"\n";
    let bad = |row: &str| {
        Typing::from_toml("p.toml", &format!("{head}{row}"))
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(
        bad("[[tag]]\nname = \"x\"\nlabel = \"l\"\nkind = \"sort\""),
        @"p.toml: `l` has the unknown kind `sort`; kinds are written like `hook-context`"
    );
    insta::assert_snapshot!(
        bad("[[line]]\nbegins = \" \"\nlabel = \"l\"\nkind = \"section\""),
        @"p.toml: `l` matches every line; give it a name or a beginning"
    );
}

proptest::proptest! {
    #[test]
    fn pieces_cover_the_text_whatever_it_is(
        text in "(<env>|</env>|<system-reminder>|</system-reminder>|# Memory|# currentDate|Contents of /a \\(b\\):|## /x|\\PC|\n| ){0,30}",
        place in 0..4usize,
    ) {
        let (region, speaker) = [
            (Region::System, Authority::System),
            (Region::Messages, Authority::User),
            (Region::Messages, Authority::System),
            (Region::System, Authority::Developer),
        ][place];
        for pieces in [typing().cut(region, speaker, &text), typing().cut_result(None, &text)] {
            let mut at = 0;
            for piece in pieces.iter() {
                proptest::prop_assert_eq!(piece.range.start, at);
                proptest::prop_assert!(text.get(piece.range.clone()).is_some());
                at = piece.range.end;
            }
            proptest::prop_assert_eq!(at, text.len());
        }
    }
}

#[test]
fn blank_lines_between_parts_are_nobody_s_words() {
    let text = "\n<system-reminder>\nA note.\n</system-reminder>\n";
    assert_eq!(
        shown(Region::Messages, Authority::User, text),
        "reminder | reminder | <system-reminder>"
    );
    assert_eq!(
        shown(Region::Messages, Authority::User, " \n"),
        "user-prompt | user-prompt | "
    );
}

#[test]
fn what_clients_add_in_the_user_s_name_is_not_the_user_s() {
    let text = "<system-reminder>\nCalled the Read tool with the following input: {}\n</system-reminder>\n\
        <system-reminder>\nResult of calling the Read tool:\n1\ttext\n</system-reminder>\nLook.";
    insta::assert_snapshot!(shown(Region::Messages, Authority::User, text), @r"
    reminder | reminder | <system-reminder>
    document | mention | Called the Read tool with the following input: {}
    reminder | reminder | <system-reminder>
    document | mention | Result of calling the Read tool:
    user-prompt | user-prompt | Look.
    ");
    for (text, expected) in [
        (
            "CRITICAL: Respond with TEXT ONLY. And so on.",
            "reminder | compaction-request",
        ),
        (
            "This session is being continued from a previous conversation. It said:",
            "summary | summary",
        ),
        (
            "<multi_agent_role>You lead.</multi_agent_role>",
            "section | multi-agent-role",
        ),
    ] {
        let shown = shown(Region::Messages, Authority::User, text);
        assert!(shown.starts_with(expected), "{shown}");
    }
}
