import { Context } from "effect"

/**
 * A block is a span of runs with successive numbers. The index stores one row for each term and block: a bit for each
 * run of the block, which says whether the run has the term.
 */
export interface BlockSizes {
  /** Runs of a block; a multiple of 8. */
  readonly runs: number
  /** How many blocks are joined to one larger block as soon as all of them are full. */
  readonly joined: number
}

/**
 * 1,024 runs are as many as a list compares one by one in two milliseconds. 32 blocks have as many bits as fit in a row
 * of the table. Stored data depends on both, so a change needs a migration that empties the index.
 */
export const SearchBlocks = Context.Reference<BlockSizes>("@delivery/server/runs/SearchBlocks", {
  defaultValue: () => ({ runs: 1_024, joined: 32 })
})

/** Runs of a joined block. */
export const joinedRuns = (sizes: BlockSizes): number => sizes.runs * sizes.joined

const firstBit = 0b1000_0000

export const setBit = (bytes: Uint8Array, at: number): void => {
  bytes[at >> 3]! |= firstBit >> (at & 7)
}

export const countBits = (bytes: Uint8Array): number => {
  let count = 0
  for (const byte of bytes) for (let bits = byte; bits !== 0; bits &= bits - 1) count++
  return count
}

/** Bits as PostgreSQL reads them from a text. */
export const bitText = (bytes: Uint8Array): string => `x${Buffer.from(bytes).toString("hex")}`

export interface Block {
  readonly firstRun: number
  readonly runs: Uint8Array
}

/** Reads the blocks of `blocksOf` in `TestRunSearchSql.ts`: of each the first run and the number of bits, as int4, and the bits. */
export const readBlocks = (bytes: Uint8Array | null): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  if (bytes === null) return blocks
  const { buffer, byteLength, byteOffset } = bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  for (let at = 0; at < byteLength;) {
    const end = at + 8 + view.getInt32(at + 4) / 8
    blocks.push({ firstRun: view.getInt32(at), runs: bytes.subarray(at + 8, end) })
    at = end
  }
  return blocks
}

/** The numbers of the runs in the blocks, below `below`, newest first. */
export const numbersOf = function* (blocks: ReadonlyArray<Block>, below: number): Generator<number> {
  for (const { firstRun, runs } of blocks) {
    for (let byte = runs.length - 1; byte >= 0; byte--) {
      const bits = runs[byte]!
      if (bits === 0) continue
      for (let bit = 7; bit >= 0; bit--) {
        const number = firstRun + byte * 8 + bit
        if ((bits & (firstBit >> bit)) !== 0 && number < below) yield number
      }
    }
  }
}
