import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ids from "../../src/ids/Ids.ts"
import { hashToken, isToken, NewToken, type TokenPrefix } from "../../src/ids/Tokens.ts"

const prefixes: ReadonlyArray<TokenPrefix> = ["ctk_", "wtk_", "ltk_", "atk_", "rtk_", "otk_", "stk_", "itk_"]
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** CRC-32 bit by bit, as ISO 3309 defines it, and not as the service computes it. */
const crc32 = (text: string): bigint => {
  let crc = 0xffffffffn
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ 0xedb88320n : crc >> 1n
  }
  return crc ^ 0xffffffffn
}

const base62 = (number: bigint): string => {
  const rest = number / 62n
  return (rest === 0n ? "" : base62(rest)) + digits[Number(number % 62n)]!
}

const checksum = (text: string): string => base62(crc32(text)).padStart(6, "0")

const makeToken = (prefix: TokenPrefix) => Effect.flatMap(NewToken, (newToken) => newToken(prefix))

const fresh = (prefix: TokenPrefix = "ctk_") => makeToken(prefix).pipe(Effect.provide(Ids.layer))

/** A token made of these bytes, again and again. */
const tokenOf = (bytes: ReadonlyArray<number>) => {
  let at = 0
  const random = SecureRandom.make((size) => Uint8Array.from({ length: size }, () => bytes[at++ % bytes.length]!))
  return Effect.provide(
    makeToken("ctk_"),
    Layer.provide(NewToken.layer, Layer.succeed(SecureRandom.SecureRandom, random))
  )
}

describe("Tokens", () => {
  it("compares with a CRC-32 that gives the standard's check value", () => {
    assert.strictEqual(crc32("123456789"), 0xcbf43926n)
    assert.strictEqual(base62(61n + 62n * 10n), "Az")
  })

  it.effect.each(prefixes)("makes %s tokens of 36 random characters and 6 of their CRC-32", (prefix) =>
    Effect.gen(function* () {
      for (let i = 0; i < 20; i++) {
        const token = yield* fresh(prefix)
        assert.match(token, /^[a-z]{3}_[0-9A-Za-z]{42}$/)
        assert.strictEqual(token.slice(0, 4), prefix)
        assert.strictEqual(token.slice(40), checksum(token.slice(0, 40)))
        assert.isTrue(isToken(prefix, token))
      }
    })
  )

  it("accepts tokens whose checksum was made elsewhere, also with leading zeros", () => {
    let withZero = 0
    for (let n = 0; n < 500; n++) {
      const body = `ctk_${String(n).padStart(36, "x")}`
      const sum = checksum(body)
      if (sum.startsWith("0")) withZero++
      assert.isTrue(isToken("ctk_", body + sum), body + sum)
    }
    assert.isAbove(withZero, 0)
  })

  it.effect("distinguishes the kinds of tokens", () =>
    Effect.gen(function* () {
      for (const made of prefixes) {
        const token = yield* fresh(made)
        for (const asked of prefixes) assert.strictEqual(isToken(asked, token), asked === made, `${made} as ${asked}`)
        // With the prefix of another kind its checksum is wrong.
        for (const other of prefixes) {
          if (other !== made) assert.isFalse(isToken(other, other + token.slice(4)))
        }
      }
    })
  )

  it.effect("detects any one character that was changed, left out, doubled or swapped with the next", () =>
    Effect.gen(function* () {
      const token = yield* fresh()
      const others = [...digits, "_", "-", "!", "é", " ", "\u0000"]
      for (let i = 0; i < token.length; i++) {
        const [before, char, after] = [token.slice(0, i), token[i]!, token.slice(i + 1)]
        for (const other of others) {
          if (other !== char) assert.isFalse(isToken("ctk_", before + other + after), `${other} at ${i}`)
        }
        assert.isFalse(isToken("ctk_", before + after))
        assert.isFalse(isToken("ctk_", before + char + char + after))
        const next = after[0]
        if (next !== undefined && next !== char) {
          assert.isFalse(isToken("ctk_", before + next + char + after.slice(1)))
        }
      }
    })
  )

  it.effect("rejects text around a token", () =>
    Effect.gen(function* () {
      const token = yield* fresh()
      for (const text of ["", "ctk_", ` ${token}`, `${token} `, `${token}\n`, token + token, token.toLowerCase()]) {
        assert.isFalse(isToken("ctk_", text), JSON.stringify(text))
      }
    })
  )

  it.effect("draws every character equally often, and no token twice", () =>
    Effect.gen(function* () {
      const tokens = yield* Effect.replicateEffect(fresh(), 2_000)
      assert.lengthOf(new Set(tokens), 2_000)
      const counts = new Map<string, number>()
      for (const char of tokens.map((token) => token.slice(4, 40)).join("")) {
        counts.set(char, (counts.get(char) ?? 0) + 1)
      }
      const expected = (2_000 * 36) / 62
      const [least, most] = [expected - 7 * Math.sqrt(expected), expected + 7 * Math.sqrt(expected)]
      for (const digit of digits) {
        assert.isAtLeast(counts.get(digit) ?? 0, least, digit)
        assert.isAtMost(counts.get(digit) ?? 0, most, digit)
      }
    })
  )

  it.effect("maps bytes to characters without bias, and draws the rest again", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* tokenOf([0, 61, 62, 123, 247])).slice(4, 14), "0z0zz0z0zz")
      for (let byte = 248; byte < 256; byte++) {
        assert.strictEqual((yield* tokenOf([byte, 10])).slice(4, 40), "A".repeat(36))
      }
      const counts = new Map<string, number>()
      for (let byte = 0; byte < 248; byte++) {
        const char = (yield* tokenOf([byte]))[4]!
        counts.set(char, (counts.get(char) ?? 0) + 1)
      }
      assert.deepStrictEqual(Object.fromEntries(counts), Object.fromEntries([...digits].map((digit) => [digit, 4])))
    })
  )

  it("stores SHA-256 of a token in base64url", () => {
    assert.strictEqual(hashToken("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0")
  })
})
