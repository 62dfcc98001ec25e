//! The format of a suite: headings, prose, fenced blocks.

/// One scenario: a second-level heading and what follows.
pub(super) struct Scenario {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// A fenced block. What it is stands in its info string.
pub(super) enum Block {
    /// `requests NAME FORMAT MODEL [key=value]`
    Requests {
        name: String,
        info: Vec<String>,
        text: String,
    },
    /// `file NAME`
    File { name: String, text: String },
    /// `expect COMMAND ARGUMENT…`
    Expect {
        command: String,
        arguments: Vec<String>,
        text: String,
    },
}

pub(super) fn parse(text: &str) -> Vec<Scenario> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match &mut fence {
            Some((info, body)) if line == "```" => {
                let block = block(info, body);
                scenarios.last_mut().unwrap().blocks.push(block);
                fence = None;
            }
            Some((_, body)) => {
                body.push_str(line);
                body.push('\n');
            }
            None if line.starts_with("## ") => scenarios.push(Scenario {
                title: line[3..].to_owned(),
                blocks: Vec::new(),
            }),
            None if line.starts_with("```") => fence = Some((line[3..].to_owned(), String::new())),
            None => {}
        }
    }
    assert!(fence.is_none(), "a block is not closed");
    scenarios
}

fn block(info: &str, body: &str) -> Block {
    let mut words = info.split_whitespace().map(str::to_owned);
    let kind = words.next().unwrap();
    let name = words.next().unwrap_or_default();
    let text = body.to_owned();
    match kind.as_str() {
        "requests" => Block::Requests {
            name,
            info: words.collect(),
            text,
        },
        "file" => Block::File { name, text },
        "expect" => Block::Expect {
            command: name,
            arguments: words.collect(),
            text,
        },
        other => panic!("no such block: `{other}`"),
    }
}

/// The suite with its expectations replaced by what the scenarios hold.
pub(super) fn rewrite(text: &str, scenarios: &[Scenario]) -> String {
    let mut expected =
        scenarios
            .iter()
            .flat_map(|scenario| &scenario.blocks)
            .filter_map(|block| match block {
                Block::Expect { text, .. } => Some(text),
                _ => None,
            });
    let mut out = String::new();
    let mut skipping = false;
    for line in text.lines() {
        if skipping && line != "```" {
            continue;
        }
        skipping = false;
        out.push_str(line);
        out.push('\n');
        if line.starts_with("```expect") {
            let text = expected.next().unwrap().trim_end();
            if !text.is_empty() {
                out.push_str(text);
                out.push('\n');
            }
            skipping = true;
        }
    }
    out
}
