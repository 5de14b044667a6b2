//! Memory keys: which local memory the data segments of a WQE may name.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{AccessFlags, Lkey, Outcome};

/// Registered memory. One that exists is not empty, does not wrap and has flags that verbs allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    base: u64,
    length: u64,
    access: AccessFlags,
}

impl Region {
    /// # Errors
    /// [`RegKeyError::BadRegion`] before [`RegKeyError::BadAccess`].
    pub fn new(base: u64, length: u64, access: AccessFlags) -> Result<Self, RegKeyError> {
        if length == 0 || u128::from(base) + u128::from(length) > 1 << 64 {
            return Err(RegKeyError::BadRegion { base, length });
        }
        let remote = access & (AccessFlags::REMOTE_WRITE | AccessFlags::REMOTE_ATOMIC);
        let unbacked = !remote.is_empty() && !access.contains(AccessFlags::LOCAL_WRITE);
        if unbacked || !access.minus(AccessFlags::ALL).is_empty() {
            return Err(RegKeyError::BadAccess { access });
        }
        Ok(Self { base, length, access })
    }

    /// First byte.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Bytes, at least 1.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// What may be done with the region.
    pub const fn access(&self) -> AccessFlags {
        self.access
    }

    /// Does all of [address, address + bytes) lie inside?
    pub const fn holds(&self, address: u64, bytes: u32) -> bool {
        let (from, to) = (self.base as u128, self.base as u128 + self.length as u128);
        address as u128 >= from && address as u128 + bytes as u128 <= to
    }
}

/// Why a key was not registered; nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegKeyError {
    /// The index is beyond the table.
    #[error("key index {index:#x} is out of range: the table has {num_key} keys")]
    Range {
        /// Index of the key.
        index: u32,
        /// Keys of the table.
        num_key: u32,
    },
    /// The key is registered already.
    #[error("key index {index:#x} is registered already; deregister it first")]
    Exists {
        /// Index of the key.
        index: u32,
    },
    #[error(
        "region of {length:#x} bytes at {base:#x}: expected 1 byte or more, ending at 2^64 at most"
    )]
    /// The region is empty, or ends beyond 2^64.
    BadRegion {
        /// First address.
        base: u64,
        /// Bytes.
        length: u64,
    },
    #[error(
        "access flags {:#x}: expected bits 0..3 of ibv_access_flags, and LOCAL_WRITE beside \
         REMOTE_WRITE or REMOTE_ATOMIC", access.0
    )]
    /// These rights do not go together.
    BadAccess {
        /// What may be done with it.
        access: AccessFlags,
    },
}

impl RegKeyError {
    /// As the hardware answers.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Range { .. } => Outcome::KeyRange,
            Self::Exists { .. } => Outcome::KeyExists,
            Self::BadRegion { .. } => Outcome::BadRegion,
            Self::BadAccess { .. } => Outcome::BadAccess,
        }
    }
}

/// A key that is not registered, or with another variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no key {lkey} is registered")]
pub struct NoKey {
    /// Local key.
    pub lkey: Lkey,
}

/// Why a pointer does not resolve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The index is beyond the table.
    #[error("its index is out of range")]
    Range,
    /// No such key.
    #[error("it is not registered")]
    NotRegistered,
    /// The variant byte is another.
    #[error("it is registered with another variant")]
    Variant,
    /// It is not within the region.
    #[error("the bytes are not all inside its region")]
    Outside,
    /// The region does not permit local writes.
    #[error("its region does not permit local writes")]
    Permission,
}

/// The keys of a device, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTable {
    /// Variant and region.
    keys: Vec<Option<(u8, Region)>>,
}

impl KeyTable {
    /// A table of `num_key` unregistered keys.
    pub fn new(num_key: u32) -> Self {
        Self { keys: vec![None; num_key as usize] }
    }

    /// Keys it has room for.
    pub fn num_key(&self) -> u32 {
        self.keys.len() as u32
    }

    /// The region of a key.
    pub fn region(&self, lkey: Lkey) -> Option<&Region> {
        match self.keys.get(lkey.index() as usize)? {
            Some((variant, region)) if *variant == lkey.variant() => Some(region),
            _ => None,
        }
    }

    /// The registered keys in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = (Lkey, &Region)> {
        (0u32..).zip(&self.keys).filter_map(|(index, key)| {
            key.as_ref().map(|(variant, region)| (Lkey::of(index, *variant), region))
        })
    }

    /// REG_KEY.
    ///
    /// # Errors
    /// The first reason in the order index, existence, region, access.
    pub fn register(
        &mut self,
        lkey: Lkey,
        base: u64,
        length: u64,
        access: AccessFlags,
    ) -> Result<(), RegKeyError> {
        let (index, num_key) = (lkey.index(), self.num_key());
        let Some(key) = self.keys.get_mut(index as usize) else {
            return Err(RegKeyError::Range { index, num_key });
        };
        if key.is_some() {
            return Err(RegKeyError::Exists { index });
        }
        *key = Some((lkey.variant(), Region::new(base, length, access)?));
        Ok(())
    }

    /// DEREG_KEY.
    ///
    /// # Errors
    /// If no key of that index and variant is registered.
    pub fn deregister(&mut self, lkey: Lkey) -> Result<(), NoKey> {
        if self.region(lkey).is_none() {
            return Err(NoKey { lkey });
        }
        self.keys[lkey.index() as usize] = None;
        Ok(())
    }

    /// May a WQE name these bytes by that key? `write`: local memory is written (READ, atomics).
    /// No bytes at all may be named by any key.
    ///
    /// # Errors
    /// The first reason in the order index, existence, variant, bounds, permission.
    pub fn resolve(
        &self,
        lkey: Lkey,
        address: u64,
        bytes: u32,
        write: bool,
    ) -> Result<(), Unresolved> {
        if bytes == 0 {
            return Ok(());
        }
        let key = self.keys.get(lkey.index() as usize).ok_or(Unresolved::Range)?;
        let (variant, region) = key.as_ref().ok_or(Unresolved::NotRegistered)?;
        if *variant != lkey.variant() {
            return Err(Unresolved::Variant);
        }
        if !region.holds(address, bytes) {
            return Err(Unresolved::Outside);
        }
        if write && !region.access.contains(AccessFlags::LOCAL_WRITE) {
            return Err(Unresolved::Permission);
        }
        Ok(())
    }
}

/// The table as it is, and as it was before the latest changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyHistory {
    /// The latest last; never empty.
    tables: VecDeque<Arc<KeyTable>>,
    /// Changes applied, modulo 2^16.
    version: u16,
}

impl KeyHistory {
    /// Versions that are kept.
    pub const KEPT: usize = 64;

    pub fn new(num_key: u32) -> Self {
        Self { tables: VecDeque::from([Arc::new(KeyTable::new(num_key))]), version: 0 }
    }

    pub const fn version(&self) -> u16 {
        self.version
    }

    pub fn now(&self) -> &KeyTable {
        &self.tables[self.tables.len() - 1]
    }

    pub fn at(&self, version: u16) -> Option<&KeyTable> {
        let age = usize::from(self.version.wrapping_sub(version));
        let place = self.tables.len().checked_sub(age + 1)?;
        Some(&self.tables[place])
    }

    /// Applies a change. One that is refused leaves no version behind.
    pub fn change<E>(
        &mut self,
        change: impl FnOnce(&mut KeyTable) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = self.now().clone();
        change(&mut next)?;
        if self.tables.len() == Self::KEPT {
            self.tables.pop_front();
        }
        self.tables.push_back(Arc::new(next));
        self.version = self.version.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Lkey = Lkey(0x0000_0305);
    const RW: AccessFlags = AccessFlags::LOCAL_WRITE;
    const RO: AccessFlags = AccessFlags::EMPTY;

    fn table() -> KeyTable {
        let mut t = KeyTable::new(8);
        t.register(KEY, 0x1000, 0x100, RW).expect("legal");
        t
    }

    #[test]
    fn reasons_of_a_refused_registration_in_their_order() {
        let outcome = |lkey, base, length, access| {
            let mut t = table();
            let e = t.register(Lkey(lkey), base, length, AccessFlags(access)).expect_err("refused");
            assert_eq!(t, table(), "{e}: nothing changes");
            e.outcome()
        };
        assert_eq!(outcome(0x800, 0, 0, 0x10), Outcome::KeyRange);
        assert_eq!(outcome(0xffff_ff00, 0, 1, 0), Outcome::KeyRange);
        assert_eq!(outcome(KEY.0, 0, 0, 0x10), Outcome::KeyExists);
        assert_eq!(outcome(KEY.0 ^ 1, 0, 1, 0), Outcome::KeyExists, "whatever the variant");
        assert_eq!(outcome(0x700, 0, 0, 0x10), Outcome::BadRegion);
        assert_eq!(outcome(0x700, u64::MAX, 2, 0), Outcome::BadRegion);
        assert_eq!(outcome(0x700, 2, u64::MAX, 0x10), Outcome::BadRegion);
        for access in [2, 6, 8, 12, 14, 0x10, 0x11, 0x8000_0001] {
            assert_eq!(outcome(0x700, 0, 1, access), Outcome::BadAccess, "{access:#x}");
        }
    }

    #[test]
    fn what_may_be_registered() {
        for access in [0, 1, 3, 4, 5, 7, 9, 11, 13, 15] {
            let mut t = table();
            assert_eq!(t.register(Lkey(0x7ff), 1, u64::MAX, AccessFlags(access)), Ok(()));
            assert_eq!(t.register(Lkey(0x000), u64::MAX, 1, AccessFlags(access)), Ok(()));
        }
    }

    #[test]
    fn a_key_goes_only_by_its_own_name() {
        let mut t = table();
        for lkey in [KEY.0 ^ 1, 0x205, 0x800, u32::MAX].map(Lkey) {
            assert_eq!(t.deregister(lkey), Err(NoKey { lkey }));
        }
        assert_eq!(t, table());
        assert_eq!(t.deregister(KEY), Ok(()));
        assert_eq!(t, KeyTable::new(8));
        assert_eq!(t.deregister(KEY), Err(NoKey { lkey: KEY }));
    }

    #[test]
    fn index_variant_and_edges_of_the_region() {
        let t = table();
        let get = |lkey, address, bytes| t.resolve(Lkey(lkey), address, bytes, true);
        assert_eq!(get(KEY.0, 0x1000, 0x100), Ok(()));
        assert_eq!(get(KEY.0, 0x10ff, 1), Ok(()));
        assert_eq!(get(KEY.0, 0x0fff, 1), Err(Unresolved::Outside));
        assert_eq!(get(KEY.0, 0x0fff, 2), Err(Unresolved::Outside));
        assert_eq!(get(KEY.0, 0x1000, 0x101), Err(Unresolved::Outside));
        assert_eq!(get(KEY.0, 0x1100, 1), Err(Unresolved::Outside));
        assert_eq!(get(KEY.0, u64::MAX, 2), Err(Unresolved::Outside));
        assert_eq!(get(0x304, 0x1000, 1), Err(Unresolved::Variant));
        assert_eq!(get(0x405, 0x1000, 1), Err(Unresolved::NotRegistered));
        assert_eq!(get(0x805, 0x1000, 1), Err(Unresolved::Range));
        assert_eq!(get(0x805, u64::MAX, 0), Ok(()), "no bytes, no key");
    }

    #[test]
    fn a_region_up_to_the_last_byte() {
        let mut t = KeyTable::new(1);
        t.register(Lkey(0), 0x8000_0000_0000_0000, 1 << 63, RO).expect("ends at 2^64");
        assert_eq!(t.resolve(Lkey(0), u64::MAX, 1, false), Ok(()));
        assert_eq!(t.resolve(Lkey(0), u64::MAX - 0x7fff_ffff, 1 << 31, false), Ok(()));
        assert_eq!(
            t.resolve(Lkey(0), u64::MAX - 0x7fff_fffe, 1 << 31, false),
            Err(Unresolved::Outside)
        );
        assert_eq!(t.resolve(Lkey(0), u64::MAX, 1, true), Err(Unresolved::Permission));
    }

    #[test]
    fn old_tables_are_kept_for_64_versions() {
        let mut h = KeyHistory::new(1);
        for n in 0..0x1_0000u32 {
            assert_eq!(h.version(), n as u16);
            for age in 0..70u32.min(n + 1) {
                let old = h.at((n - age) as u16);
                assert_eq!(old.is_some(), age < 64, "{age} changes ago");
                let there = old.is_some_and(|t| t.region(Lkey(7)).is_some());
                assert_eq!(there, age < 64 && (n - age) % 2 == 1);
            }
            assert!(h.at((n + 1) as u16).is_none(), "the future");
            let refused = h.change(|t| t.register(Lkey(0x100), 0, 1, RO));
            assert!(refused.is_err() && h.version() == n as u16, "not a change");
            if n % 2 == 0 {
                h.change(|t| t.register(Lkey(7), 0, 1, RO)).expect("it is free");
            } else {
                h.change(|t| t.deregister(Lkey(7))).expect("it is there");
            }
        }
        assert_eq!(h.version(), 0, "it wraps");
        assert!(h.at(u16::MAX).is_some());
    }
}
