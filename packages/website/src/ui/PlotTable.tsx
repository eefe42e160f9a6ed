import type { PlotProps } from "./Plot.tsx"

/** The numbers of plots as a table, newest day first: for who reads without a mouse, and whoever wants to know them. */

const cell = "border-border tabular border-b px-3 py-1 text-right first:pl-4 first:text-left"

interface Props {
  /** Of the same days. */
  readonly plots: ReadonlyArray<PlotProps>
}

const PlotTable = ({ plots }: Props) => {
  const days = plots[0]?.days ?? []
  const columns = plots.flatMap(({ format, series, title }) =>
    series.map(({ label, values }) => ({
      name: series.length === 1 ? title : `${title}: ${label}`,
      textAt: (index: number) => {
        const value = values[index] ?? null
        return value === null ? "–" : format(value)
      }
    }))
  )
  return (
    <div aria-label="Days" className="relative overflow-x-auto" role="region" tabIndex={0}>
      <table className="w-full border-collapse">
        <thead className="text-muted">
          <tr>
            {["Day, UTC", ...columns.map(({ name }) => name)].map((name) => (
              <th className={`${cell} font-medium`} key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .map((day, index) => (
              <tr key={day}>
                <th className={`${cell} font-normal whitespace-nowrap`} scope="row">
                  {day}
                </th>
                {columns.map(({ name, textAt }) => (
                  <td className={cell} key={name}>
                    {textAt(index)}
                  </td>
                ))}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </div>
  )
}

export default PlotTable
