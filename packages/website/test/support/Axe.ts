import axe from "axe-core"
import type { Page } from "playwright-core"

interface Finding {
  readonly id: string
  readonly help: string
  readonly nodes: ReadonlyArray<string>
}

/** The rules whose findings depend on the colours alone. */
export const colourRules = ["color-contrast", "link-in-text-block"]

/** What axe finds on the page as it is, each with the elements. By these rules alone, or all of them. By the devtools, which no policy of the page stops. */
export const axeFindings = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<Finding>> => {
  // What appears does so in 120 ms: colours in between are nobody's.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((one) => one.playState !== "running" || one.effect?.getComputedTiming().iterations === Infinity)
  )
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Runtime.evaluate", { expression: axe.source })
  const options = { resultTypes: ["violations"], ...(rules === undefined ? {} : { runOnly: rules }) }
  const { result } = await devtools.send("Runtime.evaluate", {
    expression: `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 5).map(({ html, any }) => html.slice(0, 300) + " " + (any[0]?.message ?? "")) }))))`,
    awaitPromise: true,
    returnByValue: true
  })
  await devtools.detach()
  return JSON.parse(String(result.value)) as ReadonlyArray<Finding>
}
