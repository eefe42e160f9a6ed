import { describe, expect, it } from "vitest"
import { auditScreens, longMillis, useScreens } from "../support/AuditScreens.ts"
import { fileOf, settled } from "../support/Screens.ts"

/** Every screen and dialog on wide screens, and what screen readers are told of each. Those on narrow ones: `ScreensNarrow`. */

const screens = useScreens()

auditScreens(screens, { colorScheme: "light", width: 1440 })

/** Without what is different each time: times, ids, ports, and what is generated. */
const stable = (snapshot: string): string =>
  snapshot
    .replaceAll(/(localhost|127\.0\.0\.1):\d+/g, "$1")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "ID")
    .replaceAll(/\b[a-z]{3}_\w{4,}/g, "TOKEN")
    .replaceAll(/…\w{4}\b/g, "…LAST")
    .replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, "DATE")
    .replaceAll(/\b[A-Z][a-z]{2} \d{1,2}(?:, \d{4}(?:, \d+:\d\d(?::\d\d)?\s[AP]M(?: [A-Z]\w*)?)?)?\b/g, "DATE")
    .replaceAll(/\b(?:now|(?:in )?\d[\d.,]*\s?(?:ms|s|m|min|h|d|mo|y)(?:\s\d+\s(?:s|m|h))?(?:\sago)?)(?!\w)/g, "TIME")
    .replaceAll(/\b\d+:\d\d [AP]M\b/g, "TIME")
    .replaceAll(/TIME(?: TIME)+/g, "TIME")
    .replaceAll(/in your time \([\w/+-]+\)/g, "in your time (ZONE)")
    // Whether it is there still depends on how long the tests before this one took.
    .replaceAll(/\b(Claude|laptop) (?:live|away)\b/g, "$1")

describe("What screen readers are told", () => {
  it(
    "of every screen is what it was",
    async () => {
      const page = await screens().site.signIn()
      for (const [name, path] of Object.entries(screens().screens)) {
        await page.goto(`${screens().site.origin}${path}`)
        await settled(page)
        await expect(stable(await page.locator("#screen").ariaSnapshot())).toMatchFileSnapshot(
          `./aria/${fileOf(name)}.txt`
        )
      }
    },
    longMillis
  )
})
