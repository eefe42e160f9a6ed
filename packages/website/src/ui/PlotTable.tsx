import { DayTable } from "./DayTable.tsx"
import type { PlotProps } from "./Plot.tsx"

/** The numbers of plots as a table. */

interface Props {
  /** Of the same days. */
  readonly plots: ReadonlyArray<PlotProps>
}

const PlotTable = ({ plots }: Props) => {
  const columns = plots.flatMap(({ format, series, title }) =>
    series.map(({ label, values }) => ({
      name: series.length === 1 ? title : `${title}: ${label}`,
      textAt: (index: number) => {
        const value = values[index] ?? null
        return value === null ? "–" : format(value)
      }
    }))
  )
  return <DayTable columns={columns} days={plots[0]?.days ?? []} />
}

export default PlotTable
