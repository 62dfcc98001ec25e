//! What is refused or skipped: the whole message, the exit code, and never half an output.

use std::os::unix::fs::symlink;

use crate::place::{Place, Ran};

/// What one bad thing led to, as a person reads it. Talk of the place's own section is left out.
fn told(name: &str, ran: &Ran) -> String {
    assert!(ran.code == 0 || ran.out.is_empty(), "{name}: half an output");
    let talk: Vec<&str> = ran
        .err
        .lines()
        .filter(|line| !line.starts_with("note[section-shadowed]"))
        .collect();
    format!("# {name}: exit {}\n{}\n\n", ran.code, talk.join("\n"))
}

/// Each file alone in an otherwise empty project.
fn each(files: &[(&str, &str, &str)], arguments: &[&str]) -> String {
    let told_of = |(name, path, content): &(&str, &str, &str)| {
        let place = Place::new();
        place.write(&format!("home/{path}"), content);
        told(name, &place.bindery(&[&["assemble"], arguments].concat()))
    };
    files.iter().map(told_of).collect()
}

/// Each call in an empty project.
fn each_call(calls: &[&[&str]]) -> String {
    let place = Place::new();
    place.write("home/repo/agent.md", "---\nname: reviewer\n");
    place.write(
        "home/repo/page.json",
        r#"{"schema": "\u001b[31m", "fragments": []}"#,
    );
    let told_of = |call: &&[&str]| {
        let arguments = [&["assemble"], *call].concat();
        told(
            &call.join(" ").escape_debug().to_string(),
            &place.bindery(&arguments),
        )
    };
    calls.iter().map(told_of).collect()
}

const STYLE: &str = "repo/.bindery/sections/style.md";

#[test]
fn front_matter_that_says_nothing_clear_is_refused() {
    let told = each(
        &[
            ("not closed", STYLE, "---\ngroup: static\nText\n"),
            ("not YAML", STYLE, "---\ngroup: [static\n---\nText\n"),
            ("no fields", STYLE, "---\n- static\n---\nText\n"),
            ("unknown field", STYLE, "---\ngruop: static\n---\nText\n"),
            ("unknown value", STYLE, "---\ngroup: loose\n---\nText\n"),
            ("number too large", STYLE, "---\norder: 99999999999\n---\nText\n"),
            ("field twice", STYLE, "---\norder: 1\norder: 2\n---\nText\n"),
            ("static step", STYLE, "---\ncadence: step\nreason: r\n---\nText\n"),
            (
                "step without reason",
                STYLE,
                "---\ngroup: dynamic\ncadence: step\n---\nText\n",
            ),
            ("key", STYLE, "---\nkey: a b\n---\nText\n"),
            ("file name", "repo/.bindery/sections/a b.md", "Text\n"),
        ],
        &[],
    );
    insta::assert_snapshot!(told, @"
    # not closed: exit 2
    error[section-front-matter]: .bindery/sections/style.md:1: the front matter that starts here does not end
      help: close it with a line of `---`

    # not YAML: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2:8: bad front matter: this must be a word
      2 | group: [static
      help: front matter is YAML: one `field: value` a line, between two lines of `---`

    # no fields: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2:1: bad front matter: there are no fields
      2 | - static
      help: front matter is YAML: one `field: value` a line, between two lines of `---`

    # unknown field: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2:1: unknown field `gruop`
      2 | gruop: static
      help: did you mean `group`?

    # unknown value: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2:8: `loose` is no value of this field
      2 | group: loose
      help: write one of static, dynamic, appended

    # number too large: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2:8: bad front matter: this must be a whole number from -2147483648 to 2147483647
      2 | order: 99999999999
      help: front matter is YAML: one `field: value` a line, between two lines of `---`

    # field twice: exit 2
    error[section-front-matter]: .bindery/sections/style.md:3:1: field `order` stands twice
      3 | order: 2
      help: remove one of them

    # static step: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2: a static section cannot have cadence `step`: static text stands before the cache boundary
      2 | cadence: step
      help: use `cadence: session`, or `group: dynamic`

    # step without reason: exit 2
    error[section-front-matter]: .bindery/sections/style.md:3: cadence `step` needs a `reason`: every change re-reads what follows it
      3 | cadence: step
      help: add `reason:` and say why the text must change at every step

    # key: exit 2
    error[section-front-matter]: .bindery/sections/style.md:2: `key` must be at most 128 letters, digits and `._-/`
      2 | key: a b
      help: a short name in lower case with hyphens, such as `house-style`

    # file name: exit 2
    error[section-name]: .bindery/sections/a b.md: the file's name is the section's key, which must be at most 128 letters, digits and `._-/`
      help: rename the file, or give it a `key` in its front matter
    ");
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let user = ".config/bindery/sections/mine.md";
    let told = each(
        &[
            ("unknown variable", user, "One\nTwo {{nobody}}\n"),
            ("malformed", user, "---\norder: 1\n---\nOne {{ cwd\n"),
            ("control characters", user, "One {{\u{1b}[31m}}\n"),
            ("branch", user, "On {{git_branch}}\n"),
        ],
        &[],
    );
    insta::assert_snapshot!(told, @"
    # unknown variable: exit 2
    error: ~/.config/bindery/sections/mine.md:2:5: unknown variable `{{nobody}}`; known are: cwd, git_branch, git_root, home, model, os, platform, shell, workspace; correct the name, or register the variable (in section `mine`)

    # malformed: exit 2
    error: ~/.config/bindery/sections/mine.md:4:5: malformed reference `{{ cwd`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `mine`)

    # control characters: exit 2
    error: ~/.config/bindery/sections/mine.md:1:5: malformed reference `{{�[31m}}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `mine`)

    # branch: exit 2
    error: ~/.config/bindery/sections/mine.md:1:4: variable `{{git_branch}}` has trust `project`: anybody who can write its value would speak as the system; use it in a context, which is a message of the user's side (in section `mine`)
    ");
}

#[test]
fn sections_that_cannot_stand_together_are_refused() {
    let place = Place::new();
    let sections = |first: &str, second: &str| {
        place.write("home/repo/.bindery/sections/a.md", first);
        place.write("home/repo/.bindery/sections/b.md", second);
        place.bindery(&["assemble", "--grant", "a", "--grant", "b"])
    };
    let complete = "---\ncomplete: true\n---\nText\n";
    let mut said = told("two complete", &sections(complete, complete));
    said += &told("one key twice", &sections("---\nkey: b\n---\nText\n", "Text\n"));
    insta::assert_snapshot!(said, @"
    # two complete: exit 2
    error: two sections claim to be the whole system prompt: `a` (.bindery/sections/a.md:4) and `b` (.bindery/sections/b.md:4); drop one, make one not `complete`, or give both the same key in different scopes, where the nearer wins

    # one key twice: exit 2
    error[section-duplicate]: .bindery/sections/b.md: key `b` is also the key of .bindery/sections/a.md
      help: give one of them another `key`, or remove it
    ");
}

#[test]
fn section_files_that_are_no_text_are_refused() {
    let place = Place::new();
    let path = place.path("home/repo/.bindery/sections/x.md");
    place.write("home/repo/.bindery/sections/keep.md", "Text\n");
    place.write("home/elsewhere.md", "Text\n");
    let mut said = String::new();
    let mut try_one = |name: &str| {
        said += &told(
            name,
            &place.bindery(&["assemble", "--grant", "x", "--grant", "keep"]),
        );
    };
    std::fs::write(&path, b"One\nTw\xff\n").unwrap();
    try_one("not UTF-8");
    std::fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    try_one("too large");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    try_one("directory");
    std::fs::remove_dir(&path).unwrap();
    symlink("x.md", &path).unwrap();
    try_one("link loop");
    std::fs::remove_file(&path).unwrap();
    symlink("nowhere.md", &path).unwrap();
    try_one("broken link");
    std::fs::remove_file(&path).unwrap();
    symlink(place.path("home/elsewhere.md"), &path).unwrap();
    try_one("link out of the project");
    insta::assert_snapshot!(said, @"
    # not UTF-8: exit 2
    error[file-not-utf8]: .bindery/sections/x.md:2: byte 0xff at offset 6 is not UTF-8
      help: save the file as UTF-8

    # too large: exit 2
    error[file-too-large]: .bindery/sections/x.md: the file has 104857600 bytes; at most 1048576 are read
      help: split it, or keep data out of it and let the agent read that when needed

    # directory: exit 2
    error[file-is-directory]: .bindery/sections/x.md: this is a directory, not a file
      help: rename or remove the directory

    # link loop: exit 2
    error[file-link-loop]: .bindery/sections/x.md: symbolic links form a loop
      help: remove the link, or point it at a file

    # broken link: exit 2
    error[file-link-broken]: .bindery/sections/x.md: this is a symbolic link to a file that does not exist
      help: remove the link, or point it at a file

    # link out of the project: exit 2
    error[file-outside-project]: .bindery/sections/x.md: this is a symbolic link to a file outside the project; a repository may not bring in files from elsewhere
      help: copy the file into the project, or move it to your own configuration
    ");
}

#[test]
fn settings_files_that_say_nothing_clear_are_refused() {
    let project = "repo/bindery.toml";
    let user = ".config/bindery/config.toml";
    let told = each(
        &[
            ("project: not TOML", project, "# one\nprovider = \"x\nmode = 1\n"),
            ("project: unknown keys", project, "provder = \"x\"\nfoo = 1\n"),
            ("project: wrong kind", project, "max_tokens = \"many\"\n"),
            ("project: out of range", project, "max_tokens = 0\n"),
            ("project: key twice", project, "model = \"a\"\nmodel = \"b\"\n"),
            (
                "project: not its own to say",
                project,
                "mode = \"none\"\ngrants = [\"x\"]\n",
            ),
            ("project: unknown provider", project, "provider = \"nobody\"\n"),
            ("project: unknown dialect", project, "instructions = \"nobody\"\n"),
            (
                "project: a sentence for a name",
                project,
                "model = \"x. Obey me\"\n",
            ),
            (
                "project: in an unused profile",
                project,
                "[profile.x]\nnope = 1\n",
            ),
            ("user: not TOML", user, "x = = 1\n"),
            (
                "user: missing prompt",
                user,
                "\nsystem_prompt = { file = \"gone.md\" }\n",
            ),
        ],
        &[],
    );
    insta::assert_snapshot!(told, @r#"
    # project: not TOML: exit 2
    error[setting-syntax]: bindery.toml:2:14: not valid TOML: invalid basic string, expected `"`
      2 | provider = "x
      help: https://toml.io shows how it is written

    # project: unknown keys: exit 2
    error[setting-unknown]: bindery.toml:1:1: unknown key `provder`
      1 | provder = "x"
      help: did you mean `provider`?
    error[setting-unknown]: bindery.toml:2:1: unknown key `foo`
      2 | foo = 1
      help: known keys are agent, agent_mode, append_system_prompt, capacity.compact_at, capacity.intake_bytes, capacity.keep_recent, capacity.prune_at, capacity.tool_reserve, coordinator, custom_mode, developer_instructions, effort, git_status_deadline_ms, grants, guard.approvals, guard.extent, guard.external, guard.project, guard.user, instructions, language, max_tokens, memory, mode, model, output_style, provider, skills, system_prompt, tier, tool_order, user

    # project: wrong kind: exit 2
    error[setting-value]: bindery.toml:1:14: `max_tokens` must be a whole number from 1 to 10000000, not "many"
      1 | max_tokens = "many"
      help: for example max_tokens = 8192

    # project: out of range: exit 2
    error[setting-value]: bindery.toml:1:14: `max_tokens` must be a whole number from 1 to 10000000, not 0
      1 | max_tokens = 0
      help: for example max_tokens = 8192

    # project: key twice: exit 2
    error[setting-syntax]: bindery.toml:2:1: not valid TOML: duplicate key
      2 | model = "b"
      help: remove one of the two

    # project: not its own to say: exit 2
    error[setting-forbidden]: bindery.toml:1:1: a repository may not set `mode`: it decides which of the user's own rules and safety sections the model sees, and a repository may not switch those off
      1 | mode = "none"
      help: remove the line; to set `mode` yourself, use --mode, -c mode=… or your own config.toml
    error[setting-forbidden]: bindery.toml:2:1: a repository may not set `grants`: a grant lets repository text speak as the system, and a repository may not grant itself that
      2 | grants = ["x"]
      help: remove the line; to set `grants` yourself, use --grant, -c grants=… or your own config.toml

    # project: unknown provider: exit 2
    error[setting-value]: bindery.toml:1: unknown provider `nobody`; known are: anthropic, openai (or openai-responses), openai-chat, deepseek
      help: choose one of these

    # project: unknown dialect: exit 2
    error[setting-value]: bindery.toml:1: no dialect `nobody`; there are auto@1, claude@2.1, codex@0.171, copilot@1, cursor@2, gemini@0.61, hermes@0.19, openclaw@2026.9
      help: choose one of these, or `none`

    # project: a sentence for a name: exit 2
    error[setting-value]: bindery.toml:1:9: `model` must be a name of at most 128 letters, digits and `._:/@+-`
      1 | model = "x. Obey me"
      help: for example model = "claude-opus-4-8"

    # project: in an unused profile: exit 2
    error[setting-unknown]: bindery.toml:2:1: unknown key `nope`
      2 | nope = 1
      help: known keys are agent, agent_mode, append_system_prompt, capacity.compact_at, capacity.intake_bytes, capacity.keep_recent, capacity.prune_at, capacity.tool_reserve, coordinator, custom_mode, developer_instructions, effort, git_status_deadline_ms, grants, guard.approvals, guard.extent, guard.external, guard.project, guard.user, instructions, language, max_tokens, memory, mode, model, output_style, provider, skills, system_prompt, tier, tool_order, user

    # user: not TOML: exit 2
    error[setting-syntax]: ~/.config/bindery/config.toml:1:5: not valid TOML: extra `=`, expected nothing
      1 | x = = 1
      help: https://toml.io shows how it is written

    # user: missing prompt: exit 2
    error[prompt-missing]: ~/.config/bindery/config.toml:2:1: `~/.config/bindery/gone.md` does not exist
      help: check the path; in a settings file it starts at that file's folder
    "#);
}

#[test]
fn calls_that_say_nothing_clear_are_refused() {
    let told = each_call(&[
        &["nowhere"],
        &["agent.md"],
        &["--provider", "nobody"],
        &["--model", "x. Obey me"],
        &["--profile", "nobody"],
        &["--instructions", "nobody"],
        &["--max-tokens", "0"],
        &["--message", " \n"],
        &["--mode", "none"],
        &["-c", "nonsense"],
        &["-c", "nope=1"],
        &["-c", "model=\u{1b}[31m"],
        &["--agent", "gone.md"],
        &["--agent", "agent.md"],
        &["--agent", "."],
        &["--system-prompt-file", "gone.md"],
        &["--system-prompt-file", "/dev/zero"],
        &["--against", "gone.json"],
        &["--against", "."],
        &["--against", "agent.md"],
        &["--against", "page.json"],
    ]);
    insta::assert_snapshot!(told, @r#"
    # nowhere: exit 2
    error: DIR: `nowhere` does not exist

    # agent.md: exit 2
    error: DIR: `agent.md` is not a directory
      help: name the directory that the agent works in

    # --provider nobody: exit 2
    error[setting-value]: --provider: unknown provider `nobody`; known are: anthropic, openai (or openai-responses), openai-chat, deepseek
      help: choose one of these

    # --model x. Obey me: exit 2
    error[setting-value]: --model: `model` must be a name of at most 128 letters, digits and `._:/@+-`
      help: for example model = "claude-opus-4-8"

    # --profile nobody: exit 2
    error[setting-profile]: --profile: there is no profile `nobody`
      help: add [profile.nobody] to your config.toml or to bindery.toml

    # --instructions nobody: exit 2
    error[setting-value]: --instructions: no dialect `nobody`; there are auto@1, claude@2.1, codex@0.171, copilot@1, cursor@2, gemini@0.61, hermes@0.19, openclaw@2026.9
      help: choose one of these, or `none`

    # --max-tokens 0: exit 2
    error[setting-value]: --max-tokens: `max_tokens` must be a whole number from 1 to 10000000, not 0
      help: for example max_tokens = 8192

    # --message  \n: exit 2
    error: --message: there is no text, and providers refuse an empty message
      help: write what the user says, or leave the flag out

    # --mode none: exit 2
    error: the request has no message; Anthropic needs at least one from the user
      help: add one with `--message TEXT`

    # -c nonsense: exit 2
    error[setting-syntax]: -c nonsense: there is no `=`
      help: write -c KEY=VALUE, for example -c mode=minimal

    # -c nope=1: exit 2
    error[setting-unknown]: -c nope=1: unknown key `nope`
      help: known keys are agent, agent_mode, append_system_prompt, capacity.compact_at, capacity.intake_bytes, capacity.keep_recent, capacity.prune_at, capacity.tool_reserve, coordinator, custom_mode, developer_instructions, effort, git_status_deadline_ms, grants, guard.approvals, guard.extent, guard.external, guard.project, guard.user, instructions, language, max_tokens, memory, mode, model, output_style, provider, skills, system_prompt, tier, tool_order, user

    # -c model=\u{1b}[31m: exit 2
    error[setting-value]: -c model=\u{1b}[31m: `model` must be a name of at most 128 letters, digits and `._:/@+-`
      help: for example model = "claude-opus-4-8"

    # --agent gone.md: exit 2
    error[prompt-missing]: --agent: `gone.md` does not exist
      help: check the path; on the command line it starts at the directory you are in

    # --agent agent.md: exit 2
    error[agent-front-matter]: agent.md:1: the front matter that starts here does not end
      help: close it with a line of `---`

    # --agent .: exit 2
    error[file-is-directory]: .: this is a directory, not a file
      help: rename or remove the directory

    # --system-prompt-file gone.md: exit 2
    error[prompt-missing]: --system-prompt-file: `gone.md` does not exist
      help: check the path; on the command line it starts at the directory you are in

    # --system-prompt-file /dev/zero: exit 2
    error[file-not-regular]: /dev/zero: this is a pipe, socket or device, not a file
      help: replace it by a regular file

    # --against gone.json: exit 2
    error: --against: `gone.json` does not exist
      help: make one with `bindery assemble --json > FILE`

    # --against .: exit 2
    error: --against: `.` is a directory, not a file
      help: make one with `bindery assemble --json > FILE`

    # --against agent.md: exit 2
    error: --against: `agent.md` is no page of `--view json`: invalid number at line 1 column 2
      help: make one with `bindery assemble --json > FILE`

    # --against page.json: exit 2
    error: --against: `page.json` has schema `\u{1b}[31m`, and `bindery.assemble/1` is compared
      help: make one with `bindery assemble --json > FILE`
    "#);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let told = each_call(&[
        &["--system-prompt", "x", "--system-prompt-file", "agent.md"],
        &[
            "--append-system-prompt",
            "x",
            "--append-system-prompt-file",
            "agent.md",
        ],
        &["--explain-config", "--view", "json"],
        &["--view", "text", "--json"],
        &["--view", "request", "--against", "page.json"],
        &["--message", "a", "--message", "b"],
    ]);
    insta::assert_snapshot!(told, @"
    # --system-prompt x --system-prompt-file agent.md: exit 2
    error: the argument '--system-prompt <TEXT>' cannot be used with '--system-prompt-file <FILE>'

    Usage: bindery assemble --system-prompt <TEXT> [DIR]

    For more information, try '--help'.

    # --append-system-prompt x --append-system-prompt-file agent.md: exit 2
    error: the argument '--append-system-prompt <TEXT>' cannot be used with '--append-system-prompt-file <FILE>'

    Usage: bindery assemble --append-system-prompt <TEXT> [DIR]

    For more information, try '--help'.

    # --explain-config --view json: exit 2
    error: the argument '--explain-config' cannot be used with '--view <VIEW>'

    Usage: bindery assemble --explain-config [DIR]

    For more information, try '--help'.

    # --view text --json: exit 2
    error: `--json` goes with `--view json`, not with `--view text`

    # --view request --against page.json: exit 2
    error: `--against` goes with `--view json`, not with `--view request`

    # --message a --message b: exit 2
    error: the argument '--message <TEXT>' cannot be used multiple times

    Usage: bindery assemble [OPTIONS] [DIR]

    For more information, try '--help'.
    ");
}

#[test]
fn instruction_files_that_cannot_be_read_are_skipped_and_reported() {
    let place = Place::new();
    let file = place.path("home/repo/CLAUDE.md");
    place.write("home/elsewhere.md", "Text\n");
    let prefix = place.bindery(&["assemble", "--view", "prefix"]).out;
    let mut said = String::new();
    let mut try_one = |name: &str| {
        // A model of which no window is known, so that nothing large is counted.
        let arguments = ["assemble", "--view", "prefix", "--model", "unheard-of"];
        let ran = place.bindery(&arguments);
        assert_eq!(ran.out, prefix, "{name}");
        said += &told(name, &ran);
    };
    std::fs::write(&file, b"caf\xe9\n").unwrap();
    try_one("not UTF-8");
    std::fs::write(&file, b"\xff\xfeU\0s\0e\0").unwrap();
    try_one("UTF-16");
    std::fs::write(&file, b"a\nb\0\n").unwrap();
    try_one("NUL");
    std::fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
    try_one("100 MiB");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    try_one("directory");
    std::fs::remove_dir(&file).unwrap();
    symlink("CLAUDE.md", &file).unwrap();
    try_one("link loop");
    std::fs::remove_file(&file).unwrap();
    symlink("nowhere.md", &file).unwrap();
    try_one("broken link");
    std::fs::remove_file(&file).unwrap();
    symlink(place.path("home/elsewhere.md"), &file).unwrap();
    try_one("link out of the project");
    std::fs::remove_file(&file).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&file).unwrap();
    try_one("socket");
    insta::assert_snapshot!(said, @r"
    # not UTF-8: exit 0
    warning[invalid-utf8]: CLAUDE.md:1: not valid from byte 3 (it looks like ISO 8859-1); what is broken became U+FFFD
      help: save the file as UTF-8

    # UTF-16: exit 0
    warning[encoding]: CLAUDE.md: UTF-16, converted; other clients read noise: save it as UTF-8

    # NUL: exit 0
    warning[nul]: CLAUDE.md:2: a NUL character at byte 3
      help: remove it; text has no such characters
    note[scan-finding]: CLAUDE.md:2: zero bytes: this is not plain text (broken-encoding, low)
      2 | b\0

    # 100 MiB: exit 0
    warning[nul]: CLAUDE.md:1: a NUL character at byte 0
      help: remove it; text has no such characters
    warning[read-bound]: CLAUDE.md: 104857600 bytes, of which the first 8388608 were read
      help: the model does not see the rest: split the file, or let the agent read it when needed
    note[scan-finding]: CLAUDE.md:1: zero bytes: this is not plain text (broken-encoding, low)
      1 | \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\…

    # directory: exit 0
    note[unreadable]: CLAUDE.md: a directory, not a file
      help: make it a file that you can read, or remove it

    # link loop: exit 0
    warning[link-loop]: CLAUDE.md: a link that leads back to itself
      help: remove the link, or point it at a file

    # broken link: exit 0
    warning[dangling-link]: CLAUDE.md: links to `nowhere.md`, which does not exist
      help: remove the link, or point it at a file

    # link out of the project: exit 0
    warning[link-leaves-project]: CLAUDE.md: a symbolic link to `~/elsewhere.md`, outside the project: that file is sent
      help: remove the link unless you meant it

    # socket: exit 0
    warning[unreadable]: CLAUDE.md: a socket, not a file
      help: make it a file that you can read, or remove it
    ");
}

#[test]
fn a_request_larger_than_the_window_is_told() {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "word ".repeat(60_000));
    let ran = place.bindery(&["assemble", "--view", "request", "--model", "claude-haiku-4-5"]);
    assert_eq!(ran.code, 0);
    let window = ran.err.split("warning[request-over-window]").nth(1);
    insta::assert_snapshot!(window.unwrap_or("not told"), @"not told");
}
