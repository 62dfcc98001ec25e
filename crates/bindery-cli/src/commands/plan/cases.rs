//! What may come next, each with what it reads, writes and costs.

use bindery::{Authority, Usage};
use bindery_cache::forecast::{self, Planned, Unsaid};
use bindery_cache::plan::plan;
use bindery_cache::{Family, Measured, Money, Outcome, PriceBook, Tier};

use super::{PlanArgs, Standing};
use crate::books::{self, Books};

/// How long after a request the one after it is taken to come, in milliseconds.
const SOON_MS: u64 = 60_000;
/// What an answer is taken to have where none was reported, in tokens.
const ANSWER: u64 = 400;

/// One way to go on.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// A stable name.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) shown: String,
    /// The request's input; `None` for a model without rules.
    pub(super) usage: Option<Usage>,
    /// Why the provider would refuse it.
    pub(super) refused: Option<String>,
    /// What its input costs.
    pub(super) cost: Option<Money>,
    /// What the input of the one after it costs, a minute later.
    pub(super) then: Option<Money>,
    /// From how many requests on it is cheaper than going on.
    pub(super) pays_after: Option<u64>,
}

/// What the cases are asked about.
pub(super) struct Asking<'a> {
    pub(super) args: &'a PlanArgs,
    pub(super) standing: &'a Standing<'a>,
    pub(super) at_ms: u64,
    pub(super) prices: &'a PriceBook,
    /// The request that would be assembled here now.
    pub(super) fresh: Option<&'a Measured>,
}

impl Asking<'_> {
    /// The last request, the answer, and what is said next.
    pub(super) fn next(&self) -> Measured {
        self.more(&self.standing.last.request)
    }

    fn answer(&self) -> u64 {
        let used = self.standing.last.usage.map_or(0, |usage| usage.generated());
        if used > 0 { used } else { ANSWER }
    }

    fn more(&self, request: &Measured) -> Measured {
        let said = [
            Unsaid {
                speaker: Authority::Assistant,
                tokens: self.answer(),
            },
            Unsaid {
                speaker: Authority::User,
                tokens: self.args.say,
            },
        ];
        forecast::continued(request, &said)
    }

    pub(super) fn cases(&self) -> anyhow::Result<Vec<Case>> {
        let next = self.next();
        let mut cases = Vec::new();
        if self.args.resume {
            cases.push(self.case("resume_pinned", "resume, prefix as recorded", &next)?);
            if let Some(fresh) = self.fresh {
                let refreshed = forecast::with_head_of(&next, fresh);
                cases.push(self.case("resume_refreshed", "resume, all read anew", &refreshed)?);
            }
        } else {
            cases.push(self.case("go_on", "go on", &next)?);
        }
        if let Some(case) = self.planned(&next)? {
            cases.push(case);
        }
        let mut changed = next.clone();
        if let Some(model) = &self.args.model {
            changed = forecast::with_setting(&changed, "model", model);
        }
        if let Some(effort) = &self.args.effort {
            changed = forecast::with_setting(&changed, "effort", effort);
        }
        let what = [("model", &self.args.model), ("effort", &self.args.effort)];
        let what: Vec<String> = what
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)))
            .collect();
        if !what.is_empty() {
            cases.push(self.case("changed", &format!("with {}", what.join(", ")), &changed)?);
        }
        if self.args.compact {
            cases.extend(self.compaction(&next)?);
        }
        Ok(cases)
    }

    /// With breakpoints where they pay, if that is another request.
    fn planned(&self, next: &Measured) -> anyhow::Result<Option<Case>> {
        let settings = next.request().settings();
        let family = self.args.family.as_deref().map(books::family).transpose()?;
        if !family.is_none_or(Family::has_marks) {
            return Ok(None);
        }
        let books = Books::open(None)?;
        let rules = match family {
            Some(family) => Some(books.rules.rules_of(family, settings.model())?),
            None => books.rules.rules(settings.model())?,
        };
        let Some(rules) = rules.filter(|rules| rules.family().has_marks()) else {
            return Ok(None);
        };
        let marks = plan(
            next,
            Some(&self.standing.last.request),
            &rules,
            &self.args.options(),
        )
        .segments();
        if marks == next.request().marks().collect::<Vec<_>>() {
            return Ok(None);
        }
        let planned = next.with_request(next.request().with_marks(&marks));
        self.case("planned", "breakpoints as planned", &planned).map(Some)
    }

    /// The request that asks for a summary, and the session after it.
    fn compaction(&self, next: &Measured) -> anyhow::Result<Vec<Case>> {
        let summarised = forecast::compacted(&self.standing.last.request, self.args.summary);
        let after = self.more(&summarised);
        let ask = self.case("summary", "ask for the summary", next)?;
        let planned = [(next, self.at_ms), (&after, self.at_ms + SOON_MS)];
        let mut compacted = self.sequence("compacted", "first after compaction", &planned)?;
        let going = self.case("go_on", "", next)?;
        compacted.pays_after = pays_after(&ask, &compacted, &going, self.summary_price());
        Ok(vec![ask, compacted])
    }

    /// What the summary itself costs: it is an answer.
    fn summary_price(&self) -> Option<Money> {
        let model = self.standing.last.request.request().settings().model();
        let row = self.prices.of(model, Tier::Standard, 0)?;
        Some(self.args.summary * row.output)
    }

    fn case(&self, name: &'static str, shown: &str, request: &Measured) -> anyhow::Result<Case> {
        self.sequence(name, shown, &[(request, self.at_ms)])
    }

    /// The last of some requests, after those before it, and the one that follows.
    fn sequence(
        &self,
        name: &'static str,
        shown: &str,
        requests: &[(&Measured, u64)],
    ) -> anyhow::Result<Case> {
        let mut planned: Vec<Planned> = requests
            .iter()
            .map(|(request, at_ms)| Planned {
                request: (*request).clone(),
                at_ms: *at_ms,
            })
            .collect();
        if let Some(last) = planned.last() {
            let then = Planned {
                request: self.more(&last.request),
                at_ms: last.at_ms + SOON_MS,
            };
            planned.push(then);
        }
        let outcomes = self.standing.caches.ask(&self.standing.last.route, &planned)?;
        let refusal = |outcome: &Outcome| outcome.refusal.as_ref().map(ToString::to_string);
        let (usage, then, refused) = match outcomes.as_deref() {
            Some([.., last, then]) => (Some(last.usage), Some(then.usage), refusal(last)),
            _ => (None, None, None),
        };
        let model = planned
            .last()
            .map(|planned| planned.request.request().settings().model().to_owned())
            .unwrap_or_default();
        let answered = refused.is_none();
        Ok(Case {
            name,
            shown: shown.to_owned(),
            usage: usage.filter(|_| answered),
            refused,
            cost: usage
                .filter(|_| answered)
                .and_then(|usage| price(self.prices, &model, &usage)),
            then: then
                .filter(|_| answered)
                .and_then(|usage| price(self.prices, &model, &usage)),
            pays_after: None,
        })
    }
}

/// From how many requests on a compaction has paid for itself.
fn pays_after(ask: &Case, compacted: &Case, going: &Case, summary: Option<Money>) -> Option<u64> {
    let once = (ask.cost? + summary? + compacted.cost?) - going.cost?;
    let each = going.then? - compacted.then?;
    let (once, each) = (once.picodollars(), each.picodollars());
    if each <= 0 {
        return None;
    }
    // The first request after it is counted in `once`.
    let more = once.max(0).checked_add(each - 1)?.checked_div(each)?;
    u64::try_from(more + 1).ok()
}

fn price(prices: &PriceBook, model: &str, usage: &Usage) -> Option<Money> {
    let row = prices.of(model, Tier::Standard, usage.input())?;
    Some(row.cost(usage).total())
}

/// The first request of all, and the one after it.
pub(super) fn first(args: &PlanArgs, request: &Measured, books: &Books) -> anyhow::Result<Vec<Case>> {
    let family = args.family.as_deref().map(books::family).transpose()?;
    let caches = forecast::Caches::new(&books.rules, family);
    let said = [
        Unsaid {
            speaker: Authority::Assistant,
            tokens: ANSWER,
        },
        Unsaid {
            speaker: Authority::User,
            tokens: args.say,
        },
    ];
    let planned = [
        Planned {
            request: request.clone(),
            at_ms: 0,
        },
        Planned {
            request: forecast::continued(request, &said),
            at_ms: SOON_MS,
        },
    ];
    let outcomes = caches.ask("", &planned)?;
    let (usage, then) = match outcomes.as_deref() {
        Some([first, then]) => (Some(first.usage), Some(then.usage)),
        _ => (None, None),
    };
    let model = request.request().settings().model();
    Ok(vec![Case {
        name: "first",
        shown: "the first request".to_owned(),
        usage,
        refused: None,
        cost: usage.and_then(|usage| price(&books.prices, model, &usage)),
        then: then.and_then(|usage| price(&books.prices, model, &usage)),
        pays_after: None,
    }])
}
