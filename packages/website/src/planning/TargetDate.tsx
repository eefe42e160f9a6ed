import { formatDay } from "./days.ts"

/** The day by which a project should be done. */
export const TargetDate = ({ day }: { readonly day: string }) => (
  <time className="tabular whitespace-nowrap" dateTime={day} title={day}>
    {formatDay(day, new Date())}
  </time>
)
