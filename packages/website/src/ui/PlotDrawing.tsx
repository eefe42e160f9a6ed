import { useEffect, useRef, useState } from "react"
import UPlot from "uplot"
import type { PlotProps, PlotTone } from "./Plot.tsx"
import { formatDuration } from "./duration.ts"
import { counted } from "./format.ts"

const swatches: Readonly<Record<PlotTone, string>> = {
  success: "bg-success",
  warning: "bg-warning",
  danger: "bg-danger",
  info: "bg-info",
  accent: "bg-accent"
}

const plotHeight = 168
const daySeconds = 86_400
const fewPoints = 14

/** By which the numbers at an axis may grow: those of things, and of durations in milliseconds, each said in one unit. */
const counts = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]
const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const durations = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((one) => one * second),
  ...[1, 2, 5, 10, 15, 30].map((one) => one * minute),
  ...[1, 2, 3, 6, 12].map((one) => one * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200].map((one) => one * daySeconds * second)
]

/** A token as the canvas knows it: it takes no `light-dark()`. */
const colourOf = (element: HTMLElement, token: string): string => {
  const probe = document.createElement("span")
  probe.style.color = `var(--${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const dayName = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" })

const secondsOf = (day: string): number => Date.parse(day) / 1_000

const optionsOf = (
  { format, kind, most, series }: PlotProps,
  element: HTMLElement,
  onCursor: (index: number | undefined) => void
): UPlot.Options => {
  const font = `11px ${getComputedStyle(element).fontFamily}`
  const axis = {
    font,
    stroke: () => colourOf(element, "muted"),
    grid: { stroke: () => colourOf(element, "border"), width: 1 },
    ticks: { show: false }
  }
  return {
    width: element.clientWidth,
    height: plotHeight,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === "line" }, sync: { key: "days" } },
    axes: [
      { ...axis, space: 64, values: (_, ticks) => ticks.map((seconds) => dayName.format(new Date(seconds * 1_000))) },
      {
        ...axis,
        size: 56,
        values: (_, values) => values.map((value) => (value === 0 ? "0" : format(value))),
        incrs: kind === "bars" ? counts : format === formatDuration ? durations : undefined!
      }
    ],
    scales: {
      // Half a day more on each side: the first and the last bar are as wide as the others.
      x: { range: (_, min, max) => [min - daySeconds / 2, max + daySeconds / 2] },
      y: { range: (_, __, max) => [0, most ?? Math.max(1, (max ?? 0) * 1.1)] }
    },
    series: [
      {},
      ...series.map(({ label, tone, values }) => ({
        label,
        width: kind === "line" ? 2 : 0,
        spanGaps: true,
        stroke: () => colourOf(element, tone),
        ...(kind === "bars"
          ? {
              fill: () => colourOf(element, tone),
              paths: UPlot.paths.bars!({ size: [0.6, 20] }),
              points: { show: false }
            }
          : // Few days have something: a line alone would not show one between two without.
            { points: { show: values.filter((value) => value !== null).length <= fewPoints, size: 5 } })
      }))
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] }
  }
}

/** Draws, follows the width, and draws again where the looks change. */
const useDrawing = (props: PlotProps, onCursor: (index: number | undefined) => void) => {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = frame.current!
    const data: UPlot.AlignedData = [props.days.map(secondsOf), ...props.series.map(({ values }) => [...values])]
    const plot = new UPlot(optionsOf(props, element, onCursor), data, element)
    const size = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: plotHeight }))
    size.observe(element)
    const redraw = () => plot.redraw()
    const dark = matchMedia("(prefers-color-scheme: dark)")
    dark.addEventListener("change", redraw)
    const looks = new MutationObserver(redraw)
    looks.observe(document.documentElement, { attributeFilter: ["data-theme"] })
    return () => {
      size.disconnect()
      looks.disconnect()
      dark.removeEventListener("change", redraw)
      plot.destroy()
    }
  }, [onCursor, props])
  return frame
}

const PlotDrawing = (props: PlotProps) => {
  const { days, format, series, title } = props
  const [cursor, setCursor] = useState<number>()
  const frame = useDrawing(props, setCursor)
  // Without a pointer: the last day that has something.
  const last = days.findLastIndex((_, index) => series.some(({ values }) => values[index] != null))
  const shown = cursor ?? last
  const day = days[shown]
  return (
    <figure aria-label={`${title} over ${counted(days.length, "day")}`} className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5">
        <span className="font-medium">{title}</span>
        {series.map(({ label, tone, values }) => (
          <span className="text-muted inline-flex items-center gap-1.5" key={label}>
            <span aria-hidden="true" className={`size-2 rounded-full ${swatches[tone]}`} />
            {label}
            <span className="text-text tabular">{values[shown] == null ? "–" : format(values[shown])}</span>
          </span>
        ))}
        <span className="flex-1" />
        {day !== undefined && <span className="text-muted tabular">{dayName.format(new Date(day))}</span>}
      </figcaption>
      <div aria-hidden="true" className="isolate h-42 min-w-0 overflow-hidden" ref={frame} />
    </figure>
  )
}

export default PlotDrawing
