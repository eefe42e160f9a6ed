import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readFileSync } from "node:fs"
import * as Ids from "../../src/ids/Ids.ts"
import { NewToken, type TokenPrefix } from "../../src/ids/Tokens.ts"
import { newSecret } from "../../src/webhooks/Signatures.ts"

/** The rules by which scanners find tokens, as docs/operations.md gives them. */

const docs = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8")

const only = (pattern: RegExp): string => {
  const found = [...docs.matchAll(pattern)]
  assert.lengthOf(found, 1)
  return found[0]![1]!
}

/** What gitleaks would report: its rule's group 1, where one of the keywords stands anywhere. */
const gitleaks = (text: string): ReadonlyArray<string> => {
  const keywords = JSON.parse(only(/^keywords = (\[.*\])$/gm)) as ReadonlyArray<string>
  const regex = new RegExp(only(/^regex = '''(.*)'''$/gm), "g")
  assert.strictEqual(only(/^secretGroup = (\d)$/gm), "1")
  if (!keywords.some((keyword) => text.toLowerCase().includes(keyword))) return []
  return [...text.matchAll(regex)].map((match) => match[1]!)
}

/** GitHub's: the pattern between what its form has before and after a secret unless told. */
const github = (text: string): ReadonlyArray<string> => {
  const secret = only(/^```text\n(\(\?:ctk.*)\n```$/gm)
  const regex = new RegExp(`(?:^|[^0-9A-Za-z])((?:${secret}))(?=$|[^0-9A-Za-z])`, "g")
  return [...text.matchAll(regex)].map((match) => match[1]!)
}

const prefixes: ReadonlyArray<TokenPrefix> = ["ctk_", "wtk_", "ltk_", "atk_", "rtk_", "otk_", "dtk_", "stk_", "itk_"]

/** What makes one of every kind. */
const makers = Effect.map(NewToken, (newToken) => [
  ...prefixes.map((prefix) => newToken(prefix)),
  Effect.sync(() => Redacted.value(newSecret()))
])

describe("The scanning rules of the docs", () => {
  for (const [name, scan] of [
    ["gitleaks", gitleaks],
    ["GitHub", github]
  ] as const) {
    it.effect(`let ${name} find every kind of token wherever it stands`, () =>
      Effect.gen(function* () {
        for (const make of yield* makers) {
          for (let round = 0; round < 50; round++) {
            const token = yield* make
            for (const text of [
              token,
              `API_KEY=${token}`,
              `API_KEY=${token}\n`,
              `first line\n${token}\nlast line`,
              `{"key":"${token}"}`,
              `-H 'Authorization: Bearer ${token}' \\`,
              `https://example.com/?key=${token}&x=1`,
              `\`${token}\`,`,
              `_${token}_`,
              `-${token}.`
            ]) {
              assert.deepStrictEqual(scan(text), [token], text)
            }
          }
        }
      }).pipe(Effect.provide(Ids.layer))
    )

    it.effect(`let ${name} pass what only looks like one`, () =>
      Effect.gen(function* () {
        const token = yield* (yield* NewToken)("ctk_")
        const body = token.slice(4)
        for (const text of [
          token.slice(0, -1),
          `${token}0`,
          `x${token}`,
          `CTK_${body}`,
          `gtk_${body}`,
          `tk_${body}`,
          `ctk-${body}`,
          `ctk_${body.slice(0, 20)}-${body.slice(21)}`,
          `ctk_${body.slice(0, 20)} ${body.slice(20)}`,
          `ctk_${body.slice(0, 20)}é${body.slice(21)}`,
          "ctk_***",
          body,
          "The key starts with ctk_ and has 42 characters more."
        ]) {
          assert.deepStrictEqual(scan(text), [], text)
        }
      }).pipe(Effect.provide(Ids.layer))
    )
  }

  it("name every kind of token that the service makes", () => {
    const keywords = JSON.parse(only(/^keywords = (\[.*\])$/gm)) as ReadonlyArray<string>
    assert.sameMembers([...keywords], [...prefixes, "whsec_"])
  })
})
