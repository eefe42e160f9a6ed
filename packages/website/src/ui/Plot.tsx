import { later } from "./later.tsx"
import { mendLanguage } from "./mendLanguage.ts"

/** Numbers over days. What is drawn is loaded when it is needed; the same numbers are in a table beside it. */

/** The colours of meaning, as everywhere. */
export type PlotTone = "success" | "warning" | "danger" | "info" | "accent"

export interface PlotSeries {
  readonly label: string
  readonly tone: PlotTone
  /** One for each day; null where there is none. */
  readonly values: ReadonlyArray<number | null>
}

export interface PlotProps {
  readonly title: string
  /** Days as `2026-11-21`, in UTC. */
  readonly days: ReadonlyArray<string>
  readonly series: ReadonlyArray<PlotSeries>
  readonly kind: "line" | "bars"
  readonly format: (value: number) => string
  /** The highest value that there can be, if there is one. */
  readonly most?: number
}

const Drawing = later(
  () => {
    // What draws formats by the language of the browser from when it is loaded.
    mendLanguage()
    return import("./PlotDrawing.tsx")
  },
  () => <div aria-busy="true" aria-label="Loading" className="h-52" role="status" />
)

export const Plot = (props: PlotProps) => <Drawing {...props} />
