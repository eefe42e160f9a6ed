import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { axeFindings, colourRules } from "./Axe.ts"
import { type Screens, settled, startScreens } from "./Screens.ts"
import type { Looks } from "./Site.ts"

/** A test looks at dozens of screens. */
export const longMillis = 600_000

/** The screens of a server of the file's own. */
export const useScreens = (): (() => Screens) => {
  let shown: Screens
  beforeAll(async () => {
    shown = await startScreens()
  })
  afterAll(async () => {
    await shown.close()
    expect(shown.site.problems).toEqual([])
  })
  return () => shown
}

const schemes = ["light", "dark"] as const

/** What axe finds on the page as it is, in the colours that it was opened in and in the others, by a name for it. */
const findingsOf = async (page: Page, name: string, { colorScheme }: Looks) => {
  const found: Record<string, unknown> = {}
  const add = (scheme: string, findings: ReadonlyArray<unknown>) => {
    if (findings.length > 0) found[`${name}, ${scheme}`] = findings
  }
  add(colorScheme!, await axeFindings(page))
  const other = schemes.find((one) => one !== colorScheme)!
  await page.emulateMedia({ colorScheme: other })
  add(other, await axeFindings(page, colourRules))
  await page.emulateMedia({ colorScheme: colorScheme! })
  return found
}

/** Every screen and dialog, opened in these looks and shown in both schemes: nothing for axe to find, and nothing wider than the window. */
export const auditScreens = (screens: () => Screens, looks: Looks): void => {
  const form = `${looks.width} px`

  describe("What is shown is for everybody to use", () => {
    it(
      `on every screen: ${form}, light and dark`,
      async () => {
        const page = await screens().site.signIn(looks)
        const findings: Record<string, unknown> = {}
        for (const [name, path] of Object.entries(screens().screens)) {
          await page.goto(`${screens().site.origin}${path}`)
          await settled(page)
          Object.assign(findings, await findingsOf(page, name, looks))
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          if (overflow > 0) findings[`${name} is too wide`] = overflow
        }
        expect(findings).toEqual({})
      },
      longMillis
    )

    it(
      `in every dialog and menu: ${form}, light and dark`,
      async () => {
        const page = await screens().site.signIn(looks)
        const findings: Record<string, unknown> = {}
        for (const [name, open] of Object.entries(screens().overlays)) {
          await open(page)
          Object.assign(findings, await findingsOf(page, name, looks))
          await page.keyboard.press("Escape")
        }
        expect(findings).toEqual({})
      },
      longMillis
    )
  })
}
