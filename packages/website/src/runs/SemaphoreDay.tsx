import type { SemaphoreHour } from "@delivery/domain/runs/Semaphore"
import { formatDuration } from "../ui/duration.ts"
import { counted, formatCount } from "../ui/format.ts"

/** How much a semaphore was used in each of the last 24 hours: as bars, and the same numbers as a table. */

const hourMillis = 3_600_000

/** From which wait on an hour is marked: tests that wait so long are slower for it. */
const longWaitMillis = 10_000

const hourName = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })

interface Props {
  readonly name: string
  readonly capacity: number
  readonly hours: ReadonlyArray<SemaphoreHour>
}

/** How many leases were held at once, on average over the time of the hour that has passed. */
const meanHeld = ({ heldMs, hour }: SemaphoreHour): number =>
  heldMs / Math.min(hourMillis, Math.max(1, Date.now() - Date.parse(hour)))

const formatHeld = (held: number, capacity: number): string =>
  `${held > 0 && held < 0.1 ? "<0.1" : held.toFixed(1)} of ${formatCount(capacity)}`

const nameOf = ({ hour }: SemaphoreHour): string => hourName.format(new Date(hour))

const tipOf = (one: SemaphoreHour, capacity: number): string => {
  const { gaveUp, leases, longestWaitMs } = one
  return [
    `${nameOf(one)}: ${formatHeld(meanHeld(one), capacity)} held`,
    counted(leases, "lease"),
    ...(longestWaitMs >= 1_000 ? [`longest wait ${formatDuration(longestWaitMs)}`] : []),
    ...(gaveUp > 0 ? [`${formatCount(gaveUp)} gave up`] : [])
  ].join(", ")
}

const summaryOf = (hours: Props["hours"]): string => {
  const sum = (of: (one: SemaphoreHour) => number) => hours.reduce((total, one) => total + of(one), 0)
  const wait = Math.max(...hours.map(({ longestWaitMs }) => longestWaitMs))
  const gaveUp = sum((one) => one.gaveUp)
  return [
    `${counted(
      sum(({ leases }) => leases),
      "lease"
    )} in 24 hours`,
    ...(wait >= 1_000 ? [`longest wait ${formatDuration(wait)}`] : []),
    ...(gaveUp > 0 ? [`${formatCount(gaveUp)} gave up`] : [])
  ].join(", ")
}

const isUsed = ({ gaveUp, heldMs, leases }: SemaphoreHour): boolean => leases > 0 || heldMs > 0 || gaveUp > 0

const HourTable = ({ capacity, hours, name }: Props) => (
  <table aria-label={`Use of ${name} over the day`} className="w-full max-w-160 border-collapse">
    <thead>
      <tr className="text-muted text-xs">
        {["Hour", "Held on average", "Leases", "Longest wait", "Gave up"].map((title, index) => (
          <th
            className={`py-1 pl-3 font-medium first:pl-0 ${index === 0 ? "text-left" : "text-right"}`}
            key={title}
            scope="col"
          >
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="tabular">
      {hours.filter(isUsed).map((one) => (
        <tr key={one.hour}>
          <th className="py-0.5 text-left font-normal" scope="row">
            {nameOf(one)}
          </th>
          <td className="pl-3 text-right whitespace-nowrap">{formatHeld(meanHeld(one), capacity)}</td>
          <td className="pl-3 text-right whitespace-nowrap">{formatCount(one.leases)}</td>
          <td
            className={`pl-3 text-right whitespace-nowrap ${one.longestWaitMs >= longWaitMillis ? "text-warning" : ""}`}
          >
            {formatDuration(one.longestWaitMs)}
          </td>
          <td className="pl-3 text-right whitespace-nowrap">{formatCount(one.gaveUp)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Bars = ({ capacity, hours }: Props) => (
  <div aria-hidden="true" className="text-muted flex w-full items-end gap-2 text-xs sm:w-auto">
    <span className="tabular">{nameOf(hours[0]!)}</span>
    <div className="flex h-8 flex-1 gap-px sm:w-96">
      {hours.map((one) => {
        const share = Math.min(1, meanHeld(one) / capacity)
        return (
          <span
            className="bg-strong/35 relative flex flex-1 items-end overflow-hidden rounded-sm"
            data-tip={tipOf(one, capacity)}
            key={one.hour}
          >
            <span
              className="bg-accent-fill w-full"
              style={{ height: share === 0 ? 0 : `${Math.max(6, Math.round(share * 100))}%` }}
            />
            {one.longestWaitMs >= longWaitMillis && (
              <span className="bg-warning absolute top-0 right-0 left-0 mx-auto size-1.5 rounded-full" />
            )}
          </span>
        )
      })}
    </div>
    <span>now</span>
  </div>
)

/** Nothing of one that was not used. */
export const SemaphoreDay = ({ isTable, ...props }: Props & { readonly isTable: boolean }) =>
  props.hours.some(isUsed) ? (
    <div className="border-border flex flex-wrap items-center gap-x-4 gap-y-1 border-b py-2 pr-4 pl-8">
      {isTable ? <HourTable {...props} /> : <Bars {...props} />}
      <p className="text-muted text-xs">{summaryOf(props.hours)}</p>
    </div>
  ) : null
