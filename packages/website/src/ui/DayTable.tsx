/** Numbers of days as a table, newest day first: for who reads without a mouse, and whoever wants to know them. */

const cell =
  "border-border tabular border-b px-3 py-1 text-right first:bg-surface first:sticky first:left-0 first:pl-4 first:text-left"

interface Props {
  /** Days as `2026-11-21`, in UTC. */
  readonly days: ReadonlyArray<string>
  readonly columns: ReadonlyArray<{
    readonly name: string
    /** What the day at this place has. */
    readonly textAt: (index: number) => string
  }>
}

export const DayTable = ({ columns, days }: Props) => (
  <div aria-label="Days" className="relative overflow-x-auto" role="region" tabIndex={0}>
    <table className="w-full border-collapse">
      <thead className="text-muted">
        <tr>
          {["Day, UTC", ...columns.map(({ name }) => name)].map((name) => (
            <th className={`${cell} font-medium whitespace-nowrap`} key={name} scope="col">
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
