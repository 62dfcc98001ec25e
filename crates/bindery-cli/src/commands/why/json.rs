//! Explanations for machines: schema `bindery.why/1`.

use bindery::Usage;
use bindery_cache::{Cost, Format, MeterRow, Money, Why};
use serde::Serialize;

use super::account::{Account, Explained};
use crate::exchanges::Subject;

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    subject: String,
    /// How many requests were read.
    requests_read: usize,
    requests: Vec<Row<'a>>,
    total: Total,
    untimed: bool,
    failed: Vec<Failed<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    request: u64,
    place: &'a str,
    sent_at_ms: Option<u64>,
    session: Option<&'a str>,
    model: &'a str,
    format: Format,
    input_tokens: u64,
    /// The number of the request it is compared with.
    compared_with: Option<u64>,
    unknown: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    between: &'a [String],
    #[serde(skip_serializing_if = "<[MeterRow]>::is_empty")]
    meter: &'a [MeterRow],
    #[serde(flatten)]
    why: &'a Why,
}

#[derive(Serialize)]
struct Total {
    usage: Usage,
    cost: Cost,
    lost_tokens: u64,
    lost_extra: Money,
}

#[derive(Serialize)]
struct Failed<'a> {
    request: u64,
    code: &'a str,
}

pub(super) fn page(subject: &Subject, account: &Account, shown: &[&Explained]) -> serde_json::Result<String> {
    let (lost_tokens, lost_extra) = account.lost();
    let page = Page {
        schema: "bindery.why/1",
        subject: subject.shown(),
        requests_read: account.requests.len(),
        requests: shown.iter().map(|request| row_of(request)).collect(),
        total: Total {
            usage: account.used(),
            cost: account.cost(),
            lost_tokens,
            lost_extra,
        },
        untimed: account.untimed,
        failed: account
            .failed
            .iter()
            .map(|(request, code)| Failed {
                request: *request,
                code,
            })
            .collect(),
    };
    serde_json::to_string_pretty(&page)
}

fn row_of(request: &Explained) -> Row<'_> {
    Row {
        request: request.number,
        place: &request.place,
        sent_at_ms: request.at_ms,
        session: request.session.as_deref(),
        model: &request.model,
        format: request.format,
        input_tokens: request.total,
        compared_with: request.compared_with,
        unknown: request.unknown.iter().map(|what| &**what).collect(),
        between: &request.between,
        meter: &request.meter,
        why: &request.why,
    }
}
