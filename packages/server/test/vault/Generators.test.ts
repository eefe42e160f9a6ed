import { type Generator, passwordClasses } from "@delivery/domain/vault/Generator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import fc from "fast-check"
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto"
import { generate } from "../../src/vault/Generators.ts"

const make = (generator: Generator) =>
  Effect.runSync(Effect.map(generate(generator), ({ value }) => Redacted.value(value)))

/** The chi-square statistic of counts that should be equal. */
const chiSquare = (counts: ReadonlyArray<number>): number => {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

/** The value that chance exceeds once in 1,000,000 times (Wilson and Hilferty). */
const limit = (categories: number): number => {
  const degrees = categories - 1
  const z = 4.753
  return degrees * (1 - 2 / (9 * degrees) + z * Math.sqrt(2 / (9 * degrees))) ** 3
}

const counted = (text: Iterable<string>, alphabet: string): ReadonlyArray<number> => {
  const counts = new Map(Array.from(alphabet, (character) => [character, 0]))
  for (const character of text) counts.set(character, counts.get(character)! + 1)
  return [...counts.values()]
}

describe("Generators", () => {
  it("makes passwords of the length asked for, of the classes chosen, with one of each at least", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 256 }),
        fc
          .record({ lowercase: fc.boolean(), uppercase: fc.boolean(), digits: fc.boolean(), symbols: fc.boolean() })
          .filter((classes) => Object.values(classes).includes(true)),
        (length, classes) => {
          const password = make({ type: "password", length, ...classes })
          assert.strictEqual(password.length, length)
          for (const [name, characters] of Object.entries(passwordClasses)) {
            const has = Array.from(password).some((character) => characters.includes(character))
            assert.strictEqual(has, classes[name as keyof typeof classes], name)
          }
        }
      ),
      { numRuns: 500 }
    )
    assert.strictEqual(passwordClasses.symbols.length, 28)
    assert.notMatch(passwordClasses.symbols, /["'`\\]/)
  })

  it("draws every character of a password equally often, and every class's at every place", () => {
    const alphabet = Object.values(passwordClasses).join("")
    const classes = { lowercase: true, uppercase: true, digits: true, symbols: true }
    let drawn = ""
    while (drawn.length < 100_000) drawn += make({ type: "password", length: 250, ...classes })
    const statistic = chiSquare(counted(drawn.slice(0, 100_000), alphabet))
    assert.isBelow(statistic, limit(alphabet.length))

    const digits = make({
      type: "password",
      length: 256,
      lowercase: false,
      uppercase: false,
      digits: true,
      symbols: false
    })
    assert.match(digits, /^\d{256}$/)
    let numbers = ""
    while (numbers.length < 100_000) {
      numbers += make({
        type: "password",
        length: 256,
        lowercase: false,
        uppercase: false,
        digits: true,
        symbols: false
      })
    }
    assert.isBelow(chiSquare(counted(numbers.slice(0, 100_000), passwordClasses.digits)), limit(10))

    // A class that must be there is not favoured at a place: where the digits of a short password stand.
    const places = Array.from({ length: 8 }, () => 0)
    for (let i = 0; i < 5_000; i++) {
      Array.from(make({ type: "password", length: 8, ...classes })).forEach((character, place) => {
        if (passwordClasses.digits.includes(character)) places[place]! += 1
      })
    }
    assert.isBelow(chiSquare(places), limit(8))
  })

  it("draws the bytes of tokens equally often, and encodes them as asked", () => {
    const bytes: Array<number> = []
    while (bytes.length < 100_000) {
      bytes.push(...Buffer.from(make({ type: "token", bytes: 512, encoding: "base64" }), "base64"))
    }
    const counts = Array.from({ length: 256 }, () => 0)
    for (const byte of bytes.slice(0, 100_000)) counts[byte]! += 1
    assert.isBelow(chiSquare(counts), limit(256))

    fc.assert(
      fc.property(fc.integer({ min: 16, max: 512 }), (length) => {
        assert.match(make({ type: "token", bytes: length, encoding: "hex" }), new RegExp(`^[0-9a-f]{${length * 2}}$`))
        const padded = make({ type: "token", bytes: length, encoding: "base64" })
        assert.strictEqual(padded.length, 4 * Math.ceil(length / 3))
        assert.match(padded, /^[A-Za-z0-9+/]+={0,2}$/)
        const unpadded = make({ type: "token", bytes: length, encoding: "base64url" })
        assert.match(unpadded, /^[A-Za-z0-9_-]+$/)
        assert.strictEqual(Buffer.from(unpadded, "base64url").length, length)
      }),
      { numRuns: 200 }
    )
  })

  it("makes UUIDs of version 4, each another", () => {
    const made = Array.from({ length: 1_000 }, () => make({ type: "uuid" }))
    for (const uuid of made) assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(new Set(made).size, 1_000)
  })

  it.effect("makes Ed25519 pairs whose halves belong together", () =>
    Effect.gen(function* () {
      const { publicKey, value } = yield* generate({ type: "ed25519" })
      const privateKey = createPrivateKey(Redacted.value(value))
      assert.match(Redacted.value(value), /^-----BEGIN PRIVATE KEY-----\n/)
      assert.match(publicKey!, /^-----BEGIN PUBLIC KEY-----\n/)
      assert.strictEqual(privateKey.asymmetricKeyType, "ed25519")
      const message = Buffer.from("message")
      const signature = sign(null, message, privateKey)
      assert.isTrue(verify(null, message, createPublicKey(publicKey!), signature))
      const other = yield* generate({ type: "ed25519" })
      assert.isFalse(verify(null, message, createPublicKey(other.publicKey!), signature))
    })
  )
})
