//! Things that last, under the names that Jetproof gave them, and messages under names of our own.

use std::any::{type_name, Any};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{MappedMutexGuard, Mutex as AsyncMutex, MutexGuard};

use crate::events::Consume;
use crate::failure::{not_open, short_name, unsupported, Failure};

type Thing = Arc<dyn Any + Send + Sync>;

#[derive(Default)]
pub struct Names {
    things: Mutex<HashMap<String, (Thing, &'static str)>>,
    messages: AtomicU64,
}

impl Names {
    /// What was kept under that name. Of a thing of another type, the library has no such call.
    pub fn get<T: Send + Sync + 'static>(&self, name: &str) -> Result<Arc<T>, Failure> {
        let thing = self.things.lock().unwrap().get(name).cloned();
        match thing.map(|(thing, kind)| (thing.downcast(), kind)) {
            Some((Ok(thing), _)) => Ok(thing),
            Some((Err(_), kind)) => unsupported(format!("that of a {}", short_name(kind))),
            None => not_open(name),
        }
    }

    pub fn keep<T: Send + Sync + 'static>(&self, name: String, thing: T) {
        self.things.lock().unwrap().insert(name, (Arc::new(thing), type_name::<T>()));
    }

    /// Keeps a message that can be acknowledged, and gives it a name.
    pub fn keep_message<T: Send + Sync + 'static>(&self, message: T) -> String {
        let name = format!("m{}", self.messages.fetch_add(1, Ordering::Relaxed) + 1);
        self.keep(name.clone(), message);
        name
    }

    /// Everything, which has no names any more; what is consumed is told no longer.
    pub(crate) fn take(&self) -> Vec<Thing> {
        let things = std::mem::take(&mut *self.things.lock().unwrap());
        let things: Vec<_> = things.into_values().map(|(thing, _)| thing).collect();
        things.iter().filter_map(|thing| thing.downcast_ref()).for_each(Consume::abandon);
        things
    }
}

/// A thing whose last call takes it: what would follow cannot be written in Rust, and is unsupported.
pub struct Owned<T>(AsyncMutex<Option<T>>);

impl<T> Owned<T> {
    pub fn new(thing: T) -> Self {
        Self(AsyncMutex::new(Some(thing)))
    }

    pub async fn borrow(&self) -> Result<MappedMutexGuard<'_, T>, Failure> {
        let guard = self.0.lock().await;
        MutexGuard::try_map(guard, Option::as_mut).or_else(|_| Self::ended())
    }

    pub async fn take(&self) -> Result<T, Failure> {
        self.0.lock().await.take().map_or_else(Self::ended, Ok)
    }

    fn ended<U>() -> Result<U, Failure> {
        unsupported(format!("a {} that has ended", short_name(type_name::<T>())))
    }
}
