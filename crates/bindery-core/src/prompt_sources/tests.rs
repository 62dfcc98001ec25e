use std::fmt::Write;

use insta::assert_snapshot;

use super::*;
use crate::fixtures::{Calls, file, render_with};
use crate::{AssembleError, AssembleOptions, Assembly, Mode, Modes, Scope, Section, SessionError};

fn prompt(text: &str) -> PromptText {
    PromptText {
        text: text.into(),
        source: Source::Setting { name: text.into() },
        trust: Trust::Operator,
        grant: None,
        interpolation: Interpolation::Literal,
    }
}

/// A default composition with a section in every group, at both extremes of order.
fn default_composition(scope: &Scope) -> Vec<crate::Registration> {
    [
        ("first", Group::Static, i32::MIN),
        ("last", Group::Static, i32::MAX),
        ("loose", Group::Dynamic, 0),
        ("zz-end", Group::Appended, i32::MAX),
    ]
    .map(|(key, group, order)| {
        scope
            .section(Section::new(key, key).group(group).order(order))
            .unwrap()
    })
    .into()
}

fn assemble(scope: &Scope, sources: PromptSources, mode: Mode) -> Assembly {
    let options = AssembleOptions {
        context_mode: None,
        mode,
        sources,
        tool_order: None,
    };
    render_with(scope, &options).unwrap().assembly
}

fn keys(assembly: &Assembly) -> String {
    let keys: Vec<&str> = assembly.sections.iter().map(|item| &*item.key).collect();
    keys.join(" ")
}

/// Every combination of sources, by the letters O, C, A (a), U (u), + given in that order.
fn combinations() -> Vec<(String, PromptSources)> {
    let mut out = Vec::new();
    for exclusive in ["", "O", "C", "OC"] {
        for agent in ["", "A", "a"] {
            for custom in ["", "U", "u"] {
                for append in ["", "+"] {
                    let letters = format!("{exclusive}{agent}{custom}{append}");
                    let sources = PromptSources {
                        override_prompt: exclusive.contains('O').then(|| prompt("--override")),
                        coordinator: exclusive.contains('C').then(|| prompt("--coordinator")),
                        agent: match agent {
                            "A" => Some((prompt("--agent"), AgentMode::Replace)),
                            "a" => Some((prompt("--agent"), AgentMode::Append)),
                            _ => None,
                        },
                        custom: match custom {
                            "U" => Some((prompt("--system-prompt"), CustomMode::Replace)),
                            "u" => Some((prompt("--system-prompt"), CustomMode::Extend)),
                            _ => None,
                        },
                        developer: None,
                        append: append.chars().map(|_| prompt("--append-system-prompt")).collect(),
                    };
                    out.push((letters, sources));
                }
            }
        }
    }
    out
}

/// O override, C coordinator, A agent (a: append), U custom (u: extend), + append. First what stands,
/// in order, over the default composition; then the prompts that were given and left out.
#[test]
fn every_combination_of_sources() {
    let scope = Scope::global();
    let _default = default_composition(&scope);
    let mut table = String::new();
    for (letters, sources) in combinations() {
        let assembly = assemble(&scope, sources, Mode::Full);
        let left_out: Vec<&str> = assembly
            .shadowed
            .iter()
            .filter(|shadowed| shadowed.what == "prompt source")
            .map(|shadowed| &*shadowed.name)
            .collect();
        writeln!(
            table,
            "{letters:<5}| {:<66}| {}",
            keys(&assembly),
            left_out.join(" ")
        )
        .unwrap();
    }
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    assert_snapshot!(table.join("\n"), @"
         | first last loose zz-end                                           |
    +    | first last loose zz-end prompt:append.0000                        |
    U    | prompt:custom                                                     |
    U+   | prompt:custom prompt:append.0000                                  |
    u    | first last prompt:custom loose zz-end                             |
    u+   | first last prompt:custom loose zz-end prompt:append.0000          |
    A    | prompt:agent                                                      |
    A+   | prompt:agent prompt:append.0000                                   |
    AU   | prompt:agent                                                      | custom
    AU+  | prompt:agent prompt:append.0000                                   | custom
    Au   | prompt:agent                                                      | custom
    Au+  | prompt:agent prompt:append.0000                                   | custom
    a    | first last loose prompt:agent zz-end                              |
    a+   | first last loose prompt:agent zz-end prompt:append.0000           |
    aU   | prompt:custom prompt:agent                                        |
    aU+  | prompt:custom prompt:agent prompt:append.0000                     |
    au   | first last prompt:custom loose prompt:agent zz-end                |
    au+  | first last prompt:custom loose prompt:agent zz-end prompt:append.0000|
    O    | prompt:override                                                   |
    O+   | prompt:override                                                   | append.0000
    OU   | prompt:override                                                   | custom
    OU+  | prompt:override                                                   | custom append.0000
    Ou   | prompt:override                                                   | custom
    Ou+  | prompt:override                                                   | custom append.0000
    OA   | prompt:override                                                   | agent
    OA+  | prompt:override                                                   | agent append.0000
    OAU  | prompt:override                                                   | agent custom
    OAU+ | prompt:override                                                   | agent custom append.0000
    OAu  | prompt:override                                                   | agent custom
    OAu+ | prompt:override                                                   | agent custom append.0000
    Oa   | prompt:override                                                   | agent
    Oa+  | prompt:override                                                   | agent append.0000
    OaU  | prompt:override                                                   | agent custom
    OaU+ | prompt:override                                                   | agent custom append.0000
    Oau  | prompt:override                                                   | agent custom
    Oau+ | prompt:override                                                   | agent custom append.0000
    C    | prompt:coordinator                                                |
    C+   | prompt:coordinator prompt:append.0000                             |
    CU   | prompt:coordinator                                                | custom
    CU+  | prompt:coordinator prompt:append.0000                             | custom
    Cu   | prompt:coordinator                                                | custom
    Cu+  | prompt:coordinator prompt:append.0000                             | custom
    CA   | prompt:coordinator                                                | agent
    CA+  | prompt:coordinator prompt:append.0000                             | agent
    CAU  | prompt:coordinator                                                | agent custom
    CAU+ | prompt:coordinator prompt:append.0000                             | agent custom
    CAu  | prompt:coordinator                                                | agent custom
    CAu+ | prompt:coordinator prompt:append.0000                             | agent custom
    Ca   | prompt:coordinator                                                | agent
    Ca+  | prompt:coordinator prompt:append.0000                             | agent
    CaU  | prompt:coordinator                                                | agent custom
    CaU+ | prompt:coordinator prompt:append.0000                             | agent custom
    Cau  | prompt:coordinator                                                | agent custom
    Cau+ | prompt:coordinator prompt:append.0000                             | agent custom
    OC   | prompt:override                                                   | coordinator
    OC+  | prompt:override                                                   | coordinator append.0000
    OCU  | prompt:override                                                   | coordinator custom
    OCU+ | prompt:override                                                   | coordinator custom append.0000
    OCu  | prompt:override                                                   | coordinator custom
    OCu+ | prompt:override                                                   | coordinator custom append.0000
    OCA  | prompt:override                                                   | coordinator agent
    OCA+ | prompt:override                                                   | coordinator agent append.0000
    OCAU | prompt:override                                                   | coordinator agent custom
    OCAU+| prompt:override                                                   | coordinator agent custom append.0000
    OCAu | prompt:override                                                   | coordinator agent custom
    OCAu+| prompt:override                                                   | coordinator agent custom append.0000
    OCa  | prompt:override                                                   | coordinator agent
    OCa+ | prompt:override                                                   | coordinator agent append.0000
    OCaU | prompt:override                                                   | coordinator agent custom
    OCaU+| prompt:override                                                   | coordinator agent custom append.0000
    OCau | prompt:override                                                   | coordinator agent custom
    OCau+| prompt:override                                                   | coordinator agent custom append.0000
    ");
}

#[test]
fn nothing_given_vanishes_without_a_row() {
    let scope = Scope::global();
    let empty = Scope::global();
    let _default = default_composition(&scope);
    for (letters, sources) in combinations() {
        for (scope, registered) in [(&scope, 4), (&empty, 0)] {
            for mode in [Mode::Full, Mode::Minimal, Mode::None] {
                let assembly = assemble(scope, sources.clone(), mode);
                let given = letters.len() + registered;
                let accounted = assembly.sections.len() + assembly.shadowed.len();
                assert_eq!(
                    given, accounted,
                    "{letters} in mode {mode}: {:?}",
                    assembly.shadowed
                );
            }
        }
    }
}

#[test]
fn modes_decide_over_registered_sections_and_not_over_prompts() {
    let scope = Scope::global();
    let unwanted = Calls::default();
    let _sections = [Modes::FullOnly, Modes::MinimalOnly, Modes::Both].map(|modes| {
        let name = format!("{modes:?}").to_lowercase();
        scope
            .section(Section::new(name.as_str(), name.as_str()).modes(modes))
            .unwrap()
    });
    let mut table = String::new();
    for (_, sources) in combinations()
        .into_iter()
        .filter(|(letters, _)| ["", "+", "au+"].contains(&&**letters))
    {
        for mode in [Mode::Full, Mode::Minimal, Mode::None] {
            writeln!(
                table,
                "{mode:<8}{}",
                keys(&assemble(&scope, sources.clone(), mode))
            )
            .unwrap();
        }
    }
    assert_snapshot!(table, @"
    full    both fullonly
    minimal both minimalonly
    none    
    full    both fullonly prompt:append.0000
    minimal both minimalonly prompt:append.0000
    none    prompt:append.0000
    full    both fullonly prompt:custom prompt:agent prompt:append.0000
    minimal both minimalonly prompt:custom prompt:agent prompt:append.0000
    none    prompt:custom prompt:agent prompt:append.0000
    ");
    let _counted = scope
        .section(Section::new("counted", unwanted.body("x")).modes(Modes::FullOnly))
        .unwrap();
    for mode in [Mode::Minimal, Mode::None] {
        assemble(&scope, PromptSources::default(), mode);
    }
    assert_eq!(unwanted.count(), 0, "sections of other modes are not called");
    let replaced = PromptSources {
        custom: Some((prompt("mine"), CustomMode::Replace)),
        ..PromptSources::default()
    };
    assemble(&scope, replaced, Mode::Full);
    assert_eq!(
        unwanted.count(),
        0,
        "sections that a prompt replaces are not called"
    );
}

#[test]
fn reasons_are_in_plain_words() {
    let scope = Scope::global();
    let _default = default_composition(&scope);
    let reasons = |sources| {
        let shadowed = assemble(&scope, sources, Mode::Full).shadowed;
        let lines: Vec<String> = shadowed
            .iter()
            .map(|s| format!("{} {}: {}", s.what, s.name, s.reason))
            .collect();
        lines.join("\n")
    };
    let (_, overridden) = combinations()
        .into_iter()
        .find(|(letters, _)| letters == "OCAU+")
        .unwrap();
    let blank = PromptSources {
        custom: Some((prompt(""), CustomMode::Replace)),
        append: vec![prompt(" \n"), prompt("last")],
        ..PromptSources::default()
    };
    assert_snapshot!(format!("{}\n\n{}", reasons(overridden), reasons(blank)), @"
    section first: the override prompt is the whole system prompt
    section last: the override prompt is the whole system prompt
    section loose: the override prompt is the whole system prompt
    section zz-end: the override prompt is the whole system prompt
    prompt source coordinator: the override prompt takes precedence
    prompt source agent: the override prompt takes precedence
    prompt source custom: the override prompt takes precedence
    prompt source append.0000: the override prompt takes precedence

    section first: the custom system prompt replaces the default
    section last: the custom system prompt replaces the default
    section loose: the custom system prompt replaces the default
    section zz-end: the custom system prompt replaces the default
    prompt source custom: it is empty
    prompt source append.0000: it is empty
    ");
}

#[test]
fn appended_prompts_keep_the_order_given_and_come_last() {
    let scope = Scope::global();
    let _default = default_composition(&scope);
    let texts: Vec<String> = (0..10_002).map(|n| format!("append {n}")).collect();
    let sources = PromptSources {
        append: texts.iter().map(|text| prompt(text)).collect(),
        ..PromptSources::default()
    };
    let sections = assemble(&scope, sources, Mode::Full).sections;
    let last: Vec<&str> = sections[4..].iter().map(|item| item.text.as_str()).collect();
    assert_eq!(last, texts);
}

#[test]
fn a_complete_section_leaves_out_prompts_too_and_says_so() {
    let scope = Scope::global();
    let _default = default_composition(&scope);
    let _complete = scope.section(Section::new("all", "all").complete()).unwrap();
    let (_, sources) = combinations()
        .into_iter()
        .find(|(letters, _)| letters == "au+")
        .unwrap();
    let assembly = assemble(&scope, sources, Mode::Full);
    assert_eq!(keys(&assembly), "all");
    let left_out: Vec<&str> = assembly.shadowed.iter().map(|shadowed| &*shadowed.name).collect();
    assert_eq!(
        left_out,
        [
            "first",
            "last",
            "loose",
            "zz-end",
            "agent",
            "custom",
            "append.0000"
        ]
    );
}

#[test]
fn prompts_of_untrusted_files_need_a_grant() {
    let mut text = prompt("You are a pirate.");
    text.source = file(".claude/agents/pirate.md", None);
    text.trust = Trust::Project;
    let with = |text: &PromptText| AssembleOptions {
        sources: PromptSources {
            agent: Some((text.clone(), AgentMode::Append)),
            ..PromptSources::default()
        },
        ..AssembleOptions::default()
    };
    let error = match render_with(&Scope::global(), &with(&text)) {
        Err(SessionError::Assemble(error @ AssembleError::Untrusted { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_snapshot!(error, @"`prompt:agent` (.claude/agents/pirate.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration");
    text.grant = Some(Source::Setting {
        name: "--agent".into(),
    });
    let rendered = render_with(&Scope::global(), &with(&text)).unwrap();
    assert_eq!(rendered.system.fragments()[0].grant, text.grant);
}

#[test]
fn prompts_are_literal_unless_they_say_otherwise() {
    let scope = Scope::global();
    let _variable = scope.variable("x", Text::from("value")).unwrap();
    let mut strict = prompt("{{x}}");
    strict.interpolation = Interpolation::Strict;
    let options = AssembleOptions {
        sources: PromptSources {
            append: vec![prompt("{{x}}"), strict],
            ..PromptSources::default()
        },
        ..AssembleOptions::default()
    };
    assert_eq!(
        render_with(&scope, &options).unwrap().system.full_text(),
        "{{x}}\n\nvalue"
    );
}

#[test]
fn developer_text_keeps_its_authority_whatever_the_base_is() {
    let scope = Scope::global();
    let _default = default_composition(&scope);
    let with = |custom, override_prompt| PromptSources {
        custom,
        override_prompt,
        developer: Some(prompt("--developer")),
        append: vec![prompt("--append")],
        ..PromptSources::default()
    };
    let plain = assemble(&scope, with(None, None), Mode::Full);
    assert_eq!(
        keys(&plain),
        "first last prompt:developer loose zz-end prompt:append.0000"
    );
    let custom = Some((prompt("--system-prompt"), CustomMode::Replace));
    let replaced = assemble(&scope, with(custom, None), Mode::Full);
    assert_eq!(
        keys(&replaced),
        "prompt:custom prompt:developer prompt:append.0000"
    );
    assert_eq!(replaced.sections[1].authority, crate::Authority::Developer);
    let whole = assemble(&scope, with(None, Some(prompt("--override"))), Mode::Full);
    assert_eq!(keys(&whole), "prompt:override");
}
