use super::*;
use crate::RuleBook;

fn usage() -> Usage {
    Usage {
        uncached: 1000,
        read: 2000,
        write_5m: 300,
        write_1h: 40,
        output: 50,
        reasoning: 6,
        ..Usage::default()
    }
}

#[test]
fn each_class_of_tokens_has_its_price() {
    let book = PriceBook::built_in().unwrap();
    let row = book.of("claude-opus-5-5", Tier::Standard, 0).unwrap();
    let cost = row.cost(&usage());
    assert_eq!(
        (
            cost.uncached.to_string(),
            cost.read.to_string(),
            cost.written.to_string(),
            cost.output.to_string()
        ),
        (
            "$0.004".into(),
            "$0.0004".into(),
            "$0.0018".into(),
            "$0.0011".into()
        )
    );
    // 1000 × 4 + 2000 × 0.2 + 300 × 5 + 40 × 8 + 56 × 20 millionths.
    assert_eq!(cost.total().picodollars(), 7_340_000_000);
}

#[test]
fn models_of_the_facts_cost_what_they_say() {
    let book = PriceBook::built_in().unwrap();
    let shown = |model: &str| {
        let row = book
            .of(model, Tier::Standard, 0)
            .unwrap_or_else(|| panic!("{model}"));
        let write = row
            .write_5m
            .or(row.write_30m)
            .map_or("-".to_owned(), Price::to_per_million);
        let hour = row.write_1h.map_or("-".to_owned(), Price::to_per_million);
        let read = row.read.map_or("-".to_owned(), Price::to_per_million);
        format!(
            "{} {} {write}/{hour} {read}",
            row.input.to_per_million(),
            row.output.to_per_million()
        )
    };
    for (model, expected) in [
        ("claude-fable-5-1", "10 50 12.5/20 0.25"),
        ("claude-fable-5", "10 50 12.5/20 1"),
        ("claude-opus-5-5", "4 20 5/8 0.2"),
        ("claude-opus-5", "5 25 6.25/10 0.5"),
        ("claude-opus-4-8", "5 25 6.25/10 0.5"),
        ("claude-sonnet-5-5", "2 10 2.5/4 0.1"),
        ("claude-sonnet-4-6", "3 15 3.75/6 0.3"),
        ("claude-haiku-4-5-20251001", "1 5 1.25/2 0.1"),
        ("gpt-6.1-sol", "2 10 2.5/- 0.1"),
        ("gpt-6-luna", "0.1 0.5 0.125/- 0.01"),
        ("gpt-5.6-sol", "4 20 5/- 0.4"),
        ("gpt-5.5", "5 30 -/- 0.5"),
        ("gpt-4o", "2.5 10 -/- 1.25"),
        ("deepseek-flash", "0.3 1.2 -/- 0.006"),
        ("gemini-4-argon", "2 10 -/- 0.1"),
    ] {
        assert_eq!(shown(model), expected, "{model}");
    }
}

#[test]
fn multipliers_of_the_rules_and_prices_of_the_list_agree() {
    let (book, rules) = (PriceBook::built_in().unwrap(), RuleBook::built_in().unwrap());
    for model in [
        "claude-fable-5-1",
        "claude-fable-5",
        "claude-mythos-5-1",
        "claude-opus-5-5",
        "claude-opus-5",
        "claude-opus-4-8",
        "claude-sonnet-5-5",
        "claude-sonnet-5",
        "claude-haiku-4-5",
    ] {
        let row = book.of(model, Tier::Standard, 0).unwrap();
        let rules = rules.rules(model).unwrap().unwrap();
        let at = |name: &str| row.input.per_mille(rules.number(name));
        assert_eq!(
            (row.read, row.write_5m, row.write_1h),
            (
                at("read_per_mille"),
                at("write_5m_per_mille"),
                at("write_1h_per_mille")
            ),
            "{model}"
        );
    }
    for model in ["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.6-terra"] {
        let row = book.of(model, Tier::Standard, 0).unwrap();
        let rules = rules.rules(model).unwrap().unwrap();
        let at = |name: &str| row.input.per_mille(rules.number(name));
        assert_eq!(
            (row.read, row.write_30m),
            (at("read_per_mille"), at("write_30m_per_mille")),
            "{model}"
        );
    }
}

#[test]
fn long_requests_and_tariffs_have_their_own_prices() {
    let book = PriceBook::built_in().unwrap();
    let input = |tier, tokens| {
        book.of("gpt-6.1-sol", tier, tokens)
            .unwrap()
            .input
            .to_per_million()
    };
    assert_eq!(
        (input(Tier::Standard, 272_000), input(Tier::Standard, 272_001)),
        ("2".into(), "4".into())
    );
    assert_eq!(input(Tier::Flex, 0), "1");
    let deepseek = |tier| book.of("deepseek-flash", tier, 0).unwrap().input.to_per_million();
    assert_eq!(
        (deepseek(Tier::Standard), deepseek(Tier::OffPeak)),
        ("0.3".into(), "0.15".into())
    );
    assert_eq!(deepseek(Tier::Priority), "0.3");
}

#[test]
fn a_table_on_top_replaces_row_by_row() {
    let text = "version = 1\nsource = \"my contract\"\nread = \"2026-12-01\"\n\
        [[model]]\nid = \"claude-opus-5\"\ninput = \"4.5\"\noutput = \"20\"\n";
    let book = PriceBook::built_in()
        .unwrap()
        .overlay(PriceBook::from_toml("mine.toml", text).unwrap());
    let row = book.of("claude-opus-5", Tier::Standard, 0).unwrap();
    assert_eq!(
        (row.input.to_per_million().as_str(), row.source.as_str()),
        ("4.5", "my contract, read 2026-12-01")
    );
    assert!(book.of("claude-opus-4-8", Tier::Standard, 0).is_some());
    let bad = text.replace("4.5", "four");
    insta::assert_snapshot!(
        PriceBook::from_toml("mine.toml", &bad).unwrap_err(),
        @"mine.toml: `claude-opus-5`: `four` is not a price: write dollars as a decimal number"
    );
}
