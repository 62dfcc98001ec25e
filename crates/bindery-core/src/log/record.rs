//! An event as it is stored: its envelope, and its payload as bytes.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Event, Foreign, Json, Payload, Seq};

/// A stored event. Whoever stores or moves records needs to know nothing of what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place.
    pub seq: Seq,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The type of event.
    pub kind: Arc<str>,
    /// The version of the payload.
    pub version: u32,
    /// Whether a reader that does not know the type may pass over it.
    pub ignorable: bool,
    /// The payload: JSON on one line.
    pub data: Arc<str>,
}

/// A record that means nothing to this version.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A type of event that is not known and may not be ignored.
    #[error(
        "event {seq} has the unknown type `{kind}` and is not marked ignorable; \
         the log was written by a newer version or another program: open it with that one"
    )]
    UnknownType {
        /// Which event.
        seq: Seq,
        /// Its type.
        kind: Arc<str>,
    },
    /// A payload newer than this code.
    #[error(
        "event {seq} (`{kind}`) has payload version {found}; versions up to {known} are known: \
         open the log with a newer version"
    )]
    NewerVersion {
        /// Which event.
        seq: Seq,
        /// Its type.
        kind: Arc<str>,
        /// The version it has.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// A payload that is not what its type says.
    #[error("event {seq} (`{kind}`) cannot be read: {cause}")]
    Malformed {
        /// Which event.
        seq: Seq,
        /// Its type.
        kind: Arc<str>,
        /// What the parser said.
        #[source]
        cause: serde_json::Error,
    },
}

impl Record {
    /// The record of an event. Fails only where a payload cannot be written as JSON, which none of ours
    /// refuses.
    pub fn encode(seq: Seq, at_ms: u64, payload: &Payload) -> Result<Self, DecodeError> {
        let kind: Arc<str> = payload.kind().into();
        match payload.to_json() {
            Ok(data) => Ok(Self {
                seq,
                at_ms,
                kind,
                version: payload.version(),
                ignorable: matches!(payload, Payload::Foreign(_)),
                data: data.into(),
            }),
            Err(cause) => Err(DecodeError::Malformed { seq, kind, cause }),
        }
    }

    /// The event of a record. A type or version that is not known is refused, unless the record is
    /// marked as one that may be ignored.
    pub fn decode(&self) -> Result<Event, DecodeError> {
        let known = Payload::CATALOGUE.iter().find(|row| *row.kind == *self.kind);
        let payload = match known {
            Some(row) if self.version <= row.version => {
                Payload::from_json(&self.kind, self.version, &self.data)
                    .unwrap_or_else(|| self.foreign())
                    .map_err(|cause| self.malformed(cause))?
            }
            _ if self.ignorable => self.foreign().map_err(|cause| self.malformed(cause))?,
            Some(row) => {
                return Err(DecodeError::NewerVersion {
                    seq: self.seq,
                    kind: self.kind.clone(),
                    found: self.version,
                    known: row.version,
                });
            }
            None => {
                return Err(DecodeError::UnknownType {
                    seq: self.seq,
                    kind: self.kind.clone(),
                });
            }
        };
        Ok(Event {
            seq: self.seq,
            at_ms: self.at_ms,
            payload,
        })
    }

    fn foreign(&self) -> Result<Payload, serde_json::Error> {
        let raw: Box<RawValue> = serde_json::from_str(&self.data)?;
        let data = Json::try_from(raw).map_err(serde::de::Error::custom)?;
        Ok(Payload::Foreign(Foreign {
            kind: self.kind.clone(),
            version: self.version,
            data,
        }))
    }

    fn malformed(&self, cause: serde_json::Error) -> DecodeError {
        DecodeError::Malformed {
            seq: self.seq,
            kind: self.kind.clone(),
            cause,
        }
    }
}

impl Event {
    /// The record of this event.
    pub fn encode(&self) -> Result<Record, DecodeError> {
        Record::encode(self.seq, self.at_ms, &self.payload)
    }
}
