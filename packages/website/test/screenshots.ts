import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileOf, settled, startScreens } from "./support/Screens.ts"

/** Pictures of every screen and dialog, light and dark, from narrow to very wide: `pnpm screenshots [FOLDER] [SCREEN...]`. */

const [folder = "packages/website/dist/screenshots", ...only] = process.argv.slice(2)
const isAsked = ([name]: readonly [string, unknown]) => only.length === 0 || only.includes(fileOf(name))

const { close, overlays, screens, site } = await startScreens()
try {
  mkdirSync(folder, { recursive: true })
  for (const width of [1440, 320, 768, 2560]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await site.signIn({ colorScheme, width, height: width === 320 ? 720 : 900 })
      const picture = async (name: string) => {
        await page.evaluate(() => document.fonts.ready)
        // What appears does so in 120 ms.
        await page.waitForTimeout(300)
        await page.screenshot({ path: join(resolve(folder), `${fileOf(name)}-${width}-${colorScheme}.png`) })
      }
      for (const [name, path] of Object.entries(screens).filter(isAsked)) {
        await page.goto(`${site.origin}${path}`)
        await settled(page)
        await picture(name)
      }
      for (const [name, open] of Object.entries(overlays).filter(isAsked)) {
        await open(page)
        await picture(name)
        await page.keyboard.press("Escape")
      }
      await page.context().close()
    }
  }
  if (site.problems.length > 0) process.stdout.write(`${site.problems.join("\n")}\n`)
} finally {
  await close()
}
