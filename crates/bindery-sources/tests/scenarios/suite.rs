//! The format of a suite: headings, prose, fenced blocks.

/// One scenario: a second-level heading and what follows.
pub(crate) struct Scenario {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block. What it is stands in its info string.
pub(crate) enum Block {
    File {
        path: String,
        text: String,
        fill: usize,
        after: usize,
    },
    Hex {
        path: String,
        bytes: Vec<u8>,
    },
    Link {
        path: String,
        target: String,
    },
    Dir {
        path: String,
    },
    Fifo {
        path: String,
    },
    Run(Vec<(String, String)>),
    Manifest(String),
    Sent {
        path: String,
        text: String,
    },
}

/// The scenarios of a suite.
pub(crate) fn parse(text: &str) -> Vec<Scenario> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut fence: Option<(String, String, String)> = None;
    for line in text.lines() {
        match &mut fence {
            Some((mark, info, body)) => {
                if line.trim_end() == *mark {
                    let block = block(info, body);
                    scenarios
                        .last_mut()
                        .expect("a heading before a block")
                        .blocks
                        .push(block);
                    fence = None;
                } else {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            None if line.starts_with("## ") => scenarios.push(Scenario {
                title: line[3..].to_owned(),
                blocks: Vec::new(),
            }),
            None if line.starts_with("```") => {
                let ticks = line.len() - line.trim_start_matches('`').len();
                fence = Some((line[..ticks].to_owned(), line[ticks..].to_owned(), String::new()));
            }
            None => {}
        }
    }
    assert!(fence.is_none(), "a block is not closed");
    scenarios
}

fn block(info: &str, body: &str) -> Block {
    let mut words = info.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default().to_owned();
    match kind {
        "file" => {
            let rest: Vec<&str> = words.collect();
            let count = |key: &str| {
                rest.iter()
                    .find_map(|word| word.strip_prefix(key))
                    .map_or(0, |count| count.parse().unwrap())
            };
            Block::File {
                path,
                text: body.to_owned(),
                fill: count("fill="),
                after: count("after="),
            }
        }
        "hex" => Block::Hex {
            path,
            bytes: body
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect(),
        },
        "link" => Block::Link {
            path,
            target: body.trim().to_owned(),
        },
        "dir" => Block::Dir { path },
        "fifo" => Block::Fifo { path },
        "run" => Block::Run(pairs(body)),
        "manifest" => Block::Manifest(body.to_owned()),
        "sent" => Block::Sent {
            path,
            text: body.to_owned(),
        },
        other => panic!("no such block: `{other}`"),
    }
}

fn pairs(body: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (key, value) = line
            .split_once(':')
            .unwrap_or_else(|| panic!("`{line}` is no `key: value`"));
        (key.trim().to_owned(), value.trim().to_owned())
    };
    body.lines()
        .filter(|line| !line.trim().is_empty())
        .map(pair)
        .collect()
}

/// The suite with its expectations replaced by what the scenarios hold.
pub(crate) fn rewrite(text: &str, scenarios: &[Scenario]) -> String {
    let mut outcomes =
        scenarios
            .iter()
            .flat_map(|scenario| &scenario.blocks)
            .filter_map(|block| match block {
                Block::Manifest(text) | Block::Sent { text, .. } => Some(text),
                _ => None,
            });
    let mut out = String::new();
    let mut fence: Option<(String, bool)> = None;
    for line in text.lines() {
        let closes = fence.as_ref().is_some_and(|(mark, _)| line.trim_end() == *mark);
        if let Some((_, replaced)) = &fence {
            if closes || !replaced {
                out.push_str(line);
                out.push('\n');
            }
            if closes {
                fence = None;
            }
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if line.starts_with("```") {
            let ticks = line.len() - line.trim_start_matches('`').len();
            let info = &line[ticks..];
            let replaced = info.starts_with("manifest") || info.starts_with("sent");
            if replaced {
                out.push_str(
                    outcomes
                        .next()
                        .expect("an outcome for every expectation")
                        .trim_end(),
                );
                out.push('\n');
            }
            fence = Some((line[..ticks].to_owned(), replaced));
        }
    }
    out
}
