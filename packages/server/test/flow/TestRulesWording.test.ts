import { maxMarkdown } from "@delivery/domain/planning/Ticket"
import { fits } from "@delivery/domain/Text"
import { assert, it } from "vitest"
import { descriptionOf, failedAgain, titleOf } from "../../src/flow/TestRulesWording.ts"
import type { FoundTestRun } from "../../src/runs/TestRunsRepo.ts"

/** What rules write is never longer than a ticket takes, whatever tests are called. */

const place = { page: "https://delivery.example/w/main/test-runs/1", files: "https://delivery.example/files/" }

/** What of a run is told. */
const runOf = (branch: string) =>
  ({
    number: 1,
    product: { name: "Shop", slug: "shop" },
    environment: { name: "Staging", slug: "staging" },
    git: { branch, sha: "9".repeat(40), dirty: false, subject: "" }
  }) as unknown as FoundTestRun

for (const character of ["a", "\u202e", "`", "💥"]) {
  it(`A ticket about many tests fits, with names of ${JSON.stringify(character)}`, () => {
    const long = (length: number, index: number) => `${index}${character.repeat(length)}`
    const tests = Array.from({ length: 5_000 }, (_, index) => ({
      caseId: long(490, index),
      title: long(3_900, index),
      file: long(3_900, index),
      error: character.repeat(4_000),
      files: [`${long(480, index)}trace.zip`]
    }))
    const run = runOf(character.repeat(500))
    assert.isTrue(fits(descriptionOf(tests, run, place, "test rule"), maxMarkdown))
    assert.isTrue(fits(failedAgain(tests, run, place, "test rule"), maxMarkdown))
    assert.isTrue(fits(titleOf(tests.slice(0, 1), run), 200))
  })
}

it("A ticket about a test shows its first three pictures, and opens its trace where the test is", () => {
  const files = ["a/trace.zip", "a/1.png", "a/2.PNG", "a/3.webp", "a/4.png", "a/log.txt"]
  const test = { caseId: "a/b", title: "Pays", file: "a.spec.ts", error: "No", files }
  const of = (path: string) => `[\`${path}\`](${place.files}${path})`
  assert.include(
    descriptionOf([test], runOf("main"), place, "test rule"),
    `Files:\n\n- ${of(files[0]!)}, [open trace](${place.page}/tests/a%2Fb?open=trace)\n${[
      ...files.slice(1, 4).map((path) => `- !${of(path)}`),
      ...files.slice(4).map((path) => `- ${of(path)}`)
    ].join("\n")}\n\nBy test rule.`
  )
})
