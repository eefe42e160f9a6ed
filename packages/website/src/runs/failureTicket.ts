import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { codeBlock, codeSpan } from "../planning/markdown.ts"
import { withoutColours } from "../ui/colours.ts"
import { visible } from "../ui/format.ts"

/** What a ticket about a failing test says to begin with. Pure. */

/** Characters of a title that a ticket may have, and of an error that still reads well in a description. */
const [longestTitle, longestError] = [200, 4_000]

interface Failure {
  readonly run: TestRun
  readonly test: TestEntry
  /** Where the website shows the test. */
  readonly url: string
}

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`

export const titleOf = ({ test }: Failure): string =>
  cut(`Failing: ${visible(test.title).replaceAll(/\s+/g, " ").trim()}`, longestTitle)

export const descriptionOf = ({ run, test, url }: Failure): string => {
  const message = test.attempts.findLast(({ status }) => status === "failed")?.errorMessage
  const branch = run.git.branch === "" ? "" : `, branch ${codeSpan(visible(run.git.branch))}`
  return [
    `[Run ${run.number}](${url}) of ${codeSpan(visible(run.product.name))} in ${codeSpan(visible(run.environment.name))}${branch}, ` +
      `commit ${codeSpan(visible(run.git.sha.slice(0, 7)))}.`,
    `Test: ${codeSpan(visible(test.caseId))}`,
    ...(message == null ? [] : [codeBlock(cut(visible(withoutColours(message)), longestError))])
  ].join("\n\n")
}
