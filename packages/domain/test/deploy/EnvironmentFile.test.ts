import { dockerEnvironmentFile, type EnvironmentFile, environmentFile } from "@delivery/domain/deploy/EnvironmentFile"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { compose, docker, dockerClients, nodes, type Reader, shells, type Values } from "./Readers.ts"

/** Files of environment variables: what their readers make of them (docs/contract.md, Deployment tokens). */

/** What is hard to write between quotes, and letters and emoji beside it. */
const characters = "'\"\\$`#\n\r\t =!~*{}();&|<>%@:aZ0_néß\u0085\u00A0\u2028\uFEFF\u0081😈漢"
const character = fc.constantFrom("👩‍👩‍👧", ...characters)
const value = fc.oneof(
  { weight: 6, arbitrary: fc.array(character, { maxLength: 12 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll(/\p{Cs}/gu, "")) },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(65_536), `${"é'".repeat(20_000)}`, "\n".repeat(1_000)) }
)

/** Values that have met bugs of readers. */
const known: ReadonlyArray<string> = [
  "",
  " ",
  "#",
  "a #b",
  "a#b",
  "'",
  '"',
  "it's",
  'say "hi"',
  "$HOME",
  "${HOME}",
  "`id`",
  "$(id)",
  "\\",
  "a\\",
  "a\\\\",
  "\\n",
  "\\'",
  "a'b\nc",
  "a'b\\n",
  "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n",
  '{"a": "it\'s"}',
  '{"a": "b", "c": "\\"d\\""}',
  "a=b",
  "=",
  "export A=1",
  "A='1'\nB='2'",
  "'quoted'",
  '"quoted"',
  "`quoted`",
  "\ttab\t",
  " both ",
  "a\nB=c",
  "\n",
  "a\r\nb",
  "a\r",
  "a\0b",
  "😀 emoji 👩‍👩‍👧"
]

const named = (values: ReadonlyArray<string>): Values => new Map(values.map((text, index) => [`VALUE_${index}`, text]))

/** What of the values can be written, each by itself. */
const accepted = (values: Values, write: (values: Values) => EnvironmentFile): Values =>
  new Map([...values].filter((one) => write(new Map([one])).refused === undefined))

const assertReads = async (read: Reader, values: Values, write: (values: Values) => EnvironmentFile): Promise<void> => {
  const { refused, text } = write(values)
  assert.isUndefined(refused)
  const found = await read(text!, [...values.keys()])
  assert.deepStrictEqual(
    [...found].filter(([name]) => values.has(name)),
    [...values]
  )
}

/** Every value is read back, or refused: those of many files, each read by one process. */
const assertProperty = (
  read: Reader,
  write: (values: Values) => EnvironmentFile,
  readable: (values: ReadonlyArray<string>) => ReadonlyArray<string> = (values) => values
) =>
  fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 20, maxLength: 40 }), async (values) =>
      assertReads(read, accepted(named(readable(values)), write), write)
    ),
    { numRuns: 8 }
  )

/** One argument or variable has at most 128 KiB, and all together 2 MiB. */
const processes = [...shells, ...nodes]

describe("a file of environment variables", () => {
  it("finds a POSIX shell and a Node", () => {
    assert.isNotEmpty(shells)
    assert.isNotEmpty(nodes)
  })

  for (const [name, read] of [...processes, ["Compose", compose] as const]) {
    it(`is read back to the byte by ${name}`, async () => {
      await assertReads(read, accepted(named(known), environmentFile), environmentFile)
      await assertProperty(read, environmentFile)
    })
  }

  it("refuses what some reader would change, and nothing else", () => {
    const isRefused = (text: string) => environmentFile(new Map([["A", text]])).refused !== undefined
    for (const text of ["a\0", "a\r\nb", "\\", "a\\", "it's $5", 'it\'s "5"', "it's \\5", "it's `5`", "'\\"]) {
      assert.isTrue(isRefused(text), text)
    }
    fc.assert(
      fc.property(value, (text) => {
        const isWhole = !/[\0\r]/.test(text)
        const isSingle = !text.includes("'") && !text.endsWith("\\")
        const isDouble = !/["\\$`]/.test(text)
        assert.strictEqual(isRefused(text), !(isWhole && (isSingle || isDouble)))
      })
    )
  })

  it("refuses names that no variable can have, and those that shells have for themselves", async () => {
    const wrong = ["", "1A", "a-b", "a.b", "a b", "A=", "é", "A\nB", "A;id", "$(id)", "`id`", "😀"]
    const own = ["_", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "OPTIND", "BASH_ENV", "BASHOPTS", "GROUPS"]
    for (const name of [...wrong, ...own])
      assert.deepStrictEqual(environmentFile(new Map([[name, "a"]])).refused, [name])
    assert.deepStrictEqual(
      environmentFile(
        new Map([
          ["A", "a"],
          ["a-b", "a"],
          ["B", "\r"]
        ])
      ).refused,
      ["a-b", "B"]
    )
  })

  for (const [name, read] of processes) {
    it(`has names that ${name} keeps apart, also unusual ones`, async () => {
      const names = [
        "A",
        "a",
        "_a",
        "__proto__",
        "constructor",
        "IFS",
        "HOME",
        "USER",
        "LANG",
        "A1",
        "export",
        "if",
        "PS4"
      ]
      const values = new Map(names.map((name, index) => [name, `value ${index}`]))
      await assertReads(read, values, environmentFile)
    })
  }

  it("is not evaluated: nothing in a value is a command", async () => {
    const values = named(["$(exit 7)", "`exit 7`", "';exit 7;'", '";exit 7;"', "\nexit 7\n"])
    for (const [, read] of shells) await assertReads(read, values, environmentFile)
  })
})

describe("a file for docker run --env-file", () => {
  it("is read back to the byte by Docker's parser", async () => {
    await assertReads(docker, accepted(named(known), dockerEnvironmentFile), dockerEnvironmentFile)
    await assertProperty(docker, dockerEnvironmentFile)
  })

  for (const [name, read] of dockerClients) {
    it(`is read back to the byte by ${name}`, async () => {
      await assertReads(read, accepted(named(known), dockerEnvironmentFile), dockerEnvironmentFile)
      await assertProperty(read, dockerEnvironmentFile)
      const longest = new Map([["A", "é".repeat(32_766) + "e"]])
      await assertReads(read, longest, dockerEnvironmentFile)
      assert.isDefined(dockerEnvironmentFile(new Map([["AB", "é".repeat(32_766) + "e"]])).refused)
      await read(`AB=${"é".repeat(32_766)}e\n`, ["AB"]).then(
        () => assert.fail("Docker reads a longer line."),
        () => undefined
      )
    })
  }

  it("refuses what has no line of its own, and nothing else", () => {
    const isRefused = (text: string) => dockerEnvironmentFile(new Map([["A", text]])).refused !== undefined
    for (const text of ["a\nb", "\n", "a\r", "a\0", "x".repeat(65_534)]) assert.isTrue(isRefused(text))
    for (const text of ["", " a ", "'a'", '"a"', "a\rb", "#", "a=b", "\\", "x".repeat(65_533)]) {
      assert.isFalse(isRefused(text), text)
    }
  })

  it("has every name that Docker takes, and refuses the others", async () => {
    const values = new Map(["a.b", "a-b", "1A", "é", "a#", "[a]", "__proto__"].map((name) => [name, "value"]))
    for (const read of [docker, ...dockerClients.map(([, read]) => read)]) {
      await assertReads(read, values, dockerEnvironmentFile)
    }
    for (const name of ["", "#a", "a b", "a\tb", "a=b", "\u00A0a"]) {
      assert.deepStrictEqual(dockerEnvironmentFile(new Map([[name, "a"]])).refused, [name])
    }
  })
})
