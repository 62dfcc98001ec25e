//! The agents that can be sent, read again as files change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bindery_sources::agents::{Agent as Definition, Agents, roots};
use bindery_sources::hooks::Clients;
use bindery_sources::places::Places;
use bindery_sources::reading::Reader;

/// The agents of a place. Clones are one.
#[derive(Clone)]
pub struct Roster {
    places: Places,
    environment: Arc<BTreeMap<String, String>>,
    clients: Clients,
    agents: Arc<Mutex<Agents>>,
}

impl Roster {
    /// Reads the definitions of the project, the user, and those that ship.
    pub fn read(places: Places, environment: BTreeMap<String, String>, clients: Clients) -> Self {
        let roster = Self {
            places,
            environment: Arc::new(environment),
            clients,
            agents: Arc::default(),
        };
        roster.read_again();
        roster
    }

    /// Reads them again.
    pub fn read_again(&self) {
        let roots = roots(&self.places, &self.environment, self.clients);
        let agents = Agents::read(&roots, &mut Reader::new()).with_builtin();
        *self.lock() = agents;
    }

    /// All of them as they were read last.
    pub fn agents(&self) -> Agents {
        self.lock().clone()
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Option<Definition> {
        self.lock()
            .agents
            .iter()
            .find(|agent| agent.name == name)
            .cloned()
    }

    /// Where files lie.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Replaced as a whole.
    fn lock(&self) -> MutexGuard<'_, Agents> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
