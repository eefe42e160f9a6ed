const space = "\u00a0"

/** A duration in milliseconds: `820 ms`, `4.2 s`, `1 m 12 s`, `2 h 5 m`. */
export const formatDuration = (millis: number): string => {
  if (millis < 1_000) return `${Math.max(0, Math.round(millis))}${space}ms`
  if (millis < 9_950) return `${(millis / 1_000).toFixed(1)}${space}s`
  const seconds = Math.round(millis / 1_000)
  if (seconds < 60) return `${seconds}${space}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joined([minutes, "m"], [seconds % 60, "s"])
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return joined([hours, "h"], [minutes % 60, "m"])
  return joined([Math.floor(hours / 24), "d"], [hours % 24, "h"])
}

const joined = (...parts: ReadonlyArray<readonly [number, string]>): string =>
  parts
    .filter(([value], index) => index === 0 || value > 0)
    .map(([value, unit]) => `${value}${space}${unit}`)
    .join(space)
