//! Where output goes: narrow terminals, readers that leave, disks that are full.

use std::process::Stdio;

use unicode_width::UnicodeWidthStr;

use crate::place::Place;

#[test]
fn the_table_fits_any_width() {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "Be kind.\n");
    place.write("home/repo/.bindery/sections/日本語の規則.md", "Text\n");
    for columns in ["40", "49", "50", "65", "66", "80", "120"] {
        let arguments = ["assemble", "--grant", "日本語の規則", "--message", "hi"];
        let mut command = place.command("home/repo", &arguments);
        let ran = place.ran(command.env("COLUMNS", columns));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let width: usize = columns.parse().unwrap();
        for line in ran.out.lines() {
            assert!(line.width() <= width, "{columns} columns: {line}");
        }
    }
}

#[test]
fn a_narrow_table_keeps_trust_and_tokens() {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "Be kind.\n");
    // A prompt of its own, so that no count depends on the default composition's words.
    let arguments = [
        "assemble",
        "--system-prompt",
        "You review.",
        "--message",
        "Look at it.",
    ];
    let mut command = place.command(
        "home/repo",
        &[&arguments[..], &["-c", "git_status_deadline_ms=0"]].concat(),
    );
    let ran = place.ran(command.env("COLUMNS", "40"));
    insta::assert_snapshot!(ran.out, @"
    anthropic · claude-opus-5 · mode full

      fragment            trust       tokens
    system · static                       ~5
      prompt:custom       operator        ~5
    messages                            ~142
      context:AGENTS.md   project        ~37
      context:snapshot    builtin        ~73
      context:date        builtin        ~18
      context:s…pshot.end builtin         ~8
      message:0.0         user            ~6

    total     ~147 tokens in 6 fragments ·
              0.0 % of a window of 1,000,000
    cache     ~5 tokens (3.4 %) shared by
              every session
              ~147 tokens (100.0 %) readable
              by the next request
    body      710 bytes
    scanned   1 of 6 fragments, 0 with
              findings
    left out  section environment: a nearer
              one is registered in scope
              `user`
    left out  section sub-agent: not
              declared for mode `full`
    left out  section changes: the custom
              system prompt replaces the
              default
    left out  section context: the custom
              system prompt replaces the
              default
    left out  section environment: the
              custom system prompt replaces
              the default
    left out  section identity: the custom
              system prompt replaces the
              default
    left out  section safety: the custom
              system prompt replaces the
              default
    left out  section tasks: the custom
              system prompt replaces the
              default
    left out  section tone: the custom
              system prompt replaces the
              default
    left out  section tools: the custom
              system prompt replaces the
              default
    ");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    for arguments in [&["assemble", "--json"][..], &["assemble", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command("home/repo", arguments);
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!String::from_utf8(output.stderr).unwrap().contains("error"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure_outside() {
    let place = Place::new();
    for arguments in [&["assemble"][..], &["assemble", "--view", "request"], &["--help"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut command = place.command("home/repo", arguments);
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        let last = told.lines().last().unwrap();
        assert_eq!(
            last,
            "error: the output could not be written: No space left on device (os error 28)"
        );
    }
}

/// A file that nobody can read, not even root: address 0 of a process's memory is never mapped.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_fails_while_being_read_is_a_failure_outside() {
    let place = Place::new();
    let ran = place.bindery(&["assemble", "--system-prompt-file", "/proc/self/mem"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    insta::assert_snapshot!(ran.err, @"
    error[file-unreadable]: /proc/self/mem: it cannot be read: Input/output error (os error 5)
      help: check the path and the disk
    ");
}
