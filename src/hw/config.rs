//! The sizes that the hardware is built in.

use crate::model::Config;

/// One of the named configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum HwConfig {
    /// 4 QPs, 2 CQs, queues of 4.
    Small,
    /// 64 QPs, 16 CQs, queues of 64.
    #[default]
    Default,
    /// 16 QPs, queues of 1,024.
    Deep,
    /// 65,536 QPs, 4,096 CQs, queues of 16.
    Large,
}

impl HwConfig {
    /// All of them.
    pub const ALL: [HwConfig; 4] = [Self::Small, Self::Default, Self::Deep, Self::Large];

    /// The sizes.
    pub const fn sizes(self) -> &'static Config {
        match self {
            Self::Small => &Config::SMALL,
            Self::Default => &Config::DEFAULT,
            Self::Deep => &Config::DEEP,
            Self::Large => &Config::LARGE,
        }
    }

    /// Whether this program holds it: all are built unless `RNIC_CONFIGS` named some.
    pub fn is_built(self) -> bool {
        env!("RNIC_BUILT_MODELS")
            .split(',')
            .any(|name| name == self.name())
    }

    /// As a user writes it.
    pub const fn name(self) -> &'static str {
        self.sizes().name
    }

    /// The configuration of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}
