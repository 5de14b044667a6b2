//! The send queue as it lies in memory: a ring of 64-byte blocks.

use super::Unit;

/// Units per block.
const PER_BLOCK: usize = 4;

/// Bytes of a send queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendQueueRing {
    /// Four times a power of two.
    units: Vec<Unit>,
}

/// A ring or a WQE that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// The ring is too large.
    #[error("a ring of 2^{0} blocks; expected 2^16 at most, what a WQE index can count")]
    TooLarge(u8),
    /// The WQE is longer than the ring.
    #[error("a WQE of {units} units; the whole ring has {ring}")]
    WqeTooLong {
        /// Units of the WQE.
        units: usize,
        /// Bytes of the ring.
        ring: usize,
    },
}

impl SendQueueRing {
    /// A ring of 2^`log_blocks` blocks of zeros.
    ///
    /// # Errors
    /// [`RingError::TooLarge`].
    pub fn new(log_blocks: u8) -> Result<Self, RingError> {
        if log_blocks > 16 {
            return Err(RingError::TooLarge(log_blocks));
        }
        Ok(Self { units: vec![[0; 16]; PER_BLOCK << log_blocks] })
    }

    /// Blocks, a power of two.
    pub fn blocks(&self) -> u32 {
        (self.units.len() / PER_BLOCK) as u32
    }

    /// All of it, block 0 first.
    pub fn bytes(&self) -> &[u8] {
        self.units.as_flattened()
    }

    /// As [`SendQueueRing::bytes`], to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.units.as_flattened_mut()
    }

    fn place(&self, block: u32, unit: u32) -> usize {
        (block as usize * PER_BLOCK + unit as usize) & (self.units.len() - 1)
    }

    /// Unit `unit` of the WQE that begins at `block`. Both count on past the end of the ring.
    pub fn unit(&self, block: u32, unit: u32) -> Unit {
        self.units[self.place(block, unit)]
    }

    /// Reader of the WQE that begins at `block`, for [`super::walk`].
    pub fn wqe(&self, block: u32) -> impl Fn(u32) -> Unit + '_ {
        move |unit| self.unit(block, unit)
    }

    /// Puts a WQE at `block` and leaves everything else as it is.
    ///
    /// # Errors
    /// [`RingError::WqeTooLong`]; nothing is written then.
    pub fn put(&mut self, block: u32, wqe: &[Unit]) -> Result<(), RingError> {
        if wqe.len() > self.units.len() {
            return Err(RingError::WqeTooLong { units: wqe.len(), ring: self.units.len() });
        }
        for (k, unit) in (0..).zip(wqe) {
            let place = self.place(block, k);
            self.units[place] = *unit;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_block_comes_the_first() {
        let mut ring = SendQueueRing::new(1).expect("2 blocks");
        let wqe: Vec<Unit> = (1..=6).map(|n| [n; 16]).collect();
        ring.put(1, &wqe).expect("6 of 8 units");
        let order: Vec<u8> = ring.bytes().chunks(16).map(|u| u[0]).collect();
        assert_eq!(order, [5, 6, 0, 0, 1, 2, 3, 4]);
        for k in 0..6 {
            assert_eq!(ring.unit(1, k), wqe[k as usize]);
            assert_eq!(ring.wqe(3)(k), wqe[k as usize], "blocks count modulo the ring");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(SendQueueRing::new(17), Err(RingError::TooLarge(17)));
        let mut ring = SendQueueRing::new(0).expect("one block");
        assert_eq!(ring.blocks(), 1);
        let e = ring.put(0, &[[1; 16]; 5]);
        assert_eq!(e, Err(RingError::WqeTooLong { units: 5, ring: 4 }));
        assert!(ring.bytes().iter().all(|b| *b == 0));
    }
}
