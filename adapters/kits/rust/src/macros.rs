//! What a function cannot do.

/// The table of calls, inside of `impl Adapter`:
///
/// ```ignore
/// kit::operations!(match (self, p) {
///     "kv.put of key data" => json!({"revision": p.of::<Store>()?.put(p.text("key")?, p.data()?).await?}),
///     "kv.purge of key" => p.of::<Store>()?.purge(p.text("key")?).await?,
/// });
/// ```
///
/// A row begins with an operation and the parameters that the library can express: `+` stands for those of a message
/// to send, `seq|time` for two that it cannot take at once. What a row comes to is the answer; nothing is an empty
/// one. (It is written as a `match` for rustfmt.)
#[macro_export]
macro_rules! operations {
    (match ($self:ident, $p:ident) { $($row:literal => $answer:expr,)* }) => {
        const OPERATIONS: &'static [&'static str] = &[$($row),*];

        async fn call(&$self, $p: &$crate::Call) -> Result<$crate::Value, Self::Failure> {
            Ok(match $p.row {
                $($row => $crate::Value::from($answer),)*
                row => unreachable!("{row} is no row of the table"),
            })
        }
    };
}

/// A builder with the options that were given: `given!(p, consumer.batch(), max_bytes, group: String, expires_ms =>
/// expires, gap: String => gap_mode(Gap::from))`. Each is a parameter, where need be its type, the method if it has
/// another name, and what makes the argument of the parameter if that is something else.
#[macro_export]
macro_rules! given {
    (@call $builder:ident $value:ident $param:ident) => {
        $builder.$param($value)
    };
    (@call $builder:ident $value:ident $param:ident $method:ident) => {
        $builder.$method($value)
    };
    (@call $builder:ident $value:ident $param:ident $method:ident ($convert:expr)) => {
        $builder.$method($convert($value))
    };
    ($p:expr, $builder:expr, $($param:ident $(: $kind:ty)? $(=> $method:ident $(($convert:expr))?)?),+ $(,)?) => {{
        let mut builder = $builder;
        $(if let Some(value) = $p.get$(::<$kind>)?(stringify!($param))? {
            builder = $crate::given!(@call builder value $param $($method $(($convert))?)?);
        })+
        builder
    }};
}

/// An object of the fields of a struct, under their names or those of the protocol, and perhaps of more:
/// `fields!(ack, stream, sequence => seq; "domain": domain)`. What has no value is left out.
#[macro_export]
macro_rules! fields {
    (@name $field:ident) => {
        stringify!($field)
    };
    (@name $field:ident $name:ident) => {
        stringify!($name)
    };
    ($source:expr, $($field:ident $(=> $name:ident)?),+ $(; $($more:tt)+)?) => {{
        let source = &$source;
        let mut told = $crate::json!({$($($more)+)?});
        $(told[$crate::fields!(@name $field $($name)?)] = $crate::json!(source.$field);)+
        $crate::present(told)
    }};
}

/// Returns for the first pattern that fits; the value is made anew for each, as what the pattern is of:
/// `return_first!(error.downcast_ref(); Some(Refused(answer)) => json!(answer), Some(Lost { code }) => json!(code))`.
#[macro_export]
macro_rules! return_first {
    ($value:expr; $($pattern:pat => $found:expr),+ $(,)?) => {
        $(if let $pattern = $value {
            return Some($found);
        })+
    };
}

/// Declares what the calls of an adapter fail with: `own_failure!(Failed, answer_of)`. It is a
/// [`Failure`](crate::Failure) under a name of the adapter's own, so that it can be made `From` each error of the
/// library, and `?` tells it. `answer_of` finds the fields of an error beside its text, as `code` and `err_code`: it
/// is asked for the error and then for its sources, until one has some.
#[macro_export]
macro_rules! own_failure {
    ($name:ident, $answer_of:expr) => {
        pub struct $name($crate::Failure);

        impl $name {
            /// An error under the library's own name of it.
            pub fn new(name: impl Into<String>, error: &(dyn std::error::Error + 'static)) -> Self {
                Self($crate::Failure::new(name, error).with_answer(error, $answer_of))
            }
        }

        impl From<Box<dyn std::error::Error + Send + Sync>> for $name {
            fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
                Self::new("Error", &*error)
            }
        }

        impl From<std::io::Error> for $name {
            fn from(error: std::io::Error) -> Self {
                Self::new("io::Error", &error)
            }
        }

        impl From<$crate::Failure> for $name {
            fn from(failure: $crate::Failure) -> Self {
                Self(failure)
            }
        }

        impl From<$name> for $crate::Failure {
            fn from(failure: $name) -> Self {
                failure.0
            }
        }

        impl From<$name> for $crate::Value {
            fn from(failure: $name) -> Self {
                failure.0.into()
            }
        }
    };
}
