const inYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" })
const inAnyYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

/** A day as other days are written: `Mar 31`, of another year than now's `Mar 31, 2027`. Pure. */
export const formatDay = (day: string, now: Date): string =>
  (day.startsWith(`${now.getFullYear()}-`) ? inYear : inAnyYear).format(new Date(`${day}T00:00:00Z`))
