import type { Page } from "playwright-core"
import { expect } from "vitest"
import { settled } from "./Screens.ts"
import type { Site } from "./Site.ts"

/** Texts of others, each as bad as the API takes it, and what they must not do to a screen. */

const script = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1>`
const svg = `<svg onload=window.hacked=1><a href=javascript:hacked>`
const bidi = `\u202Egnp.exe\u2066 \u200F\u2069`
/** As long as the API takes it: where it takes 100,000 characters, so many. */
export const long = (max: number) => "W".repeat(Math.min(max, 100_000))

export const texts = (max: number) => [script.slice(0, max), svg.slice(0, max), bidi, long(max)]

/** The first of them that the API takes, of those that it may refuse by its own rules. */
export const all = async (max: number, send: (text: string, index: number) => Promise<unknown>) => {
  let taken = 0
  for (const [index, text] of texts(max).entries()) {
    await send(text, index).then(
      () => taken++,
      (error: unknown) => expect(String(error)).toMatch(/: 400 /)
    )
  }
  expect(taken).toBeGreaterThan(0)
}

/** What is wrong with a screen of the workspace; `none` where nothing is. */
export const problemsOf = async (site: Site, page: Page, path: string) => {
  await page.goto(`${site.origin}/w/main/${path}`)
  await settled(page)
  return page.evaluate(() => {
    const screen = document.querySelector<HTMLElement>("#screen")!
    const isWider = ({ clientWidth, scrollWidth }: Element) => scrollWidth > clientWidth
    const isOut = (one: Element) =>
      one.getBoundingClientRect().right > innerWidth ||
      (isWider(one) && one.clientWidth > 0 && getComputedStyle(one).overflowX === "visible")
    const isKept = (one: Element): boolean => {
      const { parentElement: parent } = one
      return (
        parent !== null && parent !== screen && (getComputedStyle(parent).overflowX !== "visible" || isKept(parent))
      )
    }
    // What is to blame, where a screen is wider than its window: the innermost that reach out of it.
    const blamed = () =>
      [...screen.querySelectorAll<HTMLElement>("*")]
        .filter((one) => isOut(one) && !isKept(one) && ![...one.children].some(isOut))
        .slice(0, 3)
        .map((one) => `${one.textContent.slice(0, 40)} (${one.className})`)
    return {
      ran: "hacked" in window,
      // Elements that text has become.
      made: document.querySelectorAll("#screen img, #screen script, #screen a[href^='javascript'], #screen svg[onload]")
        .length,
      wider: isWider(document.documentElement) || isWider(screen) ? ["wider", ...blamed()] : [],
      // Marks that turn what follows are shown as what they are.
      turned: /.{0,80}[\u202A-\u202E\u2066-\u2069\u200F].{0,80}/.exec(document.body.innerText)?.[0]
    }
  })
}

export const none = { ran: false, made: 0, wider: [], turned: undefined }
