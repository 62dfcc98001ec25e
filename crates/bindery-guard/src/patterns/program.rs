//! An expression as instructions of the search engine, so that using it needs no parsing.

use regex_automata::nfa::thompson::{Builder, Compiler, Config, NFA, State, Transition, WhichCaptures};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use serde::{Deserialize, Serialize};

use super::parse;

/// A non-deterministic automaton of `regex-automata` as data.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(super) start: u32,
    pub(super) instructions: Vec<Instruction>,
}

/// What is done in one state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Instruction {
    /// Goes on with a byte within the first two.
    Byte(u8, u8, u32),
    /// Goes on with a byte within one of these ranges.
    Bytes(Vec<(u8, u8, u32)>),
    /// Goes on where the place is of this kind.
    Look(u32, u32),
    /// Goes on in one of these ways, the first that matches.
    Either(Vec<u32>),
    Fail,
    Match,
}

impl Program {
    /// Compiles a regular expression.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        let config = Config::new().utf8(false).which_captures(WhichCaptures::None);
        let nfa = Compiler::new()
            .configure(config)
            .build_from_hir(&parse(source)?)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            start: nfa.start_anchored().as_u32(),
            instructions: nfa.states().iter().map(instruction).collect(),
        })
    }

    /// The automaton again; nothing if the instructions are none of [`Program::compile`].
    pub(crate) fn automaton(&self) -> Option<NFA> {
        let mut builder = Builder::new();
        builder.start_pattern().ok()?;
        for instruction in &self.instructions {
            add(&mut builder, instruction)?;
        }
        let start = id(self.start)?;
        builder.finish_pattern(start).ok()?;
        builder.build(start, start).ok()
    }
}

fn instruction(state: &State) -> Instruction {
    let row = |transition: &Transition| (transition.start, transition.end, transition.next.as_u32());
    match state {
        State::ByteRange { trans } => {
            let (from, to, next) = row(trans);
            Instruction::Byte(from, to, next)
        }
        State::Sparse(sparse) => Instruction::Bytes(sparse.transitions.iter().map(row).collect()),
        State::Dense(dense) => {
            let way = |byte| Some((byte, byte, dense.matches_byte(byte)?.as_u32()));
            Instruction::Bytes((0..=u8::MAX).filter_map(way).collect())
        }
        State::Look { look, next } => Instruction::Look(look.as_repr(), next.as_u32()),
        State::Union { alternates } => Instruction::Either(alternates.iter().map(StateID::as_u32).collect()),
        State::BinaryUnion { alt1, alt2 } => Instruction::Either(vec![alt1.as_u32(), alt2.as_u32()]),
        State::Capture { next, .. } => Instruction::Either(vec![next.as_u32()]),
        State::Fail => Instruction::Fail,
        State::Match { .. } => Instruction::Match,
    }
}

fn add(builder: &mut Builder, instruction: &Instruction) -> Option<StateID> {
    let transition = |(start, end, next): (u8, u8, u32)| {
        Some(Transition {
            start,
            end,
            next: id(next)?,
        })
    };
    let added = match instruction {
        Instruction::Byte(from, to, next) => builder.add_range(transition((*from, *to, *next))?),
        Instruction::Bytes(rows) => {
            let rows: Option<Vec<Transition>> = rows.iter().copied().map(transition).collect();
            builder.add_sparse(rows?)
        }
        Instruction::Look(look, next) => builder.add_look(id(*next)?, Look::from_repr(*look)?),
        Instruction::Either(ways) => {
            let ways: Option<Vec<StateID>> = ways.iter().copied().map(id).collect();
            builder.add_union(ways?)
        }
        Instruction::Fail => builder.add_fail(),
        Instruction::Match => builder.add_match(),
    };
    added.ok()
}

fn id(number: u32) -> Option<StateID> {
    StateID::new(usize::try_from(number).ok()?).ok()
}
