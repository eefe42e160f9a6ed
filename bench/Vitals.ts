/// <reference lib="dom" />
import type { Page } from "playwright-core"

/** What people wait for in a browser, as it measures it itself. Milliseconds. */

interface Vitals {
  /** When the largest part of the screen was painted. */
  lcp: number
  /** When anything was. */
  fcp: number
  /** Of all tasks of more than 50 ms after that, what is above them. */
  blocked: number
  /** When something last happened of these. */
  changedAt: number
  /** Of the interaction that took longest, from the input until it was painted. */
  interaction: number
}

declare global {
  interface Window {
    vitals: Vitals
    shown: Promise<number>
  }
}

/** Has the pages of this browser measure from their beginning. */
export const watchVitals = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const vitals: Vitals = { lcp: 0, fcp: Infinity, blocked: 0, changedAt: 0, interaction: 0 }
    window.vitals = vitals
    const observe = (type: string, take: (entry: PerformanceEntry) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
        type,
        buffered: true,
        ...(type === "event" ? { durationThreshold: 16 } : {})
      })
    observe("largest-contentful-paint", ({ startTime }) => {
      vitals.lcp = startTime
      vitals.changedAt = performance.now()
    })
    observe("paint", ({ startTime }) => {
      vitals.fcp = Math.min(vitals.fcp, startTime)
    })
    observe("longtask", ({ duration, startTime }) => {
      const afterPaint = startTime + duration - Math.max(startTime, vitals.fcp)
      vitals.blocked += Math.max(0, afterPaint - 50)
      vitals.changedAt = performance.now()
    })
    observe("event", (entry) => {
      if ((entry as PerformanceEntry & { readonly interactionId: number }).interactionId === 0) return
      vitals.interaction = Math.max(vitals.interaction, entry.duration)
    })
  })

/** Makes the page's processor so many times as slow. */
export const slowDown = async (page: Page, rate: number): Promise<void> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Emulation.setCPUThrottlingRate", { rate })
}

/** What the page has measured, once nothing has happened for a second. */
export const settledVitals = async (page: Page): Promise<Vitals> => {
  await page.waitForFunction(() => performance.now() - window.vitals.changedAt > 1_000)
  return page.evaluate(() => window.vitals)
}

/** How long what somebody does takes until it is painted: of several inputs, the one that takes longest. */
export const interactionOf = async (page: Page, act: () => Promise<void>): Promise<number> => {
  await page.evaluate(() => void (window.vitals.interaction = 0))
  await act()
  // The browser tells of an input after the paint that follows it.
  await page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestIdleCallback(() => resolve())))
  )
  await settledVitals(page)
  return page.evaluate(() => window.vitals.interaction)
}

/** How long it takes from the first input on until something is there, in the frame in which it is painted. */
export const timeUntil = async (page: Page, selector: string, act: () => Promise<void>): Promise<number> => {
  await page.evaluate((selector) => {
    const inputs = ["keydown", "click", "input"]
    window.shown = new Promise((resolve) => {
      const begin = ({ timeStamp }: Event) => {
        for (const type of inputs) removeEventListener(type, begin, true)
        const look = () => {
          if (document.querySelector(selector) !== null) resolve(performance.now() - timeStamp)
          else requestAnimationFrame(look)
        }
        requestAnimationFrame(look)
      }
      for (const type of inputs) addEventListener(type, begin, true)
    })
  }, selector)
  await act()
  return page.evaluate(() => window.shown)
}

/**
 * How fast the browser runs JavaScript, as Lighthouse counts it (`BenchmarkIndex`): the mean of the texts of 10,000 letters that it builds
 * and of the arrays of 100,000 numbers that it copies in a tenth of a second. A desktop for which 4 times slower is meant has 1,500 or more.
 */
export const speedOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const perTenth = (work: () => number) => {
      const begun = performance.now()
      let rounds = 0
      while (performance.now() - begun < 500) if (work() > 0) rounds++
      return (rounds * 100) / (performance.now() - begun)
    }
    const source = Array.from({ length: 100_000 }, (_, index) => index)
    const target = [...source]
    const texts = perTenth(() => {
      let text = ""
      for (let letters = 0; letters < 10_000; letters++) text += "a"
      return text.length
    })
    const copies = perTenth(() => {
      for (let index = 0; index < source.length; index++) target[index] = source[index]!
      return target.length
    })
    return Math.round((texts + copies) / 2)
  })
