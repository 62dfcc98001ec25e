//! Speed of a scan on plain and on disguised text.

fn main() {
    divan::main();
}
