import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "./Axe.ts"
import { type Screens, settled, startScreens } from "./Screens.ts"
import type { Looks } from "./Site.ts"

/** A test looks at dozens of screens. */
export const longMillis = 400_000

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

const audit = (screens: () => Screens, looks: Looks): void => {
  const form = `${looks.colorScheme}, ${looks.width} px`

  it(
    `on every screen: ${form}`,
    async () => {
      const page = await screens().site.signIn(looks)
      const findings: Record<string, unknown> = {}
      for (const [name, path] of Object.entries(screens().screens)) {
        await page.goto(`${screens().site.origin}${path}`)
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
      const page = await screens().site.signIn(looks)
      const findings: Record<string, unknown> = {}
      for (const [name, open] of Object.entries(screens().overlays)) {
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

/** Every screen and dialog in these looks: nothing for axe to find, and nothing wider than the window. */
export const auditScreens = (screens: () => Screens, ...forms: ReadonlyArray<Looks>): void => {
  describe("What is shown is for everybody to use", () => {
    for (const looks of forms) audit(screens, looks)
  })
}
