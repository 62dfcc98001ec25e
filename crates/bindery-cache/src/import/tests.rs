use super::*;
use crate::{PriceBook, Tier};

const LITELLM: &str = r#"{
 "sample_spec": {"input_cost_per_token": 0.0},
 "claude-x-1": {"mode": "chat", "litellm_provider": "anthropic", "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05,
   "cache_read_input_token_cost": 2e-07, "cache_creation_input_token_cost": 5e-06,
   "cache_creation_input_token_cost_above_1hr": 8e-06, "prompt_cache_min_tokens": 512,
   "input_cost_per_token_batches": 2e-06, "output_cost_per_token_batches": 1e-05},
 "gpt-x": {"mode": "responses", "litellm_provider": "openai", "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05,
   "cache_read_input_token_cost": 1e-07, "cache_creation_input_token_cost": 2.5e-06,
   "cache_creation_input_token_cost_above_12hr": 5e-06,
   "input_cost_per_token_above_272k_tokens": 4e-06, "output_cost_per_token_above_272k_tokens": 1.5e-05},
 "seek": {"mode": "chat", "litellm_provider": "deepseek", "input_cost_per_token": 3e-07, "output_cost_per_token": 1.2e-06,
   "cache_creation_input_token_cost": 0.0, "cache_read_input_token_cost": 6e-09,
   "off_peak_pricing": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 3e-09}},
 "picture": {"mode": "image_generation", "input_cost_per_token": 1e-06},
 "free": {"mode": "chat"},
 "fine": {"mode": "chat", "input_cost_per_token": 1.23456e-15, "output_cost_per_token": 1e-06}
}"#;

#[test]
fn the_flat_list_becomes_rows_and_a_report() {
    let imported = import(LITELLM.as_bytes(), "a list, 2026-11-30").unwrap();
    insta::assert_snapshot!(imported.to_toml("a list", "2026-11-30"), @r#"
    version = 1
    source = "a list"
    read = "2026-11-30"

    [[model]]
    id = "claude-x-1"
    input = "4"
    output = "20"
    read = "0.2"
    write_5m = "5"
    write_1h = "8"

    [[model]]
    id = "claude-x-1"
    tier = "batch"
    input = "2"
    output = "10"

    [[model]]
    id = "gpt-x"
    input = "2"
    output = "10"
    read = "0.1"
    write_30m = "2.5"
    write_12h = "5"

    [[model]]
    id = "gpt-x"
    above = 272000
    input = "4"
    output = "15"

    [[model]]
    id = "seek"
    input = "0.3"
    output = "1.2"
    read = "0.006"

    [[model]]
    id = "seek"
    tier = "off-peak"
    input = "0.15"
    output = "0.6"
    read = "0.003"
    "#);
    assert_eq!(imported.minimums, [("claude-x-1".to_owned(), 512)]);
    let skipped: Vec<String> = imported
        .skipped
        .iter()
        .map(|skip| format!("{}: {}", skip.id, skip.reason))
        .collect();
    insta::assert_snapshot!(skipped.join("\n"), @r"
    picture: mode `image_generation` reads no prompt
    free: no price for input and output tokens
    fine: `1.23456e-15` is finer or larger than prices are kept: a token's price has at most twelve decimals of a dollar
    ");
}

#[test]
fn what_was_written_reads_the_same() {
    let imported = import(LITELLM.as_bytes(), "a list, read 2026-11-30").unwrap();
    let book = PriceBook::from_toml("t", &imported.to_toml("a list", "2026-11-30")).unwrap();
    assert_eq!(book.rows(), imported.rows);
}

#[test]
fn the_nested_list_names_resellers() {
    let list = r#"{"anthropic": {"models": {"claude-x": {"cost": {"input": 5, "output": 25, "cache_read": 0.5, "cache_write": 6.25}}}},
        "reseller": {"models": {"claude-x": {"cost": {"input": 4, "output": 20}}, "free": {}}}}"#;
    let imported = import(list.as_bytes(), "s").unwrap();
    let shown: Vec<String> = imported
        .rows
        .iter()
        .map(|row| format!("{} {}", row.id, row.input.to_per_million()))
        .collect();
    assert_eq!(shown, ["claude-x 5", "reseller/claude-x 4"]);
    assert_eq!(imported.rows[0].write_5m.unwrap().to_per_million(), "6.25");
    assert_eq!(imported.rows[0].tier, Tier::Standard);
    assert_eq!(imported.skipped[0].id, "reseller/free");
}

#[test]
fn what_is_no_list_is_refused() {
    assert!(matches!(import(b"{", "s"), Err(ImportError::NotJson(_))));
    assert!(matches!(
        import(b"{\"a\": 1}", "s"),
        Err(ImportError::UnknownShape)
    ));
}
