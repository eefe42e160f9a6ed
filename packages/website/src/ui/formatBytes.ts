const space = "\u00a0"

/** A size in bytes: `812 B`, `48 KB`, `2.4 MB`. Like the limits of the service, in steps of 1,024. */
export const formatBytes = (bytes: number): string => {
  if (bytes < 1_024) return `${bytes}${space}B`
  const kilobytes = bytes / 1_024
  if (kilobytes < 1_023.5) return `${Math.round(kilobytes)}${space}KB`
  return `${(kilobytes / 1_024).toFixed(1).replace(/\.0$/, "")}${space}MB`
}
