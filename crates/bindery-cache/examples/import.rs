//! Prints a price list as a table of our own: `import LIST SOURCE DAY [BEGINNING…] [-PART…]`, only models
//! whose ids begin so and hold none of the parts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]
#![expect(
    clippy::disallowed_methods,
    reason = "an example reads its arguments and its file"
)]

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(list), Some(source), Some(day)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: import LIST SOURCE DAY [BEGINNING…]".into());
    };
    let (without, beginnings): (Vec<String>, Vec<String>) = args.partition(|arg| arg.starts_with('-'));
    let mut imported = bindery_cache::import(&std::fs::read(list)?, &format!("{source}, read {day}"))?;
    let wanted = |id: &str| {
        let begins = beginnings.is_empty() || beginnings.iter().any(|start| id.starts_with(start.as_str()));
        begins
            && !without
                .iter()
                .any(|part| id.contains(part.trim_start_matches('-')))
    };
    imported.rows.retain(|row| wanted(&row.id));
    for row in &mut imported.rows {
        // Makers' models that the list has under the maker's name only.
        row.id = row.id.trim_start_matches("gemini/").to_owned();
    }
    imported
        .rows
        .dedup_by(|a, b| (&a.id, a.tier, a.above) == (&b.id, b.tier, b.above));
    print!("{}", imported.to_toml(&source, &day));
    for skipped in imported.skipped.iter().filter(|skipped| wanted(&skipped.id)) {
        eprintln!("skipped {}: {}", skipped.id, skipped.reason);
    }
    Ok(())
}
