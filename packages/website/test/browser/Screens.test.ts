import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { fileOf, type Screens, settled, startScreens } from "../support/Screens.ts"
import type { Looks } from "../support/Site.ts"

/**
 * Every screen and dialog, in light and dark, narrow and wide: nothing for axe to find, and nothing wider than the window. And
 * what screen readers are told of each.
 */

let shown: Screens

beforeAll(async () => {
  shown = await startScreens()
})

afterAll(async () => {
  await shown.close()
  expect(shown.site.problems).toEqual([])
})

const forms: ReadonlyArray<Looks> = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 320, height: 720 },
  { colorScheme: "light", width: 320, height: 720 },
  { colorScheme: "dark", width: 1440 }
]

/** A test looks at dozens of screens. */
const longMillis = 400_000

describe("What is shown is for everybody to use", () => {
  for (const looks of forms) {
    const form = `${looks.colorScheme}, ${looks.width} px`

    it(
      `on every screen: ${form}`,
      async () => {
        const page = await shown.site.signIn(looks)
        const findings: Record<string, unknown> = {}
        for (const [name, path] of Object.entries(shown.screens)) {
          await page.goto(`${shown.site.origin}${path}`)
          await settled(page)
          const found = await axeFindings(page)
          if (found.length > 0) findings[name] = found
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          if (overflow > 0) findings[`${name} is too wide`] = overflow
        }
        expect(findings).toEqual({})
      },
      longMillis
    )

    it(
      `in every dialog and menu: ${form}`,
      async () => {
        const page = await shown.site.signIn(looks)
        const findings: Record<string, unknown> = {}
        for (const [name, open] of Object.entries(shown.overlays)) {
          await open(page)
          const found = await axeFindings(page)
          if (found.length > 0) findings[name] = found
          await page.keyboard.press("Escape")
        }
        expect(findings).toEqual({})
      },
      longMillis
    )
  }
})

/** Without what is different each time: times, ids, ports, and what is generated. */
const stable = (snapshot: string): string =>
  snapshot
    .replaceAll(/(localhost|127\.0\.0\.1):\d+/g, "$1")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "ID")
    .replaceAll(/\b[a-z]{3}_\w{4,}/g, "TOKEN")
    .replaceAll(/…\w{4}\b/g, "…LAST")
    .replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, "DATE")
    .replaceAll(/\b[A-Z][a-z]{2} \d{1,2}(?:, \d{4})?\b/g, "DATE")
    .replaceAll(/\b(?:now|(?:in )?\d[\d.,]*\s?(?:ms|s|m|min|h|d|mo|y)(?:\s\d+\s(?:s|m|h))?(?:\sago)?)(?!\w)/g, "TIME")
    .replaceAll(/TIME(?: TIME)+/g, "TIME")

describe("What screen readers are told", () => {
  it(
    "of every screen is what it was",
    async () => {
      const page = await shown.site.signIn()
      for (const [name, path] of Object.entries(shown.screens)) {
        await page.goto(`${shown.site.origin}${path}`)
        await settled(page)
        await expect(stable(await page.locator("#screen").ariaSnapshot())).toMatchFileSnapshot(
          `./aria/${fileOf(name)}.txt`
        )
      }
    },
    longMillis
  )
})
