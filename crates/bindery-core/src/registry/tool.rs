//! Tools: what the model may call, as values.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BoxFuture, Evaluation, ProviderError};
use crate::canonical::canonical_json;
use crate::{Source, Text, Trust};

/// A tool's description to the model. Immutable: its schema is canonicalised when the value is made,
/// so no later change of the provider's own data reaches an assembly, and equal tools have equal bytes.
/// Cheap to clone: an assembly of hundreds of tools copies none of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct Tool(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    key: Arc<str>,
    name: Arc<str>,
    id: Arc<str>,
    description: Text,
    parameters: Arc<RawValue>,
    source: Source,
    trust: Trust,
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        std::ptr::eq(a, b)
            || ((&a.name, &a.id, &a.source, a.trust) == (&b.name, &b.id, &b.source, b.trust)
                && a.description == b.description
                && a.parameters.get() == b.parameters.get())
    }
}

impl Eq for Tool {}

/// What a tool is written as. The schema's bytes are kept as they are: parsing and printing again
/// could change a number's form, and with it the request.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    name: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    id: Arc<str>,
    description: Text,
    parameters: Arc<RawValue>,
    source: Source,
    trust: Trust,
}

impl From<Parts> for Tool {
    fn from(parts: Parts) -> Self {
        let key = if parts.id.is_empty() {
            format!("tool:{}", parts.name)
        } else {
            format!("tool:{}#{}", parts.name, parts.id)
        };
        Self(Arc::new(Inner {
            key: key.into(),
            name: parts.name,
            id: parts.id,
            description: parts.description,
            parameters: parts.parameters,
            source: parts.source,
            trust: parts.trust,
        }))
    }
}

impl From<Tool> for Parts {
    fn from(tool: Tool) -> Self {
        let inner = Arc::unwrap_or_clone(tool.0);
        Self {
            name: inner.name,
            id: inner.id,
            description: inner.description,
            parameters: inner.parameters,
            source: inner.source,
            trust: inner.trust,
        }
    }
}

impl Tool {
    /// A tool with a JSON Schema for its input. Object keys of the schema are put into one fixed order.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Text>, parameters: &Value) -> Self {
        let name = name.into();
        Self(Arc::new(Inner {
            key: format!("tool:{name}").into(),
            source: Source::Plugin { name: name.clone() },
            id: Arc::from(""),
            name,
            description: description.into(),
            parameters: canonical_json(parameters).into(),
            trust: Trust::Builtin,
        }))
    }

    /// What tells two tools of one name apart (a server, a toolset); it never reaches the model.
    #[must_use]
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.id = id.into();
        inner.key = format!("tool:{}#{}", inner.name, inner.id).into();
        self
    }

    /// Where the tool's texts came from and how far that is trusted.
    #[must_use]
    pub fn from_source(mut self, source: Source, trust: Trust) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.source = source;
        inner.trust = trust;
        self
    }

    /// The name by which the model calls it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the model is told about it.
    pub fn description(&self) -> &Text {
        &self.0.description
    }

    /// The input schema as canonical JSON.
    pub fn parameters(&self) -> &RawValue {
        &self.0.parameters
    }

    /// The key of its fragment: `tool:NAME`, with `#ID` where it has one.
    pub fn fragment_key(&self) -> &Arc<str> {
        &self.0.key
    }

    /// Where its texts came from.
    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// What tells it from others of its name; empty for most.
    pub(crate) fn own_id(&self) -> &str {
        &self.0.id
    }

    /// This tool with the texts of `old` where they are equal, so that they keep their revisions.
    pub(crate) fn backdated_to(&self, old: &Self) -> Self {
        if self == old {
            return old.clone();
        }
        let mut inner = Inner::clone(&self.0);
        inner.description = old.0.description.backdate(inner.description);
        if inner.parameters.get() == old.0.parameters.get() {
            inner.parameters = old.0.parameters.clone();
        }
        Self(Arc::new(inner))
    }

    /// How far its texts are trusted.
    pub fn trust(&self) -> Trust {
        self.0.trust
    }
}

/// What a tool provider contributes.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    /// The tools that the model may see.
    pub visible: Vec<Tool>,
    /// Names that exist but are hidden here (by a scope, a permission). A tool order may name them.
    pub hidden: Vec<Arc<str>>,
}

/// Contributes tools. The contributions of all providers in the scope chain are united.
pub trait ToolProvider: Send + Sync {
    /// The tools, at most once a step.
    fn tools<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<ToolSet, ProviderError>>;
}

/// A fixed set of tools.
impl ToolProvider for ToolSet {
    fn tools<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<ToolSet, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// Tools computed by a plain function.
impl<F> ToolProvider for F
where
    F: Fn(&Evaluation) -> Result<ToolSet, ProviderError> + Send + Sync,
{
    fn tools<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<ToolSet, ProviderError>> {
        Box::pin(std::future::ready(self(evaluation)))
    }
}
