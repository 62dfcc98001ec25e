//! Laying out a scenario's tree, and the machine it runs on.

use std::fs;
use std::path::{Path, PathBuf};

use bindery_sources::dialect::Scope;
use bindery_sources::instructions::{Approval, Boundary, Bypass, CaseRule, Host, MustKeep};

use crate::suite::Block;

/// Lays out the files. `{base}` in texts and link targets stands for the tree's root.
pub(crate) fn tree(base: &Path, blocks: &[Block]) {
    let place = |path: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let filled = |text: &str| text.replace("{base}", &base.display().to_string());
    for block in blocks {
        match block {
            Block::File {
                path,
                text,
                fill,
                after,
            } => {
                let full = format!("{}{}{}", filler(*fill), filled(text), filler(*after));
                fs::write(place(path), full).unwrap();
            }
            Block::Hex { path, bytes } => fs::write(place(path), bytes).unwrap(),
            Block::Link { path, target } => std::os::unix::fs::symlink(filled(target), place(path)).unwrap(),
            Block::Dir { path } => fs::create_dir_all(base.join(path)).unwrap(),
            Block::Fifo { path } => {
                let made = std::process::Command::new("mkfifo")
                    .arg(place(path))
                    .status()
                    .unwrap();
                assert!(made.success());
            }
            Block::Run(_) | Block::Manifest(_) | Block::Sent { .. } => {}
        }
    }
}

/// The dialect and the machine of a run.
pub(crate) fn host(base: &Path, lines: &[(String, String)]) -> (String, Host) {
    let mut dialect = "auto".to_owned();
    let mut host = Host {
        cwd: base.join("repo"),
        home: Some(base.join("home")),
        ..Host::default()
    };
    let options = &mut host.options;
    for (key, value) in lines {
        let path = || -> PathBuf { base.join(value) };
        match key.as_str() {
            "dialect" => dialect.clone_from(value),
            "cwd" => host.cwd = path(),
            "touch" => options.touch.push(path()),
            "mode" => options.mode.clone_from(value),
            "case" => {
                assert_eq!(value, "insensitive");
                options.case = CaseRule::Insensitive;
            }
            "must-keep" => {
                assert_eq!(value, "first");
                options.must_keep = MustKeep::First;
            }
            "max-hops" => options.max_hops = Some(value.parse().unwrap()),
            "boundary" => {
                options.boundary = Some(match value.as_str() {
                    "repo" => Boundary::Project,
                    "cwd" => Boundary::Cwd,
                    "none" => Boundary::None,
                    _ => Boundary::Directory(path()),
                });
            }
            "instructions" => {
                options.bypass = Some(match value.as_str() {
                    "none" => Bypass::Nothing,
                    text => Bypass::Text {
                        origin: "--instructions".to_owned(),
                        text: text.to_owned(),
                    },
                });
            }
            "approve" => {
                let (scope, target) = value.split_once(' ').unwrap();
                let scope = match scope {
                    "user" => Scope::User,
                    "project" => Scope::Project,
                    other => panic!("no such scope: {other}"),
                };
                options.approvals.insert(Approval {
                    scope,
                    importer: None,
                    target: base.join(target),
                });
            }
            other => panic!("no such key: {other}"),
        }
    }
    (dialect, host)
}

fn filler(count: usize) -> String {
    let mut text = "0123456789abcde\n".repeat(count.div_ceil(16));
    text.truncate(count);
    text
}
